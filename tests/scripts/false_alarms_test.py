#!/usr/bin/env python3
"""scripts/false_alarms.py with a stand-in for the program."""

import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

from sample_data import ROOT

# The comparison of the first run with the second calls some of 100 rows slower; all others call none.
PROGRAM = f"""#!{sys.executable}
import json, pathlib, sys
if sys.argv[1] == "compare":
    alarms = ALARMS if "run_0" in sys.argv[2] and "run_1" in sys.argv[3] else 0
    print(f"\\n100 compared: 0 faster, {{alarms}} slower, {{100 - alarms}} cannot tell; 0 only before, 0 only after")
    sys.exit(int(alarms > 0))
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
assert options["--op"] == "scan"
pathlib.Path(options["--samples"]).write_text(json.dumps({{"gpu": None, "cpu": "Processor", "commit": "0123abc"}}))
"""


class FalseAlarmsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def count(self, alarms):
        program = self.folder / f"program_{alarms}"
        program.write_text(PROGRAM.replace("ALARMS", str(alarms)))
        program.chmod(0o755)
        return subprocess.run([sys.executable, ROOT / "scripts/false_alarms.py", self.folder / f"out_{alarms}", program,
                               "--runs", "4", "--where", "busy", "--op", "scan"], capture_output=True, text=True)

    def test_all_pairs_are_compared(self):
        done = self.count(6)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("6 pairs, 600 rows: 0 faster, 6 slower, 594 cannot tell; 1.00 % false alarms", done.stdout)
        with open(self.folder / "out_6/false_alarms.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["pairs"] for row in rows], ["6"])
        self.assertEqual(rows[0]["cpu"], "Processor")
        self.assertEqual(rows[0]["alarms_percent"], "1.000")

    def test_more_than_one_percent_is_too_much(self):
        self.assertEqual(self.count(7).returncode, 1)


if __name__ == "__main__":
    unittest.main()
