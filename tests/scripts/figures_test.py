#!/usr/bin/env python3
"""README.md, docs/ and img/ match data/."""

import contextlib
import io
import os
import re
import unittest
from unittest import mock

from sample_data import run  # sets the path of the scripts

from charts import CHARTS, build_charts  # isort: skip
from measurements import DATA, ROOT, csv_rows  # isort: skip
from plot import stale  # isort: skip
import update_figures  # isort: skip
from update_figures import BLOCKS, FACTS, REFUSED, generate, times, with_noise  # isort: skip


class FiguresTest(unittest.TestCase):
    def test_tables_whatever_the_locale(self):
        ascii_only = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        done = run("update_figures.py", "--check", env=ascii_only)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_charts(self):
        charts, missing = build_charts(DATA)
        self.assertEqual((set(charts), missing), (set(CHARTS), {}))
        self.assertEqual(list(stale(charts, ROOT / "img")), [])

    def test_a_stale_number_in_a_sentence_is_replaced(self):
        stale_line = "It is <!-- = padding -->0.5<!-- end --> times as fast as before.\n"
        self.assertEqual(generate("docs/any.md", stale_line), stale_line.replace("0.5", FACTS["padding"]()))

    def test_every_fact_is_used_and_known(self):
        pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        used = {name for page in pages for name in re.findall(r"<!-- = ([\w-]+) -->", page.read_text(encoding="utf-8"))}
        self.assertEqual(used, set(FACTS))
        with self.assertRaisesRegex(SystemExit, "no fact has the name gone"):
            generate("docs/any.md", "<!-- = gone -->1<!-- end -->")

    def test_a_time_has_its_noise(self):
        row = {"median_us": "8.768", "noise_percent": "1.26"}
        self.assertEqual(with_noise(row), "8.768 µs ± 1.3 %")
        self.assertEqual(with_noise(row | {"noise_percent": ""}), "8.768 µs")

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

    def test_nothing_is_much_faster_than_a_copy(self):
        most = 125  # percent; a card only reads faster than it copies
        for path in sorted(DATA.parent.glob("*/*.csv")):
            for row in csv_rows(path.read_text(encoding="utf-8"))[1]:
                if row.get("mode") == "cold" and row.get("percent_of_copy"):
                    with self.subTest(file=path, operation=row["operation"], variant=row["variant"], n=row["n"]):
                        self.assertLess(float(row["percent_of_copy"]), most)


if __name__ == "__main__":
    unittest.main()
