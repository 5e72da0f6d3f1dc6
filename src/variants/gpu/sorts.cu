#include <stream_compaction/radix_sort.cuh>
#include <stream_compaction/split_sort.cuh>
#include <stream_compaction/top_k.cuh>

#include "variants/gpu/gathered.cuh"
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
        {gathered<Gathered<Radix::Sort, std::int32_t, SortProblem<std::int32_t>>>(Operation::Sort)},
    });
}

namespace {

/// Memory of an argsort, which gets only keys and makes the indices itself.
template <typename K>
class ArgSortMemory {
  public:
    using Element = K;
    using SomeProblem = SortPairsProblem<K>;

    explicit ArgSortMemory(std::span<const K> keys) : keysIn_(keys), keysOut_(keys.size()), indices_(keys.size()) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<K>, noArray<K>, noArray<PairValue>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return n * (2 * sizeof(K) + sizeof(PairValue)); }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(keysIn_).data(), keysOut_.data(), indices_.data(), keysIn_.size(), scratch, defaultStream);
    }
    void poison() {
        Bench::poison(keysOut_);
        Bench::poison(indices_);
    }
    void fetchTo(Pairs<K>& result) const {
        fetch(keysOut_, result.keys, keysOut_.size());
        fetch(indices_, result.values, indices_.size());
    }

  private:
    StreamCompaction::DeviceBuffer<K> keysIn_;
    StreamCompaction::DeviceBuffer<K> keysOut_;
    StreamCompaction::DeviceBuffer<PairValue> indices_;
};

}  // namespace

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
