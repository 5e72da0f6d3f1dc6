#!/usr/bin/env python3
"""scripts/distributed_peers.py with stand-ins for the program, the peers and nvidia-smi."""

import csv
import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest

from sample_data import COLUMNS, SCRIPTS, row, run

import distributed_peers  # isort: skip

MORE_COLUMNS = (*COLUMNS, "cpu", "noise_percent", "library", "gpus", "gpu_memory")
MEASURED = row("scan", "single-pass", 1, 5, compute_capability="9.0")
PROGRAM = f"""#!{sys.executable}
import csv, sys
assert sys.argv[-2:] == ["--csv", "-"]
writer = csv.DictWriter(sys.stdout, {MORE_COLUMNS!r}, restval="")
writer.writeheader()
writer.writerow({MEASURED!r})
"""
GPUS = """#!/bin/sh
for gpu in 0 1 2 3 4; do echo "GPU $gpu: Some Card"; done
"""

# What radix-mgpu-sort prints for two GPUs in its mode csv. The times of three calls are 3, 1 and 2 ms, and so on.
RMG_SORT = f"""#!{sys.executable}
import pathlib, sys
calls = pathlib.Path(__file__).with_name("calls")
with calls.open("a") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
ms = (3, 1, 2)[(len(calls.read_text().splitlines()) - 1) % 3]
print('"Some Card",5,' + sys.argv[1] + ',"' + sys.argv[2] + '",128,"uint32","uniform",0,500,1,266.0739,266.0699,'
      '256.0002,1,"0.0250,{{(0.0380),(0.0161)}},0.8560,2.0540,0.0000,0.0240,{{(0.0330),(0.0160)}},0.8560,2.0130,'
      f'0.0000",{{ms:.4f}}')
if sys.argv[1] == "666":
    print("Error: Invalid sort order: 3 wrong positions.", file=sys.stderr)
sys.exit(sys.argv[1] == "999")
"""

LEGATE = f"""#!{sys.executable}
import os, sys
assert sys.argv[1] == "--gpus"
print("[0 - 7f1e333622c0]    0.000000 {{4}}{{gpu}}: a line of legate's")
sys.stdout.flush()
os.execv(sys.executable, [sys.executable, *sys.argv[3:]])
"""
CUPYNUMERIC = """from numpy import *
__version__ = "1.2.3"
def sort(keys):
    if len(keys) == 999:
        raise MemoryError("no memory")
    return keys if len(keys) == 666 else keys[keys.argsort()]
"""
TIMING = """from time import perf_counter_ns
def time(units):
    assert units == "ns"
    return perf_counter_ns()
"""


class DistributedPeersTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "data" / "distributed_peers.csv"
        self.add("program", PROGRAM)
        self.add("nvidia-smi", GPUS)

    def add(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def add_cupynumeric(self):
        self.add("legate", LEGATE)
        self.add("modules/cupynumeric.py", CUPYNUMERIC)
        self.add("modules/legate/timing.py", TIMING)

    def measure(self, size):
        environment = {"PATH": f"{self.folder}:/usr/bin:/bin", "PYTHONPATH": str(self.folder / "modules")}
        return run("distributed_peers.py", "--size", size, self.file.parent, self.folder / "program",
                   env=os.environ | environment)

    def rows(self):
        with self.file.open(newline="") as file:
            return list(csv.DictReader(file))

    def test_without_peers_the_file_stays_and_all_are_named(self):
        self.add("data/distributed_peers.csv", "of another machine\n")
        done = self.measure("64")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cuPyNumeric is not installed and not measured; pip install nvidia-cupynumeric", done.stderr)
        self.assertIn("RMG Sort is not installed and not measured; build github.com/hpides/rmg-sort", done.stderr)
        self.assertEqual(self.file.read_text(), "of another machine\n")

    def test_one_peer_is_measured_without_the_other(self):
        self.add("radix-mgpu-sort", RMG_SORT)
        done = self.measure("2^9,1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cuPyNumeric is not installed", done.stderr)
        self.assertNotIn("RMG Sort", done.stderr)
        self.assertEqual([(row["n"], row["gpus"]) for row in self.rows()],
                         [("512", "2"), ("1000", "2"), ("512", "4"), ("1000", "4")])
        calls = (self.folder / "calls").read_text().splitlines()
        self.assertEqual(calls[0], "512 0,1 uint32 uniform 0 csv")
        self.assertEqual(calls[-1], "1000 0,1,2,3 uint32 uniform 0 csv")
        # Seven times: three of 3 ms, two each of 1 and 2 ms.
        first = self.rows()[0]
        self.assertEqual(tuple(first), MORE_COLUMNS)
        expected = {"gpu": "Some Card", "compute_capability": "9.0", "commit": "0123456789", "operation": "sort",
                    "variant": "rmg-sort", "type": "uint32", "input": "uniform", "mode": "warm", "trials": "7",
                    "median_us": "2000.000", "min_us": "1000.000", "max_us": "3000.000", "bytes": "4096",
                    "gbps": "0.002", "noise_percent": "50.000", "verified": "true", "library": "RMG Sort",
                    "block_size": ""}
        self.assertEqual(first | expected, first)

    def test_wrong_results_have_no_times(self):
        self.add("radix-mgpu-sort", RMG_SORT)
        self.assertEqual(self.measure("666").returncode, 1)
        self.assertEqual({(row["verified"], row["median_us"]) for row in self.rows()}, {("false", "")})

    def test_a_failure_is_told_and_the_rest_is_measured(self):
        self.add("radix-mgpu-sort", RMG_SORT)
        done = self.measure("64,999")
        self.assertEqual(done.returncode, 1)
        self.assertIn("RMG Sort failed on 2 GPUs: exit status 1", done.stderr)
        self.assertEqual([(row["n"], row["gpus"]) for row in self.rows()], [("64", "2"), ("64", "4")])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
    def test_cupynumeric_scans_and_sorts(self):
        self.add_cupynumeric()
        done = self.measure("64,666,999")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no memory", done.stderr)
        rows = [row for row in self.rows() if row["gpus"] == "2"]
        self.assertEqual([(row["operation"], row["n"], row["input"], row["verified"]) for row in rows],
                         [("scan", "64", "mod:50", "true"), ("scan", "666", "mod:50", "true"),
                          ("scan", "999", "mod:50", "true"), ("sort", "64", "uniform", "true"),
                          ("sort", "666", "uniform", "false")])
        self.assertEqual({(row["variant"], row["type"], row["library"]) for row in rows},
                         {("cupynumeric", "int32", "cuPyNumeric 1.2.3")})
        self.assertTrue(all(float(row["min_us"]) <= float(row["median_us"]) <= float(row["max_us"])
                            for row in rows if row["verified"] == "true"))

    def test_two_gpus_and_a_program_that_measures_are_needed(self):
        self.add("radix-mgpu-sort", RMG_SORT)
        self.add("nvidia-smi", "#!/bin/sh\necho GPU 0: Some Card\n")
        self.assertIn("it takes two GPUs or more; nvidia-smi lists 1", self.measure("64").stderr)
        self.add("program", "#!/bin/sh\necho nothing was run: no card >&2; exit 2\n")
        self.assertIn("nothing was run: no card", self.measure("64").stderr)
        self.assertFalse(self.file.exists())

    def test_sizes_are_those_of_the_program(self):
        self.assertIn(f"sizes={distributed_peers.SIZES} ", (SCRIPTS / "measure.sh").read_text())


if __name__ == "__main__":
    unittest.main()
