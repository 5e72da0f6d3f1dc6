#!/usr/bin/env python3
"""scripts/reproduce.sh with a stand-in for the program, which records how it was called; and what run.sh refuses."""

import csv
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from sample_data import ROOT

PROGRAM = """#!/bin/sh
here=$(dirname "$0")
[ "$1" = --list ] && { cat "$here/variants" 2>/dev/null; exit 0; }
echo "$*" >>"$here/calls"
case " $* " in *" --csv - "*) printf 'gpu,...\\nSome Card,9.0,13.1,13.0,0123456789,...\\n'; exit 0;; esac
echo "GPU       $(cat "$here/card")"
while [ $# -gt 0 ]; do
    [ "$1" = --csv ] && echo row >>"$2"
    shift
done
# Fails at the call whose number is in that file.
[ "$(wc -l <"$here/calls")" = "$(cat "$here/fails" 2>/dev/null)" ] && exit 1
echo "1 passed, 0 failed, 0 skipped"
"""
TRACER = """#!/bin/sh
echo "$2 x $4 pixels, 16 frames of a sample per pixel, at most 12 bounces"
echo "                     ms per frame        least         most  frames per second"
echo "loop of the host            0.807        0.803        0.809               1239"
echo "loop in a graph             0.658        0.657        0.659               1520"
"""


class ReproduceTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.out = self.folder / "out"
        self.out.mkdir()
        self.program = self.add("bin/program", PROGRAM)
        self.add("bin/card", "Some Card, compute capability 9.0")
        self.csv = self.out / "block_sizes.csv"

    def add(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def reproduce(self, topics, *options):
        return subprocess.run([ROOT / "scripts/reproduce.sh", "--program", self.program, "--folder", self.out, "--only",
                               topics, *options], capture_output=True, text=True, check=False)

    def calls(self):
        return [call for call in (self.folder / "bin/calls").read_text().splitlines() if "--csv" in call]

    def test_a_topic_is_measured_anew_or_resumed(self):
        for options, rows, resumes in (((), 1, 0), ((), 1, 0), (("--resume",), 2, 1)):
            done = self.reproduce("block_sizes", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.csv.read_text(), "row\n" * rows)
            self.assertEqual(self.calls()[-1].count("--resume"), resumes)

    def test_the_newest_peers_are_measured_if_the_program_has_them(self):
        self.reproduce("kept_fractions")
        self.assertIn("--variant single-pass,cub --input", self.calls()[-1])
        self.add("bin/variants", "scan       cub-latest    GPU      latest cub scan     -\n")
        self.reproduce("kept_fractions")
        self.assertIn("--variant single-pass,cub,cub-latest --input", self.calls()[-1])

    def test_a_topic_that_fails_leaves_the_files_as_they_are(self):
        file, unfinished = self.out / "runs.csv", self.out / "unfinished"
        file.write_text("committed\n")
        self.add("bin/fails", "3")  # after the call that names the card
        done = self.reproduce("runs")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"runs is not finished; what was measured of it is in {unfinished}", done.stderr)
        self.assertEqual(file.read_text(), "committed\n")
        self.assertEqual((unfinished / "runs.csv").read_text(), "row\nrow\n")
        # The next run goes on where that one failed.
        self.assertEqual(self.reproduce("runs", "--resume").returncode, 0)
        self.assertEqual(file.read_text(), "row\n" * 4)
        self.assertFalse(unfinished.exists())

    def test_an_unknown_topic_is_named_before_anything_is_measured(self):
        done = self.reproduce("block_sizes,typos")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'typos'", done.stderr)
        self.assertFalse((self.folder / "bin/calls").exists())

    def test_without_a_card_the_rest_is_named(self):
        self.add("bin/card", "none: no card in the test")
        done = self.reproduce("block_sizes,report")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no card in the test", done.stderr)
        self.assertIn("they need a GPU: block_sizes\n", done.stderr)
        self.assertEqual([path.name for path in self.out.iterdir()], ["report_2pow20.txt"])

    def test_frames_of_both_loops(self):
        self.add("examples/ray_compaction", TRACER)
        done = self.reproduce("frames")
        self.assertEqual(done.returncode, 0, done.stderr)
        with (self.out / "frames.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["width"], row["loop"], row["median_us"]) for row in rows],
                         [(width, loop, us) for width in ("256", "640", "1280")
                          for loop, us in (("host", "807"), ("graph", "658"))])
        expected = {"gpu": "Some Card", "toolkit": "13.0", "commit": "0123456789", "height": "1024", "min_us": "657",
                    "max_us": "659", "verified": "true"}
        self.assertEqual(rows[-1] | expected, rows[-1])
        for failure in (TRACER + "exit 1\n", "#!/bin/sh\necho skipped: no device\n"):
            self.add("examples/ray_compaction", failure)
            self.assertNotEqual(self.reproduce("frames").returncode, 0)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is missing")
    def test_pages_are_made_in_a_tree_that_was_never_built(self):
        tree = self.folder / "tree"
        for name in ("scripts", "data", "docs", "tools"):
            shutil.copytree(ROOT / name, tree / name)
        shutil.copy(ROOT / "README.md", tree)
        # By the Python that has matplotlib, which need not be the first on the PATH.
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        done = subprocess.run([tree / "scripts/reproduce.sh", "--program", self.program, "--only", "pages"],
                              capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((tree / "build/report.html").exists())
        self.assertEqual({path.name for path in (tree / "img").iterdir()},
                         {path.name for path in (ROOT / "img").glob("*.svg")})

    def test_every_file_in_data_has_a_topic(self):
        done = subprocess.run([ROOT / "scripts/reproduce.sh", "--list"], capture_output=True, text=True, check=True)
        files = {path.name for path in (ROOT / "data").glob("h*/*")}
        self.assertEqual(files - set(done.stdout.split()), set())


class RunTest(unittest.TestCase):
    def test_a_run_is_either_on_a_card_or_simulated(self):
        for options in (["--simulate", "--cuda"], ["--cuda", "--op", "scan", "--simulate"]):
            for script in ("run.sh", "test.sh"):
                done = subprocess.run([ROOT / "scripts" / script, *options], capture_output=True, text=True,
                                      check=False, env={"PATH": "/usr/bin:/bin"})
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stdout, "")
                self.assertIn("error: --cuda and --simulate exclude each other\n", done.stderr)
                self.assertNotIn("Building", done.stderr)


if __name__ == "__main__":
    unittest.main()
