#!/usr/bin/env python3
"""Plants bugs in the library, one per place that synchronises, and checks that a test in the simulator finds each.

    scripts/mutants.py [--markdown FILE] [NAME ...]

A mutant is a header with one text replaced. Only the test that should find it is compiled with that header. It is
linked to existing builds (targets `synchronising_tests` of the presets simulated and simulated-races). Prints a table.
Exit status 1 if a mutant survives or if a test fails without a mutant.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = "stream_compaction/"

# The builds that find bugs, by what they detect.
BUILDS = {"seeds": "build/simulated", "races": "build/simulated-races"}

# The source file of each test suite.
FILES = {
    "SeededDeviceCountTest": "device_count_test",
    "SeededScanTest": "scan_test",
    "SeededCompactTest": "compact_test",
    "SeededHistogramTest": "histogram_test",
    "SeededRadixTest": "radix_test",
    "SeededRowSumTest": "row_sum_test",
    "SeededRunsTest": "runs_test",
    "SeededSegmentsTest": "segments_test",
    "SeededTextbookTest": "textbook_test",
    "SeededTopKTest": "top_k_test",
    "SeededDecodeTest": "utf8_decode_test",
    "SeededEncodeTest": "utf8_encode_test",
    "SeededDistributedTest": "distributed_test",
}


@dataclass(frozen=True)
class Mutant:
    name: str
    place: str  # the code that it breaks
    file: str  # relative to LIBRARY
    old: str  # occurs once in the file
    new: str
    test: str
    build: str = "seeds"
    seeds: int = 60

    def original(self):
        """The file without the bug."""
        text = (ROOT / LIBRARY / self.file).read_text()
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{self.name}: the text occurs {times} times in {self.file}")
        return text


SYNC = "    __syncthreads();\n"

MUTANTS = [
    # Look-back.
    Mutant("torn status", "agreement of the words of a status", "primitives/look_back.cuh",
           "state = i == 0 || stateOfPiece == state ? stateOfPiece : State::Empty;",
           "state = i == 0 ? stateOfPiece : state;",
           "SeededScanTest.ByLookBackOfTwoWords"),
    Mutant("look-back without waiting", "wait for missing tiles", "primitives/look_back.cuh",
           "const bool missing = needed && status.state == State::Empty;", "const bool missing = false;",
           "SeededScanTest.ByLookBack"),
    Mutant("stale tile", "barrier before a block reads its ticket", "primitives/tile_order.cuh",
           "                shared = next;\n            }\n            __syncthreads();\n",
           "                shared = next;\n            }\n",
           "SeededDecodeTest.ValidateByFewBlocks"),
    Mutant("column without waiting", "wait for missing tiles of a digit", "primitives/look_back.cuh",
           "while (before[i].state == State::Empty) {", "while (false) {",
           "SeededRadixTest.InPasses"),
    Mutant("group without waiting", "wait for an earlier group", "primitives/look_back.cuh",
           "} while (status.state == State::Empty);", "} while (false);",
           "SeededScanTest.Reproducible"),
    Mutant("group published too soon", "the last tile of a group publishes it", "primitives/look_back.cuh",
           "if (tile % size == size - 1 && Warp::lane() == 0) {",
           "if (tile % size == size - 2 && Warp::lane() == 0) {",
           "SeededScanTest.Reproducible"),
    # Blocks that take one tile after the other.
    Mutant("tile loaded over the last one", "barrier between two tiles", "primitives/tile_order.cuh",
           "            BulkCopy::release();\n            __syncthreads();\n", "            BulkCopy::release();\n",
           "SeededDeviceCountTest.Scan"),
    Mutant("parity stays", "each copy turns the barrier", "primitives/bulk_copy.cuh",
           "            parity ^= 1;\n", "",
           "SeededDeviceCountTest.Compact"),

    Mutant("status words not cleared", "clear of status words", "runtime/clear_words.cuh",
           "        words[i] = 0;\n", "",
           "SeededScanTest.ByLookBack"),
    Mutant("next statuses not cleared", "clear of the statuses of the next pass", "radix_sort/onesweep.cuh",
           "        statuses.set(pass.order + 1).publish(status, State::Empty, Count{0});\n", "",
           "SeededRadixTest.InPasses"),
    Mutant("counters not cleared", "clear of counters and statuses", "radix_sort/onesweep.cuh",
           "cudaMemsetAsync(first, 0, last - first, stream)", "cudaMemsetAsync(first, 0, (last - first) / 2, stream)",
           "SeededRadixTest.InPasses"),
    Mutant("statuses of counted tiles not cleared", "clear of the statuses, if only the device knows n",
           "radix_sort/onesweep.cuh", "        statuses.words[i] = 0;\n", "", "SeededDeviceCountTest.SortInPasses"),

    # Waits for earlier kernels.
    Mutant("chain begins too early", "wait for earlier kernels", "primitives/chain.cuh",
           "        waitForEarlierKernels();\n", "",
           "SeededScanTest.ByLookBack"),
    Mutant("tickets taken too early", "wait for earlier kernels", "primitives/tile_order.cuh",
           "    waitForEarlierKernels();\n", "",
           "SeededScanTest.ByTickets"),
    Mutant("radix pass begins too early", "wait for earlier kernels", "radix_sort/onesweep.cuh",
           "    waitForEarlierKernels();\n", "",
           "SeededRadixTest.InPasses"),
    Mutant("parts added too early", "wait for earlier kernels", "row_sum/teams.cuh",
           "    waitForEarlierKernels();\n", "",
           "SeededRowSumTest.BySeveralBlocksPerRow"),
    Mutant("runs written too early", "wait for earlier kernels", "radix_sort/counting.cuh",
           "    waitForEarlierKernels();\n    const std::size_t n", "    const std::size_t n",
           "SeededRadixTest.ByCounting"),
    Mutant("text reported too early", "wait for earlier kernels", "utf8/chain.cuh",
           "void synchronize() const { waitForEarlierKernels(); }", "void synchronize() const {}",
           "SeededDecodeTest.Validate"),

    # Barriers of the grid.
    Mutant("sums without barrier", "barrier of the grid", "primitives/chain.cuh",
           "        cooperative_groups::this_grid().sync();\n", "",
           "SeededScanTest.Together"),
    Mutant("result without barrier", "barrier of the grid", "utf8/chain.cuh",
           "synchronize() const { meetInGrid(); }", "synchronize() const {}",
           "SeededDecodeTest.Validate"),
    Mutant("digits without barrier", "wait at the barrier of the grid", "radix_sort/resident.cuh",
           "blocks.barrier_wait(std::move(arrival));", "static_cast<void>(arrival);",
           "SeededRadixTest.ByGrid"),
    Mutant("pass without barrier", "barrier of the grid between passes", "radix_sort/resident.cuh",
           "            blocks.sync();\n", "",
           "SeededRadixTest.ByGrid"),

    Mutant("spans found too early", "wait for earlier kernels", "radix_sort/spans.cuh",
           "    waitForEarlierKernels();\n    if (!state->mayEnd) {", "    if (!state->mayEnd) {",
           "SeededRadixTest.InSpans"),
    Mutant("spans sorted too early", "wait for earlier kernels", "radix_sort/spans.cuh",
           "    waitForEarlierKernels();\n    if (!state->mayEnd ||", "    if (!state->mayEnd ||",
           "SeededRadixTest.SpansOfEverySize"),
    Mutant("large span forgotten", "passes by all digits if a span is too large", "radix_sort/spans.cuh",
           "&& hasFailed", "&& false",
           "SeededRadixTest.InSpansOneOfWhichIsTooLarge"),
    Mutant("window of other threads", "barrier between the rounds of a span's windows", "radix_sort/span_sort.cuh",
           "            __syncthreads();\n        }\n\n        // Store.", "        }\n\n        // Store.",
           "SeededRadixTest.InSpans"),
    Mutant("groups not cleared", "barrier before the groups of a span are counted", "radix_sort/span_sort.cuh",
           "            memory.counters[i] = 0;\n        }\n        __syncthreads();\n",
           "            memory.counters[i] = 0;\n        }\n",
           "SeededRadixTest.InSpans"),
    Mutant("value over another", "barrier before the values of a block are stored", "radix_sort/resident.cuh",
           "origins[row]); });\n        __syncthreads();\n", "origins[row]); });\n",
           "SeededRadixTest.SpansOfEverySize"),
    Mutant("bucket without barrier", "barrier of the grid before buckets are sorted", "radix_sort/buckets.cuh",
           "                blocks_.sync();\n", "",
           "SeededRadixTest.ByBuckets"),
    Mutant("tile packed over another", "barrier before the next tile of a block is packed", "radix_sort/buckets.cuh",
           "            __syncthreads();\n            tile = load(i);", "            tile = load(i);",
           "SeededRadixTest.BySeveralBucketsPerBlock"),
    Mutant("bucket over another", "barrier between the buckets of a block", "radix_sort/buckets.cuh",
           "            if (tiles > 1) {\n                __syncthreads();\n            }\n", "",
           "SeededRadixTest.BySeveralBucketsPerBlock"),

    # Barriers of the block.
    Mutant("scan of warps", "barrier in Block::scanWarps", "primitives/block.cuh",
           "        slots[Warp::index()] = value;\n    }\n" + SYNC, "        slots[Warp::index()] = value;\n    }\n",
           "SeededScanTest.ByLookBackOfSixWarps"),
    Mutant("sum of warps", "barrier in Block::reduce", "primitives/block.cuh",
           "        slots[Warp::index()] = sum;\n    }\n" + SYNC, "        slots[Warp::index()] = sum;\n    }\n",
           "SeededRowSumTest.ByBlocks"),
    Mutant("tile told too late", "barrier in beginTile", "primitives/tile_order.cuh",
           "            loader.start(tile);\n        }\n    }\n" + SYNC, "            loader.start(tile);\n        }\n    }\n",
           "SeededScanTest.ByLookBack"),
    Mutant("prefix of a tile", "barrier behind the look-back of a scan", "single_pass/scan.cuh",
           "                *tilePrefix.data() = op(valueOf(initial), prefix);\n            }\n        }\n    " + SYNC,
           "                *tilePrefix.data() = op(valueOf(initial), prefix);\n            }\n        }\n    ",
           "SeededScanTest.ByLookBack"),
    Mutant("place of a tile", "barrier behind the look-back of a compaction", "single_pass/compact.cuh",
           "                *count = sums.before.value + tileCount.value;\n            }\n        }\n    }\n" + SYNC,
           "                *count = sums.before.value + tileCount.value;\n            }\n        }\n    }\n",
           "SeededCompactTest.ByLookBack"),
    Mutant("place of a tile of flags", "barrier behind the look-back of a compaction by flags",
           "single_pass/compact.cuh",
           "                *count = sums.before.value + tileCount.value;\n            }\n        }\n    }\n" + SYNC,
           "                *count = sums.before.value + tileCount.value;\n            }\n        }\n    }\n",
           "SeededCompactTest.FlaggedByLookBack"),
    Mutant("kept by others", "barrier of the grid before kept elements are added up", "single_pass/compact.cuh",
           "    chain.meet();\n", "", "SeededCompactTest.PackedTogether"),
    Mutant("block without a tile", "sum of a block without a tile", "primitives/tile_order.cuh",
           "                chain.publish(tile, typename Chain::Value{});\n", "",
           "SeededDeviceCountTest.CompactTogether"),
    Mutant("heads of others", "barrier of the grid before heads are added up", "runs/reduce_by_key.cuh",
           "        chain.meet();\n", "", "SeededRunsTest.Together"),
    Mutant("reversed too early", "barrier before reversed runs are stored", "single_pass/compact.cuh",
           "reinterpret_cast<T*>(storage.back), last, here);\n        __syncthreads();\n",
           "reinterpret_cast<T*>(storage.back), last, here);\n", "SeededCompactTest.RejectsBehind"),
    Mutant("open sum of a tile", "barrier behind the look-back of a reduction by key", "runs/reduce_by_key.cuh",
           "                    *count = std::size_t{part.heads} + begins;\n                }\n            }\n        }\n    " + SYNC,
           "                    *count = std::size_t{part.heads} + begins;\n                }\n            }\n        }\n    ",
           "SeededRunsTest.ByLookBack"),
    Mutant("keys of a tile's runs", "barrier before sums take the place of keys", "runs/reduce_by_key.cuh",
           "            if constexpr (sharesMemory) {\n            " + SYNC,
           "            if constexpr (sharesMemory) {\n",
           "SeededRunsTest.GeneratedValues"),
    Mutant("sums of a tile's runs", "barrier behind sums in the place of keys", "runs/reduce_by_key.cuh",
           "                    packSums();\n                }\n            " + SYNC,
           "                    packSums();\n                }\n",
           "SeededRunsTest.GeneratedValues"),
    Mutant("marks cleared too late", "barrier before heads are marked by flags", "segments/heads.cuh",
           "        clear();\n        __syncthreads();\n#pragma", "        clear();\n#pragma",
           "SeededSegmentsTest.ByLookBackWithAFunction"),
    Mutant("reach of a segment", "ballot that tells how far a segment reaches back", "segments/source.cuh",
           "heads & (lanesBefore << 1 | 1)", "heads & lanesBefore",
           "SeededSegmentsTest.ByLookBack"),
    Mutant("marks of heads not cleared", "barrier before heads are marked by offsets", "segments/heads.cuh",
           "        clear();\n        __syncthreads();\n        const auto size",
           "        clear();\n        const auto size",
           "SeededSegmentsTest.ByLookBackWithOffsets"),
    Mutant("counts of the next tile", "barrier behind the counts of a tile", "segments/sort_kernels.cuh",
           "            count += ranks.total();\n        " + SYNC, "            count += ranks.total();\n",
           "SeededSegmentsTest.SortInTiles", seeds=20),
    Mutant("entries of other lanes", "barrier behind sorted entries", "radix_sort/network.cuh",
           "] = entries[row];\n    }\n    meet<threads>();\n", "] = entries[row];\n    }\n",
           "SeededSegmentsTest.Sort", seeds=20),
    Mutant("entries of the next segment", "barrier before a warp's next segment", "radix_sort/network.cuh",
           "    meet<threads>();  // the memory may serve for something else\n", "",
           "SeededSegmentsTest.SortSeveralByWarp", "races", 4),
    Mutant("entries of other warps", "barrier between entries that a block exchanges", "primitives/sorting_network.cuh",
           "slots[row * threads + thread] = entries[row];\n                }\n                __syncthreads();\n",
           "slots[row * threads + thread] = entries[row];\n                }\n",
           "SeededRadixTest.ByNetwork", seeds=20),
    Mutant("entries still read", "barrier behind the last exchange of a block", "radix_sort/network.cuh",
           "        __syncthreads();  // sorted entries overwrite those that other threads read\n", "",
           "SeededRadixTest.ByNetwork", seeds=20),
    Mutant("counts of other blocks", "barrier before the counts of all blocks are scanned", "segments/sort_kernels.cuh",
           "row[rank] = count;\n        meet();\n", "row[rank] = count;\n", "SeededSegmentsTest.SortTogether", seeds=20),
    Mutant("sums of other blocks", "barrier behind the scan of the counts of all blocks", "segments/sort_kernels.cuh",
           "        }\n        meet();\n", "        }\n", "SeededSegmentsTest.SortTogether", seeds=20),
    Mutant("next pass of a huge segment", "barrier of all blocks behind a pass", "segments/sort_kernels.cuh",
           "        team.meet();\n", "", "SeededSegmentsTest.SortTogether", seeds=20),
    Mutant("packed too early", "barrier before a tile is packed in its own place", "single_pass/compact.cuh",
           "        } else {\n            __syncthreads();\n            T* const packed",
           "        } else {\n            T* const packed",
           "SeededCompactTest.ByTickets"),
    Mutant("bytes packed too early", "wait for a warp's bytes before packing: a shuffle orders no memory",
           "single_pass/compact.cuh",
           """            __syncwarp();
            kept.packByWarp(""",
           "            kept.packByWarp(",
           "SeededCompactTest.BytesPackedInRegisters", "races", 10),
    Mutant("last bytes too early", "wait for full words before a thread stores its last bytes",
           "single_pass/compact.cuh",
           """        __syncwarp();
        const std::uint32_t first =""",
           "        const std::uint32_t first =",
           "SeededCompactTest.BytesPackedInRegisters"),
    Mutant("tile loaded by threads", "barrier behind the loads of a tile", "primitives/tile_loader.cuh",
           "            loadSingly(tile, static_cast<int>(pieces.bytes / sizeof(T)));\n        " + SYNC,
           "            loadSingly(tile, static_cast<int>(pieces.bytes / sizeof(T)));\n",
           "SeededScanTest.ByLookBackOverAnUnalignedArray"),
    Mutant("upsweep", "barrier of each level up", "shared_mem.cuh",
           "half *= 2) {\n    " + SYNC, "half *= 2) {\n",
           "SeededTextbookTest.SharedMem"),
    Mutant("root", "barrier before the root is cleared", "shared_mem.cuh",
           "    total = at(blockDim.x - 1);\n" + SYNC, "    total = at(blockDim.x - 1);\n",
           "SeededTextbookTest.SharedMem", "races", 2),
    Mutant("downsweep", "barrier of each level down", "shared_mem.cuh",
           "half /= 2) {\n    " + SYNC, "half /= 2) {\n",
           "SeededTextbookTest.SharedMem"),
    Mutant("digits of a tile", "barrier in DigitRank::total", "primitives/digit_rank.cuh",
           "    " + SYNC + "        std::uint32_t sum = 0;", "        std::uint32_t sum = 0;",
           "SeededRadixTest.ByBlock"),
    Mutant("digits of the warps", "first barrier in DigitRank::begin", "primitives/digit_rank.cuh",
           "    " + SYNC + "        std::uint32_t first = 0;", "        std::uint32_t first = 0;",
           "SeededRadixTest.ByBlock"),
    Mutant("ranks of the warps", "second barrier in DigitRank::begin", "primitives/digit_rank.cuh",
           "    " + SYNC + "        return first;", "        return first;",
           "SeededRadixTest.ByBlock"),
    Mutant("packed keys", "barrier between packing and reading in a block", "radix_sort/resident.cuh",
           "        keys.packValues(origins, storage);\n    " + SYNC, "        keys.packValues(origins, storage);\n",
           "SeededRadixTest.ByBlock"),
    Mutant("sums of the blocks", "barrier behind the counts of all blocks", "radix_sort/resident.cuh",
           "    atomicAdd(&all[2 * column + 1], sum.y);\n" + SYNC, "    atomicAdd(&all[2 * column + 1], sum.y);\n",
           "SeededRadixTest.ByGrid"),
    Mutant("packed parts", "barrier before a partitioned tile is stored", "radix_sort/partition.cuh",
           SYNC + "    storePacked", "    storePacked",
           "SeededRadixTest.PartitionByGrid"),
    Mutant("packed pass", "barrier before packed keys are stored", "radix_sort/onesweep.cuh",
           SYNC + "\n        // Store the keys", "\n        // Store the keys",
           "SeededRadixTest.InPasses"),
    Mutant("keys still read", "barrier between keys and values in the same memory", "radix_sort/onesweep.cuh",
           "if constexpr (hasValues<Value>) {\n        " + SYNC + "            if (column",
           "if constexpr (hasValues<Value>) {\n            if (column",
           "SeededRadixTest.InPasses"),
    Mutant("packed values", "barrier before packed values are stored", "radix_sort/onesweep.cuh",
           SYNC + "            storeValues", "            storeValues",
           "SeededRadixTest.InPasses"),
    Mutant("bins not cleared", "barrier before elements are counted", "histogram.cuh",
           "counters.clear(table.counters);\n" + SYNC, "counters.clear(table.counters);\n",
           "SeededHistogramTest.Ints"),
    Mutant("bins read too early", "barrier behind the count of a block", "histogram.cuh",
           "gridDim.x / table.parts);\n" + SYNC, "gridDim.x / table.parts);\n",
           "SeededHistogramTest.Ints"),
    Mutant("slots of a selection", "barrier before the slots are used again", "radix_sort/select.cuh",
           "        __syncthreads();  // nobody reads the slots any more\n", "",
           "SeededTopKTest.OneBlock"),
    Mutant("digits not cleared", "barrier of the grid before digits are counted", "radix_sort/select.cuh",
           "            clearCounts<Bits>(counts);\n            meetInGrid();\n",
           "            clearCounts<Bits>(counts);\n",
           "SeededTopKTest.Blocks"),
    Mutant("fewer keys than wanted", "end of the keys that a selection wants", "radix_sort/select.cuh",
           "        k = min(k, std::uint64_t{n});\n", "",
           "SeededDeviceCountTest.TopK"),
    Mutant("too few candidates", "check that a filter has kept enough", "radix_sort/select.cuh",
           "isUseful = k <= all && all", "isUseful = all",
           "SeededDeviceCountTest.TopKBehindAFilter"),
    Mutant("candidates counted too early", "barrier behind the numbers of candidates", "radix_sort/select.cuh",
           "storage.slots, Sum{});\n    __syncthreads();\n    const std::size_t all", "storage.slots, Sum{});\n    const std::size_t all",
           "SeededTopKTest.Filtered"),
    Mutant("replicas not cleared", "barrier before digits are counted", "radix_sort/onesweep.cuh",
           "    counts.clear(digits * digitValues);\n" + SYNC, "    counts.clear(digits * digitValues);\n",
           "SeededRadixTest.InPasses"),
    Mutant("rows loaded by threads", "barrier in RunLoader", "row_sum/short_rows.cuh",
           "    " + SYNC, "",
           "SeededRowSumTest.ByThreads"),
    Mutant("place of a text", "barrier behind the look-back of a conversion", "utf8/chain.cuh",
           "    " + SYNC + "        return shared;", "        return shared;",
           "SeededEncodeTest.ByLookBack"),
    Mutant("runs of text", "barrier behind the list of runs", "utf8/decode.cuh",
           "        " + SYNC + "            convertPart<errors>", "            convertPart<errors>",
           "SeededDecodeTest.Together"),

    # Lanes of the warp.
    Mutant("tables of the warps", "__syncwarp in DigitRank's constructor", "primitives/digit_rank.cuh",
           "            counts_[digit + Warp::lane()] = 0;\n        }\n        __syncwarp();\n",
           "            counts_[digit + Warp::lane()] = 0;\n        }\n",
           "SeededRadixTest.ByBlock"),
    Mutant("ranks read too late", "first __syncwarp in DigitRank::next", "primitives/digit_rank.cuh",
           "__popc(peers & lanesBefore_);\n        __syncwarp();\n", "__popc(peers & lanesBefore_);\n",
           "SeededRadixTest.ByBlock"),
    Mutant("ranks read too early", "second __syncwarp in DigitRank::next: a ballot orders no memory",
           "primitives/digit_rank.cuh",
           "            ranks_[digit] = static_cast<Rank>(rank + 1);\n        }\n        __syncwarp();\n",
           "            ranks_[digit] = static_cast<Rank>(rank + 1);\n        }\n",
           "SeededRadixTest.ByBlock", "races", 4),
    Mutant("bytes of text", "__syncwarp between the bytes of elements", "utf8/encode.cuh",
           "            __syncwarp();\n", "",
           "SeededEncodeTest.Together"),
    Mutant("tile behind the text", "empty run of a tile behind the text", "utf8/text_tile.cuh",
           "max(textBegin_, textEnd_)", "textEnd_", "SeededEncodeTest.Together", "races", 6),

    # Fences, and asynchronous copies.
    Mutant("counts without fence", "fence before a block says that it is done", "primitives/last_block.cuh",
           "    __threadfence();\n    __syncthreads();\n", "    __syncthreads();\n",
           "SeededRadixTest.PlannedByTheLastBlock", "races", 10),
    Mutant("plan without fence", "fence before the last block reads the counts", "primitives/last_block.cuh",
           "    __threadfence();\n    return isInLastBlock;", "    return isInLastBlock;",
           "SeededRadixTest.PlannedByTheLastBlock", "races", 10),
    Mutant("bulk copy not awaited", "wait for the copy engine", "primitives/tile_loader.cuh",
           "        pieces.wait(storage_.copy, parity_);\n", "",
           "SeededScanTest.ByLookBack"),

    # Borders.
    Mutant("tile too large", "end of the last tile", "primitives/tile.cuh",
           "min(n - begin(tile), std::size_t{elements})", "min(n + 1 - begin(tile), std::size_t{elements})",
           "SeededScanTest.ByLookBack"),
    Mutant("run too long", "end of a run that is copied", "primitives/run_copy.cuh",
           "if (at >= lead && at + width <= end) {", "if (at >= lead && at + width <= end + 4) {",
           "SeededCompactTest.ByLookBack"),
    Mutant("last step left out", "number of the steps", "naive.cuh",
           "distance < n; distance *= 2", "2 * distance < n; distance *= 2",
           "SeededTextbookTest.Naive"),
    Mutant("level left out", "order of the levels", "efficient.cuh",
           "for (std::size_t half = leaves / 2; half >= 2; half /= 2) {",
           "for (std::size_t half = leaves / 2; half > 2; half /= 2) {",
           "SeededTextbookTest.Efficient"),
    # Several ranks.
    Mutant("ranks go on too soon", "exchange before the memory of other ranks is read", "distributed/sort.cuh",
           "            call.exchange(sizeof(Header));\n            call.forEachValid([&](const Part& part) { sortPieces(",
           "            call.forEachValid([&](const Part& part) { sortPieces(",
           "SeededDistributedTest.Sort", seeds=20),
    Mutant("statuses of a segment not cleared", "clear of status words", "distributed/sort.cuh",
           "            clearFirstStatuses(memory, tiles, part.stream);\n", "",
           "SeededDistributedTest.Sort", seeds=10),
    Mutant("look-back leaves its segment", "state of the first tile of a segment", "radix_sort/onesweep.cuh",
           "part.beginsSegment ? State::Prefix : State::Aggregate", "State::Aggregate",
           "SeededDistributedTest.Sort", seeds=10),
    Mutant("places past the end counted", "counts of a tile that is not full", "radix_sort/onesweep.cuh",
           "return keys.countedPastTheEnd(digit, value);", "return 0;",
           "SeededDistributedTest.Sort", seeds=10),
    Mutant("keys sent over others", "the place of keys that a rank puts aside", "distributed/buckets.cuh",
           "there.inside > 0 ? all.of(rank).n - there.inside : 0", "0",
           "SeededDistributedTest.Sort", seeds=10),
    Mutant("keys overwritten too soon", "the odd number of passes if keys were sent", "distributed/pieces.cuh",
           "        needed |= needed + 1;\n", "",
           "SeededDistributedTest.Sort", seeds=10),
    Mutant("lines not counted anew", "clear of the lines that are sent", "distributed/far_lines.cuh",
           "            count_ = 0;\n", "",
           "SeededDistributedTest.Sort", seeds=10),
    Mutant("keys encoded twice", "what the pass of the keys on the border reads", "distributed/buckets.cuh",
           ".encodes = !hasBuckets,", ".encodes = true,",
           "SeededDistributedTest.Sort", seeds=10),
    Mutant("sums of spans added too soon", "the last block to finish", "primitives/last_block.cuh",
           "atomicAdd(finished, 1) + 1 == gridDim.x", "atomicAdd(finished, 1) == 0",
           "SeededDistributedTest.ScanThatKeepsTheOrderOfRanks", seeds=20),
    Mutant("equal keys for one rank", "cut among keys equal to a splitter", "distributed/buckets.cuh",
           "            left -= taken;\n", "",
           "SeededDistributedTest.Sort", seeds=10),
]


def with_one_test(source, name):
    """The source file without its other tests, which would take most of the time to compile."""
    return re.sub(r"^TEST_F\(\w+, (\w+)\) \{\n.*?^\}\n", lambda test: test[0] if test[1] == name else "", source,
                  flags=re.MULTILINE | re.DOTALL)


class Build:
    """A build, and the commands that compile and link one more test of it."""

    def __init__(self, folder):
        self.folder = ROOT / folder
        database = self.folder / "compile_commands.json"
        if not database.exists():
            sys.exit(f"{folder} is not built: cmake --preset {self.folder.name} and its target synchronising_tests")
        self.commands = {entry["file"]: shlex.split(entry["command"]) for entry in json.loads(database.read_text())}
        link = subprocess.run(["ninja", "-t", "commands", "tests/synchronising_tests"], cwd=self.folder, check=True,
                              capture_output=True, text=True).stdout.strip().splitlines()[-1]
        self.link = shlex.split(link.removeprefix(": && ").removesuffix(" && :"))
        self.program = self.folder / "tests/synchronising_tests"

    def compile(self, mutant, folder):
        """Returns the test program with the mutant in it."""
        original = mutant.original()
        copy = self.folder / "simulated_sources" / LIBRARY / mutant.file
        text = copy.read_text() if copy.exists() else original
        shutil.rmtree(folder, ignore_errors=True)  # another mutant, of an earlier run
        overlay = folder / LIBRARY / mutant.file
        overlay.parent.mkdir(parents=True, exist_ok=True)
        overlay.write_text(text.replace(mutant.old, mutant.new))

        suite, name = mutant.test.split(".")
        source = self.folder / f"simulated_sources/tests/simulator/{FILES[suite]}.cu.cpp"
        one_test = folder / "test.cpp"
        one_test.write_text(with_one_test(source.read_text(), name))
        command = [str(one_test) if word == str(source) else word for word in self.commands[str(source)]]
        compiler = next(i for i, word in enumerate(command) if word.startswith("-"))
        object_file = folder / "test.o"
        command[command.index("-o") + 1] = str(object_file)
        command[compiler:compiler] = [f"-I{folder}", f"-iquote{source.parent}", "-w"]
        self.run(mutant, command)

        program = folder / "test"
        link = [word for word in self.link if not word.endswith(".cu.cpp.o")]
        link[link.index("-o") + 1] = str(program)
        link.insert(link.index("-o"), str(object_file))
        self.run(mutant, link)
        return program

    def run(self, mutant, command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(f"{mutant.name}: does not compile\n{done.stderr[:2000]}")


def test(program, name, seeds):
    """Returns how the test failed and with which seed; None if it passed."""
    environment = os.environ | {"STREAM_COMPACTION_SEEDS": str(seeds), "STREAM_COMPACTION_PRINT_SEEDS": "1",
                                "TSAN_OPTIONS": "halt_on_error=1"}
    try:
        done = subprocess.run([program, f"--gtest_filter={name}"], env=environment, capture_output=True, text=True,
                              errors="replace", timeout=120)
        output, status = done.stderr + done.stdout, done.returncode
    except subprocess.TimeoutExpired as expired:
        output, status = (expired.stderr or b"").decode(errors="replace") + "does not end", 1
    if "[  PASSED  ] 1 test" not in output and status == 0:
        raise ValueError(f"{name}: no such test")
    if status == 0:
        return None
    kinds = {"data race": "a race", "for ever": "an endless wait", "does not end": "an endless wait",
             "Failure": "a wrong result"}
    how = next((kind for text, kind in kinds.items() if text in output), "a crash")
    seed = re.findall(r"seed=(\d+)", output)
    return how, seed[-1] if seed else "?"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="mutants to try; all otherwise")
    parser.add_argument("--markdown", type=Path, help="a file that the table is written to, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many to try at a time")
    for watched, folder in BUILDS.items():
        parser.add_argument(f"--{watched}", default=folder, help=f"the build that finds {watched} (%(default)s)")
    options = parser.parse_args()
    if unknown := set(options.names) - {m.name for m in MUTANTS}:
        parser.error("no such mutant: " + ", ".join(sorted(unknown)))
    mutants = [m for m in MUTANTS if not options.names or m.name in options.names]
    builds = {watched: Build(getattr(options, watched)) for watched in sorted({m.build for m in mutants})}

    def without_mutant(mutant):
        return test(builds[mutant.build].program, mutant.test, mutant.seeds)

    def with_mutant(numbered):
        number, mutant = numbered
        build = builds[mutant.build]
        start = time.monotonic()
        found = test(build.compile(mutant, build.folder / f"mutants/{number}"), mutant.test, mutant.seeds)
        print(f"{mutant.name}: {'SURVIVES' if found is None else 'found'}, {time.monotonic() - start:.0f} s", flush=True)
        return found

    begin = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        tests = list({(m.test, m.build, m.seeds): m for m in mutants}.values())
        failing = [f"{m.test} ({m.build})" for m, found in zip(tests, pool.map(without_mutant, tests)) if found]
        if failing:
            sys.exit("These fail without a mutant: " + ", ".join(failing))
        results = list(pool.map(with_mutant, enumerate(mutants)))

    rows = [["mutant", "place", "found by", "as", "seed"]]
    for mutant, found in zip(mutants, results):
        how, seed = found or ("NOT FOUND", "")
        rows.append([mutant.name, f"{mutant.place} (`{mutant.file}`)",
                     f"`{mutant.test}`" + (", race detector" if mutant.build == "races" else ""), how, seed])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print("\n".join(lines))
    survivors = results.count(None)
    print(f"{len(mutants)} mutants, {survivors} of which survive; {time.monotonic() - begin:.0f} s")
    if options.markdown:
        options.markdown.write_text(
            "# Planted bugs and the tests that find them\n\n"
            "`scripts/mutants.py --markdown docs/lab-notes/mutants.md` writes this page; CI runs it. Each row is one bug, planted in a\n"
            "place of the library where threads synchronise. The row names the test in the simulator that finds the bug and\n"
            "the first seed with which it does.\n\n" + "\n".join(lines) + "\n")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
