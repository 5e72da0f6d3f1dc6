#pragma once

#include <cstdint>
#include <stream_compaction/radix_sort.cuh>

#include "problems/problems.h"

/// Sorts that several files use. Only sorts.cu compiles their kernels.
namespace StreamCompaction::Radix {

extern template void launchSort(const SortCall<std::uint32_t, NoValue>&);
extern template void launchSort(const SortCall<std::uint64_t, NoValue>&);
extern template void launchSort(const SortCall<std::uint32_t, Carried<Bench::PairValue>>&);

}  // namespace StreamCompaction::Radix
