"""The style of the images in img/, and the charts of charts.py as figures of matplotlib.

The background is transparent. Every colour has a contrast of 3.5 or more to a white page and to a dark one. The hues
are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

import itertools
import math
import statistics
import sys
import textwrap

from charts import size

try:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
except ImportError:
    sys.exit("matplotlib is missing (Debian: python3-matplotlib)")

plt.switch_backend("svg")

COLOURS = {"ink": "#666d75", "grey": "#666d75", "blue": "#1879bd", "red": "#d55e00", "green": "#00916a",
           "purple": "#b8618f", "orange": "#a97a00"}
INK = COLOURS["ink"]

plt.rcParams.update({
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial"],
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.2,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "stream_compaction",
})


def save(figure, path, description="", with_png=False):
    """Writes PATH.svg. The same figure gives the same bytes."""
    figure.savefig(f"{path}.svg", metadata={"Date": None, "Creator": None, "Description": description})
    if with_png:
        figure.savefig(f"{path}.png", dpi=144, metadata={"Software": None})
    plt.close(figure)


def spread(wanted, gap):
    """Positions as near as possible to the wanted ones, in the same order and at least `gap` apart."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups = []  # of labels that touch: [sum of the positions of the first label, number of labels]
    for i in order:
        groups.append([wanted[i], 1])
        while len(groups) > 1 and start(groups[-2]) + gap * groups[-2][1] > start(groups[-1]):
            total, count = groups.pop()
            groups[-1][0] += total - count * groups[-1][1] * gap
            groups[-1][1] += count
    places = [start(group) + k * gap for group in groups for k in range(group[1])]
    positions = [0.0] * len(wanted)
    for i, place in zip(order, places):
        positions[i] = place
    return positions


def start(group):
    return group[0] / group[1]

UNITS = ((1e6, "s"), (1e3, "ms"), (1, "µs"))
LABEL_SIZE = 9
# In inches.
CHARACTER = 0.075
LINE = 0.17
BARS = 5.1  # the longest bar
NARROW = 4.2

GAP = 0.6  # between categories, as a part of a bar
FADES = {"solid": 0.85, "dashed": 0.6, "dotted": 0.4, "dashdot": 0.25}


def time_label(us):
    unit, name = next((unit for unit in UNITS if us >= unit[0]), UNITS[-1])
    return f"{us / unit:g} {name}"


def colour(line):
    return COLOURS[line["style"]["hue"]]


def points_of(panel):
    return [point for line in panel["series"] for point in line["points"]]


def scale_x(axis, scale, points):
    axis.set_label_text(scale["label"])
    if scale["scale"] == "log2":
        axis.axes.set_xscale("log", base=2)
        wide = [point["x"] for point in points]
        powers = [1 << k for k in range(64) if min(wide) <= 1 << k <= max(wide)]
        ticks = powers if len(powers) > 1 else [min(wide), max(wide)]
        word = "{:g}".format if scale.get("plain") else lambda x: size(int(x))
        axis.set_major_locator(FixedLocator(ticks[::max(1, len(ticks) // 6)]))
        axis.set_major_formatter(FuncFormatter(lambda x, _: word(x)))
        axis.set_minor_locator(NullLocator())
    elif scale["scale"] == "log":
        axis.axes.set_xscale("log")
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axis.set_minor_formatter(NullFormatter())


def scale_y(axis, scale, points):
    """Puts the label horizontally on top of the axis."""
    axis.axes.annotate(scale["label"], (0, 1), xytext=(-48, 8), xycoords="axes fraction", textcoords="offset points")
    axis.grid()
    if scale["scale"] == "linear":
        axis.axes.set_ylim(bottom=0)
        return
    axis.axes.set_yscale("log")
    word = time_label if scale.get("unit") == "us" else "{:g}".format
    values = [point["y"] for point in points]
    axis.set_major_locator(LogLocator(10, subs=(1,) if max(values) > 100 * min(values) else (1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda y, _: word(y)))
    axis.set_minor_locator(NullLocator())


def places_of(points):
    return zip(*((point["x"], point["y"]) for point in points))


def draw_line(axes, line):
    """Returns (series, points, artist) of what it drew."""
    whole = [point for point in line["points"] if not point["odd"]]
    odd = [point for point in line["points"] if point["odd"]]
    drawn = axes.plot(*places_of(whole), color=colour(line), marker="" if line["style"]["hue"] == "ink" else "o",
                      markersize=2.5, linewidth=1.4, linestyle=line["style"]["dashes"])
    rings = axes.plot(*places_of(odd), color=colour(line), marker="o", markersize=5, markerfacecolor="none",
                      markeredgewidth=0.7, linestyle="none")
    marks = axes.plot(*places_of([point for point in line["points"] if "stands_out" in point]), color=colour(line),
                      marker="x", markersize=6, linestyle="none")
    # All whiskers are one path, which NaN interrupts.
    whiskers = [(point["x"], y) for point in line["points"] for y in [*point.get("spread", ()), math.nan]]
    drawn_whiskers = axes.plot(*zip(*whiskers), color=colour(line), linewidth=1, alpha=0.6)
    return [(line, points, artist)
            for points, artists in ((whole, drawn), (odd, rings), ([], marks), ([], drawn_whiskers))
            for artist in artists]


def below(top, places, gap):
    """The places, moved down until none is above the top."""
    moved = list(places)
    for i in sorted(range(len(places)), key=lambda i: -places[i]):
        moved[i] = min(places[i], top)
        top = moved[i] - gap
    return moved


def label_ends(axes, series):
    """Names the lines at the right edge, each as near to its line's end as the other names allow."""
    axes.figure.canvas.draw()
    point_size = axes.figure.dpi / 72
    ends = [axes.transData.transform((line["points"][-1]["x"], line["points"][-1]["y"])) for line in series]
    edge = axes.transAxes.transform((1, 0))[0]
    gap = 1.25 * LABEL_SIZE * point_size
    places = below(axes.transAxes.transform((1, 1))[1], spread([y for _, y in ends], gap), gap)
    for line, end, y in zip(series, ends, places):
        leader = axes.transData.inverted().transform([end, (edge, y)])
        axes.plot(*zip(*leader), color=colour(line), linewidth=0.5, alpha=0.6, clip_on=False)
        axes.annotate(line["label"], leader[1], xytext=(3, 0), textcoords="offset points", color=colour(line),
                      fontsize=LABEL_SIZE, va="center", annotation_clip=False)


def draw_level(axes, level):
    axes.axhline(level["y"], color=INK, linewidth=0.8, linestyle="dashed")
    for crossing in level["crossings"]:
        axes.plot(crossing["x"], level["y"], "o", color=COLOURS[crossing["hue"]], markersize=8, markerfacecolor="none")


def draw_lines(axes, panel):
    """Returns (series, points, artist) of what it drew."""
    drawn = [part for line in panel["series"] for part in draw_line(axes, line)]
    points = points_of(panel)
    scale_x(axes.xaxis, panel["x"], points)
    scale_y(axes.yaxis, panel["y"], points)
    axes.set_xlim(axes.get_xlim())
    axes.set_ylim(axes.get_ylim())
    if "level" in panel:
        draw_level(axes, panel["level"])
    return drawn


def bars_of(panel, category):
    return [(line, point) for line in panel["series"] for point in line["points"] if point["at"] == category]


def tops_of(panel, gap):
    """Where the space of each category begins, as a number of bars, and where the last one ends."""
    return [0, *itertools.accumulate(gap + len(bars_of(panel, category)) for category in panel["categories"])]


def placed_bars(panel, gap):
    """(series, point, centre) of each bar. Each category has a gap above its bars."""
    for category, top in zip(panel["categories"], tops_of(panel, gap)):
        for i, (line, point) in enumerate(bars_of(panel, category)):
            yield line, point, top + gap + i + 0.5


def end_of(point):
    """The end of a bar, or of the whisker that shows how certain it is."""
    return max([point["y"], *point.get("spread", ())])


def are_named(panels):
    """Whether bars have names beside those of their categories."""
    names = {line["label"] for panel in panels for line in panel["series"]}
    return len(names) > 1 and not names <= {category for panel in panels for category in panel["categories"]}


def bar_label(point, name=""):
    return (f"{name}  {point['y']:.4g}".strip() + (f"  ({float(point['percent']):.3g} %)" if point["percent"] else "")
            + (" ×" if "stands_out" in point else ""))


def draw_bars(axes, panel, limit, gap, with_names):
    """Returns (series, points, artist) of what it drew. The axis is linear, for bars start at zero."""
    drawn = []
    character = limit * CHARACTER * axes.figure.dpi / axes.bbox.width
    for line, point, centre in placed_bars(panel, gap):
        alpha = FADES["solid" if line["label"] in panel["categories"] else line["style"]["dashes"]]
        artists = [*axes.barh(centre, point["y"], 0.85, color=colour(line), alpha=alpha, linewidth=0)]
        if "spread" in point:
            artists += axes.plot(point["spread"], [centre] * 2, color=INK, linewidth=1)
        label = bar_label(point, line["label"] if with_names else "")
        end = end_of(point)
        if point["copy"]:
            artists += axes.plot([point["copy"]] * 2, [centre - 0.5, centre + 0.5], color=INK, linewidth=1,
                                 linestyle=(0, (2, 1)))
            # A label that would overlap the mark goes behind it.
            end = max(end, point["copy"]) if end + character * (len(label) + 1) > point["copy"] else end
        artists.append(axes.annotate(label, (end, centre), xytext=(4, 0), textcoords="offset points",
                                     color=colour(line), fontsize=LABEL_SIZE, va="center"))
        drawn += [(line, [point], artist) for artist in artists]
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, limit)
    axes.grid(axis="x")
    return drawn


def room_for_labels(panels, with_names):
    """Width in inches of the longest label of a bar."""
    labels = [bar_label(point, line["label"] if with_names else "")
              for panel in panels for line in panel["series"] for point in line["points"]]
    return max(1.1, CHARACTER * max(map(len, labels)))


def bar_limit(panels, part):
    """The end of an axis of which labels take a part, with room for the mark of the copy if it is near enough."""
    points = [point for panel in panels for point in points_of(panel)]
    longest = max(map(end_of, points))
    marks = [point["copy"] for point in points if point["copy"] and point["copy"] < 1.5 * longest]
    return max([longest, *marks]) / (1 - part)


def height_of(panel):
    """Height in inches, with room for the names of all lines."""
    if panel["kind"] == "lines":
        return max(4.2, LINE * len(panel["series"]))
    return LINE * (tops_of(panel, GAP)[-1] + GAP)


def width_of_names(panels):
    """Width in inches of the names of lines, or of the categories of bars."""
    names = [panel.get("categories") or [line["label"] for line in panel["series"]] for panel in panels]
    return max(1.8, CHARACTER * max(len(name) for group in names for name in group))


def lay_out_lines(panels):
    """A figure with axes side by side, two in a row."""
    above, below, between = 0.95, 0.75, 1.2
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    names, panel_height = width_of_names(panels), max(map(height_of, panels))
    gap = 0 if columns == 1 else names + 0.75
    panel_width = 5.45 if columns == 1 else 2.9
    width = 0.75 + columns * panel_width + (columns - 1) * gap + names
    height = rows * panel_height + (rows - 1) * between + above + below
    figure = plt.figure(figsize=(width, height))
    grid = figure.add_gridspec(rows, columns, left=0.75 / width, right=1 - names / width, wspace=gap / panel_width,
                               hspace=between / panel_height, top=1 - above / height, bottom=below / height)
    return figure, [figure.add_subplot(cell) for cell, _ in zip(grid, panels)]


def lay_out_bars(panels, room):
    """A figure with axes one below the other."""
    above, below, between = 0.95, 0.75, 0.62
    names = width_of_names(panels)
    heights = [height_of(panel) for panel in panels]
    width, height = BARS + room + names, sum(heights) + between * (len(panels) - 1) + above + below
    figure = plt.figure(figsize=(width, height))
    grid = figure.add_gridspec(len(panels), 1, left=(names + 0.05) / width, right=0.98, height_ratios=heights,
                               hspace=between / statistics.mean(heights), top=1 - above / height,
                               bottom=below / height)
    return figure, [figure.add_subplot(cell) for cell in grid]


def draw_all_lines(panels):
    figure, places = lay_out_lines(panels)
    for axes, panel in zip(places, panels):
        axes.set_title(panel["title"], fontsize=10)
        draw_lines(axes, panel)
        label_ends(axes, panel["series"])
    return figure


def draw_all_bars(panels):
    with_names = are_named(panels)
    room = room_for_labels(panels, with_names)
    figure, places = lay_out_bars(panels, room)
    for axes, panel in zip(places, panels):
        axes.set_title(panel["title"], fontsize=10, loc="left")
        draw_bars(axes, panel, bar_limit(panels, room / (BARS + room)), GAP, with_names)
        tops = tops_of(panel, GAP)
        middles = [(top + GAP + bottom) / 2 for top, bottom in zip(tops, tops[1:])]
        axes.set_yticks(middles, panel["categories"], fontsize=LABEL_SIZE)
        axes.set_ylim(tops[-1] + GAP, 0)
    places[-1].set_xlabel(panels[-1]["x"]["label"])
    return figure


def draw(chart):
    """The image of a chart."""
    panels = chart["panels"]
    figure = draw_all_lines(panels) if panels[0]["kind"] == "lines" else draw_all_bars(panels)
    height = figure.get_figheight()
    figure.text(0.012, 1 - 0.08 / height, chart["title"], fontsize=13, weight="bold", va="top")
    figure.text(0.012, 1 - 0.34 / height, chart["subtitle"], fontsize=LABEL_SIZE, va="top")
    source = textwrap.fill(chart["source"], int(figure.get_figwidth() / CHARACTER))
    figure.text(0.012, 0.08 / height, source, fontsize=LABEL_SIZE)
    return figure


def draw_narrow_lines(panel):
    figure = plt.figure(figsize=(NARROW, 3.2))
    axes = figure.add_axes((0.7 / NARROW, 0.15, 1 - 0.8 / NARROW, 0.74))
    return figure, draw_lines(axes, panel)


def draw_narrow_bars(panel, limit):
    """The names of categories are above their bars."""
    gap = 1.3
    tops = tops_of(panel, gap)
    height = 1.2 * LINE * tops[-1] + 0.55
    figure = plt.figure(figsize=(NARROW, height))
    axes = figure.add_axes((0.04, 0.5 / height, 0.92, 1 - 0.55 / height))
    drawn = draw_bars(axes, panel, limit, gap, with_names=False)
    axes.set_yticks([])
    axes.set_ylim(tops[-1] + 0.1, 0)
    for category, top in zip(panel["categories"], tops):
        axes.annotate(category, (0, top + gap), xytext=(2, 2), textcoords="offset points", fontsize=LABEL_SIZE)
    axes.set_xlabel(panel["x"]["label"])
    return figure, drawn


def draw_narrow(chart):
    """For each panel a figure for a page, which a phone can show, and (series, points, artist) of what is in it.

    The page has the names.
    """
    panels = chart["panels"]
    for panel in panels:
        if panel["kind"] == "lines":
            yield panel, *draw_narrow_lines(panel)
        else:
            yield panel, *draw_narrow_bars(panel, bar_limit(panels, 1.35 / NARROW))
