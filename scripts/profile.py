#!/usr/bin/env python3
"""Profiles variants with Nsight Compute and says what each of their kernels waits for.

    scripts/profile.py --csv FILE.csv -- --op scan --variant single-pass,cub --size 2^26

What follows `--` goes to the program, which runs each variant as it likes; every kernel counts once. One row a kernel: duration, DRAM throughput,
registers, occupancy, cycles between two instructions of a warp and, of those, the three reasons that take most of them.
"""

import argparse
import csv
import io
import pathlib
import re
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "build/release/bin/stream_compaction_test"

STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
METRICS = {
    "gpu__time_duration.sum": "duration_us",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "dram_percent",
    "launch__registers_per_thread": "registers",
    "launch__block_size": "block_size",
    "launch__grid_size": "blocks",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_percent",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue_percent",
    "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active": "integer_pipe_percent",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": "shared_memory_percent",
    "smsp__average_warp_latency_per_inst_issued.ratio": "cycles_per_instruction",
    "smsp__inst_executed.sum": "warp_instructions",
    "l1tex__data_bank_conflicts_pipe_lsu.sum": "bank_conflicts",
}
COLUMNS = ["gpu", "commit", "arguments", "kernel", *METRICS.values(), "stall_1", "stall_2", "stall_3"]


def profile(program, arguments, kernels):
    """What Nsight Compute prints of the program's kernels, and what the program prints."""
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--kernel-name",
               f"regex:{kernels}", "--metrics", ",".join(METRICS) + ",regex:" + STALL.pattern.replace(r"(\w+)", ".*"),
               str(program), "--no-color", "--trials", "1", "--warmup", "1", *arguments]
    run = subprocess.run(command, capture_output=True, text=True)
    table = run.stdout.find('"ID"')
    if table < 0:
        sys.exit(f"profile.py: no kernel was profiled:\n{run.stdout}{run.stderr}")
    return list(csv.DictReader(io.StringIO(run.stdout[table:])))[1:], run.stdout[:table]


def number(text):
    return float(text.replace(",", "")) if text else 0.0


def stalls(kernel):
    """The reasons why its warps wait, longest first, in cycles per instruction."""
    found = {match[1]: number(value) for name, value in kernel.items() if (match := STALL.fullmatch(name))}
    found.pop("selected", None)
    return [f"{reason} {cycles:.1f}" for reason, cycles in sorted(found.items(), key=lambda item: -item[1])[:3]]


def short_name(name):
    """`kernScan<Shape, int>(...)` as `kernScan`."""
    return re.sub(r"<.*|\(.*", "", re.sub(r"^void ", "", name)).split("::")[-1]


def rows(kernels, report, arguments):
    setting = {line.split()[0]: line.split(maxsplit=1)[1] for line in report.splitlines()
               if line.startswith(("GPU ", "Commit "))}
    seen = set()
    for kernel in kernels:
        name = short_name(kernel["Kernel Name"])
        values = {column: number(kernel[metric]) for metric, column in METRICS.items()}
        values["duration_us"] /= 1000
        # A variant's runs after the first say the same again.
        if (name, values["blocks"]) in seen:
            continue
        seen.add((name, values["blocks"]))
        row = {"gpu": setting["GPU"].split(",")[0], "commit": setting["Commit"], "arguments": arguments,
               "kernel": name}
        row |= {column: f"{value:.6g}" for column, value in values.items()}
        row |= dict(zip(("stall_1", "stall_2", "stall_3"), stalls(kernel)))
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=pathlib.Path, help="append the rows to this file")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--kernels", default=".", help="only kernels whose name matches this regular expression")
    parser.add_argument("arguments", nargs="+", help="for the program")
    options = parser.parse_args()

    table = list(rows(*profile(options.program, options.arguments, options.kernels), " ".join(options.arguments)))
    if options.csv:
        is_new = not options.csv.exists()
        with options.csv.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if is_new:
                writer.writeheader()
            writer.writerows(table)
    for row in table:
        print(f"{row['kernel']:28} {row['duration_us']:>9} us  DRAM {float(row['dram_percent']):5.1f} %  "
              f"{row['registers']:>3} registers  occupancy {float(row['occupancy_percent']):5.1f} %  "
              f"{float(row['cycles_per_instruction']):5.1f} cycles per instruction: "
              f"{row['stall_1']}, {row['stall_2']}, {row['stall_3']}")


if __name__ == "__main__":
    main()
