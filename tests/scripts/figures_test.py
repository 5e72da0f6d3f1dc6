#!/usr/bin/env python3
"""README.md, docs/ and img/ match data/."""

import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest
from unittest import mock

from sample_data import row, run, write_csv  # sets the path of the scripts

from charts import CHARTS, build_charts  # isort: skip
from measurements import DATA, ROOT, csv_rows  # isort: skip
from plot import is_current  # isort: skip
import update_figures  # isort: skip
from update_figures import BLOCKS, FACTS, REFUSED, generate, times, with_noise  # isort: skip


class FiguresTest(unittest.TestCase):
    def test_tables(self):
        done = run("update_figures.py", "--check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_tables_whatever_the_locale(self):
        ascii_only = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        done = run("update_figures.py", "--check", env=ascii_only)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_stale_number_in_a_sentence_is_replaced(self):
        stale = "It is <!-- = padding -->0.5<!-- end --> times as fast as before.\n"
        self.assertEqual(generate("docs/any.md", stale), stale.replace("0.5", FACTS["padding"]()))

    def test_a_number_of_no_name(self):
        with self.assertRaisesRegex(SystemExit, "no fact has the name gone"):
            generate("docs/any.md", "<!-- = gone -->1<!-- end -->")

    def test_a_time_has_its_noise(self):
        row = {"median_us": "8.768", "noise_percent": "1.26"}
        self.assertEqual(with_noise(row), "8.768 µs ± 1.3 %")
        self.assertEqual(with_noise(row | {"noise_percent": ""}), "8.768 µs")
        self.assertEqual(with_noise({"median_us": "8.768"}), "8.768 µs")

    def test_a_ratio_of_different_runs_is_refused(self):
        ours, cub = ({"gpu": "Some Card", "commit": "a123", "timestamp": "2026-12-01T10:00:00Z", "file": "sweep.csv",
                      "operation": "sort", "variant": variant, "n": "1024", "median_us": us}
                     for variant, us in (("radix", "2"), ("cub", "3")))
        REFUSED.clear()
        self.assertEqual(times(cub, ours), "1.50")
        self.assertEqual(REFUSED, [])
        older = cub | {"commit": "b456", "timestamp": "2026-11-27T10:00:00Z"}
        reason = ("Some Card, sweep.csv: sort cub 2^10 is of commit b456 of 2026-11-27, "
                  "sort radix 2^10 is of commit a123 of 2026-12-01")
        with mock.patch.dict(BLOCKS, {"docs/any.md": {"ratios": lambda: f"| {times(older, ours)} |"}}), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            page = generate("docs/any.md", "<!-- ratios -->\n<!-- end -->")
        self.assertEqual(page, "<!-- ratios -->\n| — |\n\nOf different runs, so not to be compared: "
                         f"{reason}.\n<!-- end -->")
        self.assertEqual(said.getvalue(), f"docs/any.md, ratios: {reason}\n")
        with mock.patch.dict(FACTS, {"one": lambda: f"{update_figures.ratio(older, ours):.1f}"}), \
                contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(generate("docs/any.md", "<!-- = one -->0<!-- end -->"),
                             "<!-- = one -->1.5 (different runs)<!-- end -->")
        with mock.patch.dict(BLOCKS, {"README.md": {"ratios": lambda: times(older, ours)}}):
            with self.assertRaisesRegex(SystemExit, re.escape(f"README.md, ratios: {reason}: measure them in one run")):
                generate("README.md", "<!-- ratios -->\n<!-- end -->")

    def test_the_front_page_is_of_a_card_that_can_be_had(self):
        self.assertNotIn("H100", "".join(block() for block in BLOCKS["README.md"].values()))

    def test_the_newest_of_two_files_counts(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for file, rows in (("sweep.csv", [("radix", "01"), ("cub", "03"), ("thrust", "01")]),
                           ("sorts.csv", [("radix", "02"), ("cub", "02")])):
            write_csv(folder / file, [row("sort", variant, 1024, 5, timestamp=f"2026-12-{day}T10:00:00Z",
                                          input="uniform") for variant, day in rows]
                      + [row("sort", "radix", 1024, 5, timestamp="2026-12-09T10:00:00Z", input="zeros")]
                      * (file == "sorts.csv"))
        ladder = update_figures.read_ladder(folder)
        self.assertEqual([(variant, found["file"]) for (_, variant, _), found in ladder.items()],
                         [("radix", "sorts.csv"), ("cub", "sweep.csv"), ("thrust", "sweep.csv")])

    def test_times_that_stand_out_are_marked_and_explained(self):
        page = "docs/lab-notes/performance.md"
        with contextlib.redirect_stderr(io.StringIO()):
            text = generate(page, (ROOT / page).read_text(encoding="utf-8"))
        self.assertIn("† [Stands out](../glossary.md#measuring)", text)
        self.assertIn("**Stands out.**", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"))

    def test_nothing_is_much_faster_than_a_copy(self):
        most = 125  # percent; a card only reads faster than it copies
        for path in sorted(DATA.parent.glob("*/*.csv")):
            for row in csv_rows(path.read_text(encoding="utf-8"))[1]:
                if row.get("mode") == "cold" and row.get("percent_of_copy"):
                    with self.subTest(file=path, operation=row["operation"], variant=row["variant"], n=row["n"]):
                        self.assertLess(float(row["percent_of_copy"]), most)

    def test_tables_of_medians_have_their_noise(self):
        for name, text in self.tables():
            if "median times" in text or "sweep.csv" in text:
                self.assertRegex(text, "[Nn]oise at most", name)

    def test_tables_say_with_which_cub_they_compare(self):
        for name, text in self.tables():
            if "CUB" in text:
                self.assertRegex(text, r"CUB is (the faster of|CUB \d)|the toolkit's CUB", name)

    @staticmethod
    def tables():
        return [(name, text) for blocks in BLOCKS.values() for name, block in blocks.items()
                if (text := block()).startswith("|")]

    def test_charts(self):
        charts, missing = build_charts(DATA)
        self.assertEqual(len(charts) + len(missing), len(CHARTS))
        self.assertEqual([name for name, chart in charts.items() if not is_current(ROOT / "img" / name, chart)], [])


if __name__ == "__main__":
    unittest.main()
