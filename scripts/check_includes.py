#!/usr/bin/env python3
"""Checks that each folder includes only the folders that the list below allows, and that only the library's files named
cub* and thrust* include CUB or Thrust.

  scripts/check_includes.py [--root FOLDER]           names each include that the list does not allow
  scripts/check_includes.py [--root FOLDER] --table   prints the files, lines and includes of each folder
"""
import argparse
import collections
import pathlib
import re
import sys

FOUNDATION = "common.h common.cuh timer.h device_buffer.h pinned_array.h cuda_stream.h cuda_event.h".split()

# Each folder ("room"), and the rooms whose files it may include. A room may include itself. The headers at the top of
# stream_compaction/ are the room "api", and those of FOUNDATION belong to "runtime". Names of files are those alone.
LIBRARY = {
    "runtime": "",
    "primitives": "runtime",
    "single_pass": "primitives runtime",
    "radix_sort": "primitives runtime",
    "row_sum": "primitives runtime",
    "utf8": "primitives runtime",
    "runs": "single_pass.cuh primitives runtime",
    "segments": "radix_sort.cuh single_pass.cuh primitives runtime",
    "cpu": "cpu.h utf8 runtime",
    "out_of_core": "single_pass.cuh radix_sort.cuh primitives runtime",
    "distributed": "histogram.cuh single_pass.cuh radix_sort.cuh row_sum.cuh utf8.cuh primitives runtime",
    "api": "distributed out_of_core cpu runs segments single_pass radix_sort row_sum utf8 primitives runtime",
}
PROGRAM = {
    "src/cli": "runtime",
    "src/world": "src/cli",
    "src/problems": "src/world src/cli utf8 runtime",
    "src/measure": "src/world src/cli api runtime simulator",
    "src/variants": "src/measure src/problems src/world src/cli api cpu single_pass utf8 runtime",
    "src/several_gpus": "src/variants src/problems src/world src/cli api single_pass runtime",
    "src/output": "src/variants src/measure src/problems src/cli",
    "src/app": "src/output src/variants src/measure src/problems src/world src/cli",
    "src": "src/app src/output src/measure",
    "tools": "src/output src/several_gpus src/variants src/measure src/problems src/cli api runtime",
    "examples": "api cpu utf8 runtime",
}

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def room_of(path):
    """The room of a file, given its path from the root."""
    parts = path.parts
    if parts[0] == "stream_compaction":
        if len(parts) > 2:
            return parts[1]
        return "runtime" if parts[1] in FOUNDATION else "api"
    if parts[0] == "src":
        return f"src/{parts[1]}" if len(parts) > 2 else "src"
    return parts[0]


def sources(root):
    for folder in ("stream_compaction", "src", "tools", "examples"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cuh", ".cpp", ".cu"):
                yield path.relative_to(root)


def included_file(root, includer, name):
    """The file of this tree that an include names; None if it belongs to another library."""
    for folder in (includer.parent, pathlib.Path(), pathlib.Path("src"), pathlib.Path("tools")):
        if (root / folder / name).is_file():
            return folder / name
    return None


def includes(root):
    """Every include that crosses rooms: (from, to, included file, file, line)."""
    for path in sources(root):
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            target = match and included_file(root, path, match[1])
            if target and room_of(path) != room_of(target):
                yield room_of(path), room_of(target), target.name, path, number


def peer_includes(root):
    """Every include of CUB or Thrust in a file of the library that is not named after them: (peer, file, line)."""
    for path in sources(root):
        if path.parts[0] != "stream_compaction" or path.name.startswith(("cub", "thrust")):
            continue
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match[1].startswith(("cub/", "thrust/")):
                yield match[1].partition("/")[0], path, number


def allowed_edges():
    return {(room, below) for room, all_below in {**LIBRARY, **PROGRAM}.items() for below in all_below.split()}


def table(root):
    files, lines, below = collections.Counter(), collections.Counter(), collections.defaultdict(set)
    for path in sources(root):
        files[room_of(path)] += 1
        lines[room_of(path)] += len((root / path).read_text(encoding="utf-8").splitlines())
    for room, target, *_ in includes(root):
        below[room].add(target)
    print("| folder | files | lines | includes |\n| --- | ---: | ---: | --- |")
    for room in [*LIBRARY, *PROGRAM]:
        print(f"| `{room}` | {files[room]} | {lines[room]} | {', '.join(sorted(below[room])) or '–'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--table", action="store_true", help="print a table of the folders")
    arguments = parser.parse_args()
    if arguments.table:
        table(arguments.root)
        return 0
    allowed = allowed_edges()
    wrong = [(room, target, path, number) for room, target, name, path, number in includes(arguments.root)
             if not {(room, target), (room, name)} & allowed]
    for room, target, path, number in wrong:
        print(f"{path}:{number}: {room} may not include {target}")
    peers = list(peer_includes(arguments.root))
    for peer, path, number in peers:
        print(f"{path}:{number}: only files named {peer}* may include {peer}")
    return 1 if wrong or peers else 0


if __name__ == "__main__":
    sys.exit(main())
