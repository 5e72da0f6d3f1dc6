"""Small CSVs in the program's format, with times from a formula."""

import csv
import importlib.util
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))

COLUMNS = ("gpu,compute_capability,driver,toolkit,commit,timestamp,operation,variant,type,n,input,block_size,mode,"
           "trials,median_us,min_us,max_us,bytes,gbps,percent_of_copy,verified,shape,cpu,noise_percent,"
           "enqueue_us").split(",")
COPY_SPEED = 4000  # GB/s
SCANS = {"cpu": 1e-3, "naive": 2e-4, "single-pass": 2e-5, "cub": 3e-5}  # microseconds per element

needs_matplotlib = unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")


def row(operation, variant, n, us, **others):
    bandwidth = 8 * n / us / 1000
    on_gpu = not variant.startswith("cpu")
    values = {"gpu": "Some Card", "driver": "13.1", "toolkit": "13.0", "commit": "0123456789",
              "operation": operation, "variant": variant, "type": "int32", "n": n, "input": "mod:50",
              "mode": "cold" if on_gpu else "batched", "trials": 15, "cpu": "" if on_gpu else "Some Processor",
              "median_us": f"{us:.3f}", "min_us": f"{0.9 * us:.3f}", "max_us": f"{1.25 * us:.3f}", "bytes": 8 * n,
              "gbps": f"{bandwidth:.3f}",
              "percent_of_copy": f"{100 * bandwidth / COPY_SPEED:.3f}" if on_gpu else "", "verified": "true"}
    return dict.fromkeys(COLUMNS, "") | values | others


def time_of(variant, n):
    """Adds an overhead of five microseconds on the card."""
    return SCANS[variant] * n + (0 if variant == "cpu" else 5)


def scans():
    sizes = [size for k in range(8, 29) for size in (1 << k, (1 << k) - 3)]
    return [row("scan", variant, n, time_of(variant, n)) for variant in SCANS for n in sizes]


def block_sizes():
    return [row("scan", "naive", 1 << k, 100 + threads, block_size=threads) for k in (20, 24)
            for threads in (64, 128, 256)]


def row_sums():
    return [row("row-sum", variant, 1 << 22, us, type="float", shape="2048x2048")
            for variant, us in (("adaptive", 9), ("cub", 12))]


FILES = {"sweep.csv": scans, "block_sizes.csv": block_sizes, "row_sums.csv": row_sums}


def write_csv(path, rows, columns=COLUMNS):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def write_all(folder):
    for name, rows in FILES.items():
        write_csv(folder / name, rows())


def run(script, *arguments, env=None):
    """Runs a script of scripts/ by this interpreter."""
    return subprocess.run([sys.executable, SCRIPTS / script, *map(str, arguments)], capture_output=True, text=True,
                          check=False, env=env)
