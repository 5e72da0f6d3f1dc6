"""The data of the charts, made from the CSVs in data/ or from a user's own. Other scripts draw it.

A chart is a dict: `title`, `subtitle`, `about`: what it was measured on, `source` and `panels`. A panel has a `kind`.
The x of its points is a number for "lines", and one of the panel's `categories` for "bars". Each of its `series` has a
`label`, a `style` and `points` (x, y, `at`: x as text, `odd`: whether the size is three elements less than another, the
fields of the CSV and, if it has them, `spread`: the y of the slowest and of the fastest trial, the lesser first).
"""

import itertools
import math
import statistics

from measurements import TEXT_OPERATIONS, Unusable, is_power, is_verified, power_shape, read, read_all

ABOUT = ("gpu", "toolkit", "driver", "commit")
COLUMNS = (*ABOUT, "operation", "variant", "type", "n", "input", "block_size", "mode", "median_us", "gbps",
           "percent_of_copy")

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
    "cub": ("red", "solid"),
    "cublas": ("orange", "solid"),
}
HUES = ("purple", "green", "orange", "blue", "red", "grey")
DASHES = ("solid", "dashed", "dotted")

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
OPERATIONS = {"scan": "Exclusive scan", "compact": "Stream compaction", "sort": "Sort"}


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


def copy_speed(row):
    """The speed of a copy of the same number of bytes, in GB/s; None for rows of the CPU."""
    percent = float(row["percent_of_copy"] or 0)
    return float(row["gbps"]) * 100 / percent if percent else None


def point(row, x, y, at):
    return {"x": x, "y": y, "at": at, "odd": row["odd"], "us": row["median_us"], "gbps": row["gbps"],
            "percent": row["percent_of_copy"]}


def spread(row, y_of):
    """The fields of a point that tell what y the trials had, from the least to the greatest."""
    trials = [float(row.get(column) or 0) for column in ("min_us", "max_us")]
    if min(trials) <= 0:
        return {}
    return {"spread": sorted(y_of(row | {"median_us": us, "gbps": bandwidth_of(row) * time_of(row) / us})
                             for us in trials)}


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


def mark_odd(rows):
    """The rows with `odd`: whether there is a size of three elements more. Powers of two are never odd."""
    sizes = set(map(elements, rows))
    return [row | {"odd": elements(row) + 3 in sizes and not is_power(elements(row))} for row in rows]


def without_odd(rows):
    return [row for row in rows if not row["odd"]]


def by_number(rows, x_of, y_of, at=size):
    """One series per variant, with points from left to right."""
    series = []
    for variant, style in styles(unique(row["variant"] for row in rows)).items():
        points = {x_of(row): point(row, x_of(row), y_of(row), at(x_of(row))) | spread(row, y_of)
                  for row in having(rows, variant=variant)}
        series.append({"label": variant, "style": style, "points": [points[x] for x in sorted(points)]})
    return series


def by_name(rows, name_of):
    """One series of bars per variant."""
    series = []
    for variant, style in styles(unique(row["variant"] for row in rows)).items():
        points = {name_of(row): point(row, name_of(row), bandwidth_of(row), name_of(row)) | spread(row, bandwidth_of)
                  | {"copy": copy_speed(row)} for row in having(rows, variant=variant)}
        series.append({"label": variant, "style": style, "points": list(points.values())})
    return series


def ceiling(rows, x_of, at=size):
    """The speed of the copy over x: the median of the copies that the variants were compared with."""
    speeds = {}
    for row in rows:
        if copy_speed(row):
            speeds.setdefault(x_of(row), []).append(copy_speed(row))
    points = [{"x": x, "y": statistics.median(speeds[x]), "at": at(x), "odd": False} for x in sorted(speeds)]
    return {"label": "copy", "style": {"hue": "ink", "dashes": "dotted"}, "points": points}


def lines(series, x, y, title=""):
    return {"kind": "lines", "title": title, "x": x, "y": y, "series": [line for line in series if line["points"]]}


def bars(rows, name_of, title=""):
    return {"kind": "bars", "title": title, "x": {"label": BANDWIDTH["label"]},
            "categories": unique(map(name_of, rows)), "series": by_name(rows, name_of)}


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
    source = (f"{listed(rows, 'gpu') or 'no GPU'}, CUDA {listed(rows, 'toolkit') or '-'}, "
              f"commit {listed(rows, 'commit')}; {listed(rows, 'file')}")
    if any("spread" in point for point in points):
        source += "; whiskers: fastest and slowest trial"
    about = {column: values(rows, column) for column in ABOUT}
    return {"title": title, "subtitle": subtitle, "about": about, "source": source, "panels": panels}


def values(rows, column):
    """The different values of a column that are not empty."""
    return [value for value in unique(row[column] for row in rows) if value]


def listed(rows, column):
    return ", ".join(values(rows, column))


def ladder(rows):
    """All scans at the largest size."""
    rows, largest = largest_size(without_odd(having(rows, operation="scan", type="int32")))
    return chart(rows, f"Exclusive scan of {size(largest)} ints: each rung against the speed of a copy",
                 "Bytes read and written in a second, cold; the dashes mark cudaMemcpyAsync of as many bytes",
                 [bars(rows, lambda row: row["variant"])])


def time_by_size(operation):
    def build(rows):
        rows = having(rows, operation=operation, type="int32")
        dots = "dots: powers of two; rings: three elements less"
        return chart(rows, f"{OPERATIONS[operation]}: time by size", f"int32, GPU cold and CPU warm; {dots}",
                     [lines(by_number(rows, elements, time_of), ELEMENTS, TIME)])
    return build


def bandwidth_by_size(operation):
    """With the copy, except for sorts, which move each element many times."""
    def build(rows):
        rows = without_odd(having(rows, operation=operation, type="int32"))
        series = by_number(rows, elements, bandwidth_of)
        subtitle = "int32, each input and output element counted once"
        if operation != "sort":
            series.append(ceiling(rows, elements))
            subtitle += "; copy: cudaMemcpyAsync of as many bytes"
        return chart(rows, f"{OPERATIONS[operation]}: bandwidth by size", subtitle,
                     [lines(series, ELEMENTS, BANDWIDTH)])
    return build


def crossover(rows):
    """How many times as fast our GPU variants are as the fastest CPU variant."""
    rows = without_odd(having(rows, type="int32"))
    series, crossings = [], []
    for operation, variant, hue in (("scan", "single-pass", "blue"), ("compact", "single-pass", "green"),
                                    ("sort", "radix", "purple")):
        cpu = [row for row in having(rows, operation=operation) if row["variant"].startswith("cpu")]
        points = []
        for row in sorted(having(rows, operation=operation, variant=variant), key=elements):
            cpu_times = [time_of(peer) for peer in having(cpu, n=row["n"])]
            if cpu_times:
                points.append(point(row, elements(row), min(cpu_times) / time_of(row), size(elements(row))))
        x = crossing(points, 1)
        series.append({"label": f"{operation}, from {round_number(x)} on" if x else operation,
                       "style": {"hue": hue, "dashes": "solid"}, "points": points})
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


def utf8(rows):
    rows = without_odd(rows)
    panels = [bars(having(rows, operation=operation), lambda row: row["input"], TEXT_OPERATIONS[operation])
              for operation in unique(row["operation"] for row in rows)]
    return chart(rows, "UTF-8: bandwidth by class of text",
                 "Bytes read and written by the single pass; the dashes mark cudaMemcpyAsync of as many bytes", panels)


# The input file of each chart, and the function that builds it.
CHARTS = {
    "ladder": ("sweep.csv", ladder),
    "scan_time": ("sweep.csv", time_by_size("scan")),
    "scan_bandwidth": ("sweep.csv", bandwidth_by_size("scan")),
    "compact_time": ("sweep.csv", time_by_size("compact")),
    "compact_bandwidth": ("sweep.csv", bandwidth_by_size("compact")),
    "sort_time": ("sweep.csv", time_by_size("sort")),
    "sort_bandwidth": ("sweep.csv", bandwidth_by_size("sort")),
    "crossover": ("sweep.csv", crossover),
    "block_sizes": ("block_sizes.csv", block_sizes),
    "kept_fractions": ("kept_fractions.csv", kept_fractions),
    "distributions": ("distributions.csv", distributions),
    "row_sums": ("row_sums.csv", row_sums),
    "utf8": ("utf8.csv", utf8),
}


def measurements_of(path):
    """Of the GPU variants only those with cold caches. Runs with warm caches are another topic."""
    rows = read(path.name, folder=path.parent, columns=COLUMNS)
    return mark_odd([row for row in rows if row["mode"] == "cold" or not row["percent_of_copy"]])


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


def tell_apart(rows):
    """The rows, with longer names for a variant that was measured in several ways, for example `cub, batched`."""
    for variant in unique(row["variant"] for row in rows):
        peers = having(rows, variant=variant)
        differing = [column for column in ("gpu", "input", "block_size", "mode") if len(values(peers, column)) > 1]
        for row in peers:
            yield row | {"variant": ", ".join([variant, *(row[column] for column in differing)])}


def is_line(rows):
    """Whether the rows are of sizes far apart and, if of matrices, of nearly square ones."""
    sizes = list(map(elements, rows))
    sides = [sorted(map(int, row["shape"].split("x"))) for row in rows if row.get("shape")]
    return max(sizes) >= 2 * min(sizes) and all(long <= 2 * short for short, long in sides)


def own_chart(rows):
    """Of one operation and type: lines over the size, or bars for each size and shape."""
    title = f"{listed(rows, 'operation')} of {listed(rows, 'type')} on {listed(rows, 'gpu') or 'the CPU'}"
    subtitle = "Each input and output element counted once"
    if values(rows, "percent_of_copy"):
        subtitle += "; dotted: cudaMemcpyAsync of as many bytes"
    rows = list(tell_apart(without_odd(rows)))
    if is_line(rows):
        series = [*by_number(rows, elements, bandwidth_of), ceiling(rows, elements)]
        panels = [lines(series, ELEMENTS, BANDWIDTH)]
    else:
        def input_of(row):
            return row.get("shape") or size(elements(row))

        panels = [bars([row for row in rows if input_of(row) == one], lambda row: row["variant"], f"{one} elements")
                  for one in unique(map(input_of, sorted(rows, key=elements)))]
    return chart(rows, title, subtitle, panels)


def own_charts(path):
    """The charts of a file that the program wrote for its user, by name, and the number of rows left out."""
    try:
        rows = read_all(path.name, path.parent, COLUMNS)
        measured = mark_odd([row for row in rows if is_verified(row) and float(row["gbps"] or 0) > 0])
        charts = [own_chart(having(measured, operation=operation, type=kind))
                  for operation, kind in unique((row["operation"], row["type"]) for row in measured)]
    except ValueError as error:
        raise Unusable(f"{path} is not a file of measurements: {error}") from error
    if not charts:
        raise Unusable(f"{path} has no measurements")
    names = [path.stem] if len(charts) == 1 else [f"{path.stem}_{i}" for i in range(1, len(charts) + 1)]
    return dict(zip(names, charts)), len(rows) - len(measured)
