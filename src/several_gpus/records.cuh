#pragma once

#include "variants/gpu/memory.cuh"

/// Sorts of keys, with their indices as values or without.
namespace Bench {

/// The values of a sort of n keys: their indices, or none.
template <typename V>
[[nodiscard]] Array<V> valuesOf(std::size_t n, std::size_t first = 0) {
    if constexpr (std::is_same_v<V, PairValue>) {
        return indices(n, first);
    } else {
        return {};
    }
}

/// What a sort is measured as.
template <typename K, typename V>
struct SortOf {
    using SomeProblem = SortProblem<K>;
    static constexpr Operation operation = Operation::Sort;
    static constexpr std::size_t elementBytes = sizeof(K);
};
template <typename K>
struct SortOf<K, PairValue> {
    using SomeProblem = SortPairsProblem<K>;
    static constexpr Operation operation = Operation::SortPairs;
    static constexpr std::size_t elementBytes = sizeof(K) + sizeof(PairValue);
};

/// Keys and their values. Without values the second array is empty.
template <template <typename> typename ArrayOf, typename K, typename V>
struct Records {
    ArrayOf<K> keys;
    ArrayOf<V> values;

    void poison() {
        keys.poison();
        values.poison();
    }
    void fetchTo(Array<K>& to) const { keys.fetchTo(to); }
    void fetchTo(Pairs<K>& to) const {
        keys.fetchTo(to.keys);
        values.fetchTo(to.values);
    }
};

}  // namespace Bench
