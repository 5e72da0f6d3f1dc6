"""Times cuPyNumeric's cumsum and sort on the GPUs that legate gives it. Called by distributed_peers.py:

    legate --gpus N cupynumeric_times.py TRIALS SIZE...

Prints a line of JSON per operation and size: the time of each trial in microseconds, and whether the result was right.
"""

import json
import sys

import cupynumeric
import numpy
from legate.timing import time


def microseconds(operation, given):
    begin = time("ns")  # these are taken in the order of the work, after all that comes before
    result = operation(given)
    end = time("ns")
    return (int(end) - int(begin)) / 1000, result


def main():
    trials, *sizes = map(int, sys.argv[1:])
    random = numpy.random.default_rng(42)
    limits = numpy.iinfo(numpy.int32)
    # As in the program: a scan of 0 to 49, a sort of any values; sums wrap.
    cases = {"scan": ((0, 49), lambda module, keys: module.cumsum(keys, dtype=numpy.int32)),
             "sort": ((limits.min, limits.max), lambda module, keys: module.sort(keys))}
    for name, (between, operation) in cases.items():
        for n in sizes:
            keys = random.integers(*between, n, numpy.int32, endpoint=True)
            given = cupynumeric.array(keys).copy()  # on the GPUs; the first one stays in host memory
            times = []
            for _ in range(trials + 1):  # the first one warms up
                us, result = microseconds(lambda keys: operation(cupynumeric, keys), given)
                times.append(us)
            right = numpy.array_equal(numpy.asarray(result), operation(numpy, keys))
            print(json.dumps({"operation": name, "n": n, "us": times[1:], "right": right,
                              "library": f"cuPyNumeric {cupynumeric.__version__}"}), flush=True)


if __name__ == "__main__":
    main()
