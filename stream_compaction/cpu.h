#pragma once

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"

/// Scan, compaction and sorting on the host: the serial loops every other variant is checked against, and versions on
/// all cores for a fair comparison. Arrays hold `n` elements; n < 0 or a null array throws std::invalid_argument.
/// Sums wrap. `scan`, `compactWithoutScan` and `sort` allocate nothing.
namespace StreamCompaction::CPU {

/// The time of the last call below.
Common::PerformanceTimer& timer();

/// Exclusive prefix sum; `odata` may be `idata`.
void scan(int n, int* odata, const int* idata);
/// The same on all cores.
void parallelScan(int n, int* odata, const int* idata);

/// Keeps the nonzero elements in order and returns how many there are. Elements of `odata` past the count are
/// unspecified. `odata` may be `idata`.
int compactWithoutScan(int n, int* odata, const int* idata);
/// The same by map, scan and scatter, the shape of the parallel algorithm; allocates two arrays. Not in place.
int compactWithScan(int n, int* odata, const int* idata);
/// The same on all cores; writes the kept elements only. Not in place.
int parallelCompact(int n, int* odata, const int* idata);

/// Ascending, by std::sort; `odata` may be `idata`.
void sort(int n, int* odata, const int* idata);
/// Ascending, by Highway's vectorised quicksort, on one core, where the build found it, else by oneTBB on all cores;
/// `odata` may be `idata`.
void parallelSort(int n, int* odata, const int* idata);

}  // namespace StreamCompaction::CPU
