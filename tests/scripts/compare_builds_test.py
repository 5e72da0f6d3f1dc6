#!/usr/bin/env python3
"""scripts/compare_builds.py with stand-ins for the programs, which make up their times."""

import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

from sample_data import ROOT, COLUMNS

# Called as the program is. The first call of `after` for a type takes 1.5 times as long.
PROGRAM = f"""#!{sys.executable}
import csv, pathlib, sys
here, columns = pathlib.Path(__file__), {COLUMNS!r}
with open(here.with_suffix(".calls"), "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
if sys.argv[1] == "compare":
    print("compared")
    sys.exit(0)
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
path = pathlib.Path(options["--csv"])
is_first = not path.exists()
with path.open("a", newline="") as file:
    writer = csv.DictWriter(file, columns, restval="")
    if is_first:
        writer.writeheader()
    slow = here.name == "after" and is_first
    writer.writerow({{"operation": "scan", "variant": "single-pass", "type": "int8->int32", "n": 1000, "input": "mod:50",
                     "mode": "cold", "median_us": 15 if slow else 10}})
"""


class CompareBuildsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for side in ("before", "after"):
            (self.folder / side).write_text(PROGRAM)
            (self.folder / side).chmod(0o755)

    def compare(self, *options):
        return subprocess.run([sys.executable, ROOT / "scripts/compare_builds.py", self.folder / "out",
                               self.folder / "before", self.folder / "after", *options],
                              capture_output=True, text=True, check=False)

    def calls(self, side):
        calls = self.folder / f"{side}.calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def medians(self, side):
        with open(self.folder / "out" / f"{side}.csv", newline="") as file:
            return [float(row["median_us"]) for row in csv.DictReader(file)]

    def test_what_looks_slower_is_measured_again_by_both(self):
        done = self.compare("--topic", "orders")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.medians("before"), [10, 10, 10])
        self.assertEqual(self.medians("after"), [15, 10, 10])
        again = [call for call in self.calls("after") if "--sweep 1000 " in call]
        self.assertEqual(len(again), 2)
        self.assertTrue(all("--type int8" in call and "--input mod:50" in call for call in again), again)
        self.assertIn("compare --threshold 2%", self.calls("after")[-1])

    def test_missing_time_is_a_failure(self):
        done = self.compare("--topic", "orders", "--seconds", "0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 of the lines were not measured on both", done.stdout)

    def test_a_program_that_fails_is_a_failure(self):
        program = self.folder / "after"
        program.write_text(program.read_text() + "sys.exit(1)\n")
        done = self.compare("--topic", "orders")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 of the lines were not measured on both", done.stdout)


if __name__ == "__main__":
    unittest.main()
