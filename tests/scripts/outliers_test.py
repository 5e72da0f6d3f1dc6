#!/usr/bin/env python3
"""What stands out from its neighbours, in made-up files, and what scripts/outliers.py and measure.sh do about it."""

import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

import sample_data
from sample_data import NEW_COLUMNS, ROOT, run, write_csv
from measurements import is_one_run, read, standing_out  # isort: skip

SIZES = [size for k in range(8, 15) for size in ((1 << k) - 3, 1 << k)]

# Called as the program is. With --resume, as when something is measured again, it writes the true times.
PROGRAM = f"""#!{sys.executable}
import csv, pathlib, sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
from outliers_test import NEW_COLUMNS, curve
here = pathlib.Path(__file__)
with here.with_name("calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
if "--list" in sys.argv:
    sys.exit(0)
if here.with_name("fails").exists():
    here.with_name("fails").unlink()
    sys.exit(1)
options = dict(zip(sys.argv[2:], sys.argv[3:]))
if "--resume" in sys.argv:
    sizes = list(map(int, options["--sweep"].split(",")))
    rows = [row for row in curve(slow_when_odd=1 << 13) if row["n"] in sizes]
else:
    rows = curve(slow_when_odd=1 << 13, kink=1 << 10)
path = pathlib.Path(options["--csv"])
is_new = not path.exists()
with path.open("a", newline="") as file:
    writer = csv.DictWriter(file, NEW_COLUMNS, lineterminator="\\n")
    if is_new:
        writer.writeheader()
    writer.writerows(rows)
"""


def curve(kink=0, slow_when_odd=0, **others):
    """A smooth curve but for a time that is too long, and one that three elements fewer make longer."""
    times = {n: 5 + n / 1000 for n in SIZES}
    if kink:
        times[kink] *= 3
    if slow_when_odd:
        times[slow_when_odd - 3] *= 1.2
    rows = [sample_data.row("scan", "cub", n, us, noise_percent="1.000") for n, us in times.items()]
    return [dict.fromkeys(NEW_COLUMNS, "") | row | others for row in rows]


def sizes(rows):
    return sorted(int(row["n"]) for row in standing_out(rows))


class StandingOutTest(unittest.TestCase):
    def test_a_smooth_curve_has_none(self):
        self.assertEqual(sizes(curve()), [])

    def test_a_kink_is_found_with_its_neighbours(self):
        self.assertEqual(sizes(curve(kink=1 << 10)), [(1 << 10) - 3, 1 << 10, 1 << 11])

    def test_a_time_that_is_too_short(self):
        rows = curve()
        rows[SIZES.index(1 << 13)]["median_us"] = "6.000"
        self.assertEqual(sizes(rows), [1 << 12, (1 << 13) - 3, 1 << 13])

    def test_three_elements_fewer_that_take_longer(self):
        self.assertEqual(sizes(curve(slow_when_odd=1 << 13)), [(1 << 13) - 3, 1 << 13])

    def test_nothing_is_said_of_noisy_rows_or_of_other_runs(self):
        for others in ({"noise_percent": "150"}, {"noise_percent": ""}, {"verified": "false"}):
            self.assertEqual(sizes(curve(kink=1 << 10, **others)), [])
        rows = [row | {"commit": str(i)} for i, row in enumerate(curve(kink=1 << 10))]
        self.assertEqual(sizes(rows), [])

    def test_variants_and_inputs_are_no_neighbours(self):
        slow = [row | {"median_us": str(10 * float(row["median_us"]))} for row in curve()]
        for column, value in (("variant", "naive"), ("input", "zeros"), ("type", "float"), ("mode", "batched")):
            self.assertEqual(sizes(curve() + [row | {column: value} for row in slow]), [])


class OneRunTest(unittest.TestCase):
    def test_a_run_has_one_machine_and_commit_and_takes_hours(self):
        row = curve(timestamp="2026-12-01T10:00:00Z")[0]
        self.assertTrue(is_one_run(row, row | {"timestamp": "2026-12-01T12:00:00Z", "cpu": "Some Processor"}))
        for other in ({"timestamp": "2026-12-02T10:00:00Z"}, {"commit": "9876543210"}, {"gpu": "Other Card"},
                      {"driver": "13.2"}, {"toolkit": "13.2"}):
            self.assertFalse(is_one_run(row, row | other), other)
        self.assertFalse(is_one_run(row | {"cpu": "One"}, row | {"cpu": "Another"}))
        self.assertTrue(is_one_run({"gpu": "Some Card"}, row))  # files of other tools tell less


class AgainTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "sweep.csv"
        self.program = self.folder / "program"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)

    def times(self, file):
        return {int(row["n"]): float(row["median_us"]) for row in read(file.name, folder=file.parent)}

    def marked(self, file):
        return sorted(int(row["n"]) for row in read(file.name, folder=file.parent) if row.get("stands_out"))

    def expected(self):
        return {row["n"]: float(row["median_us"]) for row in curve(slow_when_odd=1 << 13)}

    def test_a_kink_goes_and_a_real_difference_stays_with_its_mark(self):
        write_csv(self.file, curve(slow_when_odd=1 << 13, kink=1 << 10), NEW_COLUMNS)
        before = self.file.read_text().splitlines()
        done = run("outliers.py", self.file, self.program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.times(self.file), self.expected())
        self.assertEqual(self.marked(self.file), [(1 << 13) - 3, 1 << 13])
        changed = [line for line in self.file.read_text().splitlines() if line not in before]
        self.assertEqual([line.split(",")[9] for line in changed], [str(1 << 10)])
        calls = (self.folder / "calls").read_text().splitlines()
        self.assertEqual(len(calls), 2)
        for call in calls:
            self.assertIn("--op scan --variant cub --input mod:50 --sweep 1021,1024,2048,8189,8192 --type int32 "
                          "--trials 15", call)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"sweep.csv", "program", "calls"})

    def test_what_was_interrupted_is_continued(self):
        write_csv(self.file, curve(kink=1 << 10), NEW_COLUMNS)
        before = self.file.read_text()
        (self.folder / "fails").touch()
        self.assertNotEqual(run("outliers.py", self.file, self.program).returncode, 0)
        self.assertEqual(self.file.read_text(), before)
        self.assertEqual(run("outliers.py", self.file, self.program).returncode, 0)
        self.assertEqual(self.marked(self.file), [])

    def test_a_file_of_an_earlier_program_stays_as_it_is(self):
        write_csv(self.file, curve(kink=1 << 10), [column for column in NEW_COLUMNS if column != "enqueue_us"])
        before = self.file.read_text()
        self.assertIn("has other columns", run("outliers.py", self.file, self.program).stderr)
        self.assertEqual(self.file.read_text(), before)

    def test_a_sweep_is_measured_again_where_it_stands_out(self):
        done = subprocess.run([ROOT / "scripts/measure.sh", self.folder, self.program, "orders"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.times(self.folder / "orders.csv"), self.expected())
        self.assertIn("5 rows stand out and are measured again", done.stderr)
        self.assertIn("2 rows still stand out", done.stderr)


if __name__ == "__main__":
    unittest.main()
