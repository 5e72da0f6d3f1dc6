"""Each mistake in refusals.cu gets one error of the compiler, which has the words that stand beside the mistake.

The arguments are the compiler and its options.
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

MISTAKES = pathlib.Path(__file__).with_name("refusals.cu")


def compiled(*options):
    """What the compiler says of the mistakes."""
    return subprocess.run([*COMMAND, *options, "-fsyntax-only", "-x", "c++", MISTAKES], capture_output=True, text=True,
                          check=False, env={**os.environ, "LC_ALL": "C"}).stderr


class Refusals(unittest.TestCase):
    maxDiff = None

    def test_each_mistake_gets_one_error(self):
        expected = [(number, words) for number, line in enumerate(MISTAKES.read_text(encoding="utf-8").splitlines(), 1)
                    for words in re.findall("// error: (.*)", line)]
        output = compiled()
        # A line of refusals.cu comes before the errors that it caused.
        number = 0
        errors = []
        for line in output.splitlines():
            if match := re.match(r".*refusals\.cu:(\d+):", line):
                number = int(match[1])
            if match := re.search("error: (.*)", line):
                errors.append((number, next((words for place, words in expected
                                             if place == number and words in match[1]), match[1])))
        self.assertEqual(sorted(errors), expected)

    def test_the_first_error_of_an_older_standard_names_the_new_one(self):
        self.assertIn("needs C++20", re.search("error: (.*)", compiled("-std=c++17"))[1])


if __name__ == "__main__":
    COMMAND = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
