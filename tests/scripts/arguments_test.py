#!/usr/bin/env python3
"""What the shell scripts refuse before they build or run anything."""

import re
import subprocess
import unittest

from sample_data import ROOT


class ArgumentsTest(unittest.TestCase):
    def refusal(self, script, *arguments):
        done = subprocess.run([ROOT / "scripts" / script, *arguments], capture_output=True, text=True, check=False,
                              env={"PATH": "/usr/bin:/bin", "PROGRAM": "/nowhere"})
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_a_run_is_either_on_a_card_or_simulated(self):
        for options in (["--simulate", "--cuda"], ["--cuda", "--simulated"], ["--cuda", "--op", "scan", "--simulate"]):
            for script in ("run.sh", "test.sh"):
                said = self.refusal(script, *options, "--list")
                self.assertIn("error: --cuda and --simulate exclude each other\n", said)
                self.assertNotIn("Building", said)

    def test_a_profile_of_what_does_not_exist(self):
        for argument in ("scan/foo", "foo/single-pass", "scan/cpu", "sort/single-pass"):
            operation, variant = argument.split("/")
            self.assertEqual(self.refusal("profile.sh", argument),
                             f"profile.sh: there is no variant {variant} of {operation} on the GPU; scripts/run.sh "
                             "--list names them\n")
        self.assertIn("expected OPERATION/VARIANT", self.refusal("profile.sh", "scan"))

    def test_every_variant_that_profiles_were_made_of_is_known(self):
        script = (ROOT / "scripts/measure.sh").read_text()
        for arguments in set(re.findall(r"profile .*--op ([\w-]+) --variant ([\w-]+)", script)):
            self.assertIn("/nowhere is missing", self.refusal("profile.sh", "/".join(arguments)))


if __name__ == "__main__":
    unittest.main()
