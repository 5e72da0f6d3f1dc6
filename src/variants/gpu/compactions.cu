#include <stream_compaction/map_scan_scatter.cuh>
#include <stream_compaction/single_pass/compact.cuh>

#include "variants/gpu/counted_memory.cuh"
#include "variants/gpu/ladder.cuh"
#include "variants/gpu/peers.cuh"
#include "variants/gpu_variants.h"

namespace Bench {
namespace {

template <typename T>
class CompactMemory : public CountedMemory<T> {
  public:
    using SomeProblem = CompactProblem<T>;
    using CountedMemory<T>::CountedMemory;

    void fetchTo(Array<T>& result) const { fetch(this->output(), result, this->fetchCount()); }
};

template <typename MakeOp>
[[nodiscard]] Implementations compaction(std::string_view variant, MakeOp makeOp) {
    return implementEach<CompactMemory>(AllTypes{}, Operation::Compact, variant, makeOp);
}

/// Map-scan-scatter compaction over a scan.
template <typename MakeScan>
[[nodiscard]] auto over(MakeScan makeScan) {
    return [makeScan](int blockSize) {
        return StreamCompaction::MapScanScatter<decltype(makeScan(0))>{makeScan(blockSize)};
    };
}

}  // namespace

Implementations gpuCompactions() {
    using namespace StreamCompaction;
    return joined({
        compaction("naive", over(naiveScan)),
        compaction("efficient", over(textbookScan)),
        compaction("efficient-optimized", over(optimizedScan)),
        compaction("shared", over(sharedScan)),
        compaction("single-pass", fixed<SinglePass::Compact>),
        compaction("thrust", fixed<Thrust::Compact>),
        compaction("cub", fixed<Cub::Compact>),
    });
}

}  // namespace Bench
