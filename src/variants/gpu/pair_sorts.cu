#include <numeric>
#include <stream_compaction/radix_sort.cuh>

#include "variants/gpu/peers.cuh"
#include "variants/gpu/run.cuh"
#include "variants/gpu_variants.h"

namespace Bench {
namespace {

/// Keys, each with its index as the value.
template <typename K>
class PairsMemory {
  public:
    using Element = K;
    using SomeProblem = SortPairsProblem<K>;

    explicit PairsMemory(std::span<const K> keys)
        : keysIn_(keys), valuesIn_(indices(keys.size())), keysOut_(keys.size()), valuesOut_(keys.size()) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<K>, noArray<K>, noArray<PairValue>, noArray<PairValue>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return 2 * n * (sizeof(K) + sizeof(PairValue)); }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(keysIn_).data(), keysOut_.data(), std::as_const(valuesIn_).data(), valuesOut_.data(),
           keysIn_.size(), scratch, defaultStream);
    }
    void poison() {
        Bench::poison(keysOut_);
        Bench::poison(valuesOut_);
    }
    void fetchTo(Pairs<K>& result) const {
        fetch(keysOut_, result.keys, keysOut_.size());
        fetch(valuesOut_, result.values, valuesOut_.size());
    }

  private:
    [[nodiscard]] static StreamCompaction::DeviceBuffer<PairValue> indices(std::size_t n) {
        Array<PairValue> values(n);
        std::iota(values.begin(), values.end(), PairValue{0});
        return StreamCompaction::DeviceBuffer<PairValue>(std::span<const PairValue>(values));
    }

    StreamCompaction::DeviceBuffer<K> keysIn_;
    StreamCompaction::DeviceBuffer<PairValue> valuesIn_;
    StreamCompaction::DeviceBuffer<K> keysOut_;
    StreamCompaction::DeviceBuffer<PairValue> valuesOut_;
};

template <typename MakeOp>
[[nodiscard]] Implementations sortPairs(std::string_view variant, MakeOp makeOp) {
    return implementEach<PairsMemory>(AllTypes{}, Operation::SortPairs, variant, makeOp);
}

}  // namespace

Implementations gpuPairSorts() {
    using namespace StreamCompaction;
    return joined({
        sortPairs("radix", fixed<Radix::Sort>),
        sortPairs("thrust", fixed<Thrust::SortPairs>),
        sortPairs("cub", fixed<Cub::SortPairs>),
    });
}

}  // namespace Bench
