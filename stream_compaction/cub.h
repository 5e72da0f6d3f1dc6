#pragma once

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"

/// The same operations by CUB's device-wide calls with preallocated temporary storage: the peer to beat.
/// Course layer: arrays of `n` ints in host memory, copied to the device and back around the timed work; allocates and
/// synchronises. n < 0 or a null array throws std::invalid_argument, a failing device CudaError. The device layer is in
/// cub.cuh.
namespace StreamCompaction::Cub {

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// Exclusive prefix sum; sums wrap. `odata` may be `idata`.
void scan(int n, int* odata, const int* idata);

/// Keeps the nonzero elements in order and returns how many there are; writes nothing past them. `odata` may be
/// `idata`.
int compact(int n, int* odata, const int* idata);

/// Ascending. `odata` may be `idata`.
void sort(int n, int* odata, const int* idata);

}  // namespace StreamCompaction::Cub
