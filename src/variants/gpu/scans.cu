#include <stream_compaction/single_pass/scan.cuh>

#include "variants/gpu/ladder.cuh"
#include "variants/gpu/memory.cuh"
#include "variants/implementation.h"

namespace Bench {
namespace {

template <typename MakeOp, typename Elements = AllTypes>
[[nodiscard]] Implementations scan(std::string_view variant, MakeOp makeOp, Elements types = {}) {
    return implementEach<ScanMemory>(types, Operation::Scan, variant, makeOp);
}

[[nodiscard]] StreamCompaction::SinglePass::Scan byTicket(int /*blockSize*/) {
    return {.order = StreamCompaction::TileOrder::Ticket};
}
[[nodiscard]] StreamCompaction::SinglePass::Scan reproducible(int /*blockSize*/) { return {.reproducible = true}; }

/// A scan of the squares of its elements.
struct ScanOfSquares {
    [[nodiscard]] std::size_t scratchBytes(const float* in, float* out, std::size_t n) const {
        return StreamCompaction::SinglePass::Scan{}.scratchBytes(StreamCompaction::transformed(in, Square{}), out, n);
    }
    void operator()(const float* in, float* out, std::size_t n, StreamCompaction::Scratch scratch,
                    cudaStream_t stream) const {
        StreamCompaction::SinglePass::Scan{}(StreamCompaction::transformed(in, Square{}), out, n, scratch, stream);
    }
};

}  // namespace

Implementations gpuScans() {
    using namespace StreamCompaction;
    return joined({
        scan("naive", naiveScan, IntsAlone{}),
        scan("efficient", textbookScan, IntsAlone{}),
        scan("efficient-optimized", optimizedScan, IntsAlone{}),
        scan("shared", sharedScan, IntsAlone{}),
        scan("shared-conflicts", sharedScanWithConflicts, IntsAlone{}),
        scan("single-pass", fixed<SinglePass::Scan>),
        scan("single-pass-tickets", byTicket),
        scan("single-pass-reproducible", reproducible),
        {implement<ScanMemory<float>>(Operation::ScanSquares, "single-pass", fixed<ScanOfSquares>)},
    });
}

}  // namespace Bench
