#include <stream_compaction/single_pass/scan.cuh>

#include "variants/gpu/ladder.cuh"
#include "variants/gpu/peers.cuh"
#include "variants/gpu/run.cuh"
#include "variants/implementation.h"

namespace Bench {
namespace {

template <typename T>
using ScanMemory = TransformMemory<T, SumOf<T>>;

template <typename MakeOp>
[[nodiscard]] Implementations scan(std::string_view variant, MakeOp makeOp) {
    return implementEach<ScanMemory>(AllTypes{}, Operation::Scan, variant, makeOp);
}

[[nodiscard]] StreamCompaction::SinglePass::Scan byTicket(int /*blockSize*/) {
    return {.order = StreamCompaction::TileOrder::Ticket};
}
[[nodiscard]] StreamCompaction::SinglePass::Scan reproducible(int /*blockSize*/) { return {.reproducible = true}; }

}  // namespace

Implementations gpuScans() {
    using namespace StreamCompaction;
    return joined({
        scan("naive", naiveScan),
        scan("efficient", textbookScan),
        scan("efficient-optimized", optimizedScan),
        scan("shared", sharedScan),
        scan("shared-conflicts", sharedScanWithConflicts),
        scan("single-pass", fixed<SinglePass::Scan>),
        scan("single-pass-tickets", byTicket),
        scan("single-pass-reproducible", reproducible),
        scan("thrust", fixed<Thrust::Scan>),
        scan("cub", fixed<Cub::Scan>),
    });
}

}  // namespace Bench
