"""The model of docs/distributed.md: how long an operation takes on several GPUs, from what one GPU measured.

Times are in seconds, sizes in elements of all GPUs together.
"""

import math
import statistics

from measurements import copy_speed, is_power

ALONE = {"partition": "single-pass-apart", "sort": "radix", "sort-pairs": "radix"}  # variants of one GPU
EXCHANGES = {"compact": 1, "partition": 1, "utf8-to-utf32": 2, "utf8-to-utf16": 2, "utf8-validate": 2,
             "utf32-to-utf8": 1, "utf16-to-utf8": 2}  # of operations on arrays that stay where they are
KEY_BYTES = 4
CARRYING_PASSES = 2  # of a sort: one sends elements over the link while it puts them in buckets, one fetches the others
ELEMENT_BYTES = {"sort": 4, "sort-pairs": 8}
GATHERED_BYTES = 5 << 20  # most of an array that every rank sorts; allSlotBytes in distributed/rank.h
SMALL = (1 << 16, 1 << 20)  # sizes at which exchanges are most of the time


def alone_variant(operation):
    return ALONE.get(operation, "single-pass")


def splitter_digits(gpus):
    """Of a 32-bit key. The counters of all splitters are mostCounters in distributed/splitters.cuh at most."""
    width = min(12, (8192 // (gpus - 1)).bit_length() - 1)
    first = max(8, 31 % width + 1)
    return 1 + math.ceil((32 - first) / width)


def is_gathered(operation, n):
    return ELEMENT_BYTES[operation] * n <= GATHERED_BYTES


class Model:
    """The model of the GPUs of one file: what it predicts for each operation, size and number of GPUs.

    Two sorts on the fewest GPUs say how fast NCCL gathers keys, and how fast passes carry them over the link.
    """

    def __init__(self, rows):
        self.usual = {row["operation"]: row["input"] for row in reversed(rows)}  # that of the first row
        self.rows = {(row["operation"], row["variant"], int(row["n"]), int(row["gpus"])): row
                     for row in rows if row["input"] == self.usual[row["operation"]]}
        self.copy = 1e9 * copy_speed(self.rows["scan", "single-pass", 1 << 28, 1])  # stands for that of a read, too
        self.launch = min(self.time(*key) for key in self.rows if key[0] == "scan" and key[3] == 1)
        self.counts = sorted({gpus for _, variant, _, gpus in self.rows if variant == "distributed"})
        few = self.counts[0]
        self.gathering = self.speed_of(SMALL[-1], few)
        self.carrying = self.speed_of(max(n for operation, variant, n, gpus in self.rows
                                          if (operation, variant, gpus) == ("sort", "distributed", few)
                                          and self.knows(operation, n, gpus)), few)

    def time(self, operation, variant, n, gpus):
        return float(self.rows[operation, variant, n, gpus]["median_us"]) / 1e6

    def alone(self, operation, n):
        return self.time(operation, alone_variant(operation), n, 1)

    def like(self, gpus):
        """The number of GPUs that were measured and come closest, not beyond `gpus`."""
        return max(count for count in self.counts if count <= gpus)

    def exchange(self, gpus):
        """A small exchange: what operations on few elements take more than on one GPU, for each of their exchanges."""
        gpus = self.like(gpus)
        return statistics.median((self.time(operation, "distributed", n, gpus) - self.alone(operation, n // gpus)) /
                                 EXCHANGES[operation]
                                 for operation, variant, n, count in self.rows
                                 if operation in EXCHANGES and (variant, count) == ("distributed", gpus) and n in SMALL)

    def knows(self, operation, n, gpus):
        """Whether one GPU was measured with what each of several has."""
        return n % gpus == 0 and is_power(n) and (operation, alone_variant(operation), n // gpus, 1) in self.rows

    def predicted(self, operation, n, gpus):
        part, exchange = n // gpus, self.exchange(gpus)
        if operation in EXCHANGES:
            return self.alone(operation, part) + EXCHANGES[operation] * exchange
        if operation == "scan":
            return self.launch + 4 * part / self.copy + exchange + self.alone("scan", part)
        own, sent = self.of_sort(operation, n, gpus)
        if is_gathered(operation, n):
            return own + sent / self.gathering
        return own + max(CARRYING_PASSES * self.pass_of(operation, part), sent / self.carrying)

    def pass_of(self, operation, part):
        """A pass of the sort on one GPU, which reads all keys once before its passes. One byte of the key is a pass."""
        return (self.alone(operation, part) - KEY_BYTES * part / self.copy) / KEY_BYTES

    def finding(self, gpus):
        """The kernels and exchanges that find the splitters, and the two exchanges after."""
        digit = (gpus + 1) * self.launch + self.exchange(gpus)  # one of two kernels finds a splitter after the other
        return splitter_digits(gpus) * digit + 2 * self.exchange(gpus)

    def of_sort(self, operation, n, gpus):
        """The time of a sort without what sends the elements, and the bytes that each rank sends and receives. Small
        arrays are gathered. Otherwise two passes carry the elements."""
        part, element = n // gpus, ELEMENT_BYTES[operation]
        if is_gathered(operation, n):
            return 2 * self.launch + self.exchange(gpus) + self.alone(operation, n), element * (n - part)
        counting = KEY_BYTES * part / self.copy  # a read of all keys for the first splitter digit
        own = (counting + self.finding(gpus) + self.alone(operation, part)
               - CARRYING_PASSES * self.pass_of(operation, part))
        return own, element * part * (gpus - 1) / gpus

    def speed_of(self, n, gpus):
        """How fast a sort of that size sends its keys, in bytes per second."""
        own, sent = self.of_sort("sort", n, gpus)
        return sent / (self.time("sort", "distributed", n, gpus) - own)
