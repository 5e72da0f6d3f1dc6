#!/usr/bin/env python3
"""scripts/frames.py with stand-ins for the program and the path tracer."""

import csv
import pathlib
import sys
import tempfile
import unittest

from sample_data import COLUMNS, row, run

MEASURED = row("scan", "single-pass", 1, 5)
PROGRAM = f"""#!{sys.executable}
import csv, sys
writer = csv.DictWriter(sys.stdout, {COLUMNS!r}, restval="")
writer.writeheader()
writer.writerow({MEASURED!r})
"""
TRACER = """#!/bin/sh
echo "$2 x $4 pixels, 16 frames of a sample per pixel, at most 12 bounces"
echo "                     ms per frame        least         most  frames per second"
echo "loop of the host            0.807        0.803        0.809               1239"
echo "loop in a graph             0.658        0.657        0.659               1520"
echo "the images are the same, bit for bit"
"""


class FramesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "frames.csv"
        self.add("program", PROGRAM)

    def add(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def measure(self):
        return run("frames.py", self.file, self.folder / "program", self.folder / "tracer")

    def test_a_row_per_size_and_loop(self):
        self.add("tracer", TRACER)
        done = self.measure()
        self.assertEqual(done.returncode, 0, done.stderr)
        with self.file.open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["width"], row["loop"], row["median_us"]) for row in rows],
                         [(width, loop, us) for width in ("256", "640", "1280")
                          for loop, us in (("host", "807"), ("graph", "658"))])
        expected = {"gpu": "Some Card", "toolkit": "13.0", "commit": "0123456789", "height": "1024", "min_us": "657",
                    "max_us": "659", "verified": "true"}
        self.assertEqual(rows[-1] | expected, rows[-1])

    def test_other_images_are_a_failure(self):
        self.add("tracer", TRACER + "exit 1\n")
        self.assertIn("failed", self.measure().stderr)
        self.assertFalse(self.file.exists())

    def test_without_times_there_is_no_file(self):
        self.add("tracer", "#!/bin/sh\necho skipped: no device\n")
        self.assertIn("skipped: no device", self.measure().stderr)
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
