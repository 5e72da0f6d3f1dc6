#!/usr/bin/env python3
"""Measures again, with the program, what stands out from its neighbours in a file of --csv.

measurements.py says what stands out. Each such row is measured twice more. Of the three rows the one with the middle
time stays, as the program wrote it; tables and charts mark what still stands out. If this is interrupted, FILE is as it
was, and the next call goes on with FILE.again_1 and FILE.again_2.
"""

import argparse
import pathlib
import subprocess
import sys

from measurements import SUBJECT, is_verified, options_of, power, read_all


def subject_of(row):
    return tuple(row[column] for column in SUBJECT)


def commands(rows):
    """The options that measure the rows, a run for each variant, with all its sizes."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(options_of(row | {"n": ""})), []).append(row)
    for group in groups.values():
        trials = max(int(row["trials"]) for row in group)
        yield [*options_of(group[0] | {"n": ",".join(row["n"] for row in group)}), "--trials", str(trials)]


def measure_again(rows, path, program):
    for options in commands(rows):
        subprocess.run([program, "--no-color", "--csv", path, "--resume", *options], check=True,
                       stdout=subprocess.DEVNULL)


def read_lines(path):
    """The head of a file, and its other lines as they are, each with its row."""
    head, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return head, list(zip(lines, read_all(path.name, path.parent), strict=True))


def middle(lines):
    """The line with the middle time; of two, the longer one."""
    return sorted(lines, key=lambda line: float(line[1]["median_us"]))[len(lines) // 2]


def replace_by_middle(path, again):
    """Replaces the lines that stand out, unless the line of an earlier time is the middle one."""
    head, lines = read_lines(path)
    measured = {}
    for file in again:
        other_head, more = read_lines(file)
        if other_head != head:
            sys.exit(f"outliers.py: {path} has other columns than the program writes")
        for line, row in more:
            if is_verified(row):
                measured.setdefault(subject_of(row), []).append((line, row))
    kept = [middle([(line, row), *measured.get(subject_of(row), [])])[0] if row.get("stands_out") else line
            for line, row in lines]
    new = path.with_name(f"{path.name}.new")
    new.write_text("".join([head, *kept]), encoding="utf-8")
    new.replace(path)


def standing(path):
    return [row for row in read_all(path.name, path.parent) if row.get("stands_out")]


def say(rows, what):
    print(f"{len(rows)} rows {what}")
    for row in rows:
        print(f"  {row['operation']} {row['variant']} {power(int(row['n']))}, {row['input']}: {row['median_us']} us "
              f"± {row['noise_percent']} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = standing(arguments.file)
    if not rows:
        return
    say(rows, "stand out and are measured again")
    again = [arguments.file.with_name(f"{arguments.file.name}.again_{i}") for i in (1, 2)]
    for file in again:
        measure_again(rows, file, arguments.program.resolve())
    replace_by_middle(arguments.file, again)
    for file in again:
        file.unlink()
    say(standing(arguments.file), "still stand out")


if __name__ == "__main__":
    main()
