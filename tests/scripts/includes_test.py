"""Each folder includes only the folders that the list below allows, and only the library's files named cub* and thrust*
include CUB or Thrust."""
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
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
    """The file of this tree that an include names; None if it belongs to another library, or there is no include."""
    for folder in (includer.parent, pathlib.Path(), pathlib.Path("src"), pathlib.Path("tools")):
        if name and (root / folder / name).is_file():
            return folder / name
    return None


def wrong_includes(root):
    """A line for each include that is not allowed."""
    allowed = {(room, below) for room, all_below in {**LIBRARY, **PROGRAM}.items() for below in all_below.split()}
    for path in sources(root):
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            name = match[1] if (match := INCLUDE.match(line)) else ""
            room, target, peer = room_of(path), included_file(root, path, name), name.partition("/")[0]
            if peer in ("cub", "thrust") and path.parts[0] == "stream_compaction" and not path.name.startswith(
                    ("cub", "thrust")):
                yield f"{path}:{number}: only files named {peer}* may include {peer}"
            if target and room_of(target) != room and not {(room, room_of(target)), (room, target.name)} & allowed:
                yield f"{path}:{number}: {room} may not include {room_of(target)}"


class Includes(unittest.TestCase):
    def test_of_this_tree_go_one_way(self):
        self.assertEqual(list(wrong_includes(ROOT)), [])

    def test_the_wrong_way_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {
                "stream_compaction/primitives/warp.cuh": '#include "stream_compaction/single_pass/scan.cuh"\n',
                "stream_compaction/single_pass/scan.cuh": '\n#include "stream_compaction/radix_sort/tile.cuh"\n',
                "stream_compaction/radix_sort/tile.cuh": '#include "stream_compaction/primitives/warp.cuh"\n',
                "stream_compaction/radix_sort/select.cuh": "#include <cub/block/block_scan.cuh>\n",
                "stream_compaction/cub_sort.cuh": "#include <cub/device/device_radix_sort.cuh>\n",
                "stream_compaction/utf8/chain.cuh": '#include "stream_compaction/single_pass.cuh"\n',
                "stream_compaction/single_pass.cuh": '#include "stream_compaction/single_pass/scan.cuh"\n',
                "stream_compaction/cpu.h": "",
                "stream_compaction/cpu/row_sum.h": '#include "stream_compaction/cpu.h"\n',
                "stream_compaction/cpu/utf8.h": '#include "stream_compaction/single_pass.cuh"\n',
                "src/cli/sizes.h": '#include "app/program.h"\n',
                "src/problems/sums.h": '#include "stream_compaction/primitives/warp.cuh"\n',
                "src/app/program.h": '#include "cli/sizes.h"\n#include <vector>\n',
            }.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            found = list(wrong_includes(root))
        self.assertEqual(found, [
            "stream_compaction/cpu/utf8.h:1: cpu may not include api",
            "stream_compaction/primitives/warp.cuh:1: primitives may not include single_pass",
            "stream_compaction/radix_sort/select.cuh:1: only files named cub* may include cub",
            "stream_compaction/single_pass/scan.cuh:2: single_pass may not include radix_sort",
            "stream_compaction/utf8/chain.cuh:1: utf8 may not include api",
            "src/cli/sizes.h:1: src/cli may not include src/app",
            "src/problems/sums.h:1: src/problems may not include primitives",
        ])


if __name__ == "__main__":
    unittest.main()
