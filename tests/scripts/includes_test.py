"""All includes are allowed, and scripts/check_includes.py finds those that are not."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "scripts" / "check_includes.py"


def check(*arguments):
    return subprocess.run([sys.executable, "-B", CHECK, *arguments], capture_output=True, text=True, check=False)


class Includes(unittest.TestCase):
    def test_of_this_tree_go_one_way(self):
        result = check()
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

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
            result = check("--root", folder)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.splitlines(), [
            "stream_compaction/cpu/utf8.h:1: cpu may not include api",
            "stream_compaction/primitives/warp.cuh:1: primitives may not include single_pass",
            "stream_compaction/single_pass/scan.cuh:2: single_pass may not include radix_sort",
            "stream_compaction/utf8/chain.cuh:1: utf8 may not include api",
            "src/cli/sizes.h:1: src/cli may not include src/app",
            "src/problems/sums.h:1: src/problems may not include primitives",
            "stream_compaction/radix_sort/select.cuh:1: only files named cub* may include cub",
        ])

    def test_rooms_are_counted(self):
        rooms = check("--table").stdout
        for room in ("runtime", "primitives", "single_pass", "radix_sort", "row_sum", "utf8", "src/app"):
            self.assertRegex(rooms, rf"\| `{room}` \| \d+ \| \d+ \|")


if __name__ == "__main__":
    unittest.main()
