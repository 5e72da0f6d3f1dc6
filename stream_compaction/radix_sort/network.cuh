#pragma once

#include <algorithm>

#include "stream_compaction/primitives/key_coding.cuh"
#include "stream_compaction/primitives/sort_tile.cuh"
#include "stream_compaction/primitives/sorting_network.cuh"
#include "stream_compaction/runtime/element_count.cuh"

/// Sorts of few elements by a network of comparators, in a warp or in a block.
namespace StreamCompaction::Radix {

/// What a network compares if no integer has room for it: a code, and the element's index behind it.
template <typename Bits>
struct IndexedCode {
    Bits code;
    std::uint32_t index;

    friend __device__ bool operator<(const IndexedCode& a, const IndexedCode& b) {
        return a.code < b.code || (a.code == b.code && a.index < b.index);
    }
};

/// What a network compares: the code of an element, and if there are values, the element's index behind it. Then no two
/// are equal, so the sort is stable. Without values, equal codes are equal keys.
template <typename Bits, typename Value>
using NetworkEntry = std::conditional_t<(sizeof(Bits) <= sizeof(std::uint32_t)),
                                        std::conditional_t<hasValues<Value>, std::uint64_t, std::uint32_t>,
                                        std::conditional_t<hasValues<Value>, IndexedCode<Bits>, Bits>>;

/// The shared memory of a warp or a block that sorts up to `most` elements. Sorted entries have an unused place behind
/// every 32, so that threads use different banks when each stores its neighbouring entries.
template <int threads, int most, typename Bits, typename Value>
struct NetworkStorage {
    static constexpr int exchanged = threads > Warp::lanes ? 2 * most : 0;

    [[nodiscard]] static __device__ int placeOf(int i) { return i + i / Warp::lanes; }

    NetworkEntry<Bits, Value> entries[std::max(exchanged, most + most / Warp::lanes)];
};

/// Whether a network in a block takes less time than radix passes. Only keys of more than two digits do, and only
/// alone, because an index behind them makes entries too wide.
template <typename Bits, typename Value>
inline constexpr bool suitsNetwork = sizeof(Bits) > 2 && !hasValues<Value>;

/// Waits for the other threads of the warp or of the block.
template <int threads>
__device__ void meet() {
    if constexpr (threads > Warp::lanes) {
        __syncthreads();
    } else {
        __syncwarp();
    }
}

/// Sorts `size` elements from `begin` on, at most `rows` per thread, by all bits. Called by all threads of a warp or of
/// a block. `encoding` is applied to the keys of `in`, and undoing `coding` gives those of `out`.
///
/// Work O(n log^2 n), steps O(log^2 n). Reads and writes each key and each value once.
template <int threads, int rows, int most, typename Bits, typename Value, typename Encoding>
__device__ void sortInNetwork(NetworkStorage<threads, most, Bits, Value>& storage, std::size_t begin, int size,
                              const Elements<Bits, Value>& out, const Elements<const Bits, const Value>& in,
                              const Encoding& encoding, const KeyCoding<Bits>& coding) {
    static_assert(threads * rows <= most);
    using Entry = NetworkEntry<Bits, Value>;
    constexpr bool isIndexed = std::is_same_v<Entry, IndexedCode<Bits>>;
    constexpr int codeShift = hasValues<Value> && !isIndexed ? 32 : 0;
    const int thread = threads > Warp::lanes ? static_cast<int>(threadIdx.x) : Warp::lane();
    const auto at = [thread](int row) { return row * threads + thread; };
    Entry entries[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
        const auto index = static_cast<unsigned>(at(row));
        const bool isInside = at(row) < size;
        const Bits code = isInside ? encoding.encode(in.keys[begin + index]) : static_cast<Bits>(~Bits{0});
        if constexpr (isIndexed) {
            entries[row] = {code, index};
        } else {
            entries[row] = (isInside ? Entry{code} : static_cast<Entry>(~Entry{0} >> codeShift)) << codeShift |
                           (codeShift > 0 ? index : 0);
        }
    }
    sortByNetwork<threads>(entries, storage.entries);
    if constexpr (threads > Warp::lanes) {
        __syncthreads();  // sorted entries overwrite those that other threads read
    }
#pragma unroll
    for (int row = 0; row < rows; ++row) {
        storage.entries[storage.placeOf(thread * rows + row)] = entries[row];
    }
    meet<threads>();
    const auto codeOf = [](const Entry& entry) {
        if constexpr (isIndexed) {
            return entry.code;
        } else {
            return static_cast<Bits>(entry >> codeShift);
        }
    };
    const auto indexOf = [](const Entry& entry) {
        if constexpr (isIndexed) {
            return entry.index;
        } else {
            return static_cast<std::uint32_t>(entry);
        }
    };
    // Some values are loaded before the first is stored, so that the loads do not wait for one another.
    constexpr int batch = Common::lesser(static_cast<int>(16 / sizeof(Value)), rows);
#pragma unroll
    for (int first = 0; first < rows; first += batch) {
        [[maybe_unused]] Value values[batch];
        const auto forEachRow = [&](auto work) {
#pragma unroll
            for (int row = first; row < min(first + batch, rows); ++row) {
                if (at(row) < size) {
                    work(row, storage.entries[storage.placeOf(at(row))]);
                }
            }
        };
        if constexpr (hasValues<Value>) {
            forEachRow([&](int row, const Entry& entry) {
                values[row - first] = originalValue(in.values, begin, indexOf(entry));
            });
        }
        forEachRow([&](int row, const Entry& entry) {
            out.keys[begin + at(row)] = coding.decode(codeOf(entry));
            if constexpr (hasValues<Value>) {
                out.values[begin + at(row)] = values[row - first];
            }
        });
    }
    meet<threads>();  // the memory may serve for something else
}

/// Sorts at most Shape::elements keys by all bits, by one block. The latency of the exchanges is the limit.
template <typename Shape, typename Bits, typename Count>
__global__ void __launch_bounds__(Shape::threads)
    kernSortByNetwork(Count n, Elements<Bits, NoValue> out, Elements<const Bits, const NoValue> in,
                      KeyCoding<Bits> coding) {
    auto& storage = dynamicShared<NetworkStorage<Shape::threads, Shape::elements, Bits, NoValue>>();
    sortInNetwork<Shape::threads, Shape::items>(storage, 0, static_cast<int>(numberOf(n)), out, in, coding, coding);
}

}  // namespace StreamCompaction::Radix
