"""The model of docs/distributed.md: how long an operation takes on several GPUs, from what one GPU measured.

Times are in seconds, sizes in elements of all GPUs together.
"""

import statistics

from measurements import is_power

ALONE = {"partition": "single-pass-apart", "sort": "radix", "sort-pairs": "radix"}  # variants of one GPU
EXCHANGES = {"compact": 1, "partition": 1, "utf8-to-utf32": 2, "utf8-to-utf16": 2, "utf8-validate": 2,
             "utf32-to-utf8": 1, "utf16-to-utf8": 2}  # of operations on arrays that stay where they are
SPLITTER_READS = 2  # of all keys, for uniform keys
GATHERED_BYTES = 5 << 20  # most of an array that every rank sorts; allSlotBytes in distributed/rank.h
SMALL = (1 << 16, 1 << 20)  # sizes at which exchanges are most of the time


def alone_variant(operation):
    return ALONE.get(operation, "single-pass")


def splitter_digits(gpus):
    """Of a 32-bit key: digits have 11 bits at most, and fewer from 6 ranks on."""
    return 3 if gpus <= 5 else 4


class Model:
    """The model of the GPUs of one file: what it predicts for each operation, size and number of GPUs."""

    def __init__(self, rows):
        usual = {row["operation"]: row["input"] for row in reversed(rows)}  # that of the first row
        self.usual = usual
        self.rows = {(row["operation"], row["variant"], int(row["n"]), int(row["gpus"])): row
                     for row in rows if row["input"] == usual[row["operation"]]}
        scan = self.rows["scan", "single-pass", 1 << 28, 1]
        self.copy = float(scan["gbps"]) * 1e9 / float(scan["percent_of_copy"]) * 100  # stands for that of a read, too
        self.launch = min(self.time(*key) for key in self.rows if key[0] == "scan" and key[3] == 1)
        self.counts = sorted({gpus for _, variant, _, gpus in self.rows if variant == "distributed"})

    def time(self, operation, variant, n, gpus):
        return float(self.rows[operation, variant, n, gpus]["median_us"]) / 1e6

    def alone(self, operation, n):
        return self.time(operation, alone_variant(operation), n, 1)

    def like(self, gpus):
        """The number of GPUs that were measured and come closest, not beyond `gpus`."""
        return max(count for count in self.counts if count <= gpus)

    def exchange(self, gpus):
        """A small exchange: what compactions of few elements take more than on one GPU."""
        gpus = self.like(gpus)
        return statistics.mean(self.time("compact", "distributed", n, gpus) - self.alone("compact", n // gpus)
                               for n in SMALL)

    def link(self, gpus):
        """Bytes per second from a GPU or to it: arrays were copied to one GPU and their parts back."""
        gpus = self.like(gpus)
        n = max(n for _, variant, n, count in self.rows if (variant, count) == ("gather-to-one", gpus))
        copied = 2 * 4 * (n - n // gpus)
        return copied / (self.time("scan", "gather-to-one", n, gpus) - self.alone("scan", n))

    def knows(self, operation, n, gpus):
        """Whether one GPU was measured with what each of several has."""
        return n % gpus == 0 and is_power(n) and (operation, alone_variant(operation), n // gpus, 1) in self.rows

    def predicted(self, operation, n, gpus, link=None):
        """`link` is the speed in bytes per second of links that were not measured."""
        part, exchange, link = n // gpus, self.exchange(gpus), link or self.link(gpus)
        if operation in EXCHANGES:
            return self.alone(operation, part) + EXCHANGES[operation] * exchange
        if operation == "scan":
            return self.launch + 4 * part / self.copy + exchange + self.alone("scan", part)
        element = 8 if operation == "sort-pairs" else 4
        foreign = (gpus - 1) / gpus  # of what a rank has or gets
        if element * n <= GATHERED_BYTES:
            return 2 * self.launch + exchange + element * n * foreign / link + self.alone(operation, n)
        splitters = SPLITTER_READS * 4 * part / self.copy + splitter_digits(gpus) * (2 * self.launch + exchange)
        partition = max(2 * element * part / self.copy, element * part * foreign / link)
        return splitters + partition + exchange + self.alone(operation, part)
