"""The data of the charts, made from the files in data/ or from a user's own. Other scripts draw it.

A chart is a dict: `title`, `subtitle`, `about`: what it was measured on, `source` and `panels`. A panel has a `kind`.
The x of its points is a number for "lines", and one of the panel's `categories` for "bars". Each of its `series` has a
`label`, a `style`, what it can be filtered by (`operation`, `variant`, `machine`) and `points` (x, y, `at`: x as text,
`odd`: whether the size is three elements less than another, the fields of the CSV and, if it has them, `spread`: the
ends of the error bar, the lesser first, and `stands_out`).
"""

import itertools
import math
import statistics

from distributed_model import Model
from measurements import (Unusable, copy_speed, fastest, is_one_run, is_power, is_verified, power_shape, read, read_all,
                          runs_of)

ABOUT = ("gpu", "cpu", "toolkit", "driver", "commit")
FILTERS = ("operation", "variant", "machine")
COLUMNS = ("gpu", "cpu", "toolkit", "driver", "commit", "operation", "variant", "type", "n", "input", "block_size",
           "mode", "median_us", "min_us", "max_us", "gbps", "percent_of_copy", "noise_percent", "enqueue_us", "shape")

# One hue per family and one dash pattern per member, so that a variant looks the same in every chart.
STYLES = {
    "cpu": ("grey", "solid"),
    "cpu-parallel": ("grey", "dashed"),
    "cpu-scan": ("grey", "dotted"),
    "naive": ("purple", "solid"),
    "efficient": ("orange", "solid"),
    "efficient-optimized": ("orange", "dashed"),
    "shared-conflicts": ("green", "dashed"),
    "shared": ("green", "solid"),
    "radix-split": ("green", "solid"),
    "single-pass": ("blue", "solid"),
    "single-pass-tickets": ("blue", "dashed"),
    "single-pass-reproducible": ("blue", "dotted"),
    "radix": ("blue", "solid"),
    "adaptive": ("blue", "solid"),
    "thrust": ("red", "dashed"),
    "thrust-latest": ("red", "dotted"),
    "cub": ("red", "solid"),
    "cub-latest": ("red", "dashdot"),
    "cublas": ("orange", "solid"),
}
HUES = ("purple", "green", "orange", "blue", "red", "grey")
DASHES = ("solid", "dashed", "dotted", "dashdot")

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class NothingToShow(Exception):
    """No row belongs to the chart."""


def size(n):
    """`2²⁰` for a power of two."""
    return "2" + str(n.bit_length() - 1).translate(SUPERSCRIPTS) if is_power(n) else str(n)


def styles(labels):
    """The style of each label: its variant's if that is free, else a free one, of the same hue if possible."""
    taken = {}
    for label in sorted(labels, key=lambda label: label not in STYLES):
        own = STYLES.get(label.partition(",")[0], (HUES[0], DASHES[0]))
        others = sorted(itertools.product(HUES, DASHES), key=lambda one: one[0] != own[0])
        taken[label] = next((one for one in (own, *others) if one not in taken.values()), own)
    return {label: dict(zip(("hue", "dashes"), taken[label])) for label in labels}


def point(row, x, y, at):
    return ({"x": x, "y": y, "at": at, "odd": row["odd"], "us": row["median_us"], "gbps": row["gbps"],
             "percent": row["percent_of_copy"], "noise": row["noise_percent"],
             "enqueue": row["enqueue_us"], "copy": copy_speed(row)}
            | ({"stands_out": True} if row.get("stands_out") else {}))


def uncertainty(row):
    """The ends of the median's 95 % interval, in microseconds, or else the times of the fastest and slowest trial."""
    if row["noise_percent"]:
        noise = float(row["noise_percent"]) / 100
        return [time_of(row) * (1 - noise), time_of(row) * (1 + noise)]
    return [float(row[column] or 0) for column in ("min_us", "max_us")]


def spread(row, y_of):
    """The field of a point that tells where its error bar ends."""
    ends = uncertainty(row)
    if min(ends) <= 0:
        return {}
    return {"spread": sorted(y_of(row | {"median_us": us, "gbps": bandwidth_of(row) * time_of(row) / us})
                             for us in ends)}


def elements(row):
    return int(row["n"])


def time_of(row):
    return float(row["median_us"])


def bandwidth_of(row):
    return float(row["gbps"])


def unique(values):
    return list(dict.fromkeys(values))


def having(rows, **wanted):
    return [row for row in rows if all(row[column] == value for column, value in wanted.items())]


def machine(row):
    """The processor or the card that it ran on."""
    return row["cpu"] or row["gpu"]


def prepared(rows):
    """The rows with their `machine`, a `label`, and `odd`: whether there is a size of three elements more.

    Powers of two are never odd.
    """
    sizes = set(map(elements, rows))
    return [row | {"machine": machine(row), "label": row["variant"],
                   "odd": elements(row) + 3 in sizes and not is_power(elements(row))} for row in rows]


def without_odd(rows):
    return [row for row in rows if not row["odd"]]


def series_of(rows, x_of, y_of, at):
    """One series per label. Of rows with the same x the last one counts."""
    series = []
    for label, style in styles(unique(row["label"] for row in rows)).items():
        mine = having(rows, label=label)
        points = {x_of(row): point(row, x_of(row), y_of(row), at(x_of(row))) | spread(row, y_of) for row in mine}
        series.append({"label": label, "style": style} | {column: listed(mine, column) for column in FILTERS}
                      | {"points": list(points.values())})
    return series


def by_number(rows, x_of, y_of, at=size):
    return series_of(sorted(rows, key=x_of), x_of, y_of, at)


def ceiling(rows, x_of, at=size, label="copy"):
    """The speed of the copy over x: the median of the copies that the variants were compared with."""
    speeds = {}
    for row in rows:
        if copy_speed(row):
            speeds.setdefault(x_of(row), []).append(copy_speed(row))
    points = [{"x": x, "y": statistics.median(speeds[x]), "at": at(x), "odd": False} for x in sorted(speeds)]
    return {"label": label, "style": {"hue": "ink", "dashes": "dotted"}, "operation": listed(rows, "operation"),
            "variant": "copy", "machine": listed(filter(copy_speed, rows), "machine"), "points": points}


def lines(series, x, y, title=""):
    return {"kind": "lines", "title": title, "x": x, "y": y, "series": [line for line in series if line["points"]]}


def bars(rows, name_of, title=""):
    return {"kind": "bars", "title": title, "x": {"label": BANDWIDTH["label"]},
            "categories": unique(map(name_of, rows)), "series": series_of(rows, name_of, bandwidth_of, str)}


ELEMENTS = {"label": "elements", "scale": "log2"}
THREADS = {"label": "threads per block", "scale": "log2", "plain": True}
TIME = {"label": "median time", "scale": "log", "unit": "us"}
BANDWIDTH = {"label": "GB/s", "scale": "log"}


def largest_size(rows):
    """The rows of the largest array, and its size."""
    n = max(map(elements, rows), default=0)
    return [row for row in rows if elements(row) == n], n


def chart(rows, title, subtitle, panels):
    points = [point for panel in panels for line in panel["series"] for point in line["points"]]
    if not points:
        raise NothingToShow
    toolkit = f", CUDA {listed(rows, 'toolkit')}" if values(rows, "toolkit") else ""
    one_run = all(is_one_run(*having(rows, gpu=card)) for card in unique(row["gpu"] for row in rows))
    commits = f"commit {listed(rows, 'commit')}" if one_run else f"different runs: {runs_of(rows)}"
    source = f"{hosts(rows)}{toolkit}, {commits}; {listed(rows, 'file')}"
    whiskers = unique("95 % interval of the median" if point["noise"] else "fastest and slowest trial"
                      for point in points if "spread" in point)
    if whiskers:
        source += f"; whiskers: {' or '.join(whiskers)}"
    if any("stands_out" in point for point in points):
        source += "; × stands out (docs/glossary.md)"
    about = unique(tuple(row[column] for column in ABOUT) for row in rows)
    return {"title": title, "subtitle": subtitle, "about": about, "source": source, "panels": panels}


def values(rows, column):
    """The different values of a column that are not empty."""
    return [value for value in unique(row[column] for row in rows) if value]


def listed(rows, column):
    return ", ".join(values(rows, column))


def hosts(rows):
    """The cards or, without one, the processors."""
    return ", ".join(unique(row["gpu"] or row["machine"] for row in rows))


def ladder(rows):
    """All scans at the largest size."""
    rows, largest = largest_size(without_odd(having(rows, operation="scan", type="int32")))
    return chart(rows, f"Exclusive scan of {size(largest)} ints: each rung against the speed of a copy",
                 "Bytes read and written in a second, cold; the dashes mark cudaMemcpyAsync of as many bytes",
                 [bars(rows, lambda row: row["variant"])])


def scan_time(rows):
    rows = having(rows, operation="scan", type="int32")
    return chart(rows, "Exclusive scan: time by size",
                 "int32, GPU cold and CPU warm; dots: powers of two; rings: three elements less",
                 [lines(by_number(rows, elements, time_of), ELEMENTS, TIME)])


def scan_bandwidth(rows):
    rows = without_odd(having(rows, operation="scan", type="int32"))
    return chart(rows, "Exclusive scan: bandwidth by size",
                 "int32, each input and output element counted once; copy: cudaMemcpyAsync of as many bytes",
                 [lines([*by_number(rows, elements, bandwidth_of), ceiling(rows, elements)], ELEMENTS, BANDWIDTH)])


def crossover(rows):
    """How many times as fast our GPU variants are as the fastest CPU variant."""
    rows = without_odd(having(rows, type="int32"))
    series, crossings = [], []
    for operation, variant, hue in (("scan", "single-pass", "blue"), ("compact", "single-pass", "green"),
                                    ("sort", "radix", "purple")):
        cpu = [row for row in having(rows, operation=operation) if row["variant"].startswith("cpu")]
        points = []
        for row in sorted(having(rows, operation=operation, variant=variant), key=elements):
            peer = fastest(having(cpu, n=row["n"]))
            if peer:
                both = row | {"stands_out": row.get("stands_out") or peer.get("stands_out")}
                points.append(point(both, elements(row), time_of(peer) / time_of(row), size(elements(row))))
        x = crossing(points, 1)
        series.append({"label": f"{operation}, from {round_number(x)} on" if x else operation,
                       "style": {"hue": hue, "dashes": "solid"}, "operation": operation, "variant": variant,
                       "machine": listed(having(rows, operation=operation, variant=variant), "machine"),
                       "points": points})
        crossings += [{"x": x, "hue": hue}] if x else []
    panel = lines(series, ELEMENTS, {"label": "times as fast", "scale": "log"})
    return chart(rows, "From which size on the GPU is faster than the CPU",
                 "The fastest CPU variant, warm, against the top rung on the GPU, cold; the array is already there",
                 [panel | {"level": {"y": 1, "crossings": crossings}}])


def crossing(points, level):
    """The last crossing of a level from below, on logarithmic axes; None if there is none."""
    found = None
    for left, right in zip(points, points[1:]):
        if left["y"] < level <= right["y"]:
            part = math.log(level / left["y"]) / math.log(right["y"] / left["y"])
            found = left["x"] * (right["x"] / left["x"]) ** part
    return found


def round_number(x):
    """Rounded to two digits, as `12,000`."""
    return f"{round(x, 1 - math.floor(math.log10(x))):,.0f}"


def block_sizes(rows):
    rows = without_odd(having(rows, operation="scan", type="int32"))
    panels = []
    for n in sorted(unique(map(elements, rows))):
        series = by_number(having(rows, n=str(n)), lambda row: int(row["block_size"]), time_of, str)
        panels.append(lines(series, THREADS, TIME, f"{size(n)} elements"))
    return chart(rows, "Exclusive scan: time by block size", "int32, cold", panels)


def kept_fractions(rows):
    rows, largest = largest_size(without_odd(having(rows, operation="compact", type="int32")))

    def kept(row):
        return float(row["input"].removeprefix("kept:"))

    def fraction(x):
        return f"{100 * x:g} % kept"

    series = [*by_number(rows, kept, bandwidth_of, fraction), ceiling(rows, kept, fraction)]
    return chart(rows, f"Stream compaction of {size(largest)} ints: bandwidth by how many are kept",
                 "Bytes read and written; copy: cudaMemcpyAsync of as many bytes",
                 [lines(series, {"label": "fraction kept", "scale": "linear"}, BANDWIDTH)])


def distributions(rows):
    rows = without_odd(having(rows, operation="sort", type="int32"))
    panels = [bars(having(rows, n=str(n)), lambda row: row["input"], f"{size(n)} keys")
              for n in sorted(unique(map(elements, rows)))]
    return chart(rows, "Sort: bandwidth by what the keys are like",
                 "int32 keys, counted once in and once out; and:K are the bits that K random numbers share",
                 panels)


def row_sums(rows):
    rows = having(rows, operation="row-sum", type="float")
    return chart(rows, "Row sums: bandwidth by shape of the matrix",
                 "float; rows × columns; the dashes mark cudaMemcpyAsync of as many bytes",
                 [bars(rows, lambda row: power_shape(row["shape"], size))])


TEXT_OPERATIONS = {"utf8-to-utf32": "UTF-8 to UTF-32", "utf8-to-utf16": "UTF-8 to UTF-16",
                   "utf8-validate": "validation", "utf32-to-utf8": "UTF-32 to UTF-8", "utf16-to-utf8": "UTF-16 to UTF-8"}


def utf8(rows):
    rows = without_odd(rows)
    panels = [bars(having(rows, operation=operation), lambda row: row["input"], TEXT_OPERATIONS[operation])
              for operation in unique(row["operation"] for row in rows)]
    return chart(rows, "UTF-8: bandwidth by class of text",
                 "Bytes read and written by the single pass; the dashes mark cudaMemcpyAsync of as many bytes", panels)


WEAK = ("scan", "compact", "sort", "sort-pairs")
GPU_COUNTS = (2, 4, 8)  # of predictions


def scaling(rows):
    """The speed-up of several GPUs over one: with as many elements on each GPU, and with as many in all."""
    model = Model(rows)
    hues = dict(zip(WEAK, ("blue", "green", "purple", "orange")))

    def panel(title, operations, elements_on):
        series = []
        for operation in operations:
            one = model.alone(operation, elements_on(1))
            measured = {gpus: model.time(operation, "distributed", elements_on(gpus), gpus) for gpus in model.counts}
            predicted = {gpus: model.predicted(operation, elements_on(gpus), gpus) for gpus in GPU_COUNTS
                         if model.knows(operation, elements_on(gpus), gpus)}
            for label, dashes, times in ((operation, "solid", {1: one} | measured),
                                         (f"{operation}, model", "dotted", {1: one} | predicted)):
                points = [{"x": gpus, "y": one / time * elements_on(gpus) / elements_on(1), "at": f"{gpus} GPUs",
                           "odd": False} for gpus, time in times.items()]
                series.append({"label": label, "style": {"hue": hues[operation], "dashes": dashes},
                               "operation": operation, "variant": "distributed", "machine": "", "points": points})
        return lines(series, {"label": "GPUs", "scale": "log2", "plain": True},
                     {"label": "times one GPU", "scale": "log"}, title)

    return chart(rows, "Several GPUs: how many times as fast as one", "int32; dotted: the model of docs/distributed.md",
                 [panel(f"{size(1 << 28)} elements per GPU", WEAK, lambda gpus: gpus << 28),
                  panel(f"{size(1 << 30)} elements in all", WEAK[:3], lambda _: 1 << 30)])


# The input file of each chart, and the function that builds it.
CHARTS = {
    "ladder": ("sweep.csv", ladder),
    "scan_time": ("sweep.csv", scan_time),
    "scan_bandwidth": ("sweep.csv", scan_bandwidth),
    "crossover": ("sweep.csv", crossover),
    "block_sizes": ("block_sizes.csv", block_sizes),
    "kept_fractions": ("kept_fractions.csv", kept_fractions),
    "distributions": ("distributions.csv", distributions),
    "row_sums": ("row_sums.csv", row_sums),
    "utf8": ("utf8.csv", utf8),
    "scaling": ("../h200_x4/distributed.csv", scaling),
}


def measurements_of(path):
    """Of the GPU variants only those with cold caches. Runs with warm caches are another topic."""
    rows = read(path.name, folder=path.parent, columns=COLUMNS)
    return prepared([row for row in rows if row["mode"] == "cold" or not row["percent_of_copy"]])


def build_charts(folder):
    """The charts by name, and the reasons for charts that cannot be drawn. Raises Unusable if there is no chart."""
    if not folder.is_dir():
        raise Unusable(f"there is no folder {folder}")
    built, missing = {}, {}
    for name, (file, build) in CHARTS.items():
        if not (folder / file).exists():
            missing[name] = f"{folder / file} is missing"
            continue
        try:
            built[name] = build(measurements_of(folder / file))
        except NothingToShow:
            missing[name] = f"{folder / file} has nothing for it"
    if not built:
        raise Unusable(f"{folder} has no CSV with measurements for a chart")
    return built, missing


# What a chart of the user's own can have as its x: a number of each row, its axis and its text.
AXES = {
    "n": (elements, "elements", size),
    "block_size": (lambda row: int(row["block_size"]), "threads per block", str),
    "input": (lambda row: float(row["input"].partition(":")[2]), "input", "{:g}".format),
}
SUBJECT = ("operation", "variant", "type", "n", "input", "block_size", "mode", "shape", "machine")


def is_long(row):
    """Whether the row is of a matrix that is far from square."""
    sides = sorted(map(int, row["shape"].split("x"))) if row["shape"] else [1, 1]
    return sides[1] > 2 * sides[0]


def numbers(rows, column):
    """The different numbers that the rows have in a column; none if a row has no number or another kind of input."""
    number_of = AXES[column][0]
    kinds = {row["input"].partition(":")[0] for row in rows}
    if (column == "n" and any(map(is_long, rows))) or (column == "input" and len(kinds) > 1):
        return set()
    try:
        return set(map(number_of, rows))
    except ValueError:
        return set()


def axis_of(rows):
    """The column with the most points on a line; None if no line would have three."""
    lines = {}
    for row in rows:
        lines.setdefault((row["variant"], row["machine"]), []).append(row)
    points = {column: max(len(numbers(line, column)) for line in lines.values())
              for column in AXES if numbers(rows, column)}
    column = max(points, key=points.get, default=None)
    return column if points.get(column, 0) > 2 else None


def scale_of(numbers):
    """Logarithmic if the numbers differ by more than a factor of 20 or are powers of two."""
    if all(isinstance(number, int) and is_power(number) for number in numbers):
        return "log2"
    if min(numbers) > 0 and max(numbers) > 20 * min(numbers):
        return "log2" if all(isinstance(number, int) for number in numbers) else "log"
    return "linear"


def was_repeated(rows, column):
    """Whether the same was measured with several values in the column."""
    subjects = [tuple(row[name] for name in SUBJECT if name != column) for row in rows]
    return len({(subject, row[column]) for subject, row in zip(subjects, rows)}) > len(set(subjects))


def told_apart(rows, shown):
    """The rows, with longer labels for a variant that was measured in several ways, for example `cub, batched`.

    The chart shows a column otherwise. Shapes, toolkits and commits are in a label only if nothing else differs.
    """
    for variant in unique(row["variant"] for row in rows):
        peers = having(rows, variant=variant)
        ways = [column for column in ("type", "machine", "input", "block_size", "mode")
                if column != shown and len(values(peers, column)) > 1]
        for one in values(peers, "machine"):
            group = having(peers, machine=one)
            columns = ways + [column for column in ("shape", "toolkit", "commit")
                              if column != shown and was_repeated(group, column)]
            for row in group:
                yield row | {"label": ", ".join([variant, *(row[column] for column in columns if row[column])])}


def ceilings(rows, x_of, at):
    """The copy of each machine."""
    machines = values(filter(copy_speed, rows), "machine")
    return [ceiling(having(rows, machine=one), x_of, at, f"copy, {one}" if len(machines) > 1 else "copy")
            for one in machines]


def line_panels(rows, column):
    """A panel for each size, unless the size is the x."""
    x_of, label, at = AXES[column]
    rows = list(told_apart(rows, column))
    groups = {"": rows}
    if column != "n":
        groups = {f"{size(n)} elements": having(rows, n=str(n)) for n in sorted(set(map(elements, rows)))}
    x = {"label": rows[0]["input"].partition(":")[0] if column == "input" else label,
         "scale": scale_of(numbers(rows, column)), "plain": column != "n"}
    y = BANDWIDTH | {"scale": scale_of(list(map(bandwidth_of, rows)))}
    return [lines([*by_number(group, x_of, bandwidth_of, at), *ceilings(group, x_of, at)], x, y, title)
            for title, group in groups.items()]


def bar_panels(rows):
    """A panel for each size, or for each shape of matrices, with bars for what varies most."""
    category = max(("type", "input", "shape"), key=lambda column: len(values(rows, column)))
    if len(values(rows, category)) < 2:
        category = "label"
    rows = list(told_apart(rows, category))

    def input_of(row):
        return "" if category == "shape" else f"{row['shape'] or size(elements(row))} elements"

    return [bars([row for row in rows if input_of(row) == one], lambda row: row[category], one)
            for one in unique(map(input_of, sorted(rows, key=elements)))]


def own_chart(rows, panels):
    """A label has the same style in all panels."""
    series = [line for panel in panels for line in panel["series"] if line["variant"] != "copy"]
    style_of = styles(unique(line["label"] for line in series))
    for line in series:
        line["style"] = style_of[line["label"]]
    types = listed(rows, "type") if len(values(rows, "type")) < 3 else "several types"
    subtitle = "Each input and output element counted once"
    if values(rows, "percent_of_copy"):
        subtitle += "; dotted: cudaMemcpyAsync of as many bytes"
    return chart(rows, f"{listed(rows, 'operation')} of {types} on {hosts(rows)}", subtitle, panels)


def charts_of_operation(rows):
    """Lines for each type that has enough points, then bars for the others."""
    rows = without_odd(rows)
    of_type = [having(rows, type=kind) for kind in values(rows, "type")]
    charts = [own_chart(group, line_panels(group, axis_of(group))) for group in of_type if axis_of(group)]
    few = [row for group in of_type if not axis_of(group) for row in group]
    return [*charts, own_chart(few, bar_panels(few))] if few else charts


def measured(path):
    """The rows of a file that have a time and a right result, and the number of the others."""
    rows = read_all(path.name, path.parent, COLUMNS)
    timed = prepared([row for row in rows if is_verified(row) and float(row["gbps"] or 0) > 0])
    return timed, len(rows) - len(timed)


def own_charts(paths):
    """The charts of files that the program wrote for its user, by name, and the number of rows left out."""
    rows, left_out, charts = [], 0, []
    for path in paths:
        try:
            timed, others = measured(path)
        except ValueError as error:
            raise Unusable(f"{path} is not a file of measurements: {error}") from error
        rows += timed
        left_out += others
    for operation in values(rows, "operation"):
        charts += charts_of_operation(having(rows, operation=operation))
    if not charts:
        raise Unusable(f"{', '.join(map(str, paths))} has no measurements")
    name = "+".join(unique(path.stem for path in paths))
    names = [name] if len(charts) == 1 else [f"{name}_{i}" for i in range(1, len(charts) + 1)]
    return dict(zip(names, charts)), left_out
