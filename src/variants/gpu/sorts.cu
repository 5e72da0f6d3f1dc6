#include <stream_compaction/radix_sort.cuh>
#include <stream_compaction/split_sort.cuh>
#include <stream_compaction/top_k.cuh>

#include "variants/gpu/ladder.cuh"
#include "variants/gpu/memory.cuh"
#include "variants/gpu/sort_kernels.cuh"
#include "variants/implementation.h"

namespace StreamCompaction::Radix {

template void launchSort(const SortCall<std::uint32_t, NoValue>&);
template void launchSort(const SortCall<std::uint64_t, NoValue>&);
template void launchSort(const SortCall<std::uint32_t, Carried<Bench::PairValue>>&);

}  // namespace StreamCompaction::Radix

namespace Bench {
namespace {

template <typename MakeOp, typename Elements = AllTypes>
[[nodiscard]] Implementations sort(std::string_view variant, MakeOp makeOp, Elements types = {}) {
    return implementEach<SortMemory>(types, Operation::Sort, variant, makeOp);
}

/// The one-bit split sort by a scan.
template <typename MakeScan>
[[nodiscard]] auto over(MakeScan makeScan) {
    return
        [makeScan](int blockSize) { return StreamCompaction::SplitSort<decltype(makeScan(0))>{makeScan(blockSize)}; };
}

}  // namespace

Implementations gpuSorts() {
    using namespace StreamCompaction;
    return joined({
        sort("naive", over(naiveScan), IntsAlone{}),
        sort("efficient", over(optimizedScan), IntsAlone{}),
        sort("radix-split", over(sharedScan), IntsAlone{}),
        sort("radix", fixed<Radix::Sort>),
    });
}

Implementations gpuPairSorts() {
    using namespace StreamCompaction;
    return joined({
        implementEach<PairsMemory>(Integers{}, Operation::SortPairs, "radix", fixed<Radix::Sort>),
        {implement<ArgSortMemory<std::int32_t>>(Operation::SortPairs, "radix-argsort", fixed<Radix::ArgSort>)},
    });
}

Implementations gpuSelections() {
    return implementEach<TopKMemory>(IntsAndFloats{}, Operation::TopK, "radix", fixed<StreamCompaction::Radix::TopK>);
}

}  // namespace Bench
