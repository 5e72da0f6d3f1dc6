"""The style of the images in img/ and the function that writes them, shared by plot.py and illustrate.py.

The background is transparent. Every colour has a contrast of 3.5 or more to a white page and to a dark one. The hues
are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

import sys

try:
    import matplotlib.pyplot as plt
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


def save(figure, path, description=""):
    """Writes PATH.svg and PATH.png. The same figure gives the same bytes."""
    figure.savefig(f"{path}.svg", metadata={"Date": None, "Creator": None, "Description": description})
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
