"""Tests the simulator's traces of the naive and the single-pass scan. The test of docs/explore.html checks others.

Usage: trace_test.py PROGRAM
"""

import json
import subprocess
import sys
import tempfile
import unittest
from itertools import accumulate
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PROGRAM = sys.argv.pop(1)
AGGREGATE, PREFIX = 1, 2


def steps_of(*options):
    """The steps of a run of the program, as objects."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "it's a trace.jsonl"
        command = [PROGRAM, "--op", "scan", "--no-color", "--trace", str(trace), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]


def of_launch(steps, launch, **wanted):
    return [s for s in steps if s["launch"] == launch and all(s.get(key) == value for key, value in wanted.items())]


def elements_of(steps):
    """Element, value and thread of each int32 in the steps. Elements count from the lowest offset."""
    first = min(step["offset"] for step in steps)
    for step in steps:
        for i, value in enumerate(step["values"]):
            yield (step["offset"] - first) // 4 + i, value, (step["block"], step["thread"])


def code_of(step, file="file", line="line"):
    """The line of code at the place of a step."""
    path = PROJECT / step[file]
    return path.read_text(encoding="utf-8").splitlines()[step[line] - 1]


def exclusive_sums(values):
    return [0, *accumulate(values)][: len(values)]


class TraceTest(unittest.TestCase):
    def expect_places(self, steps):
        for step in steps:
            for key in ("launch", "kernel", "block", "thread", "step", "operation", "function", "file", "line"):
                self.assertIn(key, step)
            self.assertTrue(step["file"].startswith("stream_compaction/"), step)
            self.assertGreater(step["line"], 0, step)
            if "kernelLine" in step:
                self.assertTrue(step["kernelFile"].startswith("stream_compaction/"), step)
                self.assertGreater(step["kernelLine"], 0, step)

    def expect_code(self, steps, pattern):
        self.assertTrue(steps)
        for step in steps:
            self.assertRegex(code_of(step), pattern)

    def expect_stored_once(self, stores, values, thread_of):
        """Each element is stored once, by its thread and with its value."""
        self.assertEqual(len({store["array"] for store in stores}), 1)
        stored = sorted(elements_of(stores))
        expected = [(i, value, thread_of(i)) for i, value in enumerate(values)]
        self.assertEqual(len(stored), len(expected))
        wrong = [pair for pair in zip(stored, expected) if pair[0] != pair[1]]
        self.assertEqual(wrong[:5], [])


class NaiveScanTest(TraceTest):
    N = 100
    THREADS = 64

    def expect_scan(self, *options):
        steps = steps_of("--variant", "naive", "--sweep", str(self.N), "--block-size", str(self.THREADS), *options)
        self.expect_places(steps)
        kernels = dict(sorted((step["launch"], step["kernel"]) for step in steps))
        self.assertEqual(list(kernels.values()), ["kernShiftRight"] + 7 * ["kernAddFromDistance"])

        launches = iter(kernels)
        first = next(launches)
        shifted = {i: value for i, value, _ in elements_of(of_launch(steps, first, step="load"))}
        values = [0] + [shifted[i] for i in range(self.N - 1)]
        self.expect_launch(steps, first, values)
        for distance, launch in zip((1, 2, 4, 8, 16, 32, 64), launches):
            for i, value, _ in elements_of(of_launch(steps, launch, step="load")):
                self.assertEqual(value, values[i])
            values = [value + (values[i - distance] if i >= distance else 0) for i, value in enumerate(values)]
            self.expect_launch(steps, launch, values)
        self.assertEqual(values[1:], list(accumulate(shifted[i] for i in range(self.N - 1))))

    def expect_launch(self, steps, launch, values):
        stores = of_launch(steps, launch, step="store", memory="global")
        self.expect_stored_once(stores, values, lambda i: (i // self.THREADS, i % self.THREADS))
        self.expect_code(stores, r"odata\[i\] = ")

    def test_each_element_is_stored_once_in_each_step(self):
        self.expect_scan()

    def test_in_another_order(self):
        self.expect_scan("--seed", "3")



class SinglePassScanTest(TraceTest):
    def expect_look_back(self, *options):
        tile = 8192
        tiles = 9
        card = "multiprocessors=1"  # too few for the array to be resident
        steps = steps_of("--variant", "single-pass", "--sweep", str(tile * tiles), "--card", card, *options)
        self.expect_places(steps)
        (launch,) = {step["launch"] for step in steps if step["kernel"] == "kernScanLookBack"}

        copies = of_launch(steps, launch, operation="bulk copy")
        self.assertEqual(sorted((c["block"], c["fromOffset"]) for c in copies), [(t, t * tile * 4) for t in range(tiles)])
        loaded = {}
        for block in range(tiles):
            loads = of_launch(steps, launch, block=block, memory="shared", array="storage", operation="load")
            loaded.update((block * tile + i, value) for i, value, _ in elements_of(loads))
        values = [loaded[i] for i in range(tile * tiles)]
        rows = 8  # of a warp, in WideScanBlock
        self.expect_stored_once(of_launch(steps, launch, step="tile store"), exclusive_sums(values),
                                lambda i: (i // tile, i % tile // (rows * 128) * 32 + i % 128 // 4))

        # A status has its state in the lowest two bits and the sum above them.
        aggregates = [sum(values[t * tile : (t + 1) * tile]) for t in range(tiles)]
        expected = {(t, AGGREGATE, aggregate) for t, aggregate in enumerate(aggregates)}
        expected |= {(t, PREFIX, prefix) for t, prefix in enumerate(accumulate(aggregates))}
        publications = of_launch(steps, launch, step="publication")
        word = min(step["offset"] for step in publications)
        self.assertEqual({(step["block"], step["values"][0] % 4, step["values"][0] // 4) for step in publications}, expected)
        self.assertEqual({(step["offset"] - word) // 8 - step["block"] for step in publications}, {0})
        self.assertEqual(len(publications), 2 * tiles)
        # The compiler may merge the stores of two calls. Then only the line of the call is known.
        self.expect_code(publications, r"__nv_atomic_store_n\(|publish\(tile, LookBack::State::")

        looks = of_launch(steps, launch, step="look-back")
        self.expect_code(looks, r"statuses\.read\(")
        for look in looks:
            seen = (look["offset"] - word) // 8
            self.assertLess(seen, look["block"])
            self.assertEqual(seen, look["block"] - 32 + look["thread"])
            status = look["values"][0]
            self.assertTrue(status == 0 or (seen, status % 4, status // 4) in expected, look)
        self.assertEqual({step["block"] for step in looks}, set(range(1, tiles)))
        self.assertEqual({code_of(step, "kernelFile", "kernelLine").strip() for step in looks},
                         {
                             "reproducible ? chain.beforeInOrder(tile, place.all, op) : chain.before(tile, place.all, op);"
                         })

    def test_look_back(self):
        self.expect_look_back()

    def test_look_back_in_another_order(self):
        self.expect_look_back("--seed", "2")


class RefusalTest(unittest.TestCase):
    def test_a_file_that_cannot_be_written(self):
        command = [PROGRAM, "--op", "scan", "--variant", "naive", "--size", "64", "--trace", "/no/such/folder/trace"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("/no/such/folder/trace", run.stderr)


if __name__ == "__main__":
    unittest.main()
