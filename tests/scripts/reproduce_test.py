#!/usr/bin/env python3
"""scripts/reproduce.sh and measure.sh with a stand-in for the program, which records how it was called."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from sample_data import ROOT
from measurements import CARDS  # isort: skip

PROGRAM = """#!/bin/sh
[ "$1" = --list ] && { cat "$(dirname "$0")/variants" 2>/dev/null; exit 0; }
echo "GPU       none: no card in the test"
echo "$*" >>"$(dirname "$0")/calls"
while [ $# -gt 0 ]; do
    [ "$1" = --csv ] && echo row >>"$2"
    shift
done
# Fails at the call whose number is in that file.
[ "$(wc -l <"$(dirname "$0")/calls")" = "$(cat "$(dirname "$0")/fails" 2>/dev/null)" ] && exit 1
echo "1 passed, 0 failed, 0 skipped"
"""


class MeasureTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.program = self.folder / "program"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)

    def call(self, script, *arguments):
        return subprocess.run([ROOT / "scripts" / script, *map(str, arguments)], capture_output=True, text=True,
                              check=False, env=os.environ | {"REPRODUCED": str(self.folder / "reproduced")})

    def measure(self, *arguments):
        return self.call("measure.sh", *arguments, self.folder, self.program, "types")

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def test_a_topic_is_measured_anew(self):
        for _ in range(2):
            self.assertEqual(self.measure().returncode, 0)
        self.assertEqual((self.folder / "types.csv").read_text(), "row\nrow\n")
        self.assertFalse([call for call in self.calls() if "--resume" in call])

    def test_the_newest_peers_are_measured_if_the_program_has_them(self):
        self.assertEqual(self.measure().returncode, 0)
        self.assertIn("--variant single-pass,cub --type", self.calls()[0])
        (self.folder / "variants").write_text("scan       cub-latest    GPU      latest cub scan     -\n")
        self.assertEqual(self.measure().returncode, 0)
        self.assertIn("--variant single-pass,cub,cub-latest --type", self.calls()[-1])

    def test_resuming_keeps_what_is_there(self):
        for _ in range(2):
            self.assertEqual(self.measure("--resume").returncode, 0)
        self.assertEqual((self.folder / "types.csv").read_text(), "row\n" * 4)
        self.assertTrue(all("--resume" in call for call in self.calls()))

    def test_a_topic_that_fails_leaves_the_files_as_they_are(self):
        (self.folder / "types.csv").write_text("committed\n")
        (self.folder / "fails").write_text("2")
        done = self.measure()
        self.assertNotEqual(done.returncode, 0)
        unfinished = self.folder / "unfinished"
        self.assertIn(f"types is not finished; what was measured of it is in {unfinished}", done.stderr)
        self.assertEqual((self.folder / "types.csv").read_text(), "committed\n")
        self.assertEqual((unfinished / "types.csv").read_text(), "row\nrow\n")
        # The next run goes on where that one failed.
        self.assertEqual(self.measure("--resume").returncode, 0)
        self.assertEqual((self.folder / "types.csv").read_text(), "row\n" * 4)
        self.assertFalse(unfinished.exists())

    def test_an_unknown_topic_is_named_before_anything_is_measured(self):
        done = self.call("measure.sh", self.folder, self.program, "types", "typos")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'typos'", done.stderr)
        self.assertFalse((self.folder / "calls").exists())

    def test_an_unknown_topic_is_not_taken_for_one_that_needs_a_card(self):
        done = self.call("reproduce.sh", "--program", self.program, "--only", "row_sum_study,typos")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'typos'", done.stderr)
        self.assertFalse((self.folder / "reproduced").exists())

    def test_without_a_card_the_rest_is_named(self):
        done = self.call("reproduce.sh", "--program", self.program, "--only", "types,row_sum_study")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no card in the test", done.stderr)
        self.assertIn("they need a GPU: types\n", done.stderr)
        self.assertEqual([path.name for path in (self.folder / "reproduced").iterdir()], ["row_sum_study.csv"])

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is missing")
    def test_pages_are_made_in_a_tree_that_was_never_built(self):
        self.program.write_text(PROGRAM.replace("none: no card in the test", "some card"))
        tree = self.folder / "tree"
        for name in ("scripts", "data", "docs", "stream_compaction"):
            shutil.copytree(ROOT / name, tree / name)
        shutil.copy(ROOT / "README.md", tree)
        # By the Python that has matplotlib, which need not be the first on the PATH.
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        done = subprocess.run([tree / "scripts" / "reproduce.sh", "--program", self.program, "--only", "pages"],
                              capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((tree / "build" / "report.html").exists())
        # Those need a browser or an example.
        others = {"explore_page.png", "report_page.png", "ray_compaction.png"}
        self.assertEqual({path.name for path in (tree / "img").iterdir()},
                         {path.name for path in (ROOT / "img").iterdir()} - others)

    def test_every_file_in_data_has_a_topic(self):
        """Or data/README.md calls it historical."""
        made = set(re.findall(r"\S+\.(?:csv|txt)", self.call("reproduce.sh", "--list").stdout))
        files = {path.name for card in CARDS for path in (ROOT / "data" / card).iterdir()
                 if path.suffix in (".csv", ".txt")}
        self.assertEqual(files - made, set())


if __name__ == "__main__":
    unittest.main()
