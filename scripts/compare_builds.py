#!/usr/bin/env python3
"""Measures two builds of the program on one card, in turns, and compares them.

compare_builds.py FOLDER BEFORE AFTER [--seconds N] [--topic NAME...]

Each line of measurements runs on both programs, one after the other. The program that goes first alternates, so that
a card that warms up favours neither. Subjects that look slower are measured again, twice by each program: `compare`
takes the median of the medians. The rows go to FOLDER/before.csv and FOLDER/after.csv. The exit status is that of
`compare` with a threshold of 2 %; it is also 1 if a program failed or the time was over.
"""

import argparse
import csv
import pathlib
import re
import statistics
import subprocess
import sys
import time

from measurements import SUBJECT

SUSPICIOUS = 1.015  # ratio of the medians from which a subject is measured again
THRESHOLD = "2%"
TEXTS = "ascii,cyrillic,cjk,emoji,mixed,ill-formed:10"

# This project's own kernels.
TOPICS = {
    "sweep": [
        "--sweep 2^8:2^28,npot --op scan,compact,sort --variant single-pass,radix",
        "--sweep 2^12,2^20,2^24 --op scan,compact "
        "--variant naive,efficient,efficient-optimized,shared-conflicts,shared",
        "--sweep 2^12,2^20,2^24 --op sort --variant radix-split",
    ],
    "types": [
        "--size 2^28 --op scan --variant single-pass --type int8,int64,float,double",
        "--size 2^28 --op compact --variant single-pass --type int8,int64",
    ],
    "compactions": [
        "--size 2^28 --op compact --variant single-pass --input kept:0,kept:0.001,kept:0.25,kept:0.5,kept:0.75,kept:1",
        "--sweep 2^20,2^24,2^28,npot --op partition --variant single-pass,single-pass-apart",
    ],
    "orders": [
        "--sweep 2^20,2^28,npot --op scan --type int32,float --variant single-pass-tickets,single-pass-reproducible",
    ],
    "sorts": [
        "--sweep 2^20,2^24,2^28,npot --op sort-pairs --variant radix",
        "--size 2^28 --op sort --variant radix --input mod:100,and:3,ascending,zeros",
        "--size 2^27 --op sort --variant radix --type int64",
        "--size 2^28 --op sort --variant radix --type int8,float",
        "--size 2^26 --op sort-pairs --variant radix --type int64",
    ],
    "operations": [
        "--sweep 2^12,2^20,2^26,npot --op compact-flagged,segmented-scan,unique,run-length,reduce-by-key "
        "--variant single-pass,single-pass-offsets",
        "--sweep 2^12,2^20,2^26,npot --op segmented-sort,top-k,histogram,histogram-wide,multi-partition "
        "--variant adaptive,radix,shared",
    ],
    "row_sums": [
        "--op row-sum --type float --variant adaptive --shape 3000x2048,3000x2047,24000x2048,24000x2047,262144x2048,"
        "2^22x128,2^24x32,2^26x7,2^28x1,64x2^22,7x38347922,1x2^28",
        "--op row-sum --type int8,int32,int64,double --variant adaptive --shape 3000x2048,2^18x1024,2^24x7,64x2^21",
    ],
    "utf8": [
        f"--size 2^28 --op utf8-to-utf32,utf8-to-utf16,utf8-validate --variant single-pass --input {TEXTS}",
        f"--size 2^26 --op utf32-to-utf8 --variant single-pass --input {TEXTS}",
        f"--size 2^27 --op utf16-to-utf8 --variant single-pass --input {TEXTS}",
        "--sweep 2^10:2^16,npot --variant single-pass --input mixed "
        "--op utf8-to-utf32,utf8-to-utf16,utf8-validate,utf32-to-utf8,utf16-to-utf8",
    ],
}


def options_of(row):
    """The program's options that measure the subject of a row again. It is a sweep, because earlier builds run N - 3
    beside --size N."""
    options = ["--op", row["operation"], "--variant", row["variant"], "--input", row["input"]]
    options += ["--shape", row["shape"]] if row["shape"] else ["--sweep", row["n"]]
    if kind := re.match(r"(int\d+|float|double)\b", row["type"]):
        options += ["--type", kind[0]]
    if row["block_size"]:
        options += ["--block-size", row["block_size"]]
    if row["mode"] == "batched":
        options += ["--mode", "batched"]
    return options


def measure(program, csv_file, options, end):
    """Appends rows to the CSV. Returns whether the program succeeded before the end."""
    command = [program, "--no-color", "--csv", csv_file, *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=max(0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    if done.returncode != 0:
        print(f"{program} {' '.join(options)}: exit status {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.returncode == 0


def medians(csv_file):
    """The median of each subject's medians, in microseconds."""
    times = {}
    with open(csv_file, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["median_us"]:
                times.setdefault(tuple(row[column] for column in SUBJECT), []).append(float(row["median_us"]))
    return {subject: statistics.median(values) for subject, values in times.items()}


def suspects(files):
    """Subjects that look slower, the slowest first."""
    if not all(file.exists() for file in files.values()):
        return []
    before, after = medians(files["before"]), medians(files["after"])
    ratios = {subject: after[subject] / before[subject] for subject in after if subject in before}
    return sorted((subject for subject in ratios if ratios[subject] > SUSPICIOUS), key=ratios.get, reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("before", type=pathlib.Path, help="the program of the earlier commit")
    parser.add_argument("after", type=pathlib.Path, help="the program of the later one")
    parser.add_argument("--seconds", type=float, default=600, help="begin nothing after so long [600]")
    parser.add_argument("--topic", nargs="+", choices=TOPICS, default=list(TOPICS))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + arguments.seconds
    programs = {"before": arguments.before.resolve(), "after": arguments.after.resolve()}
    files = {side: arguments.folder / f"{side}.csv" for side in programs}
    sides = list(programs)
    left_out = 0
    for line in (line for topic in arguments.topic for line in TOPICS[topic]):
        begin = time.monotonic()
        measured = [measure(programs[side], files[side], line.split(), end) for side in sides]
        left_out += not all(measured)
        print(f"{time.monotonic() - begin:5.1f} s  {line}", flush=True)
        sides.reverse()
    for subject in suspects(files):
        for side in ("before", "after", "after", "before"):
            measure(programs[side], files[side], options_of(dict(zip(SUBJECT, subject))), end)
    if left_out:
        print(f"{left_out} of the lines were not measured on both: no time was left, or a program failed.", flush=True)
    compared = subprocess.run([programs["after"], "compare", "--threshold", THRESHOLD, *files.values()])
    sys.exit(compared.returncode or int(left_out > 0))


if __name__ == "__main__":
    main()
