#!/usr/bin/env python3
"""Completions in real shells, and the man page in its readers. The program is the first argument."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
NAME = "stream_compaction_test"

# What a user types, with a tab at the end of each unfinished word, and the arguments that the program gets.
TYPED = {
    "--hardw\tc\t": ["--hardware", "cpu"],
    "--hardware=g\t": ["--hardware=gpu"],
    "--op scan,parti\t": ["--op", "scan,partition"],
    "--op=scan,parti\t": ["--op=scan,partition"],
    "--input asc\t": ["--input", "asc"],  # ascending or ascii
    "--input ones,mo\t7": ["--input", "ones,mod:7"],
    "--input=kept:0.5,mod:4,ill\t9": ["--input=kept:0.5,mod:4,ill-formed:9"],
    "--variant ^cpu-pa\t": ["--variant", "^cpu-parallel"],
    "--variant cpu,^cpu-pa\t": ["--variant", "cpu,^cpu-parallel"],
    "--csv measu\t": ["--csv", "measurements.csv"],
    "comp\t--thr\t5% measu\t": ["compare", "--threshold", "5%", "measurements.csv"],
    "--type int8,dou\t --list": ["--type", "int8,double", "--list"],
}


def printed(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, encoding="utf-8").stdout


def needs(tool):
    return unittest.skipUnless(shutil.which(tool), f"{tool} is not installed")


class Terminal:
    """A shell in a pseudo-terminal."""

    def __init__(self, command, folder, **environment):
        child, self.screen = pty.fork()
        if child == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {**os.environ, "TERM": "dumb", "HOME": str(folder), **environment})
        self.child = child
        self.shown = ""

    def read_until(self, done, seconds=15):
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                raise TimeoutError(repr(self.shown))
            if select.select([self.screen], [], [], 0.05)[0]:
                try:
                    self.shown += os.read(self.screen, 4096).decode(errors="replace")
                except OSError:  # the shell has ended
                    if not done():
                        raise RuntimeError(self.shown) from None

    def is_ready(self):
        return re.sub(r"\x1b\[[\d;?]*\w", "", self.shown).endswith("ready> ")

    def type(self, keys):
        os.write(self.screen, keys.encode())

    def close(self):
        os.close(self.screen)
        os.waitpid(self.child, 0)


class ShellTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "measurements.csv").touch()

    def write_script(self, shell, name):
        script = self.folder / name
        script.write_text(printed("completions", shell), encoding="utf-8")
        return script

    def check_typing(self, command, start, **environment):
        """Types each line. A function takes the place of the program and writes its arguments to a file."""
        start_file = self.folder / "start"
        start_file.write_text(
            start + f'\n{NAME}() {{ printf "%s\\n" "$@" >.unfinished; mv .unfinished arguments; }}\nPS1="ready> "\n',
            encoding="utf-8")
        terminal = Terminal(command(start_file), self.folder, **environment)
        self.addCleanup(terminal.close)
        arguments = self.folder / "arguments"
        for keys, words in TYPED.items():
            with self.subTest(keys=keys):
                terminal.read_until(terminal.is_ready)
                terminal.shown = ""
                terminal.type(f"{NAME} {keys}\n")
                terminal.read_until(arguments.exists)
                typed = arguments.read_text(encoding="utf-8").splitlines()
                arguments.unlink()
                # zsh joins an option that it completes to its value.
                self.assertEqual(" ".join(typed).replace("=", " "), " ".join(words).replace("=", " "))


@needs("bash")
class BashTest(ShellTest):
    def candidates(self, line, breaks=" \t\n\"'><=;|&(:"):
        """What the function that `complete -p` names answers."""
        script = self.write_script("bash", "script")
        work = """source "$1"
            read -ra registered <<<"$(complete -p "$2")"
            COMP_WORDBREAKS=$4 COMP_LINE=$3 COMP_POINT=${#3}
            COMP_WORDS=($3) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            "${registered[2]}" "$2"
            printf '%s\\n' "${COMPREPLY[@]}" """
        done = subprocess.run(["bash", "--norc", "-uc", work, "test", script, NAME, f"{NAME} {line}", breaks],
                              check=True, capture_output=True, encoding="utf-8")
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_script_is_well_formed(self):
        subprocess.run(["bash", "-n", self.write_script("bash", "script")], check=True)

    def test_candidates(self):
        self.assertEqual(self.candidates("--hardware "), ["cpu", "gpu"])
        self.assertEqual(self.candidates("--op sc"), ["scan", "scan-squares"])
        self.assertEqual(self.candidates("--op=scan,pa"), ["scan,partition"])
        self.assertEqual(self.candidates("--op=scan,pa", breaks=" "), ["--op=scan,partition"])
        self.assertEqual(self.candidates("--op sort,"), [f"sort,{name}" for name in self.candidates("--op ")])
        self.assertEqual(self.candidates("--input kept:0.5,mo"), ["0.5,mod:"])
        self.assertEqual(self.candidates("--input kept:0.5,mo", breaks=" "), ["kept:0.5,mod:"])
        self.assertEqual(self.candidates("--size "), [])
        self.assertEqual(self.candidates("--csv "), [])  # the shell completes names of files
        self.assertEqual(self.candidates("--s"), ["--size", "--sweep", "--shape", "--seed", "--samples"])
        self.assertEqual(self.candidates("co"), ["compare"])
        self.assertEqual(self.candidates("compare --"), ["--threshold", "--markdown", "--help"])
        self.assertEqual(self.candidates("compare old --m"), ["--markdown"])

    def test_names_excluded_variants_behind_the_mark(self):
        names = self.candidates("--variant ")
        self.assertIn("cpu-parallel", names)
        self.assertEqual(self.candidates("--variant ^"), [f"^{name}" for name in names])

    def test_typing(self):
        script = self.write_script("bash", "script")
        self.check_typing(lambda start: ["bash", "--noprofile", "--rcfile", str(start), "-i"],
                          f"bind 'set bell-style none'; source '{script}'")


@needs("zsh")
class ZshTest(ShellTest):
    def test_script_is_well_formed(self):
        subprocess.run(["zsh", "-n", self.write_script("zsh", "script")], check=True)

    def test_typing(self):
        self.write_script("zsh", f"_{NAME}")
        self.check_typing(lambda start: (start.rename(start.with_name(".zshrc")), ["zsh", "-d", "-i"])[1],
                          "unsetopt beep prompt_sp; fpath=($PWD $fpath)\n"
                          "autoload -Uz compinit; compinit -u -D",
                          ZDOTDIR=str(self.folder))

    def test_script_that_is_sourced(self):
        script = self.write_script("zsh", "script")
        self.check_typing(lambda start: (start.rename(start.with_name(".zshrc")), ["zsh", "-d", "-i"])[1],
                          f"unsetopt beep prompt_sp; autoload -Uz compinit; compinit -u -D; source '{script}'",
                          ZDOTDIR=str(self.folder))


@needs("fish")
class FishTest(ShellTest):
    def candidates(self, line):
        script = self.write_script("fish", "script")
        done = subprocess.run(["fish", "-c", "source $argv[1]; complete -C $argv[2]", script, f"{NAME} {line}"],
                              check=True, capture_output=True, encoding="utf-8", cwd=self.folder,
                              env={**os.environ, "HOME": str(self.folder)})
        self.assertEqual(done.stderr, "")
        return [candidate.split("\t")[0] for candidate in done.stdout.splitlines()]

    def test_script_is_well_formed(self):
        subprocess.run(["fish", "--no-execute", self.write_script("fish", "script")], check=True)

    def test_candidates(self):
        self.assertEqual(self.candidates("--hardware "), ["cpu", "gpu"])
        self.assertEqual(self.candidates("--op sc"), ["scan", "scan-squares"])
        self.assertEqual(self.candidates("--op=scan,part"), ["--op=scan,partition"])
        self.assertEqual(self.candidates("--op scan,part"), ["scan,partition"])
        self.assertEqual(self.candidates("--input kept:0.5,mo"), ["kept:0.5,mod:"])
        self.assertEqual(self.candidates("--variant cpu,^cpu-p"), ["cpu,^cpu-parallel"])
        self.assertEqual(self.candidates("--size "), [])
        self.assertIn("measurements.csv", self.candidates("--csv measu"))
        self.assertEqual(sorted(self.candidates("--ty")), ["--type"])
        self.assertEqual(self.candidates("comp"), ["compare"])
        self.assertEqual(sorted(self.candidates("compare --")), ["--help", "--markdown", "--threshold"])
        self.assertIn("measurements.csv", self.candidates("compare measu"))


class ManPageTest(unittest.TestCase):
    def setUp(self):
        self.page = Path(self.enterContext(tempfile.TemporaryDirectory())) / f"{NAME}.1"
        self.page.write_text(printed("man"), encoding="utf-8")

    def check_is_silent(self, *command):
        done = subprocess.run([*command, self.page], capture_output=True, encoding="utf-8", errors="replace",
                              env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""})
        return done.stdout, done.stderr

    @needs("man")
    def test_man_reads_it_without_a_warning(self):
        text, complaints = self.check_is_silent("man", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l")
        self.assertEqual(complaints, "")
        self.assertIn("N", text)

    @needs("mandoc")
    def test_mandoc_has_nothing_to_say(self):
        self.assertEqual(self.check_is_silent("mandoc", "-T", "lint"), ("", ""))


if __name__ == "__main__":
    unittest.main()
