#include <stream_compaction/map_scan_scatter.cuh>
#include <stream_compaction/single_pass/compact_flagged.cuh>

#include "variants/gpu/compact_kernels.cuh"
#include "variants/gpu/ladder.cuh"
#include "variants/gpu/memory.cuh"
#include "variants/implementation.h"

namespace StreamCompaction::SinglePass {

template void CompactLauncher<Rejects::Dropped>::operator()(const ArraySource<std::int32_t>&, std::int32_t*,
                                                            std::int32_t*, std::size_t*, std::size_t, IsNonzero,
                                                            Scratch, cudaStream_t) const;
template void CompactLauncher<Rejects::Apart>::operator()(const ArraySource<std::int32_t>&, std::int32_t*,
                                                          std::int32_t*, std::size_t*, std::size_t, IsNonzero, Scratch,
                                                          cudaStream_t) const;

}  // namespace StreamCompaction::SinglePass

namespace Bench {
namespace {

template <typename MakeOp, typename Elements = AllTypes>
[[nodiscard]] Implementations compaction(std::string_view variant, MakeOp makeOp, Elements types = {}) {
    return implementEach<CompactMemory>(types, Operation::Compact, variant, makeOp);
}

/// Map-scan-scatter compaction by a scan.
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
        compaction("naive", over(naiveScan), IntsAlone{}),
        compaction("efficient", over(textbookScan), IntsAlone{}),
        compaction("efficient-optimized", over(optimizedScan), IntsAlone{}),
        compaction("shared", over(sharedScan), IntsAlone{}),
        compaction("single-pass", fixed<SinglePass::Compact>),
        implementEach<FlaggedMemory>(IntsAlone{}, Operation::CompactFlagged, "single-pass",
                                     fixed<SinglePass::CompactFlagged>),
    });
}

Implementations gpuPartitions() {
    using namespace StreamCompaction;
    return joined({
        implementEach<JoinedMemory>(IntsAlone{}, Operation::Partition, "single-pass", fixed<SinglePass::Partition>),
        implementEach<ApartMemory>(IntsAlone{}, Operation::Partition, "single-pass-apart",
                                   fixed<SinglePass::Partition>),
    });
}

}  // namespace Bench
