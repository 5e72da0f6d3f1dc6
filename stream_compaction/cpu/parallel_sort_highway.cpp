#include <hwy/contrib/sort/vqsort.h>

#include "stream_compaction/cpu/parallel_sort.h"

namespace StreamCompaction::CPU {

void sortInPlace(std::span<int> keys) {
    const hwy::Sorter sorter;
    sorter(keys.data(), keys.size(), hwy::SortAscending());
}

}  // namespace StreamCompaction::CPU
