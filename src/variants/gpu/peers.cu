// Compiled over the CCCL of the toolkit and, if the build knows a newer one, once more over that.
#ifdef STREAM_COMPACTION_LATEST_CCCL
// The program holds the wrappers of both, so they need two names.
#define Cub LatestCub
#define Thrust LatestThrust
#endif

#include <string>

#include "variants/gpu/memory.cuh"
#include "variants/gpu/peers.cuh"
#include "variants/implementation.h"

namespace Bench {
namespace {

using namespace StreamCompaction;

/// The names of the peers, as variants and with their versions.
#ifdef STREAM_COMPACTION_LATEST_CCCL
constexpr std::string_view cub = "cub-latest";
constexpr std::string_view thrust = "thrust-latest";
#else
constexpr std::string_view cub = "cub";
constexpr std::string_view thrust = "thrust";
#endif

/// Names the library of the variants that this build has. `version` is encoded as CUB and Thrust do it.
[[nodiscard]] Implementations madeBy(std::string_view library, int version, Implementations implementations) {
    const std::string name = std::string(library) + ' ' + std::to_string(version / 100'000) + '.' +
                             std::to_string(version / 100 % 1000) + '.' + std::to_string(version % 100);
    for (Implementation& implementation : implementations) {
        if (implementation.runner.prepare) {
            implementation.runner.library = name;
        }
    }
    return implementations;
}

/// The sort as a partition by the lowest byte.
template <typename Sort>
[[nodiscard]] Sort byLowByte(int /*blockSize*/) {
    if constexpr (Absent<Sort>) {
        return {};
    } else {
        return {.endBit = 8};
    }
}

[[nodiscard]] Implementations cubPeers() {
    return joined({
        implementEach<ScanMemory>(AllTypes{}, Operation::Scan, cub, fixed<Cub::Scan>),
        implementEach<CompactMemory>(AllTypes{}, Operation::Compact, cub, fixed<Cub::Compact>),
        implementEach<FlaggedMemory>(IntsAlone{}, Operation::CompactFlagged, cub, fixed<Cub::CompactFlagged>),
        implementEach<ReversedMemory>(IntsAlone{}, Operation::Partition, cub, fixed<Cub::Partition>),
        implementEach<SortMemory>(IntsAlone{}, Operation::MultiPartition, cub, byLowByte<Cub::Sort>),
        implementEach<SortMemory>(AllTypes{}, Operation::Sort, cub, fixed<Cub::Sort>),
        implementEach<PairsMemory>(Integers{}, Operation::SortPairs, cub, fixed<Cub::SortPairs>),
        implementEach<TopKMemory>(IntsAndFloats{}, Operation::TopK, cub, fixed<Cub::TopK>),
        implementEach<RowSumMemory>(AllTypes{}, Operation::RowSum, cub, fixed<Cub::RowSum>),
        implementEach<ScanByKeysMemory>(Integers{}, Operation::SegmentedScan, cub, fixed<Cub::SegmentedScan>),
        implementEach<SegmentedSortMemory>(Integers{}, Operation::SegmentedSort, cub, fixed<Cub::SegmentedSort>),
        implementEach<CompactMemory>(Integers{}, Operation::Unique, cub, fixed<Cub::Unique>),
        implementEach<RunLengthMemory>(Integers{}, Operation::RunLength, cub, fixed<Cub::Encode>),
        implementEach<ReduceByKeyMemory>(Integers{}, Operation::ReduceByKey, cub, fixed<Cub::ReduceByKey>),
        implementEach<NarrowHistogramMemory>(IntsAlone{}, Operation::Histogram, cub, fixed<Cub::Histogram>),
        implementEach<WideHistogramMemory>(IntsAlone{}, Operation::HistogramWide, cub, fixed<Cub::Histogram>),
    });
}

[[nodiscard]] Implementations thrustPeers() {
    return joined({
        implementEach<ScanMemory>(IntsAlone{}, Operation::Scan, thrust, fixed<Thrust::Scan>),
        implementEach<CompactMemory>(IntsAlone{}, Operation::Compact, thrust, fixed<Thrust::Compact>),
        implementEach<ApartMemory>(IntsAlone{}, Operation::Partition, thrust, fixed<Thrust::Partition>),
        implementEach<SortMemory>(IntsAlone{}, Operation::Sort, thrust, fixed<Thrust::Sort>),
        implementEach<PairsMemory>(IntsAlone{}, Operation::SortPairs, thrust, fixed<Thrust::SortPairs>),
        implementEach<RowSumMemory>(IntsAndFloats{}, Operation::RowSum, thrust, fixed<Thrust::RowSum>),
    });
}

}  // namespace

#ifdef STREAM_COMPACTION_LATEST_CCCL
Implementations gpuLatestPeers() {
#else
Implementations gpuPeers() {
#endif
    return joined({madeBy("CUB", CUB_VERSION, cubPeers()), madeBy("Thrust", THRUST_VERSION, thrustPeers())});
}

}  // namespace Bench
