#!/usr/bin/env python3
"""The planted bugs of scripts/mutants.py still fit the library and its tests."""

import sys
import unittest

from sample_data import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import mutants


class MutantsTest(unittest.TestCase):
    def test_each_text_occurs_once(self):
        for mutant in mutants.MUTANTS:
            with self.subTest(mutant.name):
                self.assertNotEqual(mutant.original().replace(mutant.old, mutant.new), mutant.original())

    def test_each_suite_has_a_file(self):
        for mutant in mutants.MUTANTS:
            with self.subTest(mutant.name):
                suite, test = mutant.test.split(".")
                source = ROOT / f"tests/simulator/{mutants.FILES[suite]}.cu"
                self.assertRegex(source.read_text(), rf"\({suite}, {test}\)")

    def test_names_differ(self):
        names = [mutant.name for mutant in mutants.MUTANTS]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
