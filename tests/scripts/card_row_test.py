#!/usr/bin/env python3
"""card_row.py finds the limits at which measured times cross."""

import statistics
import unittest

from sample_data import run  # sets the path of the scripts

import card_row  # isort: skip
from measurements import CARDS, DATA, read  # isort: skip

SHAPES = card_row.shapes_in_use()


def rows_of(operation, kind, best_below):
    """Rows of a card on which each shape is the fastest up to its limit, in vectors, and look-back beyond."""
    rows = []
    for exponent in range(12, 25):
        n = 1 << exponent
        vectors = n * card_row.element_bytes(kind) // 16
        best = next((name for name, limit in best_below.items() if vectors <= limit), "WideScan")
        for name in ("Tiny", "Small", "Medium", "Large", "WideScan"):
            threads, height = SHAPES[name]
            rows.append({"operation": operation, "type": kind, "n": str(n), "order": "",
                         "kernel": "look-back" if name == "WideScan" else "resident", "threads": str(threads),
                         "rows": str(height), "median_us": "10" if name == best else "20"})
    return rows


class CardRowTest(unittest.TestCase):
    def test_the_limits_at_which_the_times_cross(self):
        below = {"Tiny": 1 << 13, "Small": 1 << 15, "Large": 1 << 18}
        cases = card_row.cases_of(rows_of("scan", "int32", below), "scan")
        self.assertEqual(card_row.best_limits(cases, SHAPES), tuple(below.values()))

    def test_the_loss_is_against_the_fastest(self):
        case = card_row.Case("scan", "int32", 1 << 20, {("look-back", *SHAPES["WideScan"]): 12, ("resident", 256, 8): 10})
        self.assertAlmostEqual(case.loss((1, 1, 1), SHAPES), 0.2)
        self.assertEqual(case.loss((1, 1, 1 << 20), SHAPES), 0)
        self.assertIsNone(case.loss((1 << 20, 1 << 20, 1 << 20), SHAPES))

    def test_vectors_of_bytes_are_narrower_in_a_compaction(self):
        case = card_row.Case("compact", "uint8", 8192, {})
        self.assertEqual(case.length, 16)
        self.assertEqual(case.chosen((1 << 16, 1 << 17, 1 << 17, 1 << 17), SHAPES), ("resident", 512, 1))

    def test_blocks_that_pack_bytes_meet_for_twice_as_many_vectors(self):
        for n, kernel in ((1 << 20, ("packed", 256, 2)), (1 << 21, ("packed", 256, 4)),
                          (1 << 22, ("look-back", *SHAPES["ByteCompact"]))):
            case = card_row.Case("compact", "uint8", n, dict.fromkeys((("packed", 256, 2), ("packed", 256, 4)), 10))
            self.assertEqual(case.chosen((1, 1, 1 << 17, 1 << 18), SHAPES), kernel)

    def test_cases_of_other_kernels_are_left_out(self):
        row = {"operation": "compact", "type": "uint8", "n": str(1 << 24), "kernel": "look-back", "order": "index",
               "median_us": "10"}
        threads, height = SHAPES["ByteCompact"]
        self.assertEqual(card_row.cases_of([row | {"threads": "256", "rows": "4"}], "compact"), [])
        self.assertEqual(len(card_row.cases_of([row | {"threads": str(threads), "rows": str(height)}], "compact")), 1)

    def test_blocks_pack_half_a_tile_then_a_whole_one_then_look_back(self):
        measured = dict.fromkeys((("packed", 256, 4), ("packed", 256, 8), ("look-back", 256, 8)), 10)
        case = card_row.Case("compact", "int32", 1 << 20, measured)  # 2^18 vectors
        for limits, kernel in (((1, 1, 1 << 18, 1 << 19), ("packed", 256, 4)), ((1, 1, 1, 1 << 18), ("packed", 256, 8)),
                               ((1, 1, 1, 1 << 17), ("look-back", 256, 8))):
            self.assertEqual(case.chosen(limits, SHAPES), kernel)
        del measured["packed", 256, 4]  # its blocks are not resident together
        self.assertEqual(case.chosen((1, 1, 1 << 18, 1 << 19), SHAPES), ("packed", 256, 8))

    def test_large_blocks_take_half_as_many_vectors_of_wide_sums(self):
        case = card_row.Case("scan", "int64", 1 << 20, {})  # 2^19 vectors
        self.assertEqual(case.chosen((1, 1, 1 << 20), SHAPES), ("resident", *SHAPES["Large"]))
        self.assertEqual(case.chosen((1, 1, 1 << 19), SHAPES), ("look-back", *SHAPES["Scan"]))

    def test_the_scans_of_both_cards_lose_little(self):
        for card in CARDS:
            cases = card_row.cases_of(read("tune.csv", folder=DATA.parent / card), "scan")
            lost = card_row.losses(cases, card_row.limits_in_use("scan"), SHAPES)
            with self.subTest(card=card):
                self.assertLess(statistics.fmean(lost), 0.015)
                self.assertLess(max(lost), 0.1)

    def test_it_prints_a_row(self):
        done = run("card_row.py", DATA / "tune.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\.scan = \{\.ofTiny = 1u << \d+, \.ofSmall = 1u << \d+, \.ofLarge = 1u << \d+\},")
        self.assertRegex(done.stdout, r"\.compact = \{\.ofTiny = 1u << \d+, .*, \.ofWhole = 1u << \d+\},")


if __name__ == "__main__":
    unittest.main()
