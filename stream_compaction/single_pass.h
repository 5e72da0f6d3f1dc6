#pragma once

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"

/// Scan and compaction in one pass over the data, with decoupled look-back (Merrill and Garland, 2016).
///
/// Course layer: arrays of `n` ints in host memory. A call allocates, copies to the device and back, and synchronises.
/// n < 0 or a null array throws std::invalid_argument; a failing device throws CudaError. The device layer is in
/// single_pass.cuh.
namespace StreamCompaction::SinglePass {

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// Exclusive prefix sum. Sums wrap. `odata` may be `idata`.
void scan(int n, int* odata, const int* idata);

/// Keeps the nonzero elements in order and returns their number. Writes nothing past them. `odata` may be `idata`.
int compact(int n, int* odata, const int* idata);

}  // namespace StreamCompaction::SinglePass
