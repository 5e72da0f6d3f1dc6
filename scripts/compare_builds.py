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
import statistics
import subprocess
import sys
import time

from measurements import SUBJECT, options_of

SUSPICIOUS = 1.015  # ratio of the medians from which a subject is measured again
THRESHOLD = "2%"
TEXTS = "ascii,cyrillic,cjk,emoji,mixed,ill-formed:10"

# The measurements of scripts/measure.sh that are of this project's own kernels.
TOPICS = {
    "sweep": [
        "--sweep 2^8:2^28,npot --op scan,compact,sort --variant single-pass,radix",
        "--sweep 2^12,2^20,2^24 --op scan,compact --variant naive,efficient,efficient-optimized,shared-conflicts,shared",
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


class Builds:
    """The two programs, and the time that is left."""

    def __init__(self, folder, before, after, seconds):
        self.folder = folder
        self.programs = {"before": before, "after": after}
        self.end = time.monotonic() + seconds

    def measure(self, side, options):
        """Appends rows to the side's CSV. Returns whether the program succeeded in the time that is left."""
        left = self.end - time.monotonic()
        if left <= 0:
            return False
        command = [self.programs[side], "--no-color", "--csv", self.folder / f"{side}.csv", *options]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=left)
        except subprocess.TimeoutExpired:
            return False
        if done.returncode != 0:
            print(f"{side}: {' '.join(options)}: exit status {done.returncode}\n{done.stdout[-1000:]}", flush=True)
        return done.returncode == 0

    def medians(self, side):
        """The median of a subject's medians, in microseconds."""
        times = {}
        path = self.folder / f"{side}.csv"
        if not path.exists():
            return times
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["median_us"]:
                    times.setdefault(tuple(row[column] for column in SUBJECT), []).append(float(row["median_us"]))
        return {subject: statistics.median(values) for subject, values in times.items()}

    def suspects(self):
        """Subjects that look slower, the slowest first."""
        before, after = self.medians("before"), self.medians("after")
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
    builds = Builds(arguments.folder, arguments.before.resolve(), arguments.after.resolve(), arguments.seconds)
    sides = ["before", "after"]
    left_out = 0
    for line in (line for topic in arguments.topic for line in TOPICS[topic]):
        begin = time.monotonic()
        measured = [builds.measure(side, line.split()) for side in sides]
        left_out += not all(measured)
        print(f"{time.monotonic() - begin:5.1f} s  {line}", flush=True)
        sides.reverse()
    for subject in builds.suspects():
        for side in ("before", "after", "after", "before"):
            builds.measure(side, options_of(dict(zip(SUBJECT, subject))))
    if left_out:
        print(f"{left_out} of the lines were not measured on both: no time was left, or a program failed.", flush=True)
    compared = subprocess.run([builds.programs["after"], "compare", "--threshold", THRESHOLD,
                               arguments.folder / "before.csv", arguments.folder / "after.csv"])
    sys.exit(compared.returncode or int(left_out > 0))


if __name__ == "__main__":
    main()
