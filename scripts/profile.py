#!/usr/bin/env python3
"""Profiles variants with Nsight Compute and prints why their kernels wait.

    scripts/profile.py --csv FILE.csv -- --op scan --variant single-pass,cub --sweep 2^26

The arguments after `--` go to the program, which runs each variant once under the profiler. One row per kernel, for its
longest launch: duration, throughput of DRAM and of the L2 cache, occupancy, registers, bank conflicts, cycles between
two instructions of a warp, and the three most frequent reasons for these cycles. "L2" is the busiest part of the cache.
If the cache has two halves, the link between them is such a part, and "L2 link" tells how busy it is.
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
    "launch__shared_mem_per_block": "shared_memory_bytes",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "l2_percent",
    "lts__t_sector_hit_rate.pct": "l2_hit_percent",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_percent",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue_percent",
    "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active": "integer_pipe_percent",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": "shared_memory_percent",
    "smsp__average_warp_latency_per_inst_issued.ratio": "cycles_per_instruction",
    "smsp__inst_executed.sum": "warp_instructions",
    "l1tex__data_bank_conflicts_pipe_lsu.sum": "bank_conflicts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": "shared_bank_conflicts",
}
LINK = "lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed"  # not on all cards
STALLS = ["stall_1", "stall_2", "stall_3"]
COLUMNS = ["gpu", "commit", "arguments", "kernel", "launches", *METRICS.values(), "l2_link_percent", *STALLS]


# The columns of the table: title and value of a row.
TABLE = {
    "kernel": lambda row: row["kernel"],
    "launches": lambda row: str(row["launches"]),
    "us": lambda row: row["duration_us"],
    "DRAM": lambda row: percent(row["dram_percent"]),
    "L2": lambda row: percent(row["l2_percent"]),
    "L2 hits": lambda row: percent(row["l2_hit_percent"]),
    "L2 link": lambda row: percent(row["l2_link_percent"]) if row["l2_link_percent"] else "",
    "occupancy": lambda row: percent(row["occupancy_percent"]),
    "registers": lambda row: row["registers"],
    "shared B": lambda row: row["shared_memory_bytes"],
    "conflicts": lambda row: row["shared_bank_conflicts"],
    "cycles/instruction": lambda row: f"{float(row['cycles_per_instruction']):.1f}",
    "of which": lambda row: ", ".join(row[stall] for stall in STALLS),
}


def percent(text):
    return f"{float(text):.0f} %"


def run(command):
    try:
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        sys.exit(f"profile.py: {error.filename} is missing; ncu comes with the CUDA toolkit")


def profile(program, arguments, kernels, report):
    """The output of Nsight Compute on the program's kernels, and the program's own. With `report`, all counters are
    also written to a file for the GUI."""
    metrics = ["--metrics", ",".join([*METRICS, f"regex:{LINK}", "regex:" + STALL.pattern.replace(r"(\w+)", ".*")])]
    raw = ["--csv", "--page", "raw", "--print-units", "base"]
    keep = ["--set", "full", "--import-source", "yes", "--export", report] if report else raw
    if report:
        pathlib.Path(report).unlink(missing_ok=True)  # of an earlier run, which must not pass for this one's
    done = run(["ncu", "--profile-from-start", "off", "--clock-control", "none", "--kernel-name", f"regex:{kernels}",
                *metrics, *keep, program, "--no-color", "--profile", *arguments])
    if done.returncode != 0:
        sys.exit(f"profile.py: a result is wrong, or ncu failed:\n{done.stdout}{done.stderr}")
    printed = run(["ncu", "--import", report, *raw, *metrics]).stdout if report else done.stdout
    table = printed.find('"ID"')
    if table < 0:
        sys.exit(f"profile.py: no kernel was profiled:\n{done.stdout}{done.stderr}")
    return list(csv.DictReader(io.StringIO(printed[table:])))[1:], done.stdout


def number(text):
    return float(text.replace(",", "")) if text else 0.0


def stalls(kernel):
    """The reasons for which its warps wait, longest first, in cycles per instruction."""
    found = {match[1]: number(value) for name, value in kernel.items() if (match := STALL.fullmatch(name))}
    found.pop("selected", None)
    return [f"{reason} {cycles:.1f}" for reason, cycles in sorted(found.items(), key=lambda item: -item[1])[:3]]


def short_name(name):
    """`kernScan<Shape, int>(...)` as `kernScan`."""
    return re.sub(r"<.*|\(.*", "", re.sub(r"^void ", "", name)).split("::")[-1]


def rows(kernels, output, arguments):
    """One row per kernel and grid, for the launch that took longest."""
    setting = {line.split()[0]: line.split(maxsplit=1)[1] for line in output.splitlines()
               if line.startswith(("GPU ", "Commit "))}
    launches = {}
    for kernel in kernels:
        launches.setdefault((short_name(kernel["Kernel Name"]), kernel["launch__grid_size"]), []).append(kernel)
    for (name, _), same in launches.items():
        longest = max(same, key=lambda kernel: number(kernel["gpu__time_duration.sum"]))
        values = {column: number(longest[metric]) for metric, column in METRICS.items()}
        values["duration_us"] /= 1000
        row = {"gpu": setting["GPU"].split(",")[0], "commit": setting["Commit"], "arguments": arguments,
               "kernel": name, "launches": len(same)}
        row |= {column: f"{value:.6g}" for column, value in values.items()}
        row["l2_link_percent"] = f"{number(longest[LINK]):.6g}" if longest.get(LINK) else ""
        row |= dict(zip(STALLS, stalls(longest)))
        yield row


def append(path, table):
    is_new = not path.exists()
    if not is_new and path.open().readline().strip() != ",".join(COLUMNS):
        sys.exit(f"profile.py: {path} has other columns; choose another file")
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(table)


def print_table(table):
    lines = [list(TABLE), *([show(row) for show in TABLE.values()] for row in table)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths)]
        print("  ".join([line[0].ljust(widths[0]), *cells[1:-1], line[-1]]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=pathlib.Path, help="append the rows to this file")
    parser.add_argument("--report", type=pathlib.Path, help="keep all that was measured in this file, for the GUI")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--kernels", default=".", help="only kernels whose name matches this regular expression")
    parser.add_argument("arguments", nargs="+", help="for the program")
    options = parser.parse_args()

    kernels, output = profile(options.program, options.arguments, options.kernels, options.report)
    table = list(rows(kernels, output, " ".join(options.arguments)))
    if options.csv:
        append(options.csv, table)
    print_table(table)


if __name__ == "__main__":
    main()
