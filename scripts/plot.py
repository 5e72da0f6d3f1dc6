#!/usr/bin/env python3
"""Draws the charts in img/ from the files that the program wrote in data/, or charts of your own measurements.

    scripts/plot.py                        every chart in img/ as SVG
    scripts/plot.py mine.csv               what `stream_compaction_test --csv mine.csv` measured, as mine.svg and
                                           mine.png beside it; mine_1.svg, mine_2.svg, ... for several charts; files of
                                           --samples do as well
    scripts/plot.py here.csv there.csv     all files in the same charts, as here+there.svg beside the first of them
    scripts/plot.py --html report.html     all of them in one page that opens offline, with numbers; also of mine.csv
    scripts/plot.py --check                writes nothing; exit status 1 if an image is missing or out of date

If a CSV is missing, its chart is left out with a message. Without any measurements the exit status is 2.
"""

import argparse
import hashlib
import json
import pathlib
import sys

from charts import build_charts, own_charts
from measurements import DATA, ROOT, Unusable


def digest(chart):
    """The digest that an SVG carries of the data from which it was drawn."""
    return "data " + hashlib.sha256(json.dumps(chart).encode()).hexdigest()[:16]


def say(message):
    print(f"plot.py: {message}", file=sys.stderr)


def charts_of(arguments):
    """The charts by name, the folder for their images, and the names of those that were left out."""
    if arguments.files:
        charts, left_out = own_charts(arguments.files)
        if left_out:
            say(f"left out {left_out} rows without a time or with a wrong result")
        return charts, arguments.out or arguments.files[0].parent, []
    charts, missing = build_charts(arguments.data)
    for name, reason in missing.items():
        say(f"left out {name}: {reason}")
    return charts, arguments.out or ROOT / "img", list(missing)


def stale(charts, folder):
    """The names of the charts whose image is missing or was drawn from other data."""
    for name, chart in charts.items():
        image = folder / f"{name}.svg"
        if not image.exists() or digest(chart) not in image.read_text(encoding="utf-8"):
            yield name


def write_page(charts, path):
    from page import page

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(charts), encoding="utf-8")


def write_images(charts, folder, with_png):
    from drawing import draw, save

    folder.mkdir(parents=True, exist_ok=True)
    for name, chart in charts.items():
        save(draw(chart), folder / name, digest(chart), with_png)
        print(f"{folder / name}.svg: {chart['title']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    inputs = parser.add_mutually_exclusive_group()
    inputs.add_argument("files", type=pathlib.Path, nargs="*", default=[], metavar="FILE", help="your own measurements")
    inputs.add_argument("--data", type=pathlib.Path, default=DATA, help="where the CSVs of the project are")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER", help="where the images go")
    results = parser.add_mutually_exclusive_group()
    results.add_argument("--html", type=pathlib.Path, metavar="FILE", help="write the page, and no images")
    results.add_argument("--check", action="store_true", help="only tell whether the images are up to date")
    arguments = parser.parse_args()
    charts, folder, missing = charts_of(arguments)
    if arguments.check:
        if names := [*stale(charts, folder), *missing]:
            sys.exit(f"plot.py: out of date: {', '.join(names)}")
    elif arguments.html:
        write_page(charts, arguments.html)
    else:
        write_images(charts, folder, with_png=bool(arguments.files))


if __name__ == "__main__":
    try:
        main()
    except (Unusable, OSError) as error:
        say(error)
        sys.exit(2)
