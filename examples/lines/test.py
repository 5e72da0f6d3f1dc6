#!/usr/bin/env python3
"""Runs lines on files and compares what it prints with Python's lines, and with wc where there is one.

  test.py PROGRAM
"""

import io
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
PIECE = 1 << 22  # bytes that the program reads at a time


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, check=False)


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def check(file, text, what):
    file.write_bytes(text)
    lines = list(io.BytesIO(text))
    count = run(file).stdout
    expect(count == b"%d\n" % text.count(b"\n"), f"number of lines of {what}")
    if shutil.which("wc"):
        wc = subprocess.run(["wc", "-l"], input=text, capture_output=True, check=True)
        expect(int(count) == int(wc.stdout), f"number of lines of {what}, by wc")
    offset = 0
    offsets = []
    for line in lines:
        offsets.append(offset)
        offset += len(line)
    printed = list(map(int, run("--offsets", file).stdout.split()))
    expect(printed == offsets, f"offsets of {what}")


def random_lines(count, ends):
    """Lines of a few lengths, of which some are empty."""
    random_ = random.Random(count)
    lines = []
    for _ in range(count):
        lines.append(b"ab\rc" * random_.choice((0, 0, 1, 2, 20, 500)) + random_.choice(ends))
    return b"".join(lines)


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "text")
        file.write_bytes(b"")
        if "no GPU" in (message := run(file).stderr.decode()):
            print(f"skipped: {message}")
            return
        for text in (b"", b"\n", b"\r\n", b"\r", b"a", b"a\n", b"a\r\n", b"a\r\r\n", b"\n\n", b"\r\n\n", b"\na",
                     b"a\n\r"):
            check(file, text, repr(text))
        for size in (31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 65_537):
            check(file, b"\n" * size, f"{size} line feeds")
            check(file, b"a" * size, f"{size} letters")
            check(file, b"a" * (size - 1) + b"\n", f"{size} bytes with a line feed at the end")
        for ends in ((b"\n",), (b"\r\n",), (b"\n", b"\r\n")):
            text = random_lines(2000, ends)
            check(file, text, f"lines with {ends}")
            check(file, text + b"last", f"lines with {ends} and one without")
        # Ends of lines at the border of two pieces.
        for around in (b"\n", b"\r\n"):
            for behind in range(len(around) + 1):
                text = b"first\n".ljust(PIECE - len(around) + behind, b"x") + around + b"last"
                check(file, text, f"{around} {behind} bytes behind a border")

        missing = run(pathlib.Path(folder, "missing"))
        expect(missing.returncode == 2 and b"cannot read" in missing.stderr, "a file that is not there")
        in_a_folder = run(folder)
        expect(in_a_folder.returncode == 2 and b"cannot read" in in_a_folder.stderr, "a folder")


main()
