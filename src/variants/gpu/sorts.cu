#include <stream_compaction/radix_sort.cuh>
#include <stream_compaction/split_sort.cuh>

#include "variants/gpu/ladder.cuh"
#include "variants/gpu/peers.cuh"
#include "variants/gpu/run.cuh"
#include "variants/gpu_variants.h"

namespace Bench {
namespace {

template <typename T>
using SortMemory = TransformMemory<T, T>;

template <typename MakeOp>
[[nodiscard]] Implementations sort(std::string_view variant, MakeOp makeOp) {
    return implementEach<SortMemory>(AllTypes{}, Operation::Sort, variant, makeOp);
}

/// The one-bit split sort over a scan.
template <typename MakeScan>
[[nodiscard]] auto over(MakeScan makeScan) {
    return
        [makeScan](int blockSize) { return StreamCompaction::SplitSort<decltype(makeScan(0))>{makeScan(blockSize)}; };
}

}  // namespace

Implementations gpuSorts() {
    using namespace StreamCompaction;
    return joined({
        sort("naive", over(naiveScan)),
        sort("efficient", over(optimizedScan)),
        sort("radix-split", over(sharedScan)),
        sort("radix", fixed<Radix::Sort>),
        sort("thrust", fixed<Thrust::Sort>),
        sort("cub", fixed<Cub::Sort>),
    });
}

}  // namespace Bench
