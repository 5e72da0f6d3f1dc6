"""The measurements that the program wrote, in data/ or elsewhere, and the formatting of their numbers."""

import csv
import io
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CARDS = ("h200", "h100")  # folders in data/, the card of the charts and of most tables first
DATA = ROOT / "data" / CARDS[0]

TEXT_OPERATIONS = {"utf8-to-utf32": "UTF-8 to UTF-32", "utf8-to-utf16": "UTF-8 to UTF-16",
                   "utf8-validate": "validation", "utf32-to-utf8": "UTF-32 to UTF-8", "utf16-to-utf8": "UTF-16 to UTF-8"}


class Unusable(Exception):
    """A file or folder has no measurements that can be used. The message says why."""


def text_of(value):
    """A value of JSON as the CSV has it."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def json_rows(text):
    """The rows of a file of --json, or of one of --samples, which has an object on each line."""
    decoder = json.JSONDecoder(parse_int=str, parse_float=lambda text: f"{float(text):.3f}")
    rows = []
    while text:
        found, end = decoder.raw_decode(text)
        rows += found.get("rows", [found])
        text = text[end:].lstrip()
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
    return [row | {"file": name} for row in rows]


def is_verified(row):
    return row["verified"] == "true"


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


def of_powers(rows):
    return [row for row in rows if is_power(int(row["n"]))]


def power(n):
    """`2^20` for a power of two."""
    return f"2^{n.bit_length() - 1}" if is_power(n) else str(n)


def power_shape(shape, word=power):
    """`2^22 × 128` for `4194304x128`."""
    return " × ".join(word(int(n)) if int(n) >= 1 << 16 else n for n in shape.split("x"))


def format_time(row):
    time = float(row["median_us"])
    for unit in ("µs", "ms"):
        if time < 1000:
            return f"{time:.4g} {unit}"
        time /= 1000
    return f"{time:.4g} s"
