#!/usr/bin/env python3
"""Runs Nsight Compute on a variant, prints why its kernels wait, and keeps the report for the GUI.

    scripts/profile.py OPERATION/VARIANT [N or ROWSxCOLUMNS [options of the program]]
    scripts/profile.py scan/naive 2^24
    scripts/profile.py row-sum/adaptive 24000x2048 --type float

One row per kernel and grid, for its longest launch: duration, throughput of DRAM and of the L2 cache, occupancy,
registers, bank conflicts, cycles between two instructions of a warp, and the three most frequent reasons for these
cycles. "L2" is the busiest part of the cache. If the cache has two halves, the link between them is such a part, and
"L2 link" tells how busy it is. PROGRAM in the environment names another build of the program.
"""

import csv
import io
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("PROGRAM") or ROOT / "build/release/bin/stream_compaction_test")
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
LINK = "lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed"
TIME = "gpu__time_duration.sum"
# The columns of the table: title, metric, unit and how it is written.
COLUMNS = (
    ("us", TIME, 1e-3, "{:.4g}"),
    ("DRAM", "dram__throughput.avg.pct_of_peak_sustained_elapsed", 1, "{:.0f} %"),
    ("L2", "lts__throughput.avg.pct_of_peak_sustained_elapsed", 1, "{:.0f} %"),
    ("L2 hits", "lts__t_sector_hit_rate.pct", 1, "{:.0f} %"),
    ("L2 link", LINK, 1, "{:.0f} %"),
    ("occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", 1, "{:.0f} %"),
    ("issue", "smsp__issue_active.avg.pct_of_peak_sustained_active", 1, "{:.0f} %"),
    ("integer", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", 1, "{:.0f} %"),
    ("shared memory", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", 1, "{:.0f} %"),
    ("registers", "launch__registers_per_thread", 1, "{:.0f}"),
    ("shared B", "launch__shared_mem_per_block", 1, "{:.0f}"),
    ("conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 1, "{:.4g}"),
    ("cycles/instruction", "smsp__average_warp_latency_per_inst_issued.ratio", 1, "{:.1f}"),
)


def run(*command):
    try:
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        missing = ("scripts/run.sh builds it" if error.filename == str(PROGRAM)
                   else "it comes with the CUDA toolkit (Nsight Compute)")
        sys.exit(f"profile.py: {error.filename} is missing: {missing}")


def profile(arguments, report):
    """A dict of metrics for each launch of the program's kernels. All counters go to the report."""
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)  # of an earlier run, which must not pass for this one's
    metrics = ["--metrics", ",".join(["launch__grid_size", *(metric for _, metric, _, _ in COLUMNS if metric != LINK),
                                      f"regex:{LINK}",  # not on all cards
                                      "regex:" + STALL.pattern.replace(r"(\w+)", ".*")])]
    done = run("ncu", "--profile-from-start", "off", "--clock-control", "none", *metrics, "--set", "full",
               "--import-source", "yes", "--export", report, PROGRAM, "--no-color", "--profile", *arguments)
    if done.returncode != 0:
        sys.exit(f"profile.py: a result is wrong, or ncu failed:\n{done.stdout}{done.stderr}")
    printed = run("ncu", "--import", report, "--csv", "--page", "raw", "--print-units", "base", *metrics).stdout
    table = printed.find('"ID"')
    if table < 0:
        sys.exit(f"profile.py: no kernel was profiled:\n{done.stdout}{done.stderr}")
    return list(csv.DictReader(io.StringIO(printed[table:])))[1:]  # the first row has the units


def number(text):
    return float(text.replace(",", "")) if text else 0.0


def stalls(kernel):
    """The reasons for which its warps wait, longest first, in cycles per instruction."""
    found = {match[1]: number(value) for name, value in kernel.items() if (match := STALL.fullmatch(name))}
    found.pop("selected", None)
    longest = sorted(found, key=found.get, reverse=True)[:3]
    return ", ".join(f"{reason} {found[reason]:.1f}" for reason in longest)


def short_name(name):
    """`kernScan<Shape, int>(...)` as `kernScan`."""
    return re.sub(r"<.*|\(.*", "", re.sub(r"^void ", "", name)).split("::")[-1]


def rows(kernels):
    """One row per kernel and grid, for the launch that took longest."""
    launches = {}
    for kernel in kernels:
        launches.setdefault((short_name(kernel["Kernel Name"]), kernel["launch__grid_size"]), []).append(kernel)
    for (name, _), same in launches.items():
        longest = max(same, key=lambda kernel: number(kernel[TIME]))
        yield [name, str(len(same)), *(form.format(unit * number(longest[metric])) if longest.get(metric) else ""
                                       for _, metric, unit, form in COLUMNS), stalls(longest)]


def main():
    if len(sys.argv) < 2 or "/" not in sys.argv[1]:
        sys.exit(f"{__doc__}\nscripts/run.sh --list names the variants")
    (operation, variant), size = sys.argv[1].split("/", 1), (sys.argv[2:] or ["2^24"])[0]
    extent = "--shape" if re.search(r"\dx", size) else "--sweep"
    report = ROOT / "build" / "profiles" / f"{operation}-{variant}-{size.replace('^', 'pow')}.ncu-rep"
    kernels = profile(["--op", operation, "--variant", variant, extent, size, *sys.argv[3:]], report)
    lines = [["kernel", "launches", *(title for title, *_ in COLUMNS), "of which"], *rows(kernels)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths)]
        print("  ".join([line[0].ljust(widths[0]), *cells[1:-1], line[-1]]))
    print(f"For the GUI: ncu-ui {report}")


if __name__ == "__main__":
    main()
