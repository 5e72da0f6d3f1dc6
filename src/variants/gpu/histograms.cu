#include <stream_compaction/histogram.cuh>

#include "variants/gpu/memory.cuh"
#include "variants/implementation.h"

namespace Bench {
namespace {

/// A histogram whose bins have one number each and begin with `first`.
struct HistogramFrom {
    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(const T* in, BinCount* counts, std::size_t n, std::uint32_t bins,
                                           std::int32_t first) const {
        return StreamCompaction::Histogram{}.scratchBytes(in, counts, n, bins, BinFrom{first});
    }
    template <typename T>
    void operator()(const T* in, BinCount* counts, std::size_t n, std::uint32_t bins, std::int32_t first,
                    StreamCompaction::Scratch scratch, cudaStream_t stream) const {
        StreamCompaction::Histogram{}(in, counts, n, bins, BinFrom{first}, scratch, stream);
    }
};

}  // namespace

Implementations gpuHistograms() {
    return joined({
        implementEach<NarrowHistogramMemory>(BytesAndInts{}, Operation::Histogram, "shared", fixed<HistogramFrom>),
        implementEach<WideHistogramMemory>(BytesAndInts{}, Operation::HistogramWide, "shared", fixed<HistogramFrom>),
    });
}

}  // namespace Bench
