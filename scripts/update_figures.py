#!/usr/bin/env python3
"""Writes the figures in README.md and docs/ from the files that the program wrote in data/.

A function in BLOCKS generates each block of those pages between the lines `<!-- NAME -->` and `<!-- end -->`, one in
FACTS each number in a sentence between `<!-- = NAME -->` and `<!-- end -->`. A ratio of rows of different runs is
refused: README.md may have none, and other pages say so in its place. With --check nothing is written; the exit status
is 1 if a page is out of date.
"""

import argparse
import csv
import functools
import math
import posixpath
import re
import statistics
import sys

import card_row
from charts import CHARTS, WEAK, measurements_of
from distributed_model import CARRYING_PASSES, ELEMENT_BYTES, Model, alone_variant
from measurements import (CARDS, DAGGER, DATA, ROOT, TEXT_OPERATIONS, copy_speed, differing_pairs, fastest, format_time,
                          is_one_run, of_powers, power, power_shape, read, runs_of)

OPERATIONS = {"scan": "Exclusive scan", "compact": "Stream compaction, 75 % kept", "sort": "Sort"}
# The fastest variants.
OURS = {"scan": "single-pass", "compact": "single-pass", "sort": "radix"}
FRONT_PAGE = [1 << k for k in (20, 24, 28)]
SIZES = [1 << k for k in (8, 12, 16, 20, 24, 28)]
ODD_SIZES = [1 << k for k in (8, 10, 12, 13, 14, 16, 20, 22, 24, 28)]
LEVELS = [1 << k for k in (8, 16, 20, 28)]
# CUB of the toolkit, and of the newest release of CCCL. Ratios are to the faster of the two.
CUBS = ("cub", "cub-latest")
# Designs were measured beside this one alone.
TOOLKITS_CUB = "the toolkit's CUB"
# Of a sweep of the tuner.
TUNERS_CUB = "CUB is the faster of the toolkit's and the newest."


# What `compared` refused in the block or fact that is being made.
REFUSED = []


def compared(*rows):
    """Whether the rows are of one run. If not, REFUSED says why they must not be compared."""
    if is_one_run(*rows):
        return True
    named = {runs_of([row]): f"{row['operation']} {row.get('variant', '')} {power(int(row['n']))}" for row in rows}
    REFUSED.append(f"{rows[0]['gpu']}, {', '.join(dict.fromkeys(row['file'] for row in rows))}: "
                   + ", ".join(f"{name} is of commit {run}" for run, name in named.items()))
    return False


@functools.cache
def read_ladder(folder=DATA):
    """The measurements of ints for the tables of variants: the newest of each (operation, variant, n)."""
    newest = {}
    for row in read("sweep.csv", "sorts.csv", folder=folder):
        if (row["type"], row["file"]) == ("int32", "sweep.csv") or (row["type"], row["input"]) == ("int32", "uniform"):
            key = row["operation"], row["variant"], int(row["n"])
            if key not in newest or row["timestamp"] > newest[key]["timestamp"]:
                newest[key] = row
    return newest


def fastest_cub(measured, operation, n):
    return fastest(measured.get((operation, cub, n)) for cub in CUBS)


def versions_of(rows):
    """`CUB 3.0.1 and CUB 3.5.0`, as far as the rows know."""
    libraries = dict.fromkeys(row.get("library", "") for row in rows if row["variant"] in CUBS)
    return " and ".join(filter(None, libraries))


def about_cub(rows):
    versions = versions_of(rows)
    return f"CUB is the faster of {versions}. " if " and " in versions else f"CUB is {versions}. " if versions else ""


def noise_of(row):
    """The noise in percent; None if there were too few trials, or if the file is older than its column."""
    return float(row["noise_percent"]) if row.get("noise_percent") else None


def noise_cell(row):
    return "" if noise_of(row) is None else f"{noise_of(row):.1f} %"


def with_noise(row):
    return format_time(row) + ("" if noise_of(row) is None else f" ± {noise_cell(row)}")


def about_noise(rows):
    """`noise at most 1.5 %`; empty if none is known."""
    known = [noise_of(row) for row in rows if noise_of(row) is not None]
    return f"noise at most {max(known):.1f} %" if known else ""


def format_cell(row):
    if row is None:
        return ""
    percent = row["percent_of_copy"]
    return with_noise(row) + (f" ({float(percent):.3g} %)" if percent else "")


def link(name, folder=DATA):
    """A link from the root of the repository; `generate` makes it one from the page."""
    path = (folder / name).relative_to(ROOT).as_posix()
    return f"[`{path}`]({path})"


def links(name):
    """Links to the file of each card."""
    return " and ".join(link(name, DATA.parent / card) for card in CARDS)


def from_files(rows, folder=DATA):
    files = ", ".join(link(name, folder) for name in dict.fromkeys(row["file"] for row in rows))
    return f"From {files}, commit {runs_of(rows)}."


def source(rows, folder=DATA):
    noise = f" ({about_noise(rows)})" if about_noise(rows) else ""
    return (f"{rows[0]['gpu']}, CUDA {rows[0]['toolkit']}, median times{noise}, GPU cold and CPU warm. "
            + from_files(rows, folder))


def from_ladder(rows, folder=DATA):
    noise = about_noise(rows)
    return f"{noise[0].upper()}{noise[1:]}. {from_files(rows, folder)}"


def ratio(slow, fast):
    """How many times as fast `fast` is as `slow`. Of two runs, `compared` refuses it."""
    compared(slow, fast)
    return float(slow["median_us"]) / float(fast["median_us"])


def times(slow, fast, digits=2):
    """The ratio, or a dash for rows of different runs."""
    return f"{ratio(slow, fast):.{digits}f}" if compared(slow, fast) else "—"


def table(titles, rows, left=1):
    """A Markdown table. The first `left` columns are aligned to the left, the others to the right."""
    lines = ["| " + " | ".join(titles) + " |",
             "| " + " | ".join(["---"] * left + ["---:"] * (len(titles) - left)) + " |"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def copy_time(rows):
    """The time of a copy of the same number of bytes: the median over the variants."""
    copies = [float(row["median_us"]) * float(row["percent_of_copy"]) / 100 for row in rows if row["percent_of_copy"]]
    return format_time({"median_us": statistics.median(copies)}) if copies else ""


def rungs(operation, sizes):
    """One line per variant of an operation, one column per size, and a line for the copy."""
    measured = read_ladder()
    variants = dict.fromkeys(variant for op, variant, _ in measured if op == operation)
    lines = [[f"`{variant}`", *(format_cell(measured.get((operation, variant, n))) for n in sizes)]
             for variant in variants]
    of_size = {n: [row for (op, _, m), row in measured.items() if (op, m) == (operation, n)] for n in sizes}
    lines.append(["a copy", *(copy_time(rows) for rows in of_size.values())])
    return table([OPERATIONS[operation], *map(power, sizes)], lines)


def ladder(operations, sizes):
    lines = []
    for operation in operations:
        lines += [*rungs(operation, sizes), ""]
    rows = [row for (operation, _, n), row in read_ladder().items() if operation in operations and n in sizes]
    return "\n".join([*lines, "In brackets: percent of the speed at which `cudaMemcpyAsync` copies as many bytes on the "
                      "card. int32; " + source(rows)])


def against_cub(card):
    """Ours and CUB, measured in the same run on the same input, and three elements fewer below each size."""
    folder = DATA.parent / card
    titles = ["n"]
    for title in ("Scan", "Compaction", "Sort"):
        titles += [f"{title}: ours", "CUB", "ratio"]
    measured = read_ladder(folder)
    rows, used = [], []
    for n in (size for power_of_two in SIZES for size in (power_of_two, power_of_two - 3)):
        cells = []
        for operation, variant in OURS.items():
            ours, cub = measured[operation, variant, n], fastest_cub(measured, operation, n)
            cells += [with_noise(ours), with_noise(cub), times(cub, ours)]
            used += [ours, cub]
        rows.append([power(n), *cells])
    return "\n".join([*table(titles, rows, 0), "",
                      "int32; " + about_cub(list(measured.values())) + source(used, folder)])


def comparison(rows, folder=DATA):
    """One line per variant other than CUB, beside the faster CUB in the same run, if it was measured."""
    def case(row):
        return row["file"], row["operation"], row["type"], row["n"], row["input"]

    lines = ["| operation | variant | type | input | n | time | noise | of a copy | CUB | noise | ratio |",
             "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for row in of_powers(rows):
        if row["variant"] in CUBS:
            continue
        cub = fastest(peer for peer in rows if peer["variant"] in CUBS and case(peer) == case(row))
        lines.append(f"| {row['operation']} | `{row['variant']}` | {row['type']} | {row['input']} | "
                     f"{power(int(row['n']))} | {format_time(row)} | {noise_cell(row)} | "
                     f"{float(row['percent_of_copy']):.1f} % | "
                     + (f"{format_time(cub)} | {noise_cell(cub)} | {times(cub, row)} |" if cub else "| | |"))
    return [*lines, "", about_cub(rows) + source(rows, folder)]


def on_both_cards(*names):
    """The comparison for files of each card."""
    lines = []
    for folder in (DATA.parent / card for card in CARDS):
        lines += [*comparison(read(*names, folder=folder), folder), ""]
    return "\n".join(lines[:-1])


def single_pass_results():
    rows = [row for row in read("sweep.csv") if row["operation"] in ("scan", "compact")
            and row["variant"] in ("single-pass", *CUBS) and int(row["n"]) in (1 << 20, 1 << 24, 1 << 28)]
    rows += read("kept_fractions.csv", "types.csv", "partitions.csv")
    rows += [row for row in read("orders.csv") if row["variant"] != "single-pass" and int(row["n"]) >= 1 << 24]
    return "\n".join(comparison(rows))


def radix_results():
    return "\n".join(comparison(read("sorts.csv")))


def long_kernels(name, folder=DATA):
    """The kernels in a file of profile.py, without the short ones."""
    with (folder / name).open(newline="") as file:
        return [row for row in csv.DictReader(file) if float(row["duration_us"]) > 5]


def percent(column):
    return lambda row: f"{float(row[column]):.0f} %"


PROFILE = {
    "time": lambda row: f"{float(row['duration_us']):.1f} µs",
    "DRAM": percent("dram_percent"),
    "L2": percent("l2_percent"),
    "L2 hits": percent("l2_hit_percent"),
    "L2 link": percent("l2_link_percent"),
    "issue": percent("issue_percent"),
    "integer pipe": percent("integer_pipe_percent"),
    "shared memory": percent("shared_memory_percent"),
    "registers": lambda row: row["registers"],
    "bank conflicts": lambda row: f"{float(row['shared_bank_conflicts']):.3g}",
    "occupancy": percent("occupancy_percent"),
    "instructions": lambda row: f"{float(row['warp_instructions']):.3g}",
    "cycles per instruction": lambda row: f"{float(row['cycles_per_instruction']):.1f}",
}


def profile_lines(rows, what, columns, stalls):
    """`what` gives for each title a function of a row that names the run; `columns` are some of PROFILE."""
    lines = ["| " + " | ".join([*what, *columns]) + " | of which |",
             "| " + "--- | " * len(what) + "---: | " * len(columns) + "--- |"]
    for row in rows:
        cells = [cell(row) for cell in what.values()] + [PROFILE[column](row) for column in columns]
        cells.append(", ".join(row[f"stall_{i}"] for i in range(1, stalls + 1)))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def profile_table(rows, name, what, columns, stalls, folder=DATA):
    return "\n".join([*profile_lines(rows, what, columns, stalls), "", f"{rows[0]['gpu']}. From {link(name, folder)}."])


def option(row, name):
    """The options of the program when it was profiled."""
    words = row["arguments"].split()
    return words[words.index(name) + 1]


def profile(belongs, name="profile.csv", folder=DATA):
    """The kernels of the runs whose options `belongs` accepts."""
    rows = [row for row in long_kernels(name, folder) if belongs(row["arguments"])]
    what = {"options": lambda row: f"`{row['arguments']}`", "kernel": lambda row: f"`{row['kernel']}`"}
    link_of_halves = ["L2 link"] if rows[0].get("l2_link_percent") else []
    columns = ["time", "DRAM", "L2", *link_of_halves, "L2 hits", "issue", "integer pipe", "shared memory", "registers",
               "occupancy", "cycles per instruction"]
    return profile_table(rows, name, what, columns, 3, folder)


def single_pass_profile():
    return profile(lambda arguments: "single-pass" in arguments)


def radix_profile():
    """On both cards."""
    return "\n\n".join(profile(lambda arguments: "sort" in arguments, folder=DATA.parent / card) for card in CARDS)


def operation_profile():
    return profile(lambda arguments: "utf" not in arguments, "operation_profile.csv")


def utf8_profile():
    return profile(lambda arguments: "utf" in arguments, "operation_profile.csv")


def single_pass_designs():
    """One line per design, from the sweeps of tune.sh and, for the oldest designs, from the program."""
    n = str(1 << 28)
    sweeps = {
        "tune.csv": ("as it is", "as it is, by tickets"),
        "designs/polling_by_loads.csv": ("polling by loads", None),
        "designs/first_word_alone.csv": ("first word of a wide status alone", None),
        "designs/registers_that_spill.csv": ("registers that spill", None),
    }
    lines = [f"| design | operation | type | time | of a copy | ratio to {TOOLKITS_CUB} |",
             "| --- | --- | --- | ---: | ---: | ---: |"]

    def add(design, row, cub):
        lines.append(f"| {design} | {row['operation']} | {row['type']} | {format_time(row)} | "
                     f"{float(row['percent_of_copy']):.1f} % | {times(cub, row)} |")

    for row in (rows := [row for row in read("designs/persistent_grid.csv") if row["n"] == n]):
        if row["variant"] == "single-pass":
            add("persistent grid", row, next(cub for cub in rows if cub["variant"] == "cub"
                                             and cub["operation"] == row["operation"]))
    for name, (by_index, by_ticket) in sweeps.items():
        rows = [row for row in read(name) if row["n"] == n]
        for operation, kind in (("scan", "int32"), ("scan", "int64"), ("compact", "int32")):
            same = [row for row in rows if (row["operation"], row["type"]) == (operation, kind)]
            cub = next(row for row in same if row["kernel"] == "cub")
            for order, design in (("index", by_index), ("ticket", by_ticket)):
                if design:
                    ours = (row for row in same if row["order"] == order)
                    add(design, min(ours, key=lambda row: float(row["median_us"])), cub)
    files = ", ".join(link(name) for name in ("designs/persistent_grid.csv", *sweeps))
    return "\n".join([*lines, "", f"The best shape of each. From {files}."])


def before_and_now(before, *files):
    """The rows of a file of designs beside the same rows of `files`, which were measured after a change: other runs."""
    now = read(*files)
    lines, used = [], []
    for row in read(before):
        same = best(now, **{column: row[column] for column in ("operation", "variant", "type", "n", "input", "mode")})
        used += [row, same]
        lines.append([row["operation"], f"`{row['variant']}`", row["type"], power(int(row["n"])), format_time(row),
                      format_time(same), f"{float(row['median_us']) / float(same['median_us']):.2f}"])
    return "\n".join([*table(["operation", "variant", "type", "n", "before", "now", "ratio"], lines, 3), "",
                      f"{now[0]['gpu']}, cold, median times ({about_noise(used)}). From {link(before)}, "
                      f"{', '.join(map(link, files))}. Before: commit {runs_of(used[::2])}; now: commit "
                      f"{runs_of(used[1::2])}."])


def blocks_that_meet():
    """Operations on middle-sized arrays before their blocks met, or met in this way, and now."""
    return before_and_now("designs/before_blocks_meet.csv", "sweep.csv", "partitions.csv", "runs.csv", "flagged.csv",
                          "top_k.csv")


def one_block():
    """The first k before blocks were one per multiprocessor, and now."""
    return before_and_now("designs/before_one_block.csv", "top_k.csv")


def ballots():
    """Segmented scans before ballots told their reach, and now."""
    return before_and_now("designs/before_ballots.csv", "segmented_scans.csv")


def packing_before():
    """Partitions before more blocks fitted, compactions of bytes before registers packed them, and now."""
    return before_and_now("designs/before_packing.csv", "partitions.csv", "types.csv")


def resident_or_look_back():
    """Shapes between which scans and compactions choose, on both cards."""
    shapes = {"256 x 1": ("resident", "256", "1"), "256 x 4": ("resident", "256", "4"),
              "256 x 8": ("resident", "256", "8"), "packed, 256 x 2": ("packed", "256", "2"),
              "packed, 256 x 4": ("packed", "256", "4"), "packed, 256 x 8": ("packed", "256", "8"),
              "look-back, 128 x 11": ("look-back", "128", "11"), "look-back, 128 x 16": ("look-back", "128", "16"),
              "look-back, 256 x 4": ("look-back", "256", "4"), "look-back, 256 x 8": ("look-back", "256", "8")}
    lines = ["| card | operation | type | n | " + " | ".join(shapes) + " |",
             "| --- | --- | --- | ---: |" + " ---: |" * len(shapes)]
    for card in CARDS:
        rows = read("tune.csv", folder=DATA.parent / card)
        for operation, kind, exponents in (("compact", "uint8", (12, 14, 19, 20, 21)),
                                           ("compact", "int32", (19, 20, 21, 22)), ("scan", "int32", (21, 22)),
                                           ("scan", "double", (20, 21))):
            for n in (1 << k for k in exponents):
                times_of = {(row["kernel"], row["threads"], row["rows"]): format_time(row) for row in rows
                            if (row["operation"], row["type"], row["n"]) == (operation, kind, str(n))
                            and row["order"] != "ticket"}
                lines.append(f"| {rows[0]['gpu']} | {operation} | {kind} | {power(n)} | "
                             + " | ".join(times_of.get(shape, "") for shape in shapes.values()) + " |")
    return "\n".join([*lines, "", f"Threads per block x vectors of 16 bytes per thread. From {links('tune.csv')}."])


MIDDLE_SIZES = [1 << k for k in range(20, 24)]


def copy_over_cub(ours, cub):
    """How many times as fast as CUB a copy of as many bytes is, whose time a row tells by its percentage."""
    return ratio(cub, ours) / float(ours["percent_of_copy"]) * 100


def middle_sizes():
    """Scans and compactions that are short beside CUB and a copy, on both cards."""
    lines, used = [], []
    for folder in (DATA.parent / card for card in CARDS):
        measured = read_ladder(folder)
        for operation in ("scan", "compact"):
            for n in MIDDLE_SIZES:
                ours, cub = measured[operation, "single-pass", n], fastest_cub(measured, operation, n)
                used += [ours, cub]
                lines.append([ours["gpu"], operation, power(n), format_time(ours), format_time(cub), times(cub, ours),
                              f"{float(ours['percent_of_copy']):.1f} %", f"{copy_over_cub(ours, cub):.2f}"])
    titles = ["card", "operation", "n", "time", "CUB", "ratio", "of a copy", "ratio of a copy"]
    noise = about_noise(used)
    return "\n".join([*table(titles, lines, 2), "", f"int32; {about_cub(list(measured.values()))}"
                      f"{noise[0].upper()}{noise[1:]}. From {links('sweep.csv')}."])


def copy_ratios(card, operation):
    """The least and the greatest ratio of a copy in that table."""
    def ratios():
        measured = read_ladder(DATA.parent / card)
        found = [copy_over_cub(measured[operation, "single-pass", n], fastest_cub(measured, operation, n))
                 for n in MIDDLE_SIZES]
        return f"{min(found):.2f} to {max(found):.2f}"
    return ratios


def loss_cells(lost, names):
    worst = max(range(len(lost)), key=lost.__getitem__)
    return [f"{100 * statistics.fmean(lost):.1f} %", f"{100 * lost[worst]:.1f} % ({names[worst]})"]


def card_rows():
    """What the limits of the one row lose on each card, and what the best ones for the card would."""
    lines = []
    shapes = card_row.shapes_in_use()
    for card in CARDS:
        rows = read("tune.csv", folder=DATA.parent / card)
        for operation in ("scan", "compact"):
            cases = card_row.cases_of(rows, operation)
            names = [f"{case.kind}, {power(case.n)}" for case in cases]
            cells = []
            for limits in (card_row.limits_in_use(operation), card_row.best_limits(cases, shapes)):
                cells += loss_cells(card_row.losses(cases, limits, shapes), names)
            lines.append([rows[0]["gpu"], operation, *cells])
        rows = read("tune_row_sums.csv", folder=DATA.parent / card)
        lost = {}
        for shape in dict.fromkeys(row["operation"] for row in rows):
            ours = [row for row in rows if row["operation"] == shape and row["kernel"] not in CUBS]
            chosen, least = (float(row["median_us"]) for row in (best(ours, kernel="chosen"), fastest(ours)))
            lost[power_shape(shape.split()[1])] = chosen / least - 1
        lines.append([rows[0]["gpu"], "row sums", *loss_cells(list(lost.values()), list(lost)), "", ""])
    titles = ["card", "operation", "in use", "at worst", "best row for the card", "at worst"]
    return "\n".join([*table(titles, lines, 2), "", "Time lost against the fastest shapes, on average and at worst. From "
                      f"{links('tune.csv')}, {links('tune_row_sums.csv')}."])


def device_counts():
    """Operations with their number of elements in device memory beside the same calls with the number on the host."""
    columns = {"n on the host": ("host", ""), "on the device, capacity n": ("chosen", ""),
               "capacity 100 n": ("device", "100 x")}
    titles = ["card", "operation", "type", "n"]
    for title in columns:
        titles += [title] if title == "n on the host" else [title, "ratio"]
    lines = []
    for folder in (DATA.parent / card for card in CARDS):
        measured = {(row["operation"], int(row["n"]), row["kernel"], row["order"]): row
                    for row in read("device_counts.csv", folder=folder)}
        for operation, n in dict.fromkeys(key[:2] for key in measured):
            host = measured[operation, n, *columns["n on the host"]]
            cells = [format_time(host)]
            for of in list(columns.values())[1:]:
                row = measured.get((operation, n, *of))
                cells += [format_time(row), times(row, host)] if row else ["", ""]
            lines.append([host["gpu"], operation, host["type"], power(n), *cells])
    return "\n".join([*table(titles, lines, 3), "",
                      f"A ratio is to the time with n on the host. From {links('device_counts.csv')}."])


def frames():
    """The two ways of the path tracer to loop over the bounces."""
    lines = []
    for card in CARDS:
        measured = {(row["width"], row["height"], row["loop"]): row for row in read("frames.csv", folder=DATA.parent / card)}
        for width, height in dict.fromkeys((width, height) for width, height, _ in measured):
            host, graph = (measured[width, height, loop] for loop in ("host", "graph"))
            lines.append([host["gpu"], f"{width} × {height}", format_time(host), format_time(graph), times(host, graph)])
    return "\n".join([*table(["card", "pixels", "loop of the host", "loop in a graph", "ratio"], lines, 2), "",
                      f"Median times of a frame. From {links('frames.csv')}."])


def best(rows, **wanted):
    """The fastest of the rows with these values; None if there are none."""
    found = [row for row in rows if all(row[column] == str(value) for column, value in wanted.items())]
    return fastest(found)


def tuners_cub(rows):
    return fastest(row for row in rows if row["kernel"] in CUBS)


def beside(cub, row):
    return f"{format_time(row)} ({times(cub, row)})" if row else ""


def radix_ways():
    """The best shape of each algorithm for small arrays."""
    rows = read("tune_sorts.csv")
    ways = {"network": ("network",), "block": ("block",), "cluster": ("cluster",), "grid": ("grid",),
            "buckets by digits, cluster": ("cluster-buckets",), "the same, grid": ("grid-buckets",),
            "buckets as spans, cluster": ("cluster-groups",), "the same, resident grid": ("grid-groups", "two-tiles"),
            "passes": ("passes",)}
    lines = ["| type | n | " + " | ".join(ways) + " | CUB |", "| --- | ---: |" + " ---: |" * (len(ways) + 1)]
    for kind in ("int32", "int32,int32"):
        for k in range(10, 23):
            same = [row for row in rows if row["type"] == kind and row["n"] == str(1 << k)]
            cub = tuners_cub(same)
            cells = []
            for kernels in ways.values():
                row = fastest(best(same, kernel=kernel) for kernel in kernels)
                cells.append(f"{format_time(row)}, {row['threads']} x {row['rows']}" if row else "")
            lines.append(f"| {kind} | 2^{k} | " + " | ".join(cells) + f" | {format_time(cub)} |")
    return "\n".join([*lines, "", f"Threads x elements per thread. {TUNERS_CUB} From {link('tune_sorts.csv')}."])


def radix_small():
    """What the keys are like decides which way a small array is sorted."""
    rows = of_powers(read("small_sorts.csv"))
    inputs = list(dict.fromkeys(row["input"] for row in rows))
    lines = []
    for operation in dict.fromkeys(row["operation"] for row in rows):
        for n in sorted({int(row["n"]) for row in rows}):
            same = [row for row in rows if row["operation"] == operation and row["n"] == str(n)]
            cells = [beside(fastest(best(same, variant=cub, input=kind) for cub in CUBS),
                            best(same, variant="radix", input=kind)) for kind in inputs]
            lines.append([operation, power(n), *cells])
    return "\n".join([*table(["operation", "n", *inputs], lines), "",
                      f"In brackets, the ratio to CUB. {about_cub(rows)}{source(rows)}"])


def radix_shapes():
    """Shapes of the tiles of a pass, at the largest size."""
    lines = ["| type | n | tile, time, ratio to CUB |", "| --- | ---: | --- |"]
    rows = [row for row in read("tune_sorts.csv") if row["kernel"] in (*CUBS, "passes")]
    for kind in ("int32", "int32,int32", "int64", "int64,int32"):
        n = max(int(row["n"]) for row in rows if row["type"] == kind)
        same = [row for row in rows if row["type"] == kind and row["n"] == str(n)]
        cub = tuners_cub(same)
        shapes = sorted((row for row in same if row["kernel"] == "passes"), key=lambda row: float(row["median_us"]))
        cells = [f"{row['threads']} x {row['rows']}: {beside(cub, row)}" for row in shapes]
        lines.append(f"| {kind} | {power(n)} | " + "; ".join(cells) + " |")
    return "\n".join([*lines, "", f"{TUNERS_CUB} From {link('tune_sorts.csv')}."])


PROFILED_KEYS = "--sweep 2^26 --op sort --variant radix,cub"
PROFILED_PAIRS = "--sweep 2^26 --op sort-pairs --variant radix,cub"
PROFILED_INTS = "--sweep 2^26 --op scan --variant single-pass,cub"
PROFILED_WIDE = "--sweep 2^26 --op scan --variant single-pass --type int64"


def profiled_kernel(arguments, kernel):
    """The longest launch of a kernel in a run."""
    return max((row for row in long_kernels("profile.csv") if (row["arguments"], row["kernel"]) == (arguments, kernel)),
               key=lambda row: float(row["duration_us"]))


def profiled_use(arguments, kernel, title):
    """A cell of the table of a profile."""
    return lambda: PROFILE[title](profiled_kernel(arguments, kernel))


def cache_over_memory(arguments, kernel):
    """How many times as busy the second-level cache is as DRAM."""
    def ratio():
        row = profiled_kernel(arguments, kernel)
        return f"{float(row['l2_percent']) / float(row['dram_percent']):.2f}"
    return ratio


def pass_time(keys):
    """The time of a pass over so many keys, from that of the profile."""
    row = profiled_kernel(PROFILED_KEYS, "kernSortByDigit")
    return 1e-6 * float(row["duration_us"]) * keys / (1 << 26)


def radix_bytes():
    """The bytes that a sort moves at least, and how its speed compares with that of a copy, on both cards."""
    lines, used = [], []
    for folder in (DATA.parent / card for card in CARDS):
        rows = [row for row in read("sorts.csv", folder=folder) if row["variant"] == "radix" and row["input"] == "uniform"]
        for kind, (key_bytes, value_bytes) in {"int32": (4, 0), "int32,int32": (4, 4), "int64": (8, 0),
                                               "int64,int32": (8, 4)}.items():
            row = max((row for row in rows if row["type"] == kind), key=lambda row: int(row["n"]))
            trips = 3  # two passes and the spans
            per_element = key_bytes + 2 * trips * (key_bytes + value_bytes)
            speed = int(row["n"]) * per_element / float(row["median_us"]) / 1e3
            used.append(row)
            lines.append([row["gpu"], kind, power(int(row["n"])), str(trips), str(per_element), with_noise(row),
                          f"{speed:.0f} GB/s", f"{100 * speed / copy_speed(row):.0f} %"])
    titles = ["card", "type", "n", "trips", "bytes per element", "time", "speed", "of a copy's"]
    return "\n".join([*table(titles, lines, 2), "", f"Median times ({about_noise(used)}). From {links('sorts.csv')}."])


def radix_argsort():
    """An argsort beside a sort of pairs and CUB's, in the same run, on both cards."""
    lines, used = [], []
    for folder in (HOUSE / card for card in CARDS):
        rows = [row for row in read("fused.csv", folder=folder) if row["operation"] == "sort-pairs"]
        pairs, argsort = (best(rows, variant=variant) for variant in ("radix", "radix-argsort"))
        cub = fastest(row for row in rows if row["variant"] in CUBS)
        used += rows
        lines.append([cub["gpu"], power(int(cub["n"])), with_noise(pairs), with_noise(argsort), with_noise(cub),
                      times(pairs, argsort), times(cub, argsort)])
    titles = ["card", "n", "pairs", "argsort", "CUB's pairs", "argsort over pairs", "over CUB"]
    files = " and ".join(link("fused.csv", HOUSE / card) for card in CARDS)
    return "\n".join([*table(titles, lines), "",
                      f"int32 and int32. {about_cub(used)}Median times ({about_noise(used)}). From {files}."])


SORT_DESIGNS = {
    "values_with_keys": "as it was",
    "plain_ballots": "match: ballots in plain C++",
    "hardware_match": "match: `__match_any_sync`",
    "atomic_match": "match: atomic OR in shared memory",
    "remembered_digits": "digits kept from counting to ranking",
    "window_1": "look-back, one tile at a time",
    "window_4": "look-back, four tiles at a time",
    "window_8": "look-back, eight tiles at a time",
    "polling_by_atomics": "look-back by atomic additions",
    "one_replica": "histogram, one replica",
    "eight_replicas": "histogram, eight replicas",
    "not_early": "no pass begins early",
    "no_prefetch": "values not asked for early",
    "registers_for_values": "values through registers",
}


def radix_designs():
    """The library as it was then, and versions of it with one change each, with tiles of their own if they need them."""
    tiles = {"int32": ("512", "40"), "int32,int32": ("512", "23")}
    cases = [(kind, n) for kind in tiles for n in (1 << 22, 1 << 28)]
    lines = ["| design | " + " | ".join(f"{kind}, {power(n)}" for kind, n in cases) + " |",
             "| --- |" + " ---: |" * len(cases)]
    for name, title in SORT_DESIGNS.items():
        rows = [row for row in read(f"designs/sort_{name}.csv") if name != "values_with_keys" or row["kernel"] == "cub"
                or (row["threads"], row["rows"]) == tiles[row["type"]]]
        cells = [beside(best(rows, kernel="cub", type=kind, n=n), best(rows, kernel="passes", type=kind, n=n))
                 for kind, n in cases]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", f"In brackets, the ratio to {TOOLKITS_CUB} in the same run. "
                      "From `data/h200/designs/sort_*.csv`."])


def designs_of_kernel(name, what):
    """Designs of one kernel. Some were profiled."""
    rows = read(name)
    library = next(row for row in rows if row["design"].startswith("as it is"))
    units = ("shared", "l2", "dram", "integer", "issue")
    lines = table(("design", "time", "of the present", "shared memory", "L2", "DRAM", "integer", "issue"),
                  [(row["design"], format_time(row), f"{float(row['median_us']) / float(library['median_us']):.2f}",
                    *(f"{row[f'{unit}_percent']} %" if row[f"{unit}_percent"] else "" for unit in units))
                   for row in rows])
    return "\n".join([*lines, "", f"{what} 2^28 uniform ints, {library['gpu']}. From {link(name)}."])


def warp_specialised_designs():
    """A pass with warps that have different work."""
    return designs_of_kernel("designs/warp_specialised.csv", "One pass over")


def span_designs():
    """The kernel that sorts the spans."""
    return designs_of_kernel("designs/spans.csv", "The spans of")


def designs_for(name, column, what):
    """The times of whole designs, one column for each value of `column`."""
    rows = read(name)
    cases = list(dict.fromkeys(row[column] for row in rows))
    lines = table(("design", *cases),
                  [(design, *(format_time(row) if (row := best(rows, design=design, **{column: case})) else ""
                              for case in cases)) for design in dict.fromkeys(row["design"] for row in rows)])
    return "\n".join([*lines, "", f"{what}, {rows[0]['gpu']}. From {link(name)}."])


def middle_sort_designs():
    """How 2^22 keys may be sorted."""
    return designs_for("designs/middle_sorts.csv", "input", "2^22 keys of 4 bytes")


def span_loop_designs():
    """How blocks get their spans."""
    return designs_for("designs/span_loops.csv", "type", "The spans of 2^28 ints, 2^27 and 2^26 keys of 8 bytes")


def byte_compaction_designs():
    """How a block may pack bytes."""
    return designs_for("designs/compaction_of_bytes.csv", "input", "Compaction of 2^28 bytes")


# The tiles of the designs below, threads and rows.
DESIGN_TILES = {("512", "44"), ("384", "30"), ("384", "36"), ("1024", "44")}

ACCESS_DESIGNS = {
    "sort_values_with_keys": "values packed with the keys, 512 x 44 and 384 x 30",
    "accesses_as_it_is": "as it is, 512 x 44",
    "accesses_loads_first": "all keys loaded, then counted",
    "accesses_store_bursts": "keys stored in bursts",
    "accesses_values_in_bursts": "values moved eleven rows at a time",
    "accesses_wide_ranks": "ranks of 32 bits",
    "accesses_no_prefetch": "next tile not prefetched",
    "accesses_three_blocks": "three blocks per multiprocessor, 384 x 36",
    "accesses_large_tile": "one block per multiprocessor, 1024 x 44",
}


def designs_on_cards(designs, cases, titles, is_of):
    """One line per file of designs, beside CUB. A case is a card and something that `is_of(row, case)` looks for."""
    lines = ["| design | " + " | ".join(titles) + " |", "| --- |" + " ---: |" * len(cases)]
    for name, title in designs.items():
        cells = []
        for card, of in cases:
            file = DATA.parent / card / "designs" / f"{name}.csv"
            rows = read(file.name, folder=file.parent) if file.exists() else []
            same = [row for row in rows if is_of(row, of)]
            cells.append(beside(tuners_cub(same),
                                fastest(row for row in same if (row["threads"], row["rows"]) in DESIGN_TILES)))
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines


def radix_accesses():
    """How a pass spreads its accesses, on both cards."""
    cases = [(card, kind) for card in CARDS for kind in ("int32", "int32,int32")]
    lines = designs_on_cards(ACCESS_DESIGNS, cases, [f"{card.upper()}, {kind}" for card, kind in cases],
                             lambda row, kind: row["n"] == str(1 << 28) and row["type"] == kind)
    return "\n".join([*lines, "", f"2^28 elements. In brackets, the ratio to CUB in the same run; {TUNERS_CUB} From "
                      "`data/h200/designs/accesses_*.csv` and `data/h100/designs/accesses_*.csv`."])


PAIRS_DESIGNS = {
    "pairs_as_it_is": "as it is",
    "pairs_keys_read_once": "keys by `__ldcs`",
    "pairs_values_read_once": "values evicted first from L2",
    "pairs_no_prefetch": "values not asked for early",
    "pairs_all_read_once": "all three",
}


def radix_pairs():
    """How a pass of a sort of pairs reads them, on both cards."""
    cases = [(card, n) for card in CARDS for n in (1 << 24, 1 << 28)]
    lines = designs_on_cards(PAIRS_DESIGNS, cases, [f"{card.upper()}, {power(n)}" for card, n in cases],
                             lambda row, n: row["n"] == str(n))
    return "\n".join([*lines, "", "int32 and int32, 384 x 30. In brackets, the ratio to CUB in the same run; "
                      f"{TUNERS_CUB} From `data/h200/designs/pairs_*.csv` and `data/h100/designs/pairs_*.csv`."])


def row_sum_rows(name):
    return {(row["type"], row["shape"], row["variant"]): row for row in read(name)}


def row_sum_comparison(name, with_type):
    """One line per shape, beside the faster of the peers in the same run."""
    rows = row_sum_rows(name)
    lines = ["| " + ("type | " if with_type else "") + "rows × columns | `adaptive` | GB/s | of a copy | CUB | cuBLAS | "
             "of the faster peer's time |",
             "| " + ("--- | " if with_type else "") + "--- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for kind, shape, variant in rows:
        if variant != "adaptive":
            continue
        ours = rows[kind, shape, variant]
        peers = [fastest(rows.get((kind, shape, cub)) for cub in CUBS), rows.get((kind, shape, "cublas"))]
        lines.append("| " + (f"{kind} | " if with_type else "") + f"{power_shape(shape)} | {format_time(ours)} | "
                     f"{float(ours['gbps']):.0f} | {float(ours['percent_of_copy']):.1f} % | "
                     + " | ".join(format_time(peer) if peer else "" for peer in peers)
                     + f" | {times(ours, fastest(peers), 3)} |")
    return [*lines, "", about_cub(list(rows.values())) + source(list(rows.values()))]


def row_sum_results():
    return "\n".join(row_sum_comparison("row_sums.csv", False))


def row_sum_types():
    return "\n".join(row_sum_comparison("row_sum_types.csv", True))


def row_sum_study():
    rows = row_sum_rows("row_sum_study.csv")
    shapes = [shape for shape in dict.fromkeys(shape for _, shape, _ in rows) if shape == "24000x2048"]
    variants = list(dict.fromkeys(variant for _, _, variant in rows))
    lines = ["| variant | " + " | ".join(power_shape(shape) for shape in shapes) + " |",
             "| --- |" + " ---: |" * len(shapes)]
    for variant in variants:
        cells = []
        for shape in shapes:
            row = rows.get(("float", shape, variant))
            cells.append(f"{format_time(row)}, {float(row['gbps']):.0f} GB/s"
                         + (f" ({float(row['percent_of_copy']):.3g} %)" if row["percent_of_copy"] else "") if row else "")
        lines.append(f"| `{variant}` | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", "In brackets: percent of the speed of a copy. float; "
                      + source([row for row in rows.values() if row["shape"] in shapes])])


def row_sum_profile():
    what = {"variant": lambda row: f"`{option(row, '--variant')}`",
            "rows × columns": lambda row: option(row, "--shape").replace("x", " × ")}
    columns = ["time", "DRAM", "registers", "occupancy", "instructions", "cycles per instruction"]
    return profile_table(long_kernels("row_sum_profile.csv"), "row_sum_profile.csv", what, columns, 2)


def row_sum_designs():
    """Each mapping at the shapes that decide between the mappings, from the sweep of tune.sh."""
    rows = read("tune_row_sums.csv")
    measured = {}
    for row in rows:
        measured[row["operation"].split()[1], row["kernel"], row["order"]] = row
    mappings = list(dict.fromkeys(row["kernel"] for row in rows))
    lines = ["| rows × columns | " + " | ".join(f"`{mapping}`" for mapping in mappings) + " |",
             "| --- |" + " ---: |" * len(mappings)]
    for shape in dict.fromkeys(shape for shape, _, _ in measured):
        fastest = min((row for (of, kernel, _), row in measured.items() if of == shape and kernel not in (*CUBS, "chosen")),
                      key=lambda row: float(row["median_us"]))
        cells = []
        for mapping in mappings:
            times_of = [f"**{float(row['median_us']):.1f}**" if row is fastest else f"{float(row['median_us']):.1f}"
                        for order in ("", "plain", "once") if (row := measured.get((shape, mapping, order)))]
            cells.append(" / ".join(times_of))
        lines.append(f"| {power_shape(shape)} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", f"Microseconds with plain loads / with loads marked as read once (`__ldcs`); "
                      f"the fastest of ours in bold. {rows[0]['gpu']}. From {link('tune_row_sums.csv')}."])


def row_sum_lessons():
    """The shapes at which the first version was slower, beside the present one."""
    first, now = row_sum_rows("designs/row_sums_first.csv"), row_sum_rows("row_sums.csv")
    lines = ["| rows × columns | first | now |", "| --- | ---: | ---: |"]
    for key in (("float", shape, "adaptive") for shape in ("16777216x32", "67108864x7", "268435456x1", "64x4194304",
                                                             "7x38347922", "1x268435456", "3000x2047")):
        lines.append(f"| {power_shape(key[1])} | {format_time(first[key])}, {float(first[key]['gbps']):.0f} GB/s | "
                     f"{format_time(now[key])}, {float(now[key]['gbps']):.0f} GB/s |")
    return "\n".join([*lines, "", source([*first.values(), *now.values()])])


def utf8_table(rows, columns, column_of, cell):
    """One line per operation, one column per value of `column_of`."""
    cells = {(row["operation"], column_of(row)): cell(row) for row in rows}
    lines = ["| | " + " | ".join(columns.values()) + " |", "| --- |" + " ---: |" * len(columns)]
    for operation in dict.fromkeys(row["operation"] for row in rows):
        line = [cells.get((operation, column), "") for column in columns]
        lines.append(f"| {TEXT_OPERATIONS[operation]} | " + " | ".join(line) + " |")
    return "\n".join([*lines, "", source(rows)])


def utf8_results():
    rows = of_powers(read("utf8.csv"))
    inputs = {row["input"]: row["input"] for row in rows}
    return utf8_table(rows, inputs, lambda row: row["input"],
                      lambda row: f"{format_time(row)}, {float(row['gbps']):.0f} GB/s ({float(row['percent_of_copy']):.0f} %)")


def utf8_small():
    rows = of_powers(read("utf8_small.csv"))
    sizes = {row["n"]: power(int(row["n"])) for row in rows}
    return utf8_table(rows, sizes, lambda row: row["n"], format_time)


def utf8_variants():
    rows = of_powers(read("utf8_variants.csv"))
    lines = ["| operation | variant | n | time | GB/s | of a copy |", "| --- | --- | ---: | ---: | ---: | ---: |"]
    for row in rows:
        percent = f"{float(row['percent_of_copy']):.3g} %" if row["percent_of_copy"] else ""
        lines.append(f"| {TEXT_OPERATIONS[row['operation']]} | `{row['variant']}` | {power(int(row['n']))} | "
                     f"{format_time(row)} | {float(row['gbps']):.4g} | {percent} |")
    return "\n".join([*lines, "", "Mixed text. " + source(rows)])


SCANS = ("naive", "efficient", "efficient-optimized", "shared-conflicts", "shared", "single-pass", "thrust", "cub")


def profiled(operation):
    """The longer kernels of the variants of an operation on ints, one row per kernel and grid, and the size."""
    rows = [row for row in long_kernels("profile.csv")
            if option(row, "--op") == operation and "--type" not in row["arguments"]]
    of = {}
    for row in rows:
        variants = option(row, "--variant").split(",")
        # Rows of a run of ours and CUB, whose kernels all begin like this.
        of.setdefault(variants[-1 if row["kernel"].startswith("Device") else 0], []).append(row)
    (size,) = {option(row, "--sweep") for row in rows}
    return of, 1 << int(size.removeprefix("2^"))


def longest(rows):
    """The longest launch of each kernel."""
    found = {}
    for row in sorted(rows, key=lambda row: float(row["duration_us"])):
        found[row["kernel"]] = row
    return [found[kernel] for kernel in dict.fromkeys(row["kernel"] for row in rows)]


def levels():
    """The scans that launch one kernel per level, of 2^k elements, and the average time of a launch."""
    launches_of = {"naive": lambda k: 1 + k, "efficient": lambda k: 1 + 2 * k, "efficient-optimized": lambda k: 2 * k}
    measured = read_ladder()
    lines, used = [], []
    for n in LEVELS:
        cells = []
        for variant, launches in launches_of.items():
            row, count = measured["scan", variant, n], launches(n.bit_length() - 1)
            cells += [format_time(row), str(count), f"{float(row['median_us']) / count:.4g} µs"]
            used.append(row)
        lines.append([power(n), *cells])
    titles = ["n"]
    for variant in launches_of:
        titles += [f"`{variant}`", "launches", "each"]
    return "\n".join([*table(titles, lines, 0), "", from_ladder(used)])


def bounds():
    """The use of the hardware by the kernels of the scans."""
    rows = []
    for operation in ("scan", "compact"):
        of, n = profiled(operation)
        rows += [row | {"rung": f"{operation} `{variant}`"}
                 for variant in SCANS if variant in of for row in longest(of[variant])]
    what = {"variant": lambda row: row["rung"], "kernel": lambda row: f"`{row['kernel']}`"}
    columns = ["time", "DRAM", "L2", "L2 hits", "issue", "bank conflicts", "occupancy", "cycles per instruction"]
    return "\n".join([*profile_lines(rows, what, columns, 2), "",
                      f"{power(n)} elements, of each kernel the longest launch. From {link('profile.csv')}."])


def shared_memory():
    measured = read_ladder()
    lines, used = [], []
    for n in SIZES:
        remapped, conflicts, padded = (measured["scan", variant, n]
                                       for variant in ("efficient-optimized", "shared-conflicts", "shared"))
        lines.append([power(n), *map(format_time, (remapped, conflicts, padded)), times(remapped, conflicts),
                      times(conflicts, padded)])
        used += [remapped, conflicts, padded]
    titles = ["n", "`efficient-optimized`", "`shared-conflicts`", "`shared`", "shared memory: times as fast", "padding"]
    return "\n".join([*table(titles, lines, 0), "", from_ladder(used)])


def block_sizes():
    rows = of_powers(read("block_sizes.csv"))
    sizes = sorted({int(row["block_size"]) for row in rows})
    lines = []
    for n in dict.fromkeys(row["n"] for row in rows):
        for variant in dict.fromkeys(row["variant"] for row in rows):
            fastest = best(rows, n=n, variant=variant)
            same = [best(rows, n=n, variant=variant, block_size=threads) for threads in sizes]
            cells = [f"**{format_time(row)}**" if row is fastest else format_time(row) for row in same]
            lines.append([f"`{variant}`", power(int(n)), *cells])
    largest = max(int(row["n"]) for row in rows)
    levels = 2 * (largest.bit_length() - 1) + 1
    starts = []
    for threads in sizes:
        row = best(rows, n=largest, variant="efficient", block_size=threads)
        starts.append(f"{1000 * float(row['median_us']) * threads / (levels * largest):.2f} ns with {threads}")
    return "\n".join([*table(["scan", "n", *map(str, sizes)], lines), "",
                      f"Threads per block, the fastest in bold. Time of `efficient` at {power(largest)} over the blocks that "
                      f"its {levels} launches start, by threads per block: {', '.join(starts)}. " + source(rows)])


def crossover_panel(*operations):
    """The chart of that name and its rows. It compares the CPU variants of an operation with the fastest on the GPU."""
    file, build = CHARTS["crossover"]
    measured = measurements_of(DATA / file)
    for operation in operations:
        compared(*(row for row in measured if row["operation"] == operation
                   and (row["variant"].startswith("cpu") or row["variant"] == OURS[operation])))
    (panel,) = build(measured)["panels"]
    return panel, measured


def crossover():
    """The numbers of the chart of that name."""
    panel, measured = crossover_panel(*OURS)
    lines = []
    for line in panel["series"]:
        ratio = {point["x"]: f"{point['y']:.3g}" for point in line["points"]}
        lines.append([line["label"], *(ratio.get(n, "") for n in SIZES)])
    return "\n".join([*table(["times as fast as the CPU", *map(power, SIZES)], lines), "", source(measured)])


def odd_sizes():
    """The ratio of the time for three elements fewer than a power of two to that for the power, on both cards."""
    variants = [*(("scan", variant) for variant in SCANS), ("compact", "single-pass"), ("sort", "radix-split"),
                ("sort", "radix")]
    parts = []
    for folder in (DATA.parent / card for card in CARDS):
        measured = read_ladder(folder)
        lines, used = [], []
        for operation, variant in variants:
            pairs = [(measured[operation, variant, n], measured[operation, variant, n - 3]) for n in ODD_SIZES]
            lines.append([f"{operation} `{variant}`", *(times(odd, whole) for whole, odd in pairs)])
            used += [row for pair in pairs for row in pair]
        parts += [*table(["time at n - 3 over time at n", *map(power, ODD_SIZES)], lines), "",
                  f"{used[0]['gpu']}. {from_ladder(used, folder)}", ""]
    return "\n".join(parts[:-1])


def pairs_of_ours(card):
    """The rows for n and n - 3 of our fastest variants, a list of those that differ, and the number of all."""
    measured = read_ladder(DATA.parent / card)
    lines = [{n: row for (operation, variant, n), row in measured.items() if (operation, variant) == of}
             for of in OURS.items()]
    return ([pair for line in lines for pair in differing_pairs(line)],
            sum(n - 3 in line for line in lines for n in line))


def odd_count(card):
    """At how many sizes three elements fewer make a difference."""
    def count():
        differing, number = pairs_of_ours(card)
        return f"{len(differing)} of {number}"
    return count


def odd_most(card):
    """The greatest of these differences."""
    def most():
        whole, odd = max(pairs_of_ours(card)[0], key=lambda pair: abs(math.log(ratio(*pair))), default=(None, None))
        if whole is None:
            return "no time"
        return f"{times(odd, whole)} times for the {whole['operation']} at {power(int(whole['n']))}"
    return most


def sample():
    """The report up to the end of the first operation, and its end."""
    lines = (DATA / "report_2pow20.txt").read_text(encoding="utf-8").splitlines()
    sections = [i for i, line in enumerate(lines) if re.match(r"(scan|compact|sort), ", line)]
    verdicts = next(i for i, line in enumerate(lines) if line.startswith("fastest "))
    return "\n".join(["```", *lines[:sections[1]], "...", "", *lines[verdicts:], "```"])


def faster(slow, fast, operation="scan", n=1 << 28):
    """How many times as fast one variant is as another."""
    return lambda: times(*(read_ladder()[operation, variant, n] for variant in (slow, fast)))


def over_cub(name, operation, n, kind="int32", variant=None, card=CARDS[0], keys=()):
    """How many times as fast as CUB ours is, for n elements: the least and the greatest of all inputs, or of `keys`."""
    def ratios():
        rows = [row for row in read(name, folder=DATA.parent / card)
                if (row["operation"], row["type"], row["n"]) == (operation, kind, str(n))]
        inputs = {row["input"] for row in rows if not keys or row["input"] in keys}
        found = sorted(ratio(fastest(row for row in same if row["variant"] in CUBS),
                             fastest(row for row in same if row["variant"] not in CUBS
                                     and variant in (None, row["variant"])))
                       for same in ([row for row in rows if row["input"] == one] for one in inputs))
        least, most = f"{found[0]:.2f}", f"{found[-1]:.2f}"
        return least if least == most else f"{least} to {most}"
    return ratios


def time_of(name, **wanted):
    """The time of the one measurement with these values."""
    return lambda: format_time(best(read(name), **wanted))


def of_copy(card, name, operation, variant, n, kind, per_element=None):
    """The least and the greatest speed in percent of a copy's, of all inputs. `per_element` is the number of bytes to
    count instead of those in the file."""
    def percents():
        found = [float(row["percent_of_copy"]) * (per_element * n / int(row["bytes"]) if per_element else 1)
                 for row in read(name, folder=DATA.parent / card)
                 if (row["operation"], row["variant"], row["n"], row["type"]) == (operation, variant, str(n), kind)]
        least, most = f"{min(found):.0f}", f"{max(found):.0f}"
        return f"{least} %" if least == most else f"{least} to {most} %"
    return percents


def flagged_over_copy(card):
    """How many times as long as a copy of the bytes that must move the compaction of one in twenty records takes."""
    def ratio():
        row = best(read("flagged.csv", folder=DATA.parent / card), variant="single-pass", n=1 << 26, input="kept:0.05")
        return f"{100 / float(row['percent_of_copy']):.2f}"
    return ratio


def counted_ratio(card, operation, n, kernel="chosen", order=""):
    """The time with the number of elements in device memory over that with the number on the host."""
    def ratio():
        rows = read("device_counts.csv", folder=DATA.parent / card)
        return times(*(best(rows, operation=operation, n=n, kernel=of, order=by)
                       for of, by in ((kernel, order), ("host", ""))))
    return ratio


def frames_ratio(width):
    """How many times as fast the loop in a graph is as that of the host."""
    return lambda: times(*(best(read("frames.csv"), width=width, loop=loop) for loop in ("host", "graph")))


def crossing(operation):
    """From which size on the GPU is faster: the label of the line in the chart."""
    def find():
        panel, _ = crossover_panel(operation)
        return next(match[1] for line in panel["series"]
                    if (match := re.fullmatch(rf"{operation}, from ([\d,]+) on", line["label"])))
    return find


def scan_percent():
    return f"{float(read_ladder()['scan', 'single-pass', 1 << 28]['percent_of_copy']):.3g} %"


def thrust_more():
    slow, fast = (read_ladder()["scan", variant, 1 << 20] for variant in ("thrust", "cub"))
    compared(slow, fast)
    return f"{float(slow['median_us']) - float(fast['median_us']):.2g} µs"


TWO_CARDS = ROOT / "data" / "h200_x2"
FOUR_CARDS = ROOT / "data" / "h200_x4"
# GPUs, and bytes per second of a link that is not NVLink.
PREDICTED = {"8 GPUs": (8, None), "64 GPUs": (64, 50e9), "1024 GPUs": (1024, 50e9)}


def modelled(seconds):
    return format_time({"median_us": seconds * 1e6})


def two_cards():
    return Model(read("distributed.csv", folder=TWO_CARDS))


def four_cards():
    """Its sorts were measured before passes carried elements over the link."""
    return Model(read("distributed.csv", folder=FOUR_CARDS), two_cards().carrying)


def link_speed():
    """How fast copies cross the link, in bytes per second each way."""
    return 1e9 * float(best(read("exchange.csv", folder=TWO_CARDS), kernel="copies", n=1 << 28)["gbps"])


def distributed_results():
    """Both GPUs against one of them, and against the model."""
    rows = read("distributed.csv", folder=TWO_CARDS)
    model, speed = Model(rows), link_speed()
    by_input = {(row["operation"], row["variant"], int(row["n"]), row["gpus"], row["input"]): row for row in rows}
    lines = []
    for (operation, variant, n, _, keys), row in by_input.items():
        if variant != "distributed":
            continue
        alone = by_input.get((operation, alone_variant(operation), n, "1", keys))
        gathered = by_input.get((operation, "gather-to-one", n, "2", keys))
        known = keys == model.usual[operation] and model.knows(operation, n, 2)
        sent = model.of_sort(operation, n, 2)[1] if operation in ELEMENT_BYTES and known else 0  # bytes of a GPU
        lines.append([f"{operation}, {keys}", power(n), with_noise(row), format_time(alone) if alone else "",
                      times(alone, row) if alone else "", format_time(gathered) if gathered else "",
                      modelled(model.predicted(operation, n, 2)) if known else "",
                      f"{100 * sent / speed / (float(row['median_us']) / 1e6):.0f} %" if sent else ""])
    titles = ["operation, input", "n", "two GPUs", "one GPU", "times one GPU", "gathered to one", "model",
              "of the link"]
    return "\n".join([*table(titles, lines), "", source(rows, TWO_CARDS)])


def process_per_gpu():
    """One process with both GPUs against a process for each, on one host."""
    rows, ranks = (read(name, folder=TWO_CARDS) for name in ("distributed_one_process.csv", "distributed_ranks.csv"))
    together = {(row["operation"], row["n"]): row for row in rows}
    lines = []
    for row in ranks:
        one = together[row["operation"], row["n"]]
        lines.append([row["operation"], power(int(row["n"])), format_time(one), format_time(row), times(one, row)])
    titles = ["operation", "n", "one process", "a process for each GPU", "times as fast"]
    return "\n".join([*table(titles, lines), "", source(rows + ranks, TWO_CARDS)])


def distributed_peers():
    """cuPyNumeric on two GPUs."""
    rows = [row for row in read("distributed_peers.csv", folder=TWO_CARDS) if row["variant"] == "cupynumeric"]
    measured = read("distributed.csv", folder=TWO_CARDS)
    same = ("operation", "n", "input", "gpus")
    ours = [best(measured, variant="distributed", **{key: row[key] for key in same}) for row in rows]
    lines = [[row["operation"], power(int(row["n"])), with_noise(row), with_noise(own), times(row, own)]
             for row, own in zip(rows, ours)]
    titles = ["operation", "n", rows[0]["library"], "distributed", "times as fast"]
    return "\n".join([*table(titles, lines), "", f"{rows[0]['gpu']}, median times ({about_noise(rows + ours)}), GPU warm "
                      f"for cuPyNumeric and cold for ours. From {link('distributed_peers.csv', TWO_CARDS)} and "
                      f"{link('distributed.csv', TWO_CARDS)}."])


def exchanges():
    """Arrays that two GPUs exchange: what each sends to the other in a second."""
    rows = read("exchange.csv", folder=TWO_CARDS)
    titles = {"windows": "stored by kernels", "messages": "sent by NCCL", "copies": "copied"}
    by_way = {(row["kernel"], row["n"]): row for row in rows}
    sizes = dict.fromkeys(row["n"] for row in rows)
    lines = [[power(int(n)), *(f"{float(by_way[way, n]['gbps']):.0f} GB/s" for way in titles)] for n in sizes]
    return "\n".join([*table(["elements of each GPU", *titles.values()], lines), "",
                      f"{rows[0]['gpu']}, CUDA {rows[0]['toolkit']}. From {link('exchange.csv', TWO_CARDS)}."])


def weak_scaling():
    """As many elements per GPU on any number of GPUs: what was measured, and what the model says of more."""
    rows = read("distributed.csv", folder=FOUR_CARDS)
    model = four_cards()
    part = 1 << 28
    lines = []
    for operation in WEAK:
        one = model.alone(operation, part)
        measured = [model.time(operation, "distributed", gpus * part, gpus) for gpus in model.counts]
        predicted = [model.predicted(operation, gpus * part, gpus, link) for gpus, link in PREDICTED.values()]
        lines.append([operation, modelled(one)] + [f"{modelled(time)} ({one / time:.2f})"
                                                   for time in (*measured, *predicted)])
    titles = ["operation", "one GPU", *(f"{gpus} GPUs" for gpus in model.counts), *(f"{name}, model" for name in PREDICTED)]
    return "\n".join([*table(titles, lines), "", source(rows, FOUR_CARDS)])


def sort_parts():
    """The parts of a sort by the model."""
    lines = []
    two, four = two_cards(), four_cards()
    cases = [("2 GPUs", two, 1 << 29, 2, None), ("2 GPUs, sent as fast as a copy", two, 1 << 29, 2, link_speed()),
             *((name, four, gpus << 28, gpus, link) for name, (gpus, link) in PREDICTED.items())]
    for name, model, n, gpus, link_bytes in cases:
        part = n // gpus
        whole = model.predicted("sort", n, gpus, link_bytes)
        sending = whole - model.of_sort("sort", n, gpus)[0] - CARRYING_PASSES * model.pass_of("sort", part)
        measured = model.rows.get(("sort", "distributed", n, gpus)) if link_bytes is None else None
        lines.append([name, power(n), *map(modelled, (model.alone("sort", part), model.first_digit(part),
                                                      model.finding(gpus), sending, whole)),
                      format_time(measured) if measured else ""])
    titles = ["GPUs", "n", "local sort", "first digit", "splitters and exchanges", "link beyond passes", "sum", "measured"]
    return "\n".join([*table(titles, lines), "", f"By the model. From {link('distributed.csv', TWO_CARDS)} and "
                      f"{link('distributed.csv', FOUR_CARDS)}."])


def two_cards_at_full_link():
    """The time of a sort of 2^29 keys on two GPUs, if passes carry them as fast as a copy crosses the link."""
    model = two_cards()
    saved = model.predicted("sort", 1 << 29, 2) - model.predicted("sort", 1 << 29, 2, link_speed())
    return modelled(model.time("sort", "distributed", 1 << 29, 2) - saved)


def out_of_core_results():
    """Arrays in page-locked host memory."""
    rows = read("out_of_core.csv", folder=TWO_CARDS)
    four = [row for row in read("out_of_core.csv", folder=FOUR_CARDS) if row["gpus"] == "4"]
    lines = [[row["operation"], power(int(row["n"])), row["gpus"],
              power(int(row["gpu_memory"])) if row["gpu_memory"] else "", format_time(row), f"{float(row['gbps']):.1f}",
              f"{float(row['percent_of_copy']):.0f} %" if row["percent_of_copy"] else ""] for row in rows + four]
    titles = ["operation", "n", "GPUs", "device memory in bytes", "time", "GB/s", "of a copy"]
    return "\n".join([*table(titles, lines), "",
                      f"{source(rows + four, TWO_CARDS)[:-1]} and {link('out_of_core.csv', FOUR_CARDS)}."])


# The numbers in sentences.
FACTS = {
    "scan-percent": scan_percent,
    "scan-over-cub": over_cub("sweep.csv", "scan", 1 << 28, variant="single-pass"),
    "remapping": faster("efficient", "efficient-optimized"),
    "shared-memory": faster("efficient-optimized", "shared-conflicts"),
    "padding": faster("shared-conflicts", "shared"),
    "cross-scan": crossing("scan"),
    "cross-compact": crossing("compact"),
    "cross-sort": crossing("sort"),
    "thrust-more": thrust_more,
    "odd-count-h200": odd_count("h200"),
    "odd-count-h100": odd_count("h100"),
    "odd-most-h200": odd_most("h200"),
    "odd-most-h100": odd_most("h100"),
    "segmented-scan": over_cub("segmented_scans.csv", "segmented-scan", 1 << 28, variant="single-pass"),
    "segmented-scan-offsets": over_cub("segmented_scans.csv", "segmented-scan", 1 << 28, variant="single-pass-offsets"),
    "segmented-sort": over_cub("segmented_sorts.csv", "segmented-sort", 1 << 26),
    "flagged": over_cub("flagged.csv", "compact-flagged", 1 << 26, kind="flag,record"),
    "flagged-one-in-twenty": time_of("flagged.csv", variant="single-pass", n=1 << 26, input="kept:0.05"),
    "top-k": over_cub("top_k.csv", "top-k", 1 << 28),
    "unique": over_cub("runs.csv", "unique", 1 << 28),
    "run-length": over_cub("runs.csv", "run-length", 1 << 28, kind="int32->int32,int32"),
    "reduce-by-key": over_cub("runs.csv", "reduce-by-key", 1 << 28, kind="int32,int32"),
    "histogram": over_cub("histograms.csv", "histogram", 1 << 28),
    "histogram-wide": over_cub("histograms.csv", "histogram-wide", 1 << 28),
    "multi-partition": over_cub("multi_partitions.csv", "multi-partition", 1 << 28),
    "multi-partition-small": over_cub("multi_partitions.csv", "multi-partition", 1 << 20),
    "frames-small": frames_ratio(256),
    "frames-large": frames_ratio(1280),
    "l2-ints": profiled_use(PROFILED_INTS, "kernScanLookBack", "L2"),
    "l2-wide": profiled_use(PROFILED_WIDE, "kernScanLookBack", "L2"),
    "l2-over-dram-ints": cache_over_memory(PROFILED_INTS, "kernScanLookBack"),
    "l2-over-dram-wide": cache_over_memory(PROFILED_WIDE, "kernScanLookBack"),
    "l2-over-dram-adding": cache_over_memory("--sweep 2^26 --op scan --variant shared", "kernAddTilePrefixes"),
    "copy-scan-h200": copy_ratios("h200", "scan"),
    "copy-compact-h200": copy_ratios("h200", "compact"),
    "copy-scan-h100": copy_ratios("h100", "scan"),
    "copy-compact-h100": copy_ratios("h100", "compact"),
    "keys-shared": profiled_use(PROFILED_KEYS, "kernSortByDigit", "shared memory"),
    "keys-l2": profiled_use(PROFILED_KEYS, "kernSortByDigit", "L2"),
    "keys-integer": profiled_use(PROFILED_KEYS, "kernSortByDigit", "integer pipe"),
    "pairs-shared": profiled_use(PROFILED_PAIRS, "kernSortByDigit", "shared memory"),
    "pairs-l2": profiled_use(PROFILED_PAIRS, "kernSortByDigit", "L2"),
    "pairs-dram": profiled_use(PROFILED_PAIRS, "kernSortByDigit", "DRAM"),
    "skewed-keys": over_cub("small_sorts.csv", "sort", 1 << 12, keys=("and:2", "and:4")),
    "skewed-pairs": over_cub("small_sorts.csv", "sort-pairs", 1 << 12, kind="int32,int32", keys=("and:2", "and:4")),
    "skewed-keys-h100": over_cub("small_sorts.csv", "sort", 1 << 12, card="h100", keys=("and:2", "and:4")),
    "skewed-pairs-h100": over_cub("small_sorts.csv", "sort-pairs", 1 << 12, kind="int32,int32", card="h100",
                                  keys=("and:2", "and:4")),
    "counted-keys": counted_ratio("h200", "sort", 1 << 28),
    "counted-keys-h100": counted_ratio("h100", "sort", 1 << 28),
    "counted-scan": counted_ratio("h200", "scan", 1 << 24),
    "counted-scan-large": counted_ratio("h200", "scan", 1 << 28),
    "counted-pairs": counted_ratio("h200", "sort-pairs", 1 << 24),
    "counted-pairs-large": counted_ratio("h200", "sort-pairs", 1 << 28),
    "counted-scan-small": counted_ratio("h200", "scan", 1 << 10),
    "counted-partition": counted_ratio("h200", "partition", 2684354, "device", "100 x"),
    "counted-segments": counted_ratio("h200", "segmented-sort", 2684354, "device", "100 x"),
    "counted-first-k": counted_ratio("h200", "top-k", 2684354, "device", "100 x"),
    "counted-segments-full": counted_ratio("h200", "segmented-sort", 1 << 28),
    "counted-runs": counted_ratio("h200", "run-length", 1 << 28),
    "flagged-over-copy": flagged_over_copy("h200"),
    "flagged-over-copy-h100": flagged_over_copy("h100"),
    "top-k-loss": over_cub("top_k.csv", "top-k", 1 << 22),
    "top-k-loss-h100": over_cub("top_k.csv", "top-k", 1 << 22, card="h100"),
    "segmented-wide": over_cub("segmented_scans.csv", "segmented-scan", 1 << 27, kind="int64", variant="single-pass"),
    "segmented-wide-offsets": over_cub("segmented_scans.csv", "segmented-scan", 1 << 27, kind="int64",
                                       variant="single-pass-offsets"),
    "segmented-wide-h100": over_cub("segmented_scans.csv", "segmented-scan", 1 << 27, kind="int64", card="h100",
                                    variant="single-pass"),
    "segmented-copy-h100": of_copy("h100", "segmented_scans.csv", "segmented-scan", "single-pass", 1 << 28, "int32",
                                   per_element=9),
    "segmented-offsets-copy-h100": of_copy("h100", "segmented_scans.csv", "segmented-scan", "single-pass-offsets", 1 << 28,
                                           "int32"),
    "by-key-copy-h200": of_copy("h200", "runs.csv", "reduce-by-key", "single-pass", 1 << 28, "int32,int32"),
    "by-key-copy-h100": of_copy("h100", "runs.csv", "reduce-by-key", "single-pass", 1 << 28, "int32,int32"),
    "link-speed": lambda: f"{link_speed() / 1e9:.0f} GB/s",
    "carrying-speed": lambda: f"{two_cards().carrying / 1e9:.0f} GB/s",
    "sort-full-link": two_cards_at_full_link,
}


HOUSE = ROOT / "data" / "house"


def build_costs(name):
    """The measurements of scripts/build_times.py, by (what, name)."""
    with open(HOUSE / name, newline="", encoding="utf-8") as file:
        return {(row["what"], row["name"]): row for row in csv.DictReader(file)}


def build_objects(name):
    """The files that take longest to compile, one line for the rest, and the program."""
    costs = build_costs(name)
    seconds = {row["name"]: float(row["cpu_s"]) for (what, _), row in costs.items() if what == "object"}
    sizes = {row["name"]: int(row["bytes"]) for (what, _), row in costs.items() if what == "object"}
    slow = [file for file in sorted(seconds, key=seconds.get, reverse=True) if seconds[file] >= SLOW_TO_COMPILE]
    rest = seconds.keys() - set(slow)
    program = costs["program", "stream_compaction_test"]
    lines = [[f"`{file}`", f"{seconds[file]:.0f}", megabytes(sizes[file])] for file in slow]
    lines.append([f"{len(rest)} more files", f"{sum(seconds[file] for file in rest):.0f}",
                  megabytes(sum(sizes[file] for file in rest))])
    lines.append(["all, and the program", f"{sum(seconds.values()):.0f}", megabytes(int(program["bytes"]))])
    return "\n".join([*table(["file", "CPU s", "MB"], lines), "", f"From {link(name, HOUSE)}."])


SLOW_TO_COMPILE = 10  # CPU seconds


def megabytes(size):
    return f"{size / 1e6:.1f}"


def build_headers():
    """The cost of a user's file with one include, before the code was divided into folders and after."""
    before, after = build_costs("build_before.csv"), build_costs("build_after.csv")
    lines = []
    for (what, name), row in after.items():
        if what == "header":
            earlier = before.get((what, name))
            lines.append([f"`{name}`", f"{float(earlier['cpu_s']):.1f}" if earlier else "", f"{float(row['cpu_s']):.1f}"])
    return "\n".join([*table(["header", "CPU s before", "CPU s now"], lines), "",
                      f"From {link('build_before.csv', HOUSE)} and {link('build_after.csv', HOUSE)}."])


BLOCKS = {
    "README.md": {"ladder": lambda: ladder(("scan", "compact"), FRONT_PAGE), "against-cub": lambda: against_cub("h200"),
                  "sample": sample},
    "docs/performance.md": {"levels": levels},
    "docs/row_sum.md": {"row-sum-study": row_sum_study},
    "docs/lab-notes/performance.md": {
        "crossover": crossover, "block-sizes": block_sizes, "shared-memory": shared_memory, "bounds": bounds,
        "odd-sizes": odd_sizes, "against-cub": lambda: against_cub("h100"),
        "all": lambda: ladder(("scan", "compact", "sort"), SIZES)},
    "docs/lab-notes/building.md": {"build-now": lambda: build_objects("build_after.csv"),
                                   "build-before": lambda: build_objects("build_before.csv"),
                                   "build-headers": build_headers},
    "docs/lab-notes/single_pass.md": {"single-pass-results": single_pass_results, "single-pass-profile": single_pass_profile,
                                      "byte-compaction-designs": byte_compaction_designs,
                                      "packing-before": packing_before,
                                      "single-pass-designs": single_pass_designs,
                                      "resident-or-look-back": resident_or_look_back, "card-rows": card_rows,
                                      "blocks-that-meet": blocks_that_meet,
                                      "middle-sizes": middle_sizes},
    "docs/lab-notes/radix_sort.md": {"radix-results": radix_results, "radix-profile": radix_profile, "radix-ways": radix_ways,
                                     "radix-small": radix_small, "radix-shapes": radix_shapes, "radix-designs": radix_designs,
                                     "warp-specialised": warp_specialised_designs, "span-designs": span_designs,
                                     "span-loop-designs": span_loop_designs,
                                     "middle-sort-designs": middle_sort_designs,
                                     "radix-pairs": radix_pairs,
                                     "radix-accesses": radix_accesses, "radix-bytes": radix_bytes,
                                     "radix-argsort": radix_argsort},
    "docs/lab-notes/row_sum.md": {"row-sum-results": row_sum_results, "row-sum-types": row_sum_types,
                                  "row-sum-profile": row_sum_profile, "row-sum-lessons": row_sum_lessons,
                                  "row-sum-designs": row_sum_designs},
    "docs/lab-notes/operations.md": {
        "segmented-scans": lambda: on_both_cards("segmented_scans.csv"), "ballots": ballots,
        "segmented-sorts": lambda: on_both_cards("segmented_sorts.csv"),
        "flagged": lambda: on_both_cards("flagged.csv"), "top-k": lambda: on_both_cards("top_k.csv"),
        "one-block": one_block,
        "runs": lambda: on_both_cards("runs.csv"), "histograms": lambda: on_both_cards("histograms.csv"),
        "multi-partitions": lambda: on_both_cards("multi_partitions.csv"), "device-counts": device_counts,
        "frames": frames, "operation-profile": operation_profile},
    "docs/lab-notes/distributed.md": {"distributed-results": distributed_results, "weak-scaling": weak_scaling,
                                      "sort-parts": sort_parts, "exchanges": exchanges,
                                      "distributed-peers": distributed_peers, "process-per-gpu": process_per_gpu,
                                      "out-of-core-results": out_of_core_results},
    "docs/lab-notes/utf8.md": {"utf8-results": utf8_results, "utf8-variants": utf8_variants, "utf8-small": utf8_small,
                               "utf8-profile": utf8_profile},
}


def made(page, name, make):
    """The text of a block or fact, and why a ratio in it was refused, if one was. README.md may have no such."""
    REFUSED.clear()
    text = make()
    if not REFUSED:
        return text, ""
    if page == "README.md":
        sys.exit(f"{page}, {name}: {REFUSED[0]}: measure them in one run")
    print(f"{page}, {name}: {REFUSED[0]}", file=sys.stderr)
    return text, REFUSED[0]


def made_block(page, name, make):
    """With footnotes."""
    text, reason = made(page, name, make)
    if reason:
        text += f"\n\nOf different runs, so not to be compared: {reason}."
    if DAGGER in text:
        glossary = posixpath.relpath("docs/glossary.md", posixpath.dirname(page))
        text += f"\n\n{DAGGER} [Stands out]({glossary}#measuring) from its neighbours."
    return text


def generate(page, text):
    to_root = "../" * page.count("/")
    for name, block in BLOCKS.get(page, {}).items():
        new = made_block(page, name, block).replace("](data/", f"]({to_root}data/")
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, found = pattern.subn(lambda match: match[1] + new + "\n" + match[2], text)
        if found != 1:
            sys.exit(f"{page}: expected one block <!-- {name} -->, found {found}")

    def fact(match):
        if match[2] not in FACTS:
            sys.exit(f"{page}: no fact has the name {match[2]}")
        text, reason = made(page, match[2], FACTS[match[2]])
        return match[1] + text.removesuffix(f" {DAGGER}") + (" (different runs)" if reason else "") + match[3]

    return re.sub(r"(<!-- = ([\w-]+) -->).*?(<!-- end -->)", fact, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only tell whether the pages are up to date")
    arguments = parser.parse_args()
    for page in ("README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))):
        old = (ROOT / page).read_text(encoding="utf-8")
        new = generate(page, old)
        if arguments.check:
            if new != old:
                sys.exit(f"{page} is out of date: run scripts/update_figures.py")
        else:
            (ROOT / page).write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
