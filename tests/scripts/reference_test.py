#!/usr/bin/env python3
"""The reference has a page for each public operation."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from sample_data import ROOT

OPERATIONS = """
    SinglePass::Scan SinglePass::Compact SinglePass::CompactFlagged SinglePass::Partition
    Radix::Sort Radix::ArgSort Radix::TopK Radix::MultiPartition
    SegmentedScan SegmentedSort Runs::Unique Runs::Encode Runs::ReduceByKey Histogram RowSum::Adaptive
    Utf8::DecodeWith Utf8::EncodeWith Utf8::ValidateWith
    Naive::Scan Efficient::TextbookScan Efficient::OptimizedScan SharedMem::Scan MapScanScatter SplitSort
    Distributed::Scan Distributed::Compact Distributed::Partition Distributed::Balance Distributed::Sort
    Distributed::RowSum Distributed::DecodeUtf8With Distributed::ValidateUtf8With Distributed::EncodeUtf8With
    OutOfCore::Scan OutOfCore::Compact OutOfCore::Sort
""".split()


def declared_operations():
    """The operations in the library's headers, except the peers: structs that say whether they run in place."""
    for file in sorted((ROOT / "stream_compaction").rglob("*.cuh")):
        if file.name.startswith(("cub", "thrust")):
            continue
        space = name = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"namespace StreamCompaction(?:::)?([\w:]*) \{", line):
                space = match[1] + "::" if match[1] else ""
            elif match := re.match(r"(?:struct|class) (\w+)", line):
                name = match[1]
            elif "bool mayRunInPlace =" in line:
                yield space + name


@unittest.skipUnless(shutil.which("doxygen"), "needs Doxygen")
class ReferenceTest(unittest.TestCase):
    def test_each_operation_has_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            # A folder of its own, because Doxygen does not remove the pages of earlier runs.
            settings = f"@INCLUDE = docs/Doxyfile\nOUTPUT_DIRECTORY = {folder}\n"
            result = subprocess.run(["doxygen", "-"], input=settings, cwd=ROOT, capture_output=True, text=True,
                                    check=False)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
            pages = {page.stem for page in (Path(folder) / "reference").glob("*.html")}
        missing = {operation for operation in {*OPERATIONS, *declared_operations()}
                   if not {kind + "StreamCompaction_1_1" + operation.replace("::", "_1_1")
                           for kind in ("struct", "class")} & pages}
        self.assertEqual(missing, set())


if __name__ == "__main__":
    unittest.main()
