#pragma once

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"

/// Scan, compaction and sort by CUB's device-wide calls, with preallocated temporary storage: the library to beat.
///
/// Course layer: arrays of `n` ints in host memory. A call allocates, copies to the device and back, and synchronises.
/// n < 0 or a null array throws std::invalid_argument; a failing device throws CudaError. The device layer is in
/// cub.cuh.
namespace StreamCompaction::Cub {

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// Exclusive prefix sum. Sums wrap. `odata` may be `idata`.
void scan(int n, int* odata, const int* idata);

/// Keeps the nonzero elements in order and returns their number. Writes nothing past them. `odata` may be `idata`.
int compact(int n, int* odata, const int* idata);

/// Sorts in ascending order. `odata` may be `idata`.
void sort(int n, int* odata, const int* idata);

}  // namespace StreamCompaction::Cub
