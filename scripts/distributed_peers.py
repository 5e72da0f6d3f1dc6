#!/usr/bin/env python3
"""Measures other libraries that scan and sort over several GPUs, beside the topic `distributed` of measure.sh.

    scripts/distributed_peers.py [--size N,N] FOLDER PROGRAM

Writes FOLDER/distributed_peers.csv, with the columns of the program's files. Checks every result. A peer that is not
installed is named and has no rows; without any peer the file stays as it is.

cuPyNumeric computes cumsum and sort of keys that lie on the GPUs already.
RMG Sort sorts uint32 from page-locked host memory into host memory, and its times include the copies. The variant
out-of-core does the same.
"""

import argparse
import collections
import csv
import datetime
import importlib.util
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys

SIZES = "2^16,2^20,2^24,2^25,2^28,2^29,2^30"  # strong scaling; weak scaling adds 2^28 per GPU
TRIALS = 7
INPUTS = {"scan": "mod:50", "sort": "uniform"}

Measured = collections.namedtuple("Measured", "operation variant type n us right library")
Peer = collections.namedtuple("Peer", "name is_installed how measure")


def complain(text):
    print(f"distributed_peers.py: {text}", file=sys.stderr)


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def require_success(done):
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr[-1000:].strip()}")


def cupynumeric(gpus, sizes):
    script = pathlib.Path(__file__).resolve().parent / "cupynumeric_times.py"
    done = run("legate", "--gpus", gpus, script, TRIALS, *sizes)
    for line in done.stdout.splitlines():
        if line.startswith("{"):  # others are legate's
            yield Measured(variant="cupynumeric", type="int32", **json.loads(line))
    require_success(done)


def rmg_sort(gpus, sizes):
    devices = ",".join(map(str, range(gpus)))
    for n in sizes:
        us, right = [], True
        for _ in range(TRIALS):
            done = run("radix-mgpu-sort", n, devices, "uint32", "uniform", 0, "csv")
            require_success(done)
            us.append(1000 * float(next(csv.reader([done.stdout]))[-1]))  # the last column is the total in ms
            right = right and "Error" not in done.stderr  # a wrong result does not change the exit status
        yield Measured("sort", "rmg-sort", "uint32", n, us, right, "RMG Sort")


def peers():
    has_cupynumeric = shutil.which("legate") and importlib.util.find_spec("cupynumeric")
    return [Peer("cuPyNumeric", has_cupynumeric, "pip install nvidia-cupynumeric, with its legate on the PATH",
                 cupynumeric),
            Peer("RMG Sort", shutil.which("radix-mgpu-sort"),
                 "build github.com/hpides/rmg-sort with CUDA 12, with its radix-mgpu-sort on the PATH", rmg_sort)]


def noise_percent(us):
    """As in src/measure/measure.cpp."""
    us = sorted(us)
    lower = int(max(0, len(us) / 2 - 0.98 * math.sqrt(len(us))))
    return 100 * (us[-1 - lower] - us[lower]) / 2 / statistics.median(us)


def row_of(measured, gpus):
    row = {"timestamp": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
           "operation": measured.operation, "variant": measured.variant, "type": measured.type, "n": measured.n,
           "input": INPUTS[measured.operation], "mode": "warm", "trials": len(measured.us), "bytes": 8 * measured.n,
           "verified": str(measured.right).lower(), "library": measured.library, "gpus": gpus}
    if measured.right:
        median = statistics.median(measured.us)
        times = {"median_us": median, "min_us": min(measured.us), "max_us": max(measured.us),
                 "gbps": row["bytes"] / median / 1000, "noise_percent": noise_percent(measured.us)}
        row |= {column: f"{value:.3f}" for column, value in times.items()}
    return row


def row_of_program(program):
    """A row of the program's files, for its columns and for what it says of the card and the commit."""
    done = run(program, "--no-color", "--op", "scan", "--variant", "single-pass", "--size", "1", "--csv", "-")
    row = next(csv.DictReader(done.stdout.splitlines()), None)
    if row is None:
        sys.exit(f"{program} measures nothing here: {done.stderr[-1000:].strip()}")
    return row


def number(text):
    return 1 << int(text[2:]) if text.startswith("2^") else int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--size", help=f"elements [{SIZES} and 2^28 per GPU]")
    options = parser.parse_args()

    for peer in peers():
        if not peer.is_installed:
            complain(f"{peer.name} is not installed and not measured; {peer.how}")
    installed = [peer for peer in peers() if peer.is_installed]
    if not installed:
        sys.exit(1)
    program = row_of_program(options.program)
    card = {column: program[column] for column in ("gpu", "compute_capability", "driver", "commit")}
    count = len(run("nvidia-smi", "-L").stdout.splitlines())
    if count < 2:
        sys.exit(f"distributed_peers.py: it takes two GPUs or more; nvidia-smi lists {count}")

    rows, failed = [], False
    for gpus in (1 << k for k in range(1, count.bit_length())):
        sizes = [number(text) for text in (options.size or f"{SIZES},{gpus << 28}").split(",")]
        for peer in installed:
            try:
                for measured in peer.measure(gpus, list(dict.fromkeys(sizes))):
                    rows.append(card | row_of(measured, gpus))
                    print(", ".join(str(rows[-1].get(column, "wrong")) for column in
                                    ("operation", "variant", "n", "gpus", "median_us")), flush=True)
                    failed = failed or not measured.right
            except RuntimeError as error:
                complain(f"{peer.name} failed on {gpus} GPUs: {error}")
                failed = True
    if rows:
        options.folder.mkdir(parents=True, exist_ok=True)
        with open(options.folder / "distributed_peers.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, program, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    sys.exit(failed)


if __name__ == "__main__":
    main()
