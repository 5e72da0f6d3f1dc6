"""Tests what a changed src/main.cpp costs. Usage: edit_test.py CMAKE NINJA BUILD_FOLDER"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CMAKE, NINJA, BUILD = (sys.argv.pop(1) for _ in range(3))


def run(*command, folder=None):
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


class EditTest(unittest.TestCase):
    def test_compiles_two_small_files(self):
        """In a built tree. Ninja tells what it would do, as if the commit had become another one."""
        edited = PROJECT / "src" / "main.cpp"
        before = edited.stat()
        with tempfile.NamedTemporaryFile("w", suffix=".ninja") as rules:
            # By another name than build.ninja, Ninja does not stop to run CMake again.
            rules.write("include build.ninja\n")
            rules.flush()
            os.utime(edited)
            try:
                plan = run(NINJA, "-C", BUILD, "-f", rules.name, "-n", "stream_compaction_test")
            finally:
                os.utime(edited, ns=(before.st_atime_ns, before.st_mtime_ns))
        steps = re.findall(r"^\[\d+/\d+\] (.*)", plan, re.MULTILINE)
        compiled = [Path(step.split()[-1]).name for step in steps if step.startswith("Building")]
        self.assertEqual(sorted(compiled), ["main.cpp.o", "version_info.cpp.o"], plan)
        # Beside these, the version is looked up, and the program and its library are linked.
        self.assertEqual(len(steps), 5, plan)

    def test_the_version_is_that_of_the_edited_tree(self):
        with tempfile.TemporaryDirectory() as tree, tempfile.TemporaryDirectory() as generated:
            edited = Path(tree, "edited")
            written = Path(generated, "version_info.cpp")

            def built():
                run(CMAKE, f"-DTEMPLATE={PROJECT}/src/cli/version_info.cpp.in", f"-DOUTPUT={written}", "-P",
                    PROJECT / "external" / "VersionInfo.cmake", folder=tree)
                return re.search('gitCommit = "(.*)"', written.read_text(encoding="utf-8"))[1]

            edited.write_text("1", encoding="utf-8")
            run("git", "init", "-q", folder=tree)
            run("git", "add", ".", folder=tree)
            run("git", "-c", "user.name=A", "-c", "user.email=a", "commit", "-q", "-m", "1", folder=tree)
            commit = run("git", "rev-parse", "--short=10", "HEAD", folder=tree).strip()
            self.assertEqual(built(), commit)
            before = written.stat().st_mtime_ns
            self.assertEqual(built(), commit)
            self.assertEqual(written.stat().st_mtime_ns, before, "an equal file is to be left alone")
            edited.write_text("22", encoding="utf-8")
            self.assertEqual(built(), commit + "-dirty")


if __name__ == "__main__":
    unittest.main()
