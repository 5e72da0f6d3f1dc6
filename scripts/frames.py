#!/usr/bin/env python3
"""Measures both loops of the path tracer (examples/ray_compaction) into a CSV.

  frames.py FILE PROGRAM TRACER

The program only tells card and commit. The tracer fails if its two images differ.
"""

import argparse
import csv
import pathlib
import re
import sys

from distributed_peers import row_of_program, run

SIZES = ((256, 256), (640, 480), (1280, 1024))
LOOPS = {"loop of the host": "host", "loop in a graph": "graph"}
COLUMNS = ("gpu", "compute_capability", "driver", "toolkit", "commit", "width", "height", "loop", "median_us", "min_us",
           "max_us", "verified")


def times_of(output):
    """The median, least and greatest time of a frame in microseconds, by loop."""
    found = re.findall(rf"^({'|'.join(LOOPS)})((?: +[\d.]+){{4}})$", output, re.MULTILINE)
    return {LOOPS[name]: [f"{1000 * float(ms):.0f}" for ms in numbers.split()[:3]] for name, numbers in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("file", "program", "tracer"):
        parser.add_argument(name, type=pathlib.Path)
    options = parser.parse_args()
    program = row_of_program(options.program)
    card = {column: program[column] for column in ("gpu", "compute_capability", "driver", "toolkit", "commit")}
    rows = []
    for width, height in SIZES:
        done = run(options.tracer, "--width", width, "--height", height)
        times = times_of(done.stdout)
        if done.returncode != 0 or set(times) != set(LOOPS.values()):
            sys.exit(f"frames.py: {options.tracer} failed: {done.stdout}{done.stderr}")
        rows += [card | {"width": width, "height": height, "loop": loop, "verified": "true"}
                 | dict(zip(("median_us", "min_us", "max_us"), us)) for loop, us in times.items()]
    with options.file.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
