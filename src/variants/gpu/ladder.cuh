#pragma once

#include <stream_compaction/efficient.cuh>
#include <stream_compaction/naive.cuh>
#include <stream_compaction/shared_mem.cuh>

/// The scans that have a choice of block sizes.
namespace Bench {

[[nodiscard]] inline StreamCompaction::Naive::Scan naiveScan(int blockSize) { return {.blockSize = blockSize}; }

[[nodiscard]] inline StreamCompaction::Efficient::TextbookScan textbookScan(int blockSize) {
    return {.blockSize = blockSize};
}

[[nodiscard]] inline StreamCompaction::Efficient::OptimizedScan optimizedScan(int blockSize) {
    return {.blockSize = blockSize};
}

[[nodiscard]] inline StreamCompaction::SharedMem::Scan sharedScan(int blockSize) { return {.blockSize = blockSize}; }

[[nodiscard]] inline StreamCompaction::SharedMem::Scan sharedScanWithConflicts(int blockSize) {
    return {.blockSize = blockSize, .avoidBankConflicts = false};
}

}  // namespace Bench
