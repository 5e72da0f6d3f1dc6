#pragma once

#include <span>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/block_size.h"
#include "stream_compaction/timer.h"

/// Blelloch's scan in shared memory, tile by tile, and compaction and one-bit radix sort over it.
///
/// Course layer: arrays of `n` ints in host memory. A call allocates, copies to the device and back, and synchronises.
/// n < 0 or a null array throws std::invalid_argument; a failing device throws CudaError. The device layer is in
/// shared_mem.cuh.
namespace StreamCompaction::SharedMem {

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

/// Whether arrays in shared memory are padded, so that the threads of a warp use different banks. True by default.
void setBankConflictAvoidance(bool avoid);
/// Whether they are padded.
[[nodiscard]] bool bankConflictAvoidance();

/// Exclusive prefix sum. Sums wrap. `odata` may be `idata`.
void scan(int n, int* odata, const int* idata);

/// Keeps the nonzero elements in order and returns their number. Writes nothing past them. `odata` may be `idata`.
int compact(int n, int* odata, const int* idata);

/// Sorts in ascending order. `odata` may be `idata`.
void sort(int n, int* odata, const int* idata);

}  // namespace StreamCompaction::SharedMem
