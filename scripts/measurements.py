"""The measurements that the program wrote, in data/ or elsewhere, and the formatting of their numbers."""

import csv
import datetime
import io
import itertools
import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CARDS = ("h200", "h100")  # folders in data/, the card of the charts and of most tables first
DATA = ROOT / "data" / CARDS[0]

# What a row was measured on and of: rows that differ in one of these have different subjects.
SUBJECT = ("operation", "variant", "type", "n", "input", "block_size", "mode", "shape")
# What is the same for all rows of a run, as far as they tell. Rows of the GPU name no processor.
RUN = ("gpu", "driver", "toolkit", "commit", "cpu")
LONGEST_RUN = datetime.timedelta(hours=6)
DAGGER = "†"  # of times that stand out
LEAST_DIFFERENCE = 5  # percent between times, and beyond their noises, that count as different
# Columns of numbers. Only the time has to be more than 0.
NUMBERS = ("n", "median_us", "min_us", "max_us", "gbps", "percent_of_copy", "noise_percent")


class Unusable(Exception):
    """A file or folder has no measurements that can be used. The message says why."""


def text_of(value):
    """A value of JSON as the CSV has it."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def json_rows(text):
    """The rows of a file of --samples, which has an object on each line."""
    rows = [json.loads(line, parse_int=str, parse_float=lambda text: f"{float(text):.3f}")
            for line in text.splitlines()]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("its rows are no objects")
    return [{column: text_of(value) for column, value in row.items()} for row in rows]


def csv_rows(text):
    """The header and the rows. A line that breaks off has empty fields at its end."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    return reader.fieldnames or (), [{column: value or "" for column, value in row.items()} for row in reader]


def read_all(name, folder=DATA, columns=()):
    """The rows of a file in a folder, in order. Raises Unusable if the file lacks columns."""
    text = (folder / name).read_text(encoding="utf-8-sig")
    if text.startswith("{"):
        rows = json_rows(text)
        header = set.intersection(*map(set, rows)) if rows else ("verified", *columns)
    else:
        header, rows = csv_rows(text)
    missing = [column for column in ("verified", *columns) if column not in header]
    if missing:
        raise Unusable(f"{name} lacks the columns {', '.join(missing)}")
    for i, row in enumerate(rows, 1):
        check_numbers(row, f"{name}, row {i}")
    rows = [row | {"file": name} for row in rows]
    for row in standing_out(rows):
        row["stands_out"] = True
    return rows


def check_numbers(row, where):
    """Raises Unusable if a field is no number that a measurement can have."""
    for column in NUMBERS:
        text = row.get(column) or "0"
        try:
            number = float(text)
        except (TypeError, ValueError):
            number = math.nan
        if not 0 <= number < math.inf or (column == "median_us" and row.get(column) and number == 0):
            raise Unusable(f"{where}: {column} is {text}")


def is_verified(row):
    return row["verified"] == "true"


def is_one_run(*rows):
    """Whether the rows are of one run, so that their times may be compared: one machine and commit, within hours."""
    times = [datetime.datetime.fromisoformat(row["timestamp"]) for row in rows if row.get("timestamp")]
    return (all(len({row[column] for row in rows if row.get(column)}) <= 1 for column in RUN)
            and (not times or max(times) - min(times) <= LONGEST_RUN))


def runs_of(rows):
    """`9911d8f03c of 2026-11-29, ...`: the commits and days of the rows."""
    runs = dict.fromkeys((row["commit"], row.get("timestamp", "")[:10]) for row in rows)
    return ", ".join(commit + (f" of {day}" if day else "") for commit, day in sorted(runs, key=lambda run: run[::-1]))


def differ(row, other):
    """Whether two times of one run differ by more than 5 % and by more than the sum of their noises."""
    if not (row.get("noise_percent") and other.get("noise_percent") and is_one_run(row, other)):
        return False
    less, more = sorted(float(of["median_us"]) for of in (row, other))
    noise = float(row["noise_percent"]) + float(other["noise_percent"])
    return 100 * (more / less - 1) > max(LEAST_DIFFERENCE, noise)


def differing_pairs(line):
    """The rows for n and n - 3 that differ, of a dict from n to row."""
    return [(line[n], line[n - 3]) for n in line if n - 3 in line and differ(line[n], line[n - 3])]


def standing_out(rows):
    """The rows that stand out from their neighbours, which have the same subject but for n: times that differ from that of
    three elements more or fewer, and two times of which the one for more elements is less."""
    lines = {}
    for row in filter(is_verified, rows):
        if row.get("noise_percent") and row.get("n"):
            subject = tuple(row.get(column, "") for column in (*SUBJECT, "gpus", "gpu_memory") if column != "n")
            lines.setdefault(subject, {})[int(row["n"])] = row
    found = []
    for line in lines.values():
        odd = {n for n in line if n + 3 in line and not is_power(n)}
        found += differing_pairs(line)
        for sizes in (odd, line.keys() - odd):
            neighbours = itertools.pairwise(line[n] for n in sorted(sizes))
            found += [pair for pair in neighbours
                      if float(pair[0]["median_us"]) > float(pair[1]["median_us"]) and differ(*pair)]
    return list({id(row): row for pair in found for row in pair}.values())


def read(*names, folder=DATA, columns=()):
    """The verified measurements of files in a folder, in order. Raises Unusable if a file lacks columns."""
    return [row for name in names for row in filter(is_verified, read_all(name, folder, columns))]


def fastest(rows):
    """The fastest of the rows that are there; None if there is none."""
    return min(filter(None, rows), key=lambda row: float(row["median_us"]), default=None)


def copy_speed(row):
    """The speed of a copy of the same number of bytes, in GB/s; None for rows of the CPU."""
    percent = float(row["percent_of_copy"] or 0)
    return float(row["gbps"]) * 100 / percent if percent else None


def is_power(n):
    return n & (n - 1) == 0


def power(n):
    """`2^20` for a power of two, `2^20 - 3` for three less."""
    if is_power(n):
        return f"2^{n.bit_length() - 1}"
    return f"{power(n + 3)} - 3" if is_power(n + 3) else str(n)


def power_shape(shape, word=power):
    """`2^22 × 128` for `4194304x128`."""
    return " × ".join(word(int(n)) if int(n) >= 1 << 16 else n for n in shape.split("x"))


def format_time(row):
    """With a dagger if the row stands out."""
    time = float(row["median_us"])
    mark = f" {DAGGER}" if row.get("stands_out") else ""
    for unit in ("µs", "ms"):
        if time < 1000:
            return f"{time:.4g} {unit}{mark}"
        time /= 1000
    return f"{time:.4g} s{mark}"
