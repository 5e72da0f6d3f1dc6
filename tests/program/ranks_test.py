"""Tests the program with several ranks. Usage: ranks_test.py PROGRAM PROGRAM_WITH_MADE_UP_VARIANTS MPIRUN OPTIONS..."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MADE_UP, *MPIRUN = sys.argv[1:]


def run(ranks, program, *options, environment=None):
    command = [*MPIRUN, str(ranks), program, "--no-color", *options] if ranks else [program, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False,
                          env={**os.environ, **(environment or {})})


class RealVariants(unittest.TestCase):
    def test_pass_and_are_reported_once(self):
        for ranks in (2, 3):
            done = run(ranks, PROGRAM, "--op", "scan,compact,sort,sort-pairs", "--size", "5000,2,20001", "--seed", "3")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count(f"GPUs      {ranks}\n"), 1, done.stdout)
            for operation in ("scan, mod:50", "compact, mod:4", "sort, uniform", "sort-pairs, uniform"):
                self.assertEqual(done.stdout.count(f"\n{operation}\n"), 1, done.stdout)
            self.assertEqual(done.stdout.count("\ndistributed "), 4 * 3)
            self.assertEqual(done.stdout.count("12 passed, 0 failed, 0 skipped\n"), 1)
            self.assertEqual(done.stderr, "")

    def test_cut_texts_and_partitions(self):
        for ranks in (2, 3):
            done = run(ranks, PROGRAM, "--size", "1,5,20011",
                       "--op", "partition,utf8-to-utf32,utf8-to-utf16,utf8-validate,utf32-to-utf8,utf16-to-utf8",
                       "--input", "kept:0.3,ascii,cyrillic,cjk,emoji,mixed,ill-formed:10")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual(done.stdout.count("\nutf16-to-utf8, ill-formed:10\n"), 1, done.stdout)
            self.assertEqual(done.stdout.count("\n93 passed, 0 failed, 0 skipped\n"), 1, done.stdout)

    def test_share_the_chunks_in_which_a_text_is_checked(self):
        done = run(2, PROGRAM, "--size", "200001", "--op", "utf8-to-utf16,utf16-to-utf8", "--input", "ill-formed:5")
        self.assertIn("\n2 passed, 0 failed, 0 skipped\n", done.stdout)

    def test_share_a_file(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write("a\u20ac\U0001f600".encode() + b"\xf0\x9f")
            file.flush()
            done = run(3, PROGRAM, "--size", "7,5000", "--op", "utf8-to-utf16,utf8-validate", "--utf8-file", file.name)
        self.assertIn("\n4 passed, 0 failed, 0 skipped\n", done.stdout)

    def test_have_keys_of_other_types_and_few_values(self):
        done = run(3, PROGRAM, "--op", "scan,sort", "--type", "int64,float", "--size", "10000", "--input", "mod:3")
        self.assertIn("\n4 passed, 0 failed, 0 skipped\n", done.stdout)

    def test_are_traced_in_a_file_for_each_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(2, PROGRAM, "--op", "scan", "--size", "64", "--input", "ascending", "--trace",
                       str(pathlib.Path(folder) / "the.trace.jsonl"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            traces = {path.name: [json.loads(line) for line in path.read_text().splitlines()]
                      for path in pathlib.Path(folder).iterdir()}
        self.assertEqual(sorted(traces), ["the.trace.0.jsonl", "the.trace.1.jsonl"])
        for rank in range(2):
            loads = [step["values"] for step in traces[f"the.trace.{rank}.jsonl"] if step["step"] == "tile load"]
            own = set(range(32 * rank, 32 * rank + 32))
            self.assertEqual({value for values in loads for value in values} & set(range(64)), own)

    def test_need_a_gpu_for_each_process(self):
        done = run(3, PROGRAM, "--op", "scan", "--card", "devices=2")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr.count("each process needs a GPU of its own; this machine has 2 for 3 processes"), 1)


class MadeUpVariants(unittest.TestCase):
    def test_have_rows_with_the_number_of_gpus(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows.csv"
            done = run(3, MADE_UP, "--op", "scan", "--variant", "working", "--csv", str(path), "--trials", "4")
            self.assertEqual(done.returncode, 0, done.stderr)
            with path.open(newline="") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual([(row["variant"], row["gpus"], row["trials"], row["n"]) for row in rows],
                         [("working", "3", "4", "1000")])

    def test_are_not_measured_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows.csv"
            options = "--op", "scan", "--variant", "working", "--csv", str(path)
            self.assertEqual(run(3, MADE_UP, *options).returncode, 0)
            for size, found in (("2000,1000", 1), ("1000,2000", 2)):
                done = run(3, MADE_UP, *options, "--size", size, "--resume")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"{found} measurements are in {path} and not made again\n", done.stdout)
            with path.open(newline="") as file:
                self.assertEqual([row["n"] for row in csv.DictReader(file)], ["1000", "2000"])

    def test_are_not_resumed_from_other_files(self):
        with tempfile.NamedTemporaryFile(suffix=".csv") as file:
            file.write(b"of another program\n")
            file.flush()
            done = run(2, MADE_UP, "--op", "scan", "--variant", "working", "--csv", file.name, "--resume")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("stream_compaction_test: "), 1, done.stderr)

    def test_stop_by_the_clock_of_one_rank(self):
        done = run(3, MADE_UP, "--op", "scan", "--variant", "working", "--trials", "1000000", "--time-budget", "50ms")
        self.assertIn("\n1 passed, 0 failed, 0 skipped\n", done.stdout)

    def test_fail_if_one_rank_is_wrong(self):
        for ranks in (2, 3):
            done = run(ranks, MADE_UP, "--op", "scan", "--variant", "working,wrong")
            self.assertEqual(done.returncode, 1)
            self.assertIn("\n1 passed, 1 failed, 0 skipped\n", done.stdout)
            self.assertEqual(done.stdout.count(f"rank {ranks - 1}: first mismatch at index 999: "), 1, done.stdout)

    def test_end_all_if_one_rank_throws(self):
        done = run(3, MADE_UP, "--op", "scan", "--variant", "throwing")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("stream_compaction_test: rank 2: launch failed\n"), 1, done.stderr)
        self.assertNotIn("passed", done.stdout)


class Requests(unittest.TestCase):
    def refusal(self, *options):
        done = run(2, PROGRAM, *options)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        complaints = [line for line in done.stderr.splitlines() if line.startswith("stream_compaction_test: ")]
        self.assertEqual(len(complaints), 1, done.stderr)
        return complaints[0]

    def test_are_refused_once(self):
        self.assertIn("--no-such", self.refusal("--no-such"))
        self.assertIn("leave out --device, --gpus", self.refusal("--op", "scan", "--gpus", "2"))
        self.assertIn("none of the chosen operations", self.refusal("--op", "row-sum"))
        self.assertIn("cannot write", self.refusal("--op", "scan", "--csv", "/no/such/folder/file.csv"))
        self.assertIn("/no/such/folder/trace.0.jsonl", self.refusal("--trace", "/no/such/folder/trace.jsonl"))

    def test_need_the_mpirun_of_the_mpi_that_was_built_with(self):
        done = run(0, PROGRAM, environment={"PMI_SIZE": "2"})
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("belongs to another MPI", done.stderr)

    def test_of_help_are_answered_once(self):
        self.assertEqual(run(2, PROGRAM, "--help").stdout, run(0, PROGRAM, "--help").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
