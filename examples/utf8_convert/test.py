#!/usr/bin/env python3
"""Runs utf8_convert on files and streams and compares what comes out with Python's codecs.

  test.py PROGRAM
"""

import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
# Names of the program, and of Python's codecs.
ENCODINGS = {
    "utf-16": "utf-16",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "utf-32": "utf-32",
    "utf-32le": "utf-32-le",
    "utf-32be": "utf-32-be",
    "iso-8859-1": "latin-1",
}


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


def check_byte_order_marks():
    """A mark tells the order where the name does not. Elsewhere it is a character."""
    for encoding in ("utf-16", "utf-32"):
        for order in ("le", "be"):
            codec = ENCODINGS[encoding + order]
            text = "\ufeffGrüße 😀 \ufeff".encode(codec)
            for name in (encoding, encoding + order):
                done = run("--from", name, "--to", "utf-8", "-", "-", text=text)
                expect(done.stdout == text.decode(ENCODINGS[name]).encode(), f"a mark of {codec}, read as {name}")
            for length in range(5):
                begin = text[:length]
                done = run("--from", encoding, "--to", "utf-8", "-", "-", text=begin)
                expect(done.stdout == begin.decode(encoding, "replace").encode(), f"{length} bytes of {codec}")
            lone = text + "\ud800".encode(codec, "surrogatepass")
            done = run("--from", encoding, "--to", "utf-8", "--errors", "strict", "-", "-", text=lone)
            expect(f"at byte {len(text)}:" in done.stderr.decode(), f"place of an error behind a mark of {codec}")


def check_latin1():
    every = bytes(range(256))
    done = run("--from", "latin1", "--to", "utf-8", "-", "-", text=every)
    expect(done.stdout == every.decode("latin-1").encode(), "every character of Latin-1")
    text = "Grüße, 世界 😀".encode()
    done = run("--to", "iso-8859-1", "--errors", "strict", "-", "-", text=text)
    expect(done.returncode == 1, "exit status of a character that Latin-1 lacks")
    expect("at byte 9: a code point above U+00FF" in done.stderr.decode(), "place of a character that Latin-1 lacks")
    expect(done.stdout == "Grüße, ".encode("latin-1"), "output before a character that Latin-1 lacks")


def check_with_iconv():
    for encoding in ("utf-16le", "utf-16be", "utf-32le", "utf-32be", "iso-8859-1"):
        text = "".join(map(chr, range(1, 256))) + ("" if encoding == "iso-8859-1" else "Ж世😀")
        convert = subprocess.run(["iconv", "-f", "utf-8", "-t", encoding], input=text.encode(), capture_output=True,
                                 check=True)
        done = run("--to", encoding, "-", "-", text=text.encode())
        expect(done.stdout == convert.stdout, f"{encoding} as iconv writes it")


def main():
    well_formed = "Grüße, 世界 😀\n" * 1000
    ill_formed = random_bytes(100_000)
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "in"), pathlib.Path(folder, "out")
        for text in (b"", well_formed.encode(), ill_formed):
            for encoding, codec in ENCODINGS.items():
                for errors, python_errors in (("replace", "replace"), ("skip", "ignore")):
                    source.write_bytes(text)
                    done = run("--from", "utf-8", "--to", encoding, "--errors", errors, str(source), str(target))
                    expected = text.decode("utf-8", python_errors).encode(codec, python_errors)
                    expect(done.returncode == 0, f"exit status of {encoding}, {errors}")
                    expect(target.read_bytes() == expected, f"{encoding}, {errors}")
                    back = run("--from", encoding, "--to", "utf-8", "-", "-", text=expected)
                    expect(back.stdout == expected.decode(codec).encode(), f"back from {encoding}")
        check_byte_order_marks()
        check_latin1()
        if shutil.which("iconv"):
            check_with_iconv()

        offset = strict_error_offset(ill_formed, "utf-8")
        done = run("--errors", "strict", "-", "-", text=ill_formed)
        expect(done.returncode == 1, "exit status of a strict error")
        message = f"standard input cannot be converted at byte {offset}:"
        expect(message in done.stderr.decode(), "place of a strict error")
        expect(done.stdout == ill_formed[:offset].decode().encode("utf-32"), "output before a strict error")

        # Text that ends inside an element, in UTF-16 also right after the first of two surrogates.
        for encoding, text, rest in (
            ("utf-16", "Grüße😀", b"b"),
            ("utf-16", "Grüße\ud83d", b"b"),
            ("utf-32", "Grüße😀", b"b"),
            ("utf-32", "Grüße😀", b"bcd"),
            ("utf-16be", "Grüße😀", b"b"),
            ("utf-16be", "Grüße\ud83d", b"b"),
            ("utf-32be", "Grüße😀", b"bcd"),
        ):
            codec = ENCODINGS[encoding]
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

        for wrong in (
            ("--from", "utf-8", "--to", "utf-8"),
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

        source.write_bytes(b"text")
        target.unlink()
        target.hardlink_to(source)
        for name in (source, target):
            onto_itself = run(str(source), str(name))
            expect(onto_itself.returncode == 2 and b"same file" in onto_itself.stderr, "a file onto itself")
            expect(source.read_bytes() == b"text", "a file that was to be converted onto itself")


main()
