#!/usr/bin/env python3
"""Writes the figures in README.md from the files that the program wrote in data/.

Each block of README.md between `<!-- NAME -->` and `<!-- end -->` is generated: `ladder` and `against-cub` from the
measurements in data/h200*.csv, `sample` from the saved report data/report_2pow20.txt. With --check nothing is written;
the exit status is 1 when README.md is out of date.
"""

import argparse
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MEASUREMENTS = sorted((ROOT / "data").glob("h200*.csv"))
REPORT = ROOT / "data" / "report_2pow20.txt"

OPERATIONS = {"scan": "Exclusive scan", "compact": "Stream compaction, 75 % kept", "sort": "Radix sort"}
SIZES = {1 << 20: "2^20", 1 << 24: "2^24", 1 << 26: "2^26", 1 << 28: "2^28"}


def read_measurements():
    """All verified measurements of ints, in the order of the files."""
    rows = []
    for path in MEASUREMENTS:
        with path.open(newline="") as file:
            rows += [
                row | {"file": path.name}
                for row in csv.DictReader(file)
                if row["verified"] == "true" and row["type"] == "int32"
            ]
    return rows


def by_variant(rows):
    """The first measurement of each (operation, variant, n)."""
    measured = {}
    for row in rows:
        measured.setdefault((row["operation"], row["variant"], int(row["n"])), row)
    return measured


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


def source(rows):
    files = ", ".join(f"[`data/{name}`](data/{name})" for name in dict.fromkeys(row["file"] for row in rows))
    return f"{rows[0]['gpu']}, CUDA {rows[0]['toolkit']}, int32, median times, GPU cold and CPU warm. From {files}."


def ladder():
    rows = read_measurements()
    measured = by_variant(rows)
    lines = []
    for operation, title in OPERATIONS.items():
        variants = list(dict.fromkeys(variant for op, variant, _ in measured if op == operation))
        lines += [f"| {title} | " + " | ".join(SIZES.values()) + " |", "| --- |" + " ---: |" * len(SIZES)]
        for variant in variants:
            cells = [format_cell(measured.get((operation, variant, n))) for n in SIZES]
            lines.append(f"| `{variant}` | " + " | ".join(cells) + " |")
        lines.append("")
    lines.append(
        "In brackets: percent of the speed at which `cudaMemcpyAsync` copies as many bytes on the card. " + source(rows)
    )
    return "\n".join(lines)


def against_cub():
    """Both measured in the same run, on the same input."""
    rows = [row for row in read_measurements() if row["file"] == "h200_single_pass.csv"]
    measured = by_variant(rows)
    sizes = sorted({n for _, _, n in measured if n & (n - 1) == 0})
    lines = ["| n | " + " | ".join(f"{title}: ours | CUB | ratio" for title in ("Scan", "Compaction")) + " |"]
    lines.append("| ---: |" + " ---: |" * 6)
    for n in sizes:
        cells = []
        for operation in ("scan", "compact"):
            ours, cub = (measured[operation, variant, n] for variant in ("single-pass", "cub"))
            cells += [format_time(ours), format_time(cub), f"{float(cub['median_us']) / float(ours['median_us']):.2f}"]
        lines.append(f"| 2^{n.bit_length() - 1} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", source(rows)])


def sample():
    lines = REPORT.read_text().splitlines()
    table = next(i for i, line in enumerate(lines) if line.startswith("operation "))
    return "\n".join(["```", *lines[:24], "...", "", *lines[table:], "```"])


def generate(text):
    for name, block in {"ladder": ladder, "against-cub": against_cub, "sample": sample}.items():
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
            sys.exit("README.md is out of date: run scripts/update_figures.py")
    else:
        README.write_text(new)


if __name__ == "__main__":
    main()
