#pragma once

#include <span>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/block_size.h"
#include "stream_compaction/timer.h"

/// Least-significant-digit radix sort: `sort` takes eight bits per pass. `splitSort`, the textbook's sort, takes one
/// bit per pass, over the shared-memory scan.
///
/// Course layer: arrays of `n` ints in host memory. A call allocates, copies to the device and back, and synchronises.
/// n < 0 or a null array throws std::invalid_argument; a failing device throws CudaError. The device layers are
/// in radix_sort.cuh and split_sort.cuh.
namespace StreamCompaction::Radix {

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// Threads per block before the first call of `setBlockSize`.
inline constexpr int defaultBlockSize = 256;
/// Threads per block of later calls of `splitSort`. Throws std::invalid_argument unless it is one of
/// `allowedBlockSizes()`.
void setBlockSize(int blockSize);
/// The present number of threads per block.
[[nodiscard]] int blockSize();
/// The numbers of threads per block to choose from.
[[nodiscard]] inline std::span<const int> allowedBlockSizes() { return powerOfTwoBlockSizes; }

/// Sorts in ascending order. `odata` may be `idata`.
void sort(int n, int* odata, const int* idata);
/// The same for keys in [0, 2^bits), with no passes for higher bits. Other keys come out in an unspecified order.
/// Throws std::invalid_argument unless 1 <= bits <= 32.
void sort(int n, int* odata, const int* idata, int bits);

/// The same, one bit per pass.
void splitSort(int n, int* odata, const int* idata);
/// The same for keys in [0, 2^bits), with no passes for higher bits.
void splitSort(int n, int* odata, const int* idata, int bits);

}  // namespace StreamCompaction::Radix
