#!/usr/bin/env python3
"""Measures what the program costs to build: CPU seconds and bytes, file by file.

build_times.py [--tree TREE] [--out FILE]

Configures TREE for one architecture (sm_90) in a temporary folder and runs the commands of `scripts/run.sh`'s build one
after another. Writes one row per command: its CPU time (user and system, with all child processes; the load of the
machine hardly matters), the bytes that it wrote and the number of kernels in them. Then it compiles a file of one line
for each public header of the device layer, to machine code for the same card. ccache is not used. Needs nvcc and
ninja, but no card.
"""

import argparse
import csv
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

ARCHITECTURE = "90"
OPTIONS = ["-DSTREAM_COMPACTION_TESTS=OFF", "-DSTREAM_COMPACTION_EXAMPLES=OFF", "-DSTREAM_COMPACTION_CUDA=ON",
           f"-DCMAKE_CUDA_ARCHITECTURES={ARCHITECTURE}"]
COLUMNS = ["what", "name", "cpu_s", "bytes", "kernels"]
# A file that CMake makes of several.
UNITED = re.compile(r".*/(\w+/united/\w+\.\w+)")


def cpu_seconds(command, folder):
    """Runs a shell command. Returns the CPU seconds of the command and its children."""
    process = subprocess.Popen(["bash", "-c", command], cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {command}\n{errors}")
    return usage.ru_utime + usage.ru_stime


def kernels_in(path):
    """The number of kernels in an object file. The host's stub of each kernel has one guard variable."""
    symbols = subprocess.run(["nm", path], capture_output=True, text=True).stdout
    return len(re.findall(r" _ZGVZL?\d+__device_stub_", symbols))


def build_rows(tree, folder, target):
    subprocess.run(["cmake", "--preset", "release", "-G", "Ninja", "-B", folder, *OPTIONS], cwd=tree, check=True,
                   stdout=subprocess.DEVNULL)
    commands = subprocess.run(["ninja", "-C", folder, "-t", "commands", target], capture_output=True, text=True,
                              check=True).stdout.splitlines()
    for command in commands:
        if command.startswith("ninja"):
            continue
        output = re.search(r" -o (\S+)", command)
        seconds = cpu_seconds(command, folder)
        if output is None or not (folder / output[1]).exists():
            continue
        path = folder / output[1]
        source = re.search(r"(?: -c| -x cu -c) (\S+)", command)
        if source is not None:
            name = UNITED.sub(r"\1", os.path.relpath(folder / source[1], tree))
            yield ["object", name, seconds, path.stat().st_size, kernels_in(path) if name.endswith(".cu") else 0]
        else:
            yield ["program", path.name, seconds, path.stat().st_size, ""]


def header_rows(tree, folder):
    for header in sorted((tree / "stream_compaction").glob("*.cuh")):
        name = header.relative_to(tree)
        source = folder / "user.cu"
        source.write_text(f'#include "{name}"\n')
        command = (f"nvcc -std=c++20 -arch=sm_{ARCHITECTURE} -cubin "
                   f"-I{shlex.quote(str(tree))} user.cu -o user.cubin")
        yield ["header", str(name), cpu_seconds(command, folder), (folder / "user.cubin").stat().st_size, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--target", default="stream_compaction_test", help="what ninja would build")
    arguments = parser.parse_args()
    os.environ["CCACHE_DISABLE"] = "1"
    with tempfile.TemporaryDirectory() as folder, open(arguments.out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        tree = arguments.tree.resolve()
        for rows in (build_rows(tree, pathlib.Path(folder), arguments.target), header_rows(tree, pathlib.Path(folder))):
            for what, name, seconds, size, kernels in rows:
                writer.writerow([what, name, f"{seconds:.2f}", size, kernels])
                file.flush()


if __name__ == "__main__":
    main()
