#!/usr/bin/env python3
"""What bash completes. The program is the first argument."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from sample_data import ROOT

PROGRAM = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class CompletionsTest(unittest.TestCase):
    def candidates(self, line, breaks=" \t\n\"'><=;|&(:"):
        """What the function answers that `complete -p` names."""
        work = """source "$1"
            read -ra registered <<<"$(complete -p "$2")"
            COMP_WORDBREAKS=$4 COMP_LINE=$3 COMP_POINT=${#3}
            "${registered[2]}" "$2"
            printf '%s\\n' "${COMPREPLY[@]}" """
        done = subprocess.run(["bash", "--norc", "-uc", work, "test", ROOT / "src/completions.bash", PROGRAM.name,
                               f"{PROGRAM.name} {line}", breaks],
                              check=True, capture_output=True, encoding="utf-8",
                              env={**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"})
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_candidates(self):
        self.assertEqual(self.candidates("--hardware "), ["cpu", "gpu"])
        self.assertEqual(self.candidates("--op sc"), ["scan", "scan-squares"])
        self.assertEqual(self.candidates("--op=scan,pa"), ["scan,partition"])
        self.assertEqual(self.candidates("--op=scan,pa", breaks=" "), ["--op=scan,partition"])
        self.assertEqual(self.candidates("--op sort,"), [f"sort,{name}" for name in self.candidates("--op ")])
        self.assertEqual(self.candidates("--input kept:0.5,mo"), ["0.5,mod:"])
        self.assertEqual(self.candidates("--input kept:0.5,mo", breaks=" "), ["kept:0.5,mod:"])
        self.assertEqual(self.candidates("--csv "), [])  # the shell completes names of files
        self.assertEqual(self.candidates("--s"), ["--size", "--sweep", "--shape", "--seed", "--samples"])
        self.assertEqual(self.candidates("co"), ["compare"])
        self.assertEqual(self.candidates("compare old --"), ["--threshold", "--help"])

    def test_excluded_variants_follow_the_mark(self):
        names = self.candidates("--variant ")
        self.assertIn("cpu-parallel", names)
        self.assertEqual(self.candidates("--variant cpu,^"), [f"cpu,^{name}" for name in names])


if __name__ == "__main__":
    unittest.main()
