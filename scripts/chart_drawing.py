"""The charts of charts.py as figures of matplotlib."""

import math
import statistics

from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from charts import size
from drawing import COLOURS, INK, plt, spread

UNITS = ((1e6, "s"), (1e3, "ms"), (1, "µs"))
LABEL_SIZE = 9


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


def scale_y(axis, scale, points):
    """Puts the label horizontally on top of the axis."""
    axis.axes.annotate(scale["label"], (0, 1), xytext=(-48, 8), xycoords="axes fraction", textcoords="offset points")
    axis.axes.set_yscale("log")
    word = time_label if scale.get("unit") == "us" else "{:g}".format
    values = [point["y"] for point in points]
    axis.set_major_locator(LogLocator(10, subs=(1,) if max(values) > 100 * min(values) else (1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda y, _: word(y)))
    axis.set_minor_locator(NullLocator())
    axis.grid()


def draw_line(axes, line):
    whole = [(point["x"], point["y"]) for point in line["points"] if not point["odd"]]
    odd = [(point["x"], point["y"]) for point in line["points"] if point["odd"]]
    axes.plot(*zip(*whole), color=colour(line), marker="" if line["style"]["hue"] == "ink" else "o", markersize=2.5,
              linewidth=1.4, linestyle=line["style"]["dashes"])
    if odd:
        axes.plot(*zip(*odd), color=colour(line), marker="o", markersize=5, markerfacecolor="none",
                  markeredgewidth=0.7, linestyle="none")
    # All whiskers are one path, which NaN interrupts.
    whiskers = [(point["x"], y) for point in line["points"] for y in [*point.get("spread", ()), math.nan]]
    axes.plot(*zip(*whiskers), color=colour(line), linewidth=1, alpha=0.6)


def label_ends(axes, series):
    """Names the lines at the right edge, each as near to its line's end as the other names allow."""
    axes.figure.canvas.draw()
    point_size = axes.figure.dpi / 72
    ends = [axes.transData.transform((line["points"][-1]["x"], line["points"][-1]["y"])) for line in series]
    edge = axes.transAxes.transform((1, 0))[0]
    places = spread([y for _, y in ends], 1.25 * LABEL_SIZE * point_size)
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
    for line in panel["series"]:
        draw_line(axes, line)
    points = points_of(panel)
    scale_x(axes.xaxis, panel["x"], points)
    scale_y(axes.yaxis, panel["y"], points)
    axes.set_xlim(axes.get_xlim())
    axes.set_ylim(axes.get_ylim())
    if "level" in panel:
        draw_level(axes, panel["level"])
    label_ends(axes, panel["series"])


def placed_bars(panel):
    """(series, point, centre, thickness) of each bar. The bars of a category share its space."""
    for row, category in enumerate(panel["categories"]):
        here = [(line, point) for line in panel["series"] for point in line["points"] if point["at"] == category]
        for i, (line, point) in enumerate(here):
            yield line, point, row + 0.8 * ((i + 0.5) / len(here) - 0.5), 0.8 / len(here)


def end_of(point):
    """The end of a bar, or of the whisker that shows the spread of its trials."""
    return max([point["y"], *point.get("spread", ())])


def bar_label(point):
    return f"{point['y']:.4g}" + (f"  ({float(point['percent']):.3g} %)" if point["percent"] else "")


def draw_bars(axes, panel, limit):
    for line, point, centre, thickness in placed_bars(panel):
        axes.barh(centre, point["y"], 0.85 * thickness, color=colour(line), alpha=0.85, linewidth=0)
        if "spread" in point:
            axes.plot(point["spread"], [centre] * 2, color=INK, linewidth=1)
        end = end_of(point)
        if point["copy"]:
            axes.plot([point["copy"]] * 2, [centre - thickness / 2, centre + thickness / 2], color=INK, linewidth=1,
                      linestyle=(0, (2, 1)))
            # A label that would overlap the mark goes behind it.
            end = max(end, point["copy"]) if end + 0.2 * limit > point["copy"] else end
        axes.annotate(bar_label(point), (end, centre), xytext=(4, 0), textcoords="offset points", color=colour(line),
                      fontsize=LABEL_SIZE, va="center")
    axes.set_yticks(range(len(panel["categories"])), panel["categories"], fontsize=LABEL_SIZE)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(panel["categories"]) - 0.5, -0.5)
    axes.set_xlim(0, limit)
    axes.grid(axis="x")


def name_bars(axes, panel):
    """Names above the bars. If each category is a variant, its name is at the axis already."""
    names = [line for line in panel["series"] if line["label"] not in panel["categories"]]
    for i, line in enumerate(names if len(names) > 1 else []):
        axes.text(1 - 0.12 * (len(names) - 1 - i), 1.01, line["label"], color=colour(line), fontsize=LABEL_SIZE,
                  weight="bold", ha="right", va="bottom", transform=axes.transAxes)


def bar_limit(panels):
    """The end of the axis, with room for the labels and, if it is near enough, the mark of the copy."""
    points = [point for panel in panels for point in points_of(panel)]
    longest = max(map(end_of, points))
    marks = [point["copy"] for point in points if point["copy"] and point["copy"] < 1.5 * longest]
    return 1.22 * max([longest, *marks])


def height_of(panel):
    """Height in inches, with room for the names of all lines."""
    if panel["kind"] == "lines":
        return max(4.2, 0.17 * len(panel["series"]))
    return 0.1 * len(panel["categories"]) + 0.17 * len(points_of(panel))


def width_of_names(panels):
    """Width in inches of the names of lines, or of the categories of bars."""
    names = [panel.get("categories") or [line["label"] for line in panel["series"]] for panel in panels]
    return max(1.8, 0.075 * max(len(name) for group in names for name in group))


def lay_out(panels):
    """A figure with axes for the panels: lines side by side, bars one below the other."""
    above, below, between = 0.95, 0.75, 0.62
    names = width_of_names(panels)
    heights = [height_of(panel) for panel in panels]
    if panels[0]["kind"] == "lines":
        width, height = (6.2 if len(panels) == 1 else 7.7) + names, max(heights) + above + below
        figure = plt.figure(figsize=(width, height))
        grid = figure.add_gridspec(1, len(panels), left=0.75 / width, right=1 - names / width, wspace=0.7,
                                   top=1 - above / height, bottom=below / height)
    else:
        width, height = 6.2 + names, sum(heights) + between * (len(panels) - 1) + above + below
        figure = plt.figure(figsize=(width, height))
        grid = figure.add_gridspec(len(panels), 1, left=(names + 0.05) / width, right=0.98, height_ratios=heights,
                                   hspace=between / statistics.mean(heights), top=1 - above / height,
                                   bottom=below / height)
    return figure, [figure.add_subplot(cell) for cell in grid]


def draw(chart):
    panels = chart["panels"]
    figure, places = lay_out(panels)
    for axes, panel in zip(places, panels):
        axes.set_title(panel["title"], fontsize=10, loc="center" if panel["kind"] == "lines" else "left")
        if panel["kind"] == "lines":
            draw_lines(axes, panel)
        else:
            draw_bars(axes, panel, bar_limit(panels))
            name_bars(axes, panel)
    if panels[-1]["kind"] == "bars":
        places[-1].set_xlabel(panels[-1]["x"]["label"])
    height = figure.get_figheight()
    figure.text(0.012, 1 - 0.08 / height, chart["title"], fontsize=13, weight="bold", va="top")
    figure.text(0.012, 1 - 0.34 / height, chart["subtitle"], fontsize=LABEL_SIZE, va="top")
    figure.text(0.012, 0.08 / height, chart["source"], fontsize=LABEL_SIZE)
    return figure
