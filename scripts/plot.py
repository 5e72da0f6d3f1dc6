#!/usr/bin/env python3
"""Draws the charts in img/ from the files that the program wrote in data/, or charts of your own measurements.

    scripts/plot.py                        every chart in img/ as SVG and PNG
    scripts/plot.py mine.csv               what `stream_compaction_test --csv mine.csv` measured, as mine.svg and
                                           mine.png beside it; mine_1.svg, mine_2.svg, ... for several operations or
                                           types of element
    scripts/plot.py --html report.html     all of them in one page that opens offline, with numbers; also of mine.csv
    scripts/plot.py --check                writes nothing; exit status 1 if an image is missing or out of date

If a CSV is missing, its chart is left out with a message. Without any measurements the exit status is 2. Only the
images need matplotlib.
"""

import argparse
import hashlib
import json
import pathlib
import sys

from charts import build_charts, own_charts
from measurements import DATA, ROOT, Unusable

IMAGES = ROOT / "img"
TEMPLATE = pathlib.Path(__file__).with_name("report.html")


def as_json(data):
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def digest(chart):
    """The digest that an SVG carries of the data from which it was drawn."""
    return "data " + hashlib.sha256(as_json(chart).encode()).hexdigest()[:16]


def is_current(path, chart):
    """Whether PATH.svg and PATH.png show the chart."""
    svg, png = pathlib.Path(f"{path}.svg"), pathlib.Path(f"{path}.png")
    return svg.exists() and png.exists() and digest(chart) in svg.read_text(encoding="utf-8")


def page(charts):
    """The report as one page, which loads nothing."""
    embedded = as_json(charts).replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace("@CHARTS@", embedded)


def say(message):
    print(f"plot.py: {message}", file=sys.stderr)


def charts_of(arguments):
    """The charts by the path of their image, less its ending, and the names of those that were left out."""
    if not arguments.files:
        charts, missing = build_charts(arguments.data)
        for name, reason in missing.items():
            say(f"left out {name}: {reason}")
        return {(arguments.out or IMAGES) / name: chart for name, chart in charts.items()}, list(missing)
    charts = {}
    for file in arguments.files:
        own, left_out = own_charts(file)
        if left_out:
            say(f"{file}: left out {left_out} rows without a time or with a wrong result")
        charts |= {(arguments.out or file.parent) / name: chart for name, chart in own.items()}
    return charts, []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    inputs = parser.add_mutually_exclusive_group()
    inputs.add_argument("files", type=pathlib.Path, nargs="*", default=[], metavar="CSV", help="your own measurements")
    inputs.add_argument("--data", type=pathlib.Path, default=DATA, help="where the CSVs of the project are")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER", help="where the images go")
    parser.add_argument("--html", type=pathlib.Path, metavar="FILE", help="write the page, and no images")
    parser.add_argument("--check", action="store_true", help="only tell whether the images are up to date")
    arguments = parser.parse_args()
    names = [file.name for file in arguments.files]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        parser.error(f"several files are called {', '.join(twice)}; plot them one at a time")

    try:
        charts, missing = charts_of(arguments)
    except (Unusable, OSError) as error:
        say(error)
        sys.exit(2)
    if arguments.check:
        stale = [path.name for path, chart in charts.items() if not is_current(path, chart)]
        if stale or missing:
            sys.exit(f"plot.py: out of date: {', '.join([*stale, *missing])}")
    elif arguments.html:
        arguments.html.parent.mkdir(parents=True, exist_ok=True)
        arguments.html.write_text(page({path.name: chart for path, chart in charts.items()}), encoding="utf-8")
    else:
        from drawing import save  # first, because it reports a missing matplotlib
        from chart_drawing import draw

        for path, chart in charts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            save(draw(chart), path, digest(chart))
            print(f"{path}.svg: {chart['title']}")


if __name__ == "__main__":
    main()
