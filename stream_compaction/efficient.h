#pragma once

#include <span>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/block_size.h"
#include "stream_compaction/timer.h"

/// Blelloch's work-efficient scan in global memory, and compaction and one-bit radix sort over it.
///
/// Course layer: arrays of `n` ints in host memory. A call allocates, copies to the device and back, and synchronises.
/// n < 0 or a null array throws std::invalid_argument; a failing device throws CudaError. The device layer is in
/// efficient.cuh.
namespace StreamCompaction::Efficient {

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// Threads per block before the first call of `setBlockSize`.
inline constexpr int defaultBlockSize = 256;
/// Threads per block of later calls. Throws std::invalid_argument unless it is one of `allowedBlockSizes()`.
void setBlockSize(int blockSize);
/// The present number of threads per block.
[[nodiscard]] int blockSize();
/// The numbers of threads per block to choose from.
[[nodiscard]] inline std::span<const int> allowedBlockSizes() { return powerOfTwoBlockSizes; }

/// Exclusive prefix sum as in the textbook: each level of the tree launches a full grid. Sums wrap. `odata` may be
/// `idata`.
void scan(int n, int* odata, const int* idata);
/// The same with threads remapped, so that each launched thread has work.
void optimizedScan(int n, int* odata, const int* idata);

/// Keeps the nonzero elements in order and returns their number. Writes nothing past them. `odata` may be `idata`.
int compact(int n, int* odata, const int* idata);
/// The same over `optimizedScan`.
int optimizedCompact(int n, int* odata, const int* idata);

/// Sorts in ascending order, over `optimizedScan`. `odata` may be `idata`.
void sort(int n, int* odata, const int* idata);

}  // namespace StreamCompaction::Efficient
