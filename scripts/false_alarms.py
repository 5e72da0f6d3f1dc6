#!/usr/bin/env python3
"""Counts how often `compare` finds a difference between runs of one program, where there is none.

false_alarms.py FOLDER PROGRAM [--runs N] [--pause SECONDS] [--where TEXT] [--compare PROGRAM] OPTIONS...

Runs PROGRAM N times with OPTIONS. Compares each run with each later one and counts the verdicts on their rows. The
samples of the runs stay in FOLDER/run_I.jsonl; runs that are there are not made again. Appends a line to
FOLDER/false_alarms.csv. The exit status is 1 if more than 1 % of the rows are called faster or slower.
"""

import argparse
import csv
import itertools
import json
import pathlib
import re
import subprocess
import sys
import time

MOST = 0.01
COLUMNS = ["where", "gpu", "cpu", "commit", "options", "runs", "pairs", "rows", "faster", "slower", "cannot_tell", "alarms_percent"]
SUMMARY = re.compile(r"^(\d+) compared: (\d+) faster, (\d+) slower, (\d+) cannot tell", re.MULTILINE)


def verdicts(compare, before, after):
    """The numbers of rows, and of those that are faster, slower, and neither."""
    done = subprocess.run([compare, "compare", before, after], capture_output=True, text=True)
    found = SUMMARY.search(done.stdout)
    if found is None:
        sys.exit(f"compare {before} {after}: {done.stderr}")
    return [int(number) for number in found.groups()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--pause", type=float, default=0, help="seconds between runs [0]")
    parser.add_argument("--where", default="", help="what the machine was and did, for the CSV")
    parser.add_argument("--compare", type=pathlib.Path, help="the program that compares [PROGRAM]")
    arguments, options = parser.parse_known_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    program = arguments.program.resolve()
    runs = [arguments.folder / f"run_{i}.jsonl" for i in range(arguments.runs)]
    for run in runs:
        if not run.exists():
            subprocess.run([program, *options, "--samples", run], check=True, stdout=subprocess.DEVNULL)
            time.sleep(arguments.pause)
    pairs = list(itertools.combinations(runs, 2))
    compare = (arguments.compare or program).resolve()
    totals = [sum(numbers) for numbers in zip(*(verdicts(compare, *pair) for pair in pairs))]
    rows, faster, slower, neither = totals
    alarms = (faster + slower) / rows
    path = arguments.folder / "false_alarms.csv"
    is_new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        with open(runs[0], encoding="utf-8") as lines:
            first = json.loads(next(lines))
        writer.writerow([arguments.where, first["gpu"] or "", first["cpu"] or "", first["commit"], " ".join(options), len(runs), len(pairs), rows, faster, slower, neither,
                         f"{100 * alarms:.3f}"])
    print(f"{len(pairs)} pairs, {rows} rows: {faster} faster, {slower} slower, {neither} cannot tell; "
          f"{100 * alarms:.2f} % false alarms")
    sys.exit(int(alarms > MOST))


if __name__ == "__main__":
    main()
