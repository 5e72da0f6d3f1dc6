#pragma once

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"

/// Scan, compaction and sorting on the host. The serial loops are the reference for every other variant. The versions
/// on all cores are a fair comparison. Arrays hold `n` elements. n < 0 or a null array throws std::invalid_argument.
/// Sums wrap. `scan`, `compactWithoutScan` and `sort` allocate nothing.
namespace StreamCompaction::CPU {

/// Host time of the last call below, without allocation.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// Exclusive prefix sum. `odata` may be `idata`.
void scan(int n, int* odata, const int* idata);
/// The same on all cores, in two passes. `odata` may be `idata`. Allocates one word per task.
void parallelScan(int n, int* odata, const int* idata);

/// Keeps the nonzero elements in order and returns their number. Elements of `odata` past that number are unspecified.
/// `odata` may be `idata`.
int compactWithoutScan(int n, int* odata, const int* idata);
/// The same by map, scan and scatter, the steps of the parallel algorithm. Allocates two arrays. Overlapping arrays
/// throw std::invalid_argument.
int compactWithScan(int n, int* odata, const int* idata);
/// The same on all cores. Writes only the kept elements. Allocates one count per task. Overlapping arrays throw
/// std::invalid_argument.
int parallelCompact(int n, int* odata, const int* idata);

/// Sorts in ascending order by std::sort. `odata` may be `idata`.
void sort(int n, int* odata, const int* idata);
/// The same by Highway's vectorised quicksort on one core if the build found Highway, else by oneTBB on all cores.
void parallelSort(int n, int* odata, const int* idata);

}  // namespace StreamCompaction::CPU
