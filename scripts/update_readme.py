#!/usr/bin/env python3
"""Writes the figures in README.md from the files that the program wrote in data/.

Each block of README.md between `<!-- NAME -->` and `<!-- end -->` is generated: `ladder` from the measurements in
data/h200.csv, `sample` from the saved report data/report_2pow20.txt. With --check nothing is written; the exit status is 1
when README.md is out of date.
"""

import argparse
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MEASUREMENTS = ROOT / "data" / "h200.csv"
REPORT = ROOT / "data" / "report_2pow20.txt"

OPERATIONS = {"scan": "Exclusive scan", "compact": "Stream compaction, 75 % kept", "sort": "Radix sort"}
SIZES = {1 << 20: "2^20", 1 << 24: "2^24", 1 << 26: "2^26", 1 << 28: "2^28"}


def read_measurements():
    """The last verified measurement of each (operation, variant, n), and the columns that name the card."""
    measured = {}
    setting = {}
    with MEASUREMENTS.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["verified"] == "true":
                measured[row["operation"], row["variant"], int(row["n"])] = row
                setting = row
    return measured, setting


def format_time(row):
    time = float(row["median_us"])
    for unit in ("µs", "ms"):
        if time < 1000:
            return f"{time:.4g} {unit}"
        time /= 1000
    return f"{time:.4g} s"


def format_cell(row):
    if row is None:
        return ""
    percent = row["percent_of_copy"]
    return format_time(row) + (f" ({float(percent):.3g} %)" if percent else "")


def ladder():
    measured, setting = read_measurements()
    lines = []
    for operation, title in OPERATIONS.items():
        variants = list(dict.fromkeys(variant for op, variant, _ in measured if op == operation))
        lines += [f"| {title} | " + " | ".join(SIZES.values()) + " |", "| --- |" + " ---: |" * len(SIZES)]
        for variant in variants:
            cells = [format_cell(measured.get((operation, variant, n))) for n in SIZES]
            lines.append(f"| `{variant}` | " + " | ".join(cells) + " |")
        lines.append("")
    lines.append(
        f"{setting['gpu']}, CUDA {setting['toolkit']}, int32, cold: median time, and in brackets the percentage of the "
        "speed at which `cudaMemcpyAsync` copies as many bytes on the card. From "
        f"[`{MEASUREMENTS.relative_to(ROOT)}`]({MEASUREMENTS.relative_to(ROOT)})."
    )
    return "\n".join(lines)


def sample():
    lines = REPORT.read_text().splitlines()
    table = next(i for i, line in enumerate(lines) if line.startswith("operation "))
    return "\n".join(["```", *lines[:24], "...", "", *lines[table:], "```"])


def generate(text):
    for name, block in {"ladder": ladder, "sample": sample}.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, found = pattern.subn(lambda match: match[1] + block() + "\n" + match[2], text)
        if found != 1:
            sys.exit(f"README.md: expected one block <!-- {name} -->, found {found}")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only tell whether README.md is up to date")
    arguments = parser.parse_args()
    old = README.read_text()
    new = generate(old)
    if arguments.check:
        if new != old:
            sys.exit("README.md is out of date: run scripts/update_readme.py")
    else:
        README.write_text(new)


if __name__ == "__main__":
    main()
