#!/usr/bin/env python3
"""Finds the row of a card for the table in stream_compaction/single_pass/dispatch.cuh.

    scripts/card_row.py FILE.csv

FILE.csv is what `scripts/tune.sh FILE.csv scan` and `compact` have measured on the card. Tries all limits that are
powers of two. The best ones lose the least time, on average over all sizes and types, against the fastest shape. Prints
them, with what they lose and what the limits in use lose.
"""

import argparse
import itertools
import pathlib
import re
import statistics
from dataclasses import dataclass

from measurements import ROOT, power, read

DISPATCH = ROOT / "stream_compaction" / "single_pass" / "dispatch.cuh"
LIMITS = {"scan": ("ofTiny", "ofSmall", "ofLarge"), "compact": ("ofTiny", "ofSmall", "ofHalf", "ofWhole")}
VECTOR_BYTES = 16
COUNTED = 4  # elements of a vector that a compaction counts as one, like countedLength


def element_bytes(kind):
    """The size of the larger type of `int8->int32`."""
    return max(int(re.search(r"\d+", name)[0]) // 8 if name[-1].isdigit() else {"float": 4, "double": 8}[name]
               for name in kind.split("->"))


def shapes_in_use():
    """Threads per block and rows per thread by name, such as Tiny, of the source."""
    found = re.findall(r"using (\w+)Block = BlockShape<(\d+), (\d+)>;", DISPATCH.read_text(encoding="utf-8"))
    return {name: (int(threads), int(rows)) for name, threads, rows in found}


def limits_in_use(operation):
    """Those of the first card of the source."""
    row = re.search(rf"\.{operation} = {{(.*?)}}", DISPATCH.read_text(encoding="utf-8"))[1]
    return tuple(int(factor) << int(exponent) for factor, exponent in re.findall(r"(\d+)u << (\d+)", row))


@dataclass
class Case:
    """What was measured of one operation, type and size: microseconds by kernel, threads and rows."""
    operation: str
    kind: str
    n: int
    times: dict

    @property
    def length(self):
        return VECTOR_BYTES // element_bytes(self.kind)

    @property
    def is_of_bytes(self):
        """Whether its blocks that look back pack bytes in registers."""
        return self.operation == "compact" and self.length == 16

    @property
    def most_rows(self):
        """Of blocks that pack, as CompactBlock."""
        return max(1, min(8, 64 // self.length))

    def look_back(self, shapes):
        """The kernel of the largest arrays."""
        if self.operation == "scan":
            wide = self.length > 2 and self.n <= self.length << 24  # as in withScanBlock
            return "look-back", *shapes["WideScan" if wide else "Scan"]
        return "look-back", *(shapes["ByteCompact"] if self.is_of_bytes else (256, self.most_rows))

    def is_of_other_kernels(self, shapes):
        """Whether its file has times of kernels that look back, but none of the one in use."""
        return any(kernel == "look-back" for kernel, _, _ in self.times) and self.look_back(shapes) not in self.times

    def chosen(self, limits, shapes):
        """The kernel that the library launches with these limits, as withResidentShape and its callers do."""
        counted = min(self.length, COUNTED) if self.operation == "compact" else self.length
        vectors = -(-self.n // counted)
        alone = next((name for name in ("Tiny", "Small", "Medium") if vectors <= shapes[name][0] * shapes[name][1]), None)
        words = {"Large": -(-element_bytes(self.kind) // 4)}  # of a sum, as wordsOf
        names = [(limit[2:], most) for limit, most in zip(LIMITS[self.operation], limits)]
        if counted < self.length:  # as in compactLimits
            factor = 2 if self.is_of_bytes else 1
            names = [(name, factor * most if name in ("Half", "Whole") else most) for name, most in names if name != "Small"]
        name = alone or next((name for name, most in names if vectors * words.get(name, 1) <= most), None)
        if name in shapes:
            threads, rows = shapes[name]
            return "resident", threads, max(1, rows * counted // self.length)
        if self.operation == "scan":
            return self.look_back(shapes)
        rows = self.most_rows
        packed = {"Half": [max(1, rows // 2), rows], "Whole": [rows]}.get(name, [])
        return next((("packed", 256, height) for height in packed if ("packed", 256, height) in self.times),
                    self.look_back(shapes))

    def loss(self, limits, shapes):
        """By which fraction that is slower than the fastest; None if it was not measured."""
        time = self.times.get(self.chosen(limits, shapes))
        return time / min(self.times.values()) - 1 if time else None


def measured_cases(rows, operation):
    """What was measured, whether its kernels are in use or not."""
    cases = {}
    for row in rows:
        if row["operation"] == operation and row["kernel"] in ("resident", "packed", "look-back") and row["order"] != "ticket":
            key = operation, row["type"], int(row["n"])
            case = cases.setdefault(key, Case(*key, {}))
            case.times[row["kernel"], int(row["threads"]), int(row["rows"])] = float(row["median_us"])
    return list(cases.values())


def in_use(cases):
    """Those of the kernels in use."""
    shapes = shapes_in_use()
    return [case for case in cases if not case.is_of_other_kernels(shapes)]


def cases_of(rows, operation):
    """What was measured of the kernels in use."""
    return in_use(measured_cases(rows, operation))


def losses(cases, limits, shapes):
    """What each case loses; None if the limits choose a kernel that was not measured."""
    found = [case.loss(limits, shapes) for case in cases]
    return None if None in found else found


def best_limits(cases, shapes):
    powers = [1 << exponent for exponent in range(10, 23)]
    limits_to_try = itertools.combinations_with_replacement(powers, len(LIMITS[cases[0].operation]))
    tried = ((losses(cases, limits, shapes), limits) for limits in limits_to_try)
    return min((statistics.fmean(lost), limits) for lost, limits in tried if lost)[1]


def verdict(name, cases, limits, shapes):
    lost = losses(cases, limits, shapes)
    if lost is None:
        return f"{name}: choose kernels that were not measured"
    worst = max(range(len(cases)), key=lost.__getitem__)
    return (f"{name}: {100 * statistics.fmean(lost):.1f} % slower than the fastest shapes on average, "
            f"{100 * lost[worst]:.1f} % at worst ({cases[worst].kind}, {power(cases[worst].n)})")


def limits_text(operation, limits):
    return ", ".join(f".{name} = 1u << {limit.bit_length() - 1}" for name, limit in zip(LIMITS[operation], limits))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    file = parser.parse_args().file
    rows = read(file.name, folder=file.parent)
    shapes = shapes_in_use()
    print(f"// {rows[0]['gpu']}")
    for operation in ("scan", "compact"):
        measured = measured_cases(rows, operation)
        cases = in_use(measured)
        if left_out := len(measured) - len(cases):
            print(f"// {left_out} sizes are left out, because the file lacks the kernel that looks back")
        best = best_limits(cases, shapes)
        print(f".{operation} = {{{limits_text(operation, best)}}},")
        print("   ", verdict("these", cases, best, shapes))
        print("   ", verdict("those in use", cases, limits_in_use(operation), shapes))


if __name__ == "__main__":
    main()
