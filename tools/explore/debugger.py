#!/usr/bin/env python3
"""Makes the transcript of gdb in docs/simulator.md.

    tools/explore/debugger.py            types the page's commands into gdb and writes what it answers
    tools/explore/debugger.py --check    writes nothing; exit status 1 if the page is out of date, 77 if gdb is not
                                         there or may not run programs

The commands are those of the page. gdb runs naive_scan (tools/explore) of the preset `simulated`. Addresses and numbers
of threads differ from machine to machine; only where they are equal counts.
"""

import argparse
import difflib
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "simulator.md"
PROGRAM = ROOT / "build" / "simulated" / "bin" / "naive_scan"
NO_DEBUGGER = 77  # exit status: nothing was checked
COMMAND = re.compile(r"^\(gdb\) (.*)$", re.MULTILINE)
BLOCK = re.compile(r"(?<=```\n)\(gdb\) .*?(?=```\n)", re.DOTALL)
SETTINGS = ("set width 0", "set confirm off", "set style enabled off", "set startup-with-shell off")
# Of a machine, not of the program. A processor without debug registers, as in some virtual machines, has no hardware
# watchpoints.
OF_MACHINE = re.compile(r"0x[0-9a-f]{12}|LWP \d+|Breakpoint 1 at \w+|(?:Hardware w|W)(?=atchpoint)")


def answers(program, commands):
    """What gdb prints for each of the commands."""
    mark = "\x01"
    arguments = [argument for setting in SETTINGS for argument in ("-iex", setting)]
    for command in commands:
        arguments += ["-ex", f"echo {mark}", "-ex", command]
    done = subprocess.run(["gdb", "-nx", "-q", "-batch", *arguments, program], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=300)
    return done.stdout.split(mark)[1:]


def shortened(answer):
    """Without what comes before a stop, the folder of the project, and where other threads wait."""
    answer = re.sub(r"^.*\n(?=Thread \d+ \S+ hit )", "", answer, flags=re.DOTALL).replace(f"{ROOT}/", ".../")
    answer = re.sub(r"^( +\d .*?\) ).*", r"\1...", answer, flags=re.MULTILINE)
    return re.sub(r" +$", "", answer, flags=re.MULTILINE).strip("\n")


def rewritten(text, program):
    """The page with the answers of gdb; None if gdb may not run the program."""
    commands = COMMAND.findall("".join(BLOCK.findall(text)))
    if not commands:
        sys.exit(f"debugger.py: {PAGE} has no transcript")
    answered = answers(program, commands)
    if any("ptrace: " in answer for answer in answered):
        return None
    entries = iter([f"(gdb) {c}\n{shortened(a)}\n" for c, a in zip(commands, answered, strict=True)])
    return BLOCK.sub(lambda block: "".join(next(entries) for _ in COMMAND.findall(block[0])), text)


def canonical(text):
    """With numbers, in the order of their appearance, in place of what differs from machine to machine."""
    names = {}
    text = re.sub(" +", " ", text)  # of columns
    return OF_MACHINE.sub(lambda match: f"#{names.setdefault(match[0], len(names))}", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM, help="naive_scan of the preset simulated")
    parser.add_argument("--check", action="store_true", help="only tell whether the page is up to date")
    arguments = parser.parse_args()
    if not arguments.program.exists():
        sys.exit(f"debugger.py: {arguments.program} was not found: build the target naive_scan of the preset simulated")
    old = PAGE.read_text(encoding="utf-8")
    new = rewritten(old, arguments.program) if shutil.which("gdb") else None
    if new is None:
        print("debugger.py: NOT CHECKED: there is no gdb, or it may not run programs here")
        return NO_DEBUGGER
    if canonical(new) == canonical(old):
        return 0
    if not arguments.check:
        PAGE.write_text(new, encoding="utf-8")
        return 0
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(PAGE), "gdb"))
    sys.exit(f"debugger.py: {PAGE} is out of date: run tools/explore/debugger.py")


if __name__ == "__main__":
    sys.exit(main())
