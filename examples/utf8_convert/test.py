#!/usr/bin/env python3
"""Runs utf8_convert on files and streams and compares what comes out with Python's codecs.

  test.py PROGRAM
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
NATIVE = "le" if sys.byteorder == "little" else "be"


def run(*arguments, text=None):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, check=False)


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def random_bytes(count):
    letters = random.Random(1)
    pieces = []
    for _ in range(count):
        pieces.append(chr(letters.choice((65, 0xE9, 0x416, 0x4E2D, 0x1F600)) + letters.randrange(40)).encode())
        if letters.randrange(20) == 0:
            pieces.append(bytes([letters.randrange(0x80, 0x100)]))
    return b"".join(pieces)


def strict_error_offset(text, codec):
    try:
        text.decode(codec)
    except UnicodeDecodeError as error:
        return error.start


def convert_while_growing(source):
    """The status and the terminal output for a file that grows once the first output is there."""
    os.truncate(source, 5 << 24)
    terminal, stderr = os.openpty()
    command = [PROGRAM, "--cpu", "--to", "utf-16", str(source), "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr) as converting:
        converting.stdout.read(1)
        os.truncate(source, 10 << 24)
        while converting.stdout.read(1 << 20):
            pass
    shown = os.read(terminal, 1 << 16).decode()
    os.close(stderr)
    os.close(terminal)
    return converting.returncode, shown


def main():
    well_formed = "Grüße, 世界 😀\n" * 1000
    ill_formed = random_bytes(100_000)
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "in"), pathlib.Path(folder, "out")
        for text in (b"", well_formed.encode(), ill_formed):
            for encoding in ("utf-16", "utf-32"):
                for errors, codec in (("replace", "replace"), ("skip", "ignore")):
                    source.write_bytes(text)
                    done = run("--from", "utf-8", "--to", encoding, "--errors", errors, str(source), str(target))
                    expected = text.decode("utf-8", codec).encode(f"{encoding}-{NATIVE}")
                    expect(done.returncode == 0, f"exit status of {encoding}, {errors}")
                    expect(target.read_bytes() == expected, f"{encoding}, {errors}")
                    back = run("--from", encoding, "--to", "utf-8", "-", "-", text=expected)
                    expect(back.stdout == text.decode("utf-8", codec).encode(), f"back from {encoding}")

        offset = strict_error_offset(ill_formed, "utf-8")
        done = run("--errors", "strict", "-", "-", text=ill_formed)
        expect(done.returncode == 1, "exit status of a strict error")
        expect(f"standard input is ill-formed at byte {offset}:" in done.stderr.decode(), "place of a strict error")
        expect(done.stdout == ill_formed[:offset].decode().encode(f"utf-32-{NATIVE}"), "output before a strict error")

        # Text that ends inside an element, in UTF-16 also right after the first of two surrogates.
        for encoding, text, rest in (
            ("utf-16", "Grüße😀", b"b"),
            ("utf-16", "Grüße\ud83d", b"b"),
            ("utf-32", "Grüße😀", b"b"),
            ("utf-32", "Grüße😀", b"bcd"),
        ):
            codec = f"{encoding}-{NATIVE}"
            broken = text.encode(codec, "surrogatepass") + rest
            for errors, python_errors in (("replace", "replace"), ("skip", "ignore")):
                done = run("--from", encoding, "--to", "utf-8", "--errors", errors, "-", "-", text=broken)
                expect(done.returncode == 0, f"exit status of broken {encoding}")
                expect(done.stdout == broken.decode(codec, python_errors).encode(), f"broken {encoding}, {errors}")
            done = run("--from", encoding, "--to", "utf-8", "--errors", "strict", "-", "-", text=broken)
            offset = strict_error_offset(broken, codec)
            expect(done.returncode == 1, f"exit status of broken {encoding}, strict")
            expect(f"at byte {offset}:" in done.stderr.decode(), f"place where {encoding} breaks off")
            expect(done.stdout == broken[:offset].decode(codec).encode(), f"output before {encoding} breaks off")

        marked = b"\xef\xbb\xbfa"
        done = run("--drop-bom", "-", "-", text=marked)
        expect(done.stdout == "a".encode(f"utf-32-{NATIVE}"), "byte order mark")

        for wrong in (
            ("--from", "utf-8", "--to", "utf-8"),
            ("--from", "utf-16", "--to", "utf-8", "--drop-bom"),
            ("--from", "0", "--to", "1"),
            ("--errors", "ignore"),
        ):
            expect(run(*wrong, "-", "-").returncode == 2, f"usage error: {' '.join(wrong)}")
        expect(run("--from", "UTF-8", "--to", "Utf-16", "-", "-").returncode == 0, "names in upper case")
        missing = run(str(source / "missing"), "-")
        expect(missing.returncode == 2 and b"cannot read" in missing.stderr, "a file that is not there")
        in_a_folder = run(folder, str(target))
        expect(in_a_folder.returncode == 2 and b"cannot read" in in_a_folder.stderr, "a folder")
        unreadable = pathlib.Path("/proc/self/mem")  # can be opened, but reading fails
        if unreadable.exists():
            for name, stdin in ((str(unreadable), None), ("-", unreadable.open("rb"))):
                failing = subprocess.run([PROGRAM, name, "-"], stdin=stdin, capture_output=True, check=False)
                expect(failing.returncode == 2 and b"cannot read" in failing.stderr, "an error of reading")

        if hasattr(os, "openpty"):
            status, shown = convert_while_growing(source)
            expect(status == 0 and shown.count("100 %") > 1, "a file that grows")

        source.write_bytes(b"text")
        target.unlink()
        target.hardlink_to(source)
        for name in (source, target):
            onto_itself = run(str(source), str(name))
            expect(onto_itself.returncode == 2 and b"same file" in onto_itself.stderr, "a file onto itself")
            expect(source.read_bytes() == b"text", "a file that was to be converted onto itself")


main()
