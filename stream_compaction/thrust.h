#pragma once

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"

/// The same operations by Thrust, on device memory allocated before the timer starts (Thrust allocates more inside).
/// Course layer: arrays of `n` ints in host memory, copied to the device and back around the timed work; allocates and
/// synchronises. n < 0 or a null array throws std::invalid_argument, a failing device CudaError or, from inside Thrust,
/// what Thrust throws: thrust::system_error, and std::bad_alloc for want of memory. The device layer is in thrust.cuh.
namespace StreamCompaction::Thrust {

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// Exclusive prefix sum; sums wrap. `odata` may be `idata`.
void scan(int n, int* odata, const int* idata);

/// Keeps the nonzero elements in order and returns how many there are; writes nothing past them. `odata` may be
/// `idata`.
int compact(int n, int* odata, const int* idata);

/// Ascending. `odata` may be `idata`.
void sort(int n, int* odata, const int* idata);

}  // namespace StreamCompaction::Thrust
