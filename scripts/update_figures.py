#!/usr/bin/env python3
"""Writes the figures in README.md and docs/*.md from the files that the program wrote in data/.

A function in BLOCKS makes each block of those pages between the lines `<!-- NAME -->` and `<!-- end -->`, one in FACTS
each number in a sentence between `<!-- = NAME -->` and `<!-- end -->`. A ratio of rows of different runs is refused:
README.md may have none, and other pages say so in its place. With --check nothing is written; the exit status is 1 if
a page is out of date.
"""

import argparse
import functools
import math
import posixpath
import re
import statistics
import sys

from charts import CHARTS, measurements_of
from measurements import (CARDS, DAGGER, DATA, ROOT, differing_pairs, fastest, format_time, is_one_run, power,
                          power_shape, read, runs_of)

# The fastest variants.
OURS = {"scan": "single-pass", "compact": "single-pass", "sort": "radix"}
# CUB of the toolkit, and of the newest release of CCCL. Ratios are to the faster of the two.
CUBS = ("cub", "cub-latest")
FRONT_PAGE = [1 << k for k in (20, 24, 28)]
SIZES = [1 << k for k in (8, 12, 16, 20, 24, 28)]
LEVELS = [1 << k for k in (8, 16, 20, 28)]

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


def ratio(slow, fast):
    """How many times as fast `fast` is as `slow`. Of two runs, `compared` refuses it."""
    compared(slow, fast)
    return float(slow["median_us"]) / float(fast["median_us"])


def times(slow, fast):
    """The ratio, or a dash for rows of different runs."""
    return f"{ratio(slow, fast):.2f}" if compared(slow, fast) else "—"


@functools.cache
def read_ladder(card=CARDS[0]):
    """The sweep of a card, by (operation, variant, n). Of a subject that was measured twice the last row counts."""
    return {(row["operation"], row["variant"], int(row["n"])): row
            for row in read("sweep.csv", folder=DATA.parent / card) if row["type"] == "int32"}


def fastest_cub(measured, operation, n):
    return fastest(measured.get((operation, cub, n)) for cub in CUBS)


def with_noise(row):
    noise = row.get("noise_percent")
    return format_time(row) + (f" ± {float(noise):.1f} %" if noise else "")


def of_copy(row):
    return f" ({float(row['percent_of_copy']):.3g} %)" if row["percent_of_copy"] else ""


def from_file(rows):
    (name,) = {row["file"] for row in rows}
    path = (DATA / name).relative_to(ROOT).as_posix()
    return f"From [`{path}`]({path}), commit {runs_of(rows)}."


def about_noise(rows):
    return f"noise at most {max(float(row['noise_percent']) for row in rows if row['noise_percent']):.1f} %"


def source(rows):
    return (f"{rows[0]['gpu']}, CUDA {rows[0]['toolkit']}, median times ({about_noise(rows)}), GPU cold and CPU warm. "
            + from_file(rows))


def table(titles, rows, left=1):
    """A Markdown table. The first `left` columns are aligned to the left, the others to the right."""
    lines = ["| " + " | ".join(titles) + " |",
             "| " + " | ".join(["---"] * left + ["---:"] * (len(titles) - left)) + " |"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def copy_time(rows):
    """The time of a copy of the same number of bytes: the median over the variants."""
    return format_time({"median_us": statistics.median(
        float(row["median_us"]) * float(row["percent_of_copy"]) / 100 for row in rows if row["percent_of_copy"])})


def ladder():
    """A line per variant of an operation, a column per size, and a line for the copy."""
    lines, used = [], []
    for operation, title in (("scan", "Exclusive scan"), ("compact", "Stream compaction, 75 % kept")):
        of_size = {n: {variant: row for (op, variant, m), row in read_ladder().items() if (op, m) == (operation, n)}
                   for n in FRONT_PAGE}
        variants = dict.fromkeys(variant for op, variant, _ in read_ladder() if op == operation)
        rows = [[f"`{variant}`", *(with_noise(row) + of_copy(row) if (row := of_size[n].get(variant)) else ""
                                   for n in FRONT_PAGE)] for variant in variants]
        rows.append(["a copy", *(copy_time(of_size[n].values()) for n in FRONT_PAGE)])
        lines += [*table([title, *map(power, FRONT_PAGE)], rows), ""]
        used += [row for rows_of_size in of_size.values() for row in rows_of_size.values()]
    return "\n".join([*lines, "In brackets: percent of the speed at which `cudaMemcpyAsync` copies as many bytes on "
                      "the card. int32; " + source(used)])


def against_cub():
    """Ours and CUB, measured in the same run on the same input, and three elements fewer below each size."""
    measured = read_ladder()
    rows, used = [], []
    for n in (size for power_of_two in SIZES for size in (power_of_two, power_of_two - 3)):
        cells = []
        for operation, variant in OURS.items():
            ours, cub = measured[operation, variant, n], fastest_cub(measured, operation, n)
            cells += [with_noise(ours), with_noise(cub), times(cub, ours)]
            used += [ours, cub]
        rows.append([power(n), *cells])
    titles = ["n", *(title for name in ("Scan", "Compaction", "Sort") for title in (f"{name}: ours", "CUB", "ratio"))]
    versions = dict.fromkeys(row["library"] for row in measured.values() if row["variant"] in CUBS)
    return "\n".join([*table(titles, rows, 0), "",
                      f"int32; CUB is the faster of {' and '.join(versions)}. " + source(used)])


def levels():
    """The scans that launch one kernel per level, of 2^k elements, and the average time of a launch."""
    launches_of = {"naive": lambda k: 1 + k, "efficient": lambda k: 1 + 2 * k, "efficient-optimized": lambda k: 2 * k}
    lines, used = [], []
    for n in LEVELS:
        cells = []
        for variant, launches in launches_of.items():
            row, count = read_ladder()["scan", variant, n], launches(n.bit_length() - 1)
            cells += [format_time(row), str(count), f"{float(row['median_us']) / count:.4g} µs"]
            used.append(row)
        lines.append([power(n), *cells])
    titles = ["n", *(title for variant in launches_of for title in (f"`{variant}`", "launches", "each"))]
    return "\n".join([*table(titles, lines, 0), "", f"{about_noise(used).capitalize()}. {from_file(used)}"])


def row_sum_study():
    """Every variant at the shape of the course."""
    shape = "24000x2048"
    rows = [row for row in read("row_sum_study.csv") if row["shape"] == shape]
    lines = [[f"`{row['variant']}`", f"{format_time(row)}, {float(row['gbps']):.0f} GB/s{of_copy(row)}"]
             for row in rows]
    return "\n".join([*table(["variant", power_shape(shape)], lines), "",
                      "In brackets: percent of the speed of a copy. float; " + source(rows)])


def sample():
    """The report up to the end of the first operation, and its end."""
    lines = (DATA / "report_2pow20.txt").read_text(encoding="utf-8").splitlines()
    sections = [i for i, line in enumerate(lines) if re.match(r"(scan|compact|sort), ", line)]
    verdicts = next(i for i, line in enumerate(lines) if line.startswith("fastest "))
    return "\n".join(["```", *lines[:sections[1]], "...", "", *lines[verdicts:], "```"])


def one(name, **wanted):
    """The fastest measurement with these values."""
    return fastest(row for row in read(name) if all(row[column] == str(value) for column, value in wanted.items()))


def faster(slow, fast):
    """How many times as fast one scan of 2^28 ints is as another."""
    return lambda: times(*(read_ladder()["scan", variant, 1 << 28] for variant in (slow, fast)))


def over_cub(name, operation, n, kind="int32", variant=None):
    """How many times as fast as CUB ours is, for n elements: the least and the greatest of all inputs."""
    def ratios():
        rows = [row for row in read(name) if (row["operation"], row["type"], row["n"]) == (operation, kind, str(n))]
        inputs = {row["input"] for row in rows}
        found = sorted(ratio(fastest(row for row in same if row["variant"] in CUBS),
                             fastest(row for row in same if row["variant"] not in CUBS
                                     and variant in (None, row["variant"])))
                       for same in ([row for row in rows if row["input"] == given] for given in inputs))
        return " to ".join(dict.fromkeys((f"{found[0]:.2f}", f"{found[-1]:.2f}")))
    return ratios


def frames_ratio(width):
    """How many times as fast the loop in a graph is as that of the host."""
    return lambda: times(*(one("frames.csv", width=width, loop=loop) for loop in ("host", "graph")))


def crossing(operation):
    """From which size on the GPU is faster than the CPU: the label of the line in the chart."""
    def find():
        file, build = CHARTS["crossover"]
        measured = measurements_of(DATA / file)
        compared(*(row for row in measured if row["operation"] == operation
                   and (row["variant"].startswith("cpu") or row["variant"] == OURS[operation])))
        (panel,) = build(measured)["panels"]
        return next(match[1] for line in panel["series"]
                    if (match := re.fullmatch(rf"{operation}, from ([\d,]+) on", line["label"])))
    return find


def thrust_more():
    slow, fast = (read_ladder()["scan", variant, 1 << 20] for variant in ("thrust", "cub"))
    compared(slow, fast)
    return f"{float(slow['median_us']) - float(fast['median_us']):.2g} µs"


def odd_sizes(card):
    """The rows for n and n - 3 of our fastest variants, a list of those that differ, and the number of all."""
    lines = [{n: row for (operation, variant, n), row in read_ladder(card).items() if (operation, variant) == of}
             for of in OURS.items()]
    return ([pair for line in lines for pair in differing_pairs(line)],
            sum(n - 3 in line for line in lines for n in line))


def odd_count(card):
    """At how many sizes three elements fewer make a difference."""
    def count():
        differing, number = odd_sizes(card)
        return f"{len(differing)} of {number}"
    return count


def odd_most():
    """The greatest of these differences on the other card."""
    whole, odd = max(odd_sizes(CARDS[1])[0], key=lambda pair: abs(math.log(ratio(*pair))))
    return f"{times(odd, whole)} times for the {whole['operation']} at {power(int(whole['n']))}"


# The numbers in sentences.
FACTS = {
    "scan-percent": lambda: f"{float(read_ladder()['scan', 'single-pass', 1 << 28]['percent_of_copy']):.3g} %",
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
    "odd-most-h100": odd_most,
    "segmented-scan": over_cub("segmented_scans.csv", "segmented-scan", 1 << 28, variant="single-pass"),
    "segmented-scan-offsets": over_cub("segmented_scans.csv", "segmented-scan", 1 << 28, variant="single-pass-offsets"),
    "segmented-sort": over_cub("segmented_sorts.csv", "segmented-sort", 1 << 26),
    "flagged": over_cub("flagged.csv", "compact-flagged", 1 << 26, kind="flag,record"),
    "flagged-one-in-twenty": lambda: format_time(one("flagged.csv", variant="single-pass", n=1 << 26,
                                                     input="kept:0.05")),
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
}

BLOCKS = {
    "README.md": {"ladder": ladder, "against-cub": against_cub, "sample": sample},
    "docs/performance.md": {"levels": levels},
    "docs/row_sum.md": {"row-sum-study": row_sum_study},
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
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        page = path.relative_to(ROOT).as_posix()
        old = path.read_text(encoding="utf-8")
        new = generate(page, old)
        if not arguments.check:
            path.write_text(new, encoding="utf-8")
        elif new != old:
            sys.exit(f"{page} is out of date: run scripts/update_figures.py")


if __name__ == "__main__":
    main()
