#!/usr/bin/env python3
"""README.md, docs/ and img/ match data/."""

import os
import unittest

from sample_data import run  # sets the path of the scripts

from charts import CHARTS, build_charts  # isort: skip
from measurements import DATA, ROOT, csv_rows  # isort: skip
from plot import is_current  # isort: skip
from update_figures import BLOCKS, FACTS, generate, with_noise  # isort: skip


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
