#!/usr/bin/env python3
"""Draws the charts in img/ from the files that the program wrote in data/.

    scripts/plot.py                        every chart as SVG and PNG
    scripts/plot.py --html report.html     all of them in one page that opens offline, with the numbers
    scripts/plot.py --check                writes nothing; exit status 1 if an image is missing or out of date

If a CSV is missing, its chart is left out with a message. Without any measurements the exit status is 2. Only the
images need matplotlib.
"""

import argparse
import hashlib
import json
import pathlib
import sys

from charts import build_charts
from measurements import DATA, ROOT, Unusable

IMAGES = ROOT / "img"
TEMPLATE = pathlib.Path(__file__).with_name("report.html")


def as_json(data):
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def digest(chart):
    """The digest that an SVG carries of the data from which it was drawn."""
    return "data " + hashlib.sha256(as_json(chart).encode()).hexdigest()[:16]


def is_current(name, chart, folder):
    path = folder / f"{name}.svg"
    return path.exists() and path.with_suffix(".png").exists() and digest(chart) in path.read_text(encoding="utf-8")


def page(charts):
    """The report as one page, which loads nothing."""
    embedded = as_json(charts).replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace("@CHARTS@", embedded)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=DATA, help="where the CSVs are")
    parser.add_argument("--images", type=pathlib.Path, default=IMAGES, help="where the images go")
    parser.add_argument("--html", type=pathlib.Path, metavar="FILE", help="write the page, and no images")
    parser.add_argument("--check", action="store_true", help="only tell whether the images are up to date")
    arguments = parser.parse_args()

    try:
        charts, missing = build_charts(arguments.data)
    except Unusable as error:
        print(f"plot.py: {error}", file=sys.stderr)
        sys.exit(2)
    for name, reason in missing.items():
        print(f"plot.py: left out {name}: {reason}", file=sys.stderr)
    if arguments.check:
        stale = [name for name, chart in charts.items() if not is_current(name, chart, arguments.images)]
        if stale or missing:
            sys.exit(f"plot.py: out of date: {', '.join([*stale, *missing])}")
    elif arguments.html:
        arguments.html.parent.mkdir(parents=True, exist_ok=True)
        arguments.html.write_text(page(charts), encoding="utf-8")
    else:
        from drawing import save  # first, because it reports a missing matplotlib
        from chart_drawing import draw

        arguments.images.mkdir(exist_ok=True)
        for name, chart in charts.items():
            save(draw(chart), arguments.images / name, digest(chart))


if __name__ == "__main__":
    main()
