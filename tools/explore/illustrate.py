#!/usr/bin/env python3
"""Draws in img/ how the algorithms work. Each algorithm runs on a few numbers.

The drawings show the results of the steps, and each final result is checked. The names are those of the kernels.
"""

import itertools
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from drawing import COLOURS, plt, save  # isort: skip

NUMBERS = [3, 1, 7, 0, 4, 1, 6, 3]
HUES = ("blue", "red", "green", "purple", "orange")
CELL = 0.86  # of a cell, relative to the distance between cells
INCHES = 0.5  # per unit
LABELS = 5.6  # units for the names of the rows


def canvas(width, height, title, subtitle):
    """Axes in units of cells, y downwards, with room on the left for the names of the rows."""
    top = 1.7
    figure = plt.figure(figsize=((width + LABELS) * INCHES, (height + top) * INCHES))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(-LABELS, width)
    axes.set_ylim(height, -top)
    axes.axis("off")
    axes.text(0.3 - LABELS, -1.2, title, fontsize=13, weight="bold", va="center")
    axes.text(0.3 - LABELS, -0.6, subtitle, fontsize=9, va="center")
    return axes


def name(axes, y, kernel, what=""):
    """Names a row: the kernel, and below it its purpose."""
    axes.text(-0.5, y + (0.3 if what else 0.5), kernel, fontsize=9, family="monospace", ha="right", va="center")
    axes.text(-0.5, y + 0.72, what, fontsize=9, ha="right", va="center")


def cell(axes, x, y, value, hue="ink", strong=False, size=10, width=1.0):
    colour = COLOURS[hue]
    gap = (1 - CELL) / 2
    axes.add_patch(plt.Rectangle((x + gap, y + gap), width - 2 * gap, CELL, facecolor=colour, linewidth=0,
                                 alpha=0.28 if strong else 0.07))
    axes.add_patch(plt.Rectangle((x + gap, y + gap), width - 2 * gap, CELL, facecolor="none", edgecolor=colour,
                                 linewidth=1.2 if strong else 0.6))
    axes.text(x + width / 2, y + 0.52, value, color=colour, fontsize=size, ha="center", va="center",
              weight="bold" if strong else "normal")


def row(axes, y, values, hues=None, strong=lambda i: False, first=0, size=10):
    """A row of cells. `hues` has one hue per cell; `strong` tells which cells stand out."""
    for i, value in enumerate(values):
        cell(axes, first + i, y, value, hues[i] if hues else "ink", strong(i), size)


def arrow(axes, start, end, hue="ink", width=1.0):
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": COLOURS[hue], "linewidth": width,
                                              "shrinkA": 0, "shrinkB": 0, "mutation_scale": 8})


def down(axes, i, j, y, step, hue="ink", width=1.0):
    """An arrow from cell i of the row at y to cell j of the next row."""
    arrow(axes, (i + 0.5, y + CELL + 0.1), (j + 0.5, y + step + 0.04), hue, width)


def exclusive_scan(numbers):
    return list(itertools.accumulate(numbers[:-1], initial=0))


def naive_scan():
    step = 1.9
    axes = canvas(8.4, 5 * step - 0.6, "Naive scan",
                  "Each step adds the element one distance to the left: n additions per step, log₂ n steps")
    row(axes, 0, NUMBERS)
    name(axes, 0, "input")
    values = [0, *NUMBERS[:-1]]
    for i in range(7):
        down(axes, i, i + 1, 0, step)
    row(axes, step, values)
    name(axes, step, "kernShiftRight", "makes it exclusive")
    y, distance = step, 1
    while distance < len(values):
        for i in range(len(values)):
            down(axes, i, i, y, step, width=0.6)
            if i >= distance:
                down(axes, i - distance, i, y, step, "blue", 1.3)
        values = [value + (values[i - distance] if i >= distance else 0) for i, value in enumerate(values)]
        y += step
        row(axes, y, values, ["blue" if i >= distance else "ink" for i in range(8)], lambda i: i >= distance)
        name(axes, y, "kernAddFromDistance", f"distance {distance}")
        distance *= 2
    assert values == exclusive_scan(NUMBERS)
    return axes


def up_sweep():
    """Returns the axes and the tree with which the downsweep begins."""
    step = 1.9
    axes = canvas(8.4, 4 * step - 0.6, "Work-efficient scan: upsweep",
                  "A tree of sums in place: each node adds its left child to its right")
    tree = list(NUMBERS)
    row(axes, 0, tree)
    name(axes, 0, "kernPad", "the leaves")
    y, half = 0, 1
    while half < len(tree):
        for first in range(0, len(tree), 2 * half):
            left, right = first + half - 1, first + 2 * half - 1
            down(axes, left, right, y, step, "orange", 1.3)
            down(axes, right, right, y, step, "orange", 1.3)
            tree[right] += tree[left]
        y += step
        nodes = set(range(2 * half - 1, len(tree), 2 * half))
        row(axes, y, tree, ["orange" if i in nodes else "ink" for i in range(8)], lambda i, nodes=nodes: i in nodes)
        name(axes, y, "kernUpSweep", f"half = {half}")
        half *= 2
    assert tree[-1] == sum(NUMBERS)
    return axes, tree


def down_sweep():
    step = 1.9
    tree = up_sweep()[1]
    plt.close()
    axes = canvas(8.4, 4 * step - 0.6, "Work-efficient scan: downsweep",
                  "A node gives its left child what comes before it, and its right child that plus the left one's sum")
    tree[-1] = 0
    row(axes, 0, tree, ["ink"] * 7 + ["green"], lambda i: i == 7)
    name(axes, 0, "clearRoot", "nothing comes before it")
    y, half = 0, len(tree) // 2
    while half >= 1:
        changed = {}
        for first in range(0, len(tree), 2 * half):
            left, right = first + half - 1, first + 2 * half - 1
            down(axes, right, left, y, step, "green", 1.3)
            down(axes, right, right, y, step, "green", 1.3)
            down(axes, left, right, y, step, "orange", 1.3)
            tree[left], tree[right] = tree[right], tree[left] + tree[right]
            changed |= {left: "green", right: "green"}
        y += step
        row(axes, y, tree, [changed.get(i, "ink") for i in range(8)], lambda i, changed=changed: i in changed)
        name(axes, y, "kernDownSweep", f"half = {half}")
        half //= 2
    assert tree == exclusive_scan(NUMBERS)
    return axes


def look_back():
    """The moment when tile 5 looks back: tiles 0 and 1 know their prefixes, the others only their own sums."""
    tiles = [[3, 1], [7, 0], [4, 1], [6, 3], [2, 5], [8, 1]]
    known = 2
    axes = canvas(15.4, 8.6, "Single-pass scan: decoupled look-back",
                  "A tile adds up the sums before its own, nearest first, until it meets one of all before it")
    sums = [sum(tile) for tile in tiles]
    prefixes = list(itertools.accumulate(sums))
    place = [2.6 * t for t in range(len(tiles))]
    hues = ["green" if t < known else "orange" for t in range(5)] + ["blue"]
    for t, tile in enumerate(tiles):
        row(axes, 0, tile, [hues[t]] * 2, first=place[t])
        axes.text(place[t] + 1, -0.12, f"tile {t}", fontsize=9, ha="center", va="center")
        arrow(axes, (place[t] + 1, 0.98), (place[t] + 1, 1.66), hues[t])
        cell(axes, place[t], 1.7, sums[t], hues[t], width=2)
        arrow(axes, (place[t] + 1, 2.68), (place[t] + 1, 3.36), hues[t])
        state, value = ("Prefix", prefixes[t]) if t < known else ("Aggregate", sums[t])
        cell(axes, place[t], 3.4, f"{state} {value}", hues[t], strong=known - 1 <= t < 5, size=8, width=2)
    name(axes, 0, "kernScanLookBack", "a block loads its tile,")
    name(axes, 1.7, "", "adds it up")
    name(axes, 3.4, "publish", "and tells the others")

    before = 0
    for t in range(4, -1, -1):
        before += prefixes[t] if t < known else sums[t]
        arrow(axes, (place[5] + 0.1, 5.9), (place[t] + 1, 4.36), hues[t], 1.3)
        if t < known:
            break
    assert before == prefixes[4]
    terms = " + ".join(str(prefixes[t] if t < known else sums[t]) for t in range(known - 1, 5))
    axes.text(place[5] - 0.2, 6.22, f"{terms} =", fontsize=10, ha="right", va="center")
    cell(axes, place[5], 5.7, before, "blue", strong=True, width=2)
    name(axes, 5.7, "lookBack", "before tile 5")
    result = [before + value for value in exclusive_scan(tiles[5])]
    assert result == exclusive_scan(sum(tiles, []))[-2:]
    arrow(axes, (place[5] + 1, 6.68), (place[5] + 1, 7.36), "blue")
    row(axes, 7.4, result, ["blue"] * 2, lambda i: True, first=place[5])
    name(axes, 7.4, "storeVector", "the tile's part of the exclusive scan")
    return axes


def split():
    keys, bit = [5, 2, 7, 4, 0, 3, 6, 1], 0
    step = 1.35
    axes = canvas(8.4, 4 * step + 2.1, "Radix sort: split by one bit",
                  "Keys whose bit is zero go to the front, the others behind them, both in order")
    is_zero = [1 - (key >> bit & 1) for key in keys]
    hues = ["blue" if zero else "red" for zero in is_zero]
    zeros_before = exclusive_scan(is_zero)
    zeros = zeros_before[-1] + is_zero[-1]
    places = [zeros_before[i] if is_zero[i] else zeros + i - zeros_before[i] for i in range(8)]
    for y, values, kernel, what in ((0, [f"{key:03b}" for key in keys], "keys", f"bit {bit} is the last"),
                                    (step, is_zero, "kernMapToBoolean", "is the bit zero?"),
                                    (2 * step, zeros_before, "scan", "zeros before"),
                                    (3 * step, places, "kernSplit", f"zeros: there; ones: {zeros} + ones before")):
        row(axes, y, values, hues, lambda i, y=y: y in (0, 3 * step))
        name(axes, y, kernel, what)
    split_keys = [keys[places.index(place)] for place in range(8)]
    assert split_keys == sorted(keys, key=lambda key: key >> bit & 1)
    for i, place in enumerate(places):
        down(axes, i, place, 3 * step, 2.2, hues[i], 1.2)
    row(axes, 3 * step + 2.2, [f"{key:03b}" for key in split_keys], ["blue"] * zeros + ["red"] * (8 - zeros),
        lambda i: True)
    name(axes, 3 * step + 2.2, "output", "the next pass takes the next bit")
    return axes


def onesweep():
    """Twelve keys of two digits with two bits each, in tiles of four."""
    radix, tile_size = 4, 4
    keys = [int(text, radix) for text in ("21", "30", "02", "11", "33", "12", "20", "01", "13", "32", "10", "03")]
    place = [5.1 * t for t in range(3)]
    axes = canvas(14.6, 14.2, "Radix sort: one sweep per digit",
                  "All digits are counted in one read; then each pass reads and writes the keys once, its tiles chained "
                  "by look-back")

    def digits(numbers, index):
        return [number // radix**index % radix for number in numbers]

    def draw_keys(y, numbers, index):
        for i, (number, digit) in enumerate(zip(numbers, digits(numbers, index))):
            cell(axes, place[i // tile_size] + i % tile_size, y, f"{number // radix}{number % radix}", HUES[digit],
                 strong=True)

    draw_keys(0, keys, 0)
    name(axes, 0, "keys", "to base 4; hue: the last digit")
    starts = []
    for index, title in enumerate(("last digit", "first digit")):
        counts = [digits(keys, index).count(value) for value in range(radix)]
        starts.append(exclusive_scan(counts))
        for value in range(radix):
            x = place[index] + value
            axes.text(x + 0.5, 1.75, value, color=COLOURS[HUES[value]], fontsize=9, ha="center", va="center")
            cell(axes, x, 1.9, counts[value], HUES[value])
            cell(axes, x, 2.9, starts[index][value], HUES[value], strong=True)
        axes.text(place[index] + 2, 1.4, title, fontsize=9, ha="center", va="center")
    name(axes, 1.9, "kernCountDigits", "keys with each digit")
    name(axes, 2.9, "makePlan", "keys with a smaller digit")

    y = 4.5
    for index in range(2):
        draw_keys(y, keys, index)
        name(axes, y, "kernSortByDigit", "by the last digit" if index == 0 else "by the first digit")
        before = [0] * radix
        output = [None] * len(keys)
        for t in range(3):
            tile = keys[t * tile_size:(t + 1) * tile_size]
            here = digits(tile, index)
            for value in range(radix):
                x = place[t] + value
                cell(axes, x, y + 1.3, here.count(value), HUES[value])
                cell(axes, x, y + 2.3, before[value], HUES[value], strong=True)
            if t > 0:
                arrow(axes, (place[t - 1] + 4, y + 1.8), (place[t], y + 2.7))
                arrow(axes, (place[t - 1] + 4, y + 2.8), (place[t], y + 2.8))
            for key, value in zip(tile, here):
                output[starts[index][value] + before[value]] = key
                before[value] += 1
        assert output == sorted(keys, key=lambda key, index=index: key // radix**index % radix)
        keys = output
        name(axes, y + 1.3, "publish", "the tile's digits, counted")
        name(axes, y + 2.3, "lookBackInColumn", "counts of earlier tiles")
        y += 4.2
    assert keys == sorted(keys)
    draw_keys(y, keys, 1)
    name(axes, y, "output", "start + before + rank in the tile")
    return axes


def utf8_decode():
    text = "né €😀!"
    encoded = text.encode()
    step = 1.5
    axes = canvas(len(encoded) + 0.4, 3 * step + 2.1, "UTF-8 decoding",
                  "Each byte that begins a character becomes one element of the output; a scan gives its position")
    emits = [int(byte & 0xC0 != 0x80) for byte in encoded]
    owner = [count - 1 for count in itertools.accumulate(emits)]
    hues = [HUES[i % len(HUES)] for i in owner]
    ranks = exclusive_scan(emits)
    for y, values, kernel, what in ((0, [f"{byte:02X}" for byte in encoded], "bytes", ""),
                                    (step, emits, "findUnits", "begins a character"),
                                    (2 * step, ranks, "chain.before", "exclusive scan")):
        row(axes, y, values, hues, lambda i, y=y: y == 0 or emits[i] == 1, size=9)
        name(axes, y, kernel, what)

    # A first byte gives the bits behind its leading ones, other bytes their last six.
    points = []
    for byte, first in zip(encoded, emits):
        if first:
            length = max(1, 8 - (byte ^ 0xFF).bit_length())
            points.append(byte if length == 1 else byte & (0x7F >> length))
        else:
            points[-1] = points[-1] << 6 | byte & 0x3F
    assert points == [ord(character) for character in text]
    width = len(encoded) / len(points)
    y = 2 * step + 2.3
    for i, first in enumerate(emits):
        if first:
            hue = hues[i]
            arrow(axes, (i + 0.5, 2 * step + CELL + 0.1), ((ranks[i] + 0.5) * width, y - 0.02), hue, 1.2)
            cell(axes, ranks[i] * width, y, f"U+{points[ranks[i]]:04X}", hue, strong=True, size=8, width=width)
    name(axes, y, "kernDecode", "code points, side by side")
    return axes


def rooms():
    """The folders of the library and of the program, each above those that it includes."""
    floors = [
        [("examples", "what users write"), ("tools/tune", "shapes for a card")],
        [("src/app", "runs, plans, compares")],
        [("src/output", "tables, CSV, terminal")],
        [("src/variants", "each operation's variants"), ("src/several_gpus", "those of several GPUs")],
        [("src/problems", "inputs and checks"), ("src/measure", "clocks and cards")],
        [("src/world", "the ranks of a run")],
        [("src/cli", "sizes, sweeps, names")],
        [("X.h  X.cuh", "what users include: the course layer, the device API")],
        [("distributed/", "arrays spread over GPUs"), ("out_of_core/", "arrays larger than the card"),
         ("segments/", "scan, sort"), ("runs/", "equal neighbours")],
        [("single_pass/", "scan, compact"), ("radix_sort/", ""), ("row_sum/", ""), ("utf8/", ""), ("cpu/", "")],
        [("primitives/", "warp, block, tile, look-back, digit ranks")],
        [("runtime/", "CUDA calls, launches, scratch, arguments, timers")],
    ]
    floors[0] += floors.pop(1)
    width, step = 22, 1.5
    axes = canvas(width - LABELS, len(floors) * step + 0.3, "Layers", "Includes go downwards")
    library = next(i for i, floor in enumerate(floors) if floor[0][0].startswith("X.h"))
    for i, floor in enumerate(floors):
        size = (width - 1.2) / len(floor)
        for k, (title, role) in enumerate(floor):
            hue = "blue" if i >= library else "green"
            x, y = 0.6 - LABELS + k * size, i * step
            cell(axes, x, y, "", hue, width=size)
            axes.text(x + size / 2, y + (0.36 if role else 0.5), title, fontsize=9, family="monospace", ha="center",
                      va="center")
            axes.text(x + size / 2, y + 0.7, role, fontsize=9, ha="center", va="center")
    return axes


ILLUSTRATIONS = {"rooms": rooms, "naive_scan": naive_scan, "up_sweep": lambda: up_sweep()[0], "down_sweep": down_sweep,
                 "look_back": look_back, "split": split, "onesweep": onesweep, "utf8_decode": utf8_decode}


def main():
    folder = ROOT / "img"
    folder.mkdir(exist_ok=True)
    for title, draw in ILLUSTRATIONS.items():
        save(draw().figure, folder / title)


if __name__ == "__main__":
    main()
