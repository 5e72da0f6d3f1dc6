#include <stream_compaction/histogram.cuh>
#include <stream_compaction/multi_partition.cuh>
#include <stream_compaction/runs.cuh>
#include <stream_compaction/segments.cuh>

#include "variants/gpu/memory.cuh"
#include "variants/implementation.h"

/// Operations on groups of elements: segments, runs, parts and bins.
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

/// The partition by the lowest byte. Its scratch also holds the begins of the parts.
struct PartitionByLowByte {
    StreamCompaction::Radix::MultiPartition partition;

    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(const T* in, T* out, std::size_t n) const {
        return beginBytes() +
               partition.scratchBytes(in, out, StreamCompaction::noArray<std::size_t>, n, LowByte::values, LowByte{});
    }
    template <typename T>
    void operator()(const T* in, T* out, std::size_t n, StreamCompaction::Scratch scratch, cudaStream_t stream) const {
        StreamCompaction::ScratchArena arena(scratch, scratchBytes(in, out, n));
        auto* const begins = arena.take<std::size_t>(LowByte::values + 1);
        partition(in, out, begins, n, LowByte::values, LowByte{}, arena.rest(), stream);
    }

  private:
    [[nodiscard]] static std::size_t beginBytes() {
        return StreamCompaction::scratchBytesFor<std::size_t>(LowByte::values + 1);
    }
};

}  // namespace

Implementations gpuMultiPartitions() {
    return implementEach<SortMemory>(IntsAlone{}, Operation::MultiPartition, "radix", fixed<PartitionByLowByte>);
}

Implementations gpuHistograms() {
    return joined({
        implementEach<NarrowHistogramMemory>(BytesAndInts{}, Operation::Histogram, "shared", fixed<HistogramFrom>),
        implementEach<WideHistogramMemory>(BytesAndInts{}, Operation::HistogramWide, "shared", fixed<HistogramFrom>),
    });
}

Implementations gpuSegments() {
    using namespace StreamCompaction;
    return joined({
        implementEach<ScanByFlagsMemory>(Integers{}, Operation::SegmentedScan, "single-pass", fixed<SegmentedScan>),
        implementEach<ScanByOffsetsMemory>(Integers{}, Operation::SegmentedScan, "single-pass-offsets",
                                           fixed<SegmentedScan>),
        implementEach<SegmentedSortMemory>(Integers{}, Operation::SegmentedSort, "adaptive", fixed<SegmentedSort>),
    });
}

Implementations gpuRuns() {
    using namespace StreamCompaction;
    return joined({
        implementEach<CompactMemory>(Integers{}, Operation::Unique, "single-pass", fixed<Runs::Unique>),
        implementEach<RunLengthMemory>(Integers{}, Operation::RunLength, "single-pass", fixed<Runs::Encode>),
        implementEach<ReduceByKeyMemory>(Integers{}, Operation::ReduceByKey, "single-pass", fixed<Runs::ReduceByKey>),
    });
}

}  // namespace Bench
