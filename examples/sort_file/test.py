#!/usr/bin/env python3
"""Runs sort_file on files and compares what comes out with Python's sorted.

  test.py PROGRAM
"""

import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
FORMATS = {"int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "float": "f", "double": "d"}


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, check=False)


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def random_records(name, value_bytes, count):
    """Records with keys of which some are equal, as pairs of a key and the bytes of the record."""
    numbers = random.Random(name)
    code = FORMATS[name]
    records = []
    for i in range(count):
        key = numbers.randrange(count) if code in "IQ" else numbers.randrange(-count // 2, count // 2)
        value = i.to_bytes(8, "little")[:value_bytes].ljust(value_bytes, b"\0")
        records.append((key, struct.pack(f"={code}", key) + value))
    return records


def joined(records):
    return b"".join(record for _, record in records)


def check_orders(folder):
    source, target = folder / "in", folder / "out"
    for name in FORMATS:
        for value_bytes, options in ((0, ()), (5, ("--descending",)), (8, ())):
            records = random_records(name, value_bytes, 3001)
            source.write_bytes(joined(records))
            # A file that fits on the card, one that does not, and one that does not fit into the host's memory either.
            # Two types of keys show all three.
            little = ("--device-memory", "80KiB")
            for limits in ((), little, (*little, "--memory", "1KiB")) if name in ("int32", "double") else (little,):
                done = run("--type", name, "--values", value_bytes, *options, *limits, source, target)
                expect(done.returncode == 0, f"exit status of {name}: {done.stderr.decode()}")
                expected = sorted(records, key=lambda record: record[0], reverse=bool(options))
                expect(target.read_bytes() == joined(expected), f"{name}, {value_bytes} bytes of values, {limits}")
                expect(sorted(folder.iterdir()) == [source, target], "temporary files are gone")


def check_replacing(folder):
    file = folder / "file"
    file.write_bytes(struct.pack("=4i", 3, -1, 2, 0))
    expect(run(file, file).returncode == 0, "exit status of a file onto itself")
    expect(file.read_bytes() == struct.pack("=4i", -1, 0, 2, 3), "a file onto itself")
    file.write_bytes(b"")
    expect(run(file, file).returncode == 0 and file.read_bytes() == b"", "an empty file")

    file.write_bytes(struct.pack("=2i", 5, 4))
    file.chmod(0o600)
    link = folder / "link"
    link.symlink_to(file)
    expect(run(file, link).returncode == 0 and link.is_symlink(), "a link stays a link")
    expect(file.read_bytes() == struct.pack("=2i", 4, 5), "the file behind a link")
    expect(file.stat().st_mode & 0o777 == 0o600, "nobody else may read the output of a private file")


def check_interruption(folder):
    source, target = folder / "in", folder / "out"
    source.write_bytes(random.Random(1).randbytes(1 << 22))
    target.write_bytes(b"before")
    for interruption in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([PROGRAM, "--device-memory", "200KiB", "--memory", "1KiB", str(source), str(target)],
                              stderr=subprocess.PIPE) as sorting:
            while not (folder / "out.runs").exists() and sorting.poll() is None:
                time.sleep(0.01)
            sorting.send_signal(interruption)
            message = sorting.stderr.read().decode()
        expect(sorting.returncode == 130 and "interrupted" in message, f"exit status of an interruption: {message}")
        expect(target.read_bytes() == b"before", "the output of an interruption")
        expect(sorted(folder.iterdir()) == [source, target], "temporary files are gone after an interruption")


def check_errors(folder):
    source, target = folder / "in", folder / "out"
    source.write_bytes(bytes(18))

    def expect_failure(what, message, *arguments):
        done = run(*arguments)
        expect(done.returncode == 2 and message in done.stderr.decode(), f"{what}: {done.stderr.decode()}")
        expect(not target.exists() and not (folder / "out.part").exists(), f"{what}: no output")

    expect_failure("a part of a key", "expected a multiple of 4 bytes, got 18", source, target)
    expect_failure("a part of a record", "expected a multiple of 12", "--type", "double", "--values", 4, source, target)
    expect_failure("a file that is not there", "cannot read", folder / "missing", target)
    expect_failure("a folder", "cannot read", folder, target)
    expect_failure("values of more bytes than there are", "--values", "--values", 2**64 - 4, source, target)
    expect_failure("an unknown type", "--type", "--type", "half", source, target)
    expect_failure("little memory", "deviceBytes: expected at least", "--values", 2, "--device-memory", 100, source,
                   target)
    expect_failure("a device that is not there", "devices: expected", "--values", 2, "--devices", "99", source, target)
    expect_failure("a folder that is not there", "", "--values", 2, source, folder / "none" / "out")
    (folder / "out.part").write_bytes(b"")
    done = run("--values", 2, source, target)
    expect(done.returncode == 2 and "cannot create" in done.stderr.decode(), "a temporary file that is there already")
    expect((folder / "out.part").exists(), "the file of another run is left alone")


def main():
    for check in (check_orders, check_replacing, check_interruption, check_errors):
        with tempfile.TemporaryDirectory() as folder:
            probe = pathlib.Path(folder, "probe")
            probe.write_bytes(b"")
            if "no GPU" in (message := run(probe, probe).stderr.decode()):
                print(f"skipped: {message}")
                return
            probe.unlink()
            check(pathlib.Path(folder))


main()
