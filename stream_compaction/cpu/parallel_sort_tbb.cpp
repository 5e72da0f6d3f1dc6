#include <tbb/parallel_sort.h>

#include "stream_compaction/cpu/parallel_sort.h"

namespace StreamCompaction::CPU {

void sortInPlace(std::span<int> keys) { tbb::parallel_sort(keys.begin(), keys.end()); }

}  // namespace StreamCompaction::CPU
