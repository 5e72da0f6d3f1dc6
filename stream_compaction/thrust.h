#pragma once

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"

/// Scan, compaction and sort by Thrust. Device memory is allocated before the timer starts. Thrust allocates more while
/// it runs.
///
/// Course layer: arrays of `n` ints in host memory. A call allocates, copies to the device and back, and synchronises.
/// n < 0 or a null array throws std::invalid_argument. A failing device throws CudaError or, from inside Thrust,
/// thrust::system_error. Too little memory inside Thrust throws std::bad_alloc. The device layer is in thrust.cuh.
namespace StreamCompaction::Thrust {

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// Exclusive prefix sum. Sums wrap. `odata` may be `idata`.
void scan(int n, int* odata, const int* idata);

/// Keeps the nonzero elements in order and returns their number. Writes nothing past them. `odata` may be `idata`.
int compact(int n, int* odata, const int* idata);

/// Sorts in ascending order. `odata` may be `idata`.
void sort(int n, int* odata, const int* idata);

}  // namespace StreamCompaction::Thrust
