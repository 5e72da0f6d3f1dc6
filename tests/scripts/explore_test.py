#!/usr/bin/env python3
"""docs/explore.html in a browser without a network, driven by keys; and how traces become steps.

What the page shows at the end of each run is compared with results computed here. The tests in a browser are skipped
as those of report_test.py are.
"""

import itertools
import re
import sys
import time
import unittest

from report_test import needs_browser, start_browser
from sample_data import ROOT

sys.path.insert(0, str(ROOT / "tools" / "explore"))
import explore
from traces import Region, replay, steps_of

PAGE = ROOT / "docs" / "explore.html"
INT_RANGE = 2**32


def exclusive_sums(numbers):
    """The scan, wrapping around as int32 does."""
    exact = itertools.accumulate([0, *numbers[:-1]])
    return [(number + INT_RANGE // 2) % INT_RANGE - INT_RANGE // 2 for number in exact]


def decoded(numbers):
    return [character if character > " " else "␠" for character in bytes(numbers).decode(errors="replace")]


EXPECTED = {"radix": sorted, "utf8": decoded, "utf8-textbook": decoded}


def access(thread, operation, offset, value, line, site, launch=1, block=0):
    return {"launch": launch, "kernel": "kernTest", "block": block, "thread": thread, "operation": operation,
            "memory": "global", "array": 1, "offset": offset, "bytes": 4, "values": [value], "site": site,
            "function": "kernTest", "file": "test.cuh", "line": line}


class StepsTest(unittest.TestCase):
    """Steps from traces written by hand."""

    def region(self, cells):
        return Region("array", "global", 0, 4, len(cells), list(cells))

    def lines_of(self, trace, regions):
        return [([line.line for line in step.lines], sorted({a.thread for a in step.accesses}))
                for step in steps_of(trace, regions)]

    def test_threads_share_a_step_and_iterations_do_not(self):
        regions = [self.region([5, 6, 7, 8])]
        trace = [access(thread, "load", 4 * (thread + 2 * k), 5 + thread + 2 * k, line=3, site=1)
                 for thread in (0, 1) for k in (0, 1)]
        self.assertEqual(self.lines_of(trace, regions), [([3], [0, 1])] * 2)

    def test_a_line_that_only_some_threads_reach_keeps_its_place(self):
        regions = [self.region([1, 1, 1, 1])]
        trace = [access(0, "load", 0, 1, line=3, site=1), access(0, "load", 8, 1, line=5, site=3),
                 access(1, "load", 4, 1, line=3, site=1), access(1, "load", 8, 1, line=4, site=2),
                 access(1, "load", 12, 1, line=5, site=3)]
        self.assertEqual(self.lines_of(trace, regions), [([3], [0, 1]), ([4], [1]), ([5], [0, 1])])

    def test_a_barrier_separates_the_visits_of_a_line(self):
        regions = [self.region([1, 1])]
        barrier = {"launch": 1, "kernel": "kernTest", "block": 0, "operation": "barrier", "site": 9,
                   "function": "kernTest", "file": "test.cuh", "line": 1}
        trace = [access(0, "load", 0, 1, line=3, site=1), barrier | {"thread": 0}, barrier | {"thread": 1},
                 access(1, "load", 4, 1, line=3, site=1)]
        self.assertEqual(self.lines_of(trace, regions), [([3], [0]), ([3], [1])])

    def test_interleaved_lines_are_one_step(self):
        regions = [self.region([1, 2])]
        trace = [access(0, "load", 0, 1, line=3, site=1), access(0, "load", 4, 2, line=4, site=2),
                 access(0, "store", 0, 2, line=3, site=3), access(0, "store", 4, 3, line=4, site=4)]
        self.assertEqual(self.lines_of(trace, regions), [([3, 4], [0])])

    def test_the_replay_finds_steps_that_do_not_give_the_values_of_the_trace(self):
        regions = [self.region([1, 2])]
        trace = [access(0, "load", 0, 1, line=3, site=1), access(0, "store", 4, 7, line=4, site=2),
                 access(1, "load", 4, 7, line=5, site=3)]
        state = replay(steps_of(trace, regions), regions)
        self.assertEqual(state["array", 1], 7)
        trace[-1]["values"] = [2]
        with self.assertRaisesRegex(ValueError, "is 7, but"):
            replay(steps_of(trace, regions), regions)


class PageFileTest(unittest.TestCase):
    def test_the_file_is_small_and_names_no_other(self):
        text = PAGE.read_text(encoding="utf-8")
        self.assertLess(len(text.encode()), 2_000_000)
        self.assertEqual(re.findall(r"(?:src|href)=\"(?!data:)([^\"]*)", text), ["simulator.md"])


@needs_browser
class ExploreTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = start_browser()
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.get(PAGE.as_uri())

    def run_script(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def find(self, selector):
        return self.browser.find_elements("css selector", selector)

    def open(self, algorithm, given=0, step=0):
        self.run_script("follow(arguments[0])", f"#{algorithm}/{given}/{step}")

    def press(self, key):
        """Presses a key, faster than Selenium does."""
        code = {"End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, " ": 32}[key]
        for kind in ("rawKeyDown", "keyUp"):
            self.browser.execute_cdp_cmd("Input.dispatchKeyEvent",
                                         {"type": kind, "key": key, "windowsVirtualKeyCode": code})

    def position(self):
        text = self.run_script("return document.getElementById('position').textContent")
        return tuple(int(number) for number in re.findall(r"\d+", text))

    def snapshot(self):
        """What the reader sees: cells with their marks, the marked lines, the text of the step."""
        return self.run_script("""
            const text = selector => [...document.querySelectorAll(selector)].map(e => e.textContent);
            const marks = e => [...e.classList].sort().join(" ");
            return [[...document.querySelectorAll(".cell")].map(e => marks(e) + ":" + e.textContent),
                    text(".at"), text("#code h3"), text("#now"), text("#each li"), text(".load")];""")

    def cells_of(self, name):
        return self.run_script("""
            const at = run.arrays.findIndex(array => array.name === arguments[0]);
            return cells[at].map(cell => cell.firstChild?.textContent ?? "");""", name)

    def facts_of_all_steps(self):
        """The text of each step, on the way from the first to the last."""
        facts = []
        self.press("Home")
        for _ in range(self.position()[1]):
            self.press("ArrowRight")
            facts.append(self.run_script("return document.getElementById('now').innerText"))
        return facts

    def test_no_errors_and_nothing_fetched(self):
        self.assertEqual(self.browser.get_log("browser"), [])
        fetched = self.run_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
        self.assertEqual(fetched, [])

    def test_every_algorithm_and_input_can_be_chosen(self):
        for algorithm, button in zip(explore.ALGORITHMS, self.find("#algorithms button"), strict=True):
            self.assertEqual(button.text, algorithm.title)
            button.click()
            names = [each.text for each in self.find("#inputs button")]
            self.assertEqual(names, [given.name for given in algorithm.inputs])
            self.find("#inputs button")[-1].click()
            self.assertEqual(self.find("#inputs [aria-pressed=true]")[0].text, names[-1])
            self.assertEqual(self.position()[0], 0)

    def test_the_last_step_shows_the_result(self):
        for algorithm in explore.ALGORITHMS:
            for i, given in enumerate(algorithm.inputs):
                with self.subTest(algorithm=algorithm.id, given=given.name):
                    self.open(algorithm.id, i)
                    self.press("End")
                    self.assertEqual(*self.position())
                    result = EXPECTED.get(algorithm.id, exclusive_sums)(given.numbers)
                    shown = self.cells_of("output")
                    if algorithm.id == "look-back":
                        tiles = [result[at : at + 128] for at in range(0, len(result), 128)]
                        result = [f"{tile[0]} {tile[1]} … {tile[-1]}" for tile in tiles]
                    self.assertEqual(shown[: len(result)], [str(element) for element in result])

    def test_back_is_the_reverse_of_forth(self):
        for algorithm in explore.ALGORITHMS:
            with self.subTest(algorithm=algorithm.id):
                self.open(algorithm.id, 1)
                self.press("Home")
                seen = [self.snapshot()]
                for step in range(self.position()[1]):
                    self.press("ArrowRight")
                    self.assertEqual(self.position()[0], step + 1)
                    seen.append(self.snapshot())
                    self.assertNotEqual(seen[-1][:2], seen[-2][:2], "neither cells nor marked lines have changed")
                for before in reversed(seen[:-1]):
                    self.press("ArrowLeft")
                    self.assertEqual(self.snapshot(), before)
                self.press("ArrowLeft")
                self.assertEqual(self.position()[0], 0)

    def test_each_step_shows_a_line_of_the_kernel(self):
        for algorithm in explore.ALGORITHMS:
            self.open(algorithm.id)
            self.press("Home")
            lines = set()
            for _ in range(self.position()[1]):
                self.press("ArrowRight")
                titles = self.run_script("return [...document.querySelectorAll('#code h3')].map(e => e.textContent)")
                marked = self.run_script("""
                    const lineOf = line => [Number(line.dataset.line), line.textContent];
                    return [...document.querySelectorAll("#code pre")].map(pre =>
                        [...pre.querySelectorAll(".at")].map(lineOf));""")
                self.assertTrue(marked)
                for title, found in zip(titles, marked, strict=True):
                    source = (ROOT / re.search(r"stream_compaction/[\w/.]+", title)[0]).read_text(encoding="utf-8")
                    self.assertTrue(found, title)
                    for number, text in found:
                        self.assertEqual(text, source.splitlines()[number - 1])
                lines.add(str(marked))
            self.assertGreater(len(lines), 1, algorithm.id)

    def test_bank_conflicts_are_those_of_the_strides(self):
        """Eight elements per thread: eight threads of a warp want each fourth bank. The padding spreads them."""
        def turns(algorithm):
            found = re.findall(r"(no )?bank conflict(?:: (\d) turns)?", "\n".join(self.facts_of_all_steps()))
            self.assertGreater(len(found), 20, algorithm)
            return {int(number) if number else 1 for _, number in found}

        self.open("shared-conflicts")
        self.assertEqual(turns("shared-conflicts"), {1, 2, 8})
        self.open("shared")
        self.assertEqual(turns("shared"), {1})

    def test_the_worst_order_is_the_reverse(self):
        self.open("look-back", [given.name for given in explore.LOOK_BACKS].index("worst order"))
        text = "\n".join(self.facts_of_all_steps())
        first = [int(tile) for tile in re.findall(r"Tile (\d+) publishes its aggregate", text)]
        self.assertEqual(first, [7, 6, 5, 4, 3, 2, 1, 0])
        self.assertEqual(sorted(re.findall(r"publishes its prefix, the sum up to its end: P (\d+)", text), key=int),
                         [str(128 * (tile + 1)) for tile in range(8)])

    def test_work_between_kernels_is_told(self):
        self.open("blelloch")
        facts = self.facts_of_all_steps()
        (clear,) = [text for text in facts if text.startswith("memset")]
        self.assertIn("Between kernels, 1 element is set.", clear)
        self.assertIn("Between kernels, 16 elements are copied.", facts[-1])

    def test_late_writes_are_told(self):
        self.open("look-back", [given.name for given in explore.LOOK_BACKS].index("late writes"))
        self.assertIn("whose newer status is not visible yet", "\n".join(self.facts_of_all_steps()))

    def test_the_address_leads_to_a_step(self):
        self.open("radix", 2, 5)
        deadline = time.monotonic() + 10
        while not self.browser.current_url.endswith("#radix/2/5") and time.monotonic() < deadline:
            time.sleep(0.05)
        shown = self.snapshot()
        self.browser.get(self.browser.current_url)
        self.browser.refresh()
        self.assertEqual(self.snapshot(), shown)
        self.assertEqual(self.position()[0], 5)


if __name__ == "__main__":
    unittest.main()
