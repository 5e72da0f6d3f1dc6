#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/primitives/digit_rank.cuh"
#include "stream_compaction/primitives/element_copy.cuh"
#include "stream_compaction/primitives/key_coding.cuh"
#include "stream_compaction/primitives/target.cuh"
#include "stream_compaction/primitives/warp.cuh"

/// What one pass of a radix sort, or another stable partition, does with a tile: load it, rank it by a digit, pack it
/// in order in shared memory, store it. The digit of a key is what `digit.of(key)` returns, less than `digitValues`.
namespace StreamCompaction::Radix {

/// Whether no key has a greater digit than the greatest key. Digits that any function computes may have to say no.
template <typename DigitOf>
inline constexpr bool greatestKeyIsLast = true;

/// The value type of a sort of keys alone.
struct NoValue {};

template <typename Value>
inline constexpr bool hasValues = !std::is_same_v<std::remove_const_t<Value>, NoValue>;

/// A value that is the index of its key in the input. The first pass makes it, so that no array of indices is read.
template <typename Index>
struct OwnIndex {
    Index index;
};

template <typename Value>
inline constexpr bool isOwnIndex = false;
template <typename Index>
inline constexpr bool isOwnIndex<OwnIndex<Index>> = true;

/// An array of keys, as bits, and an array of the values that go with them.
template <typename Bits, typename Value>
struct Elements {
    Bits* keys;
    Value* values;

    [[nodiscard]] __device__ Elements<const Bits, const Value> readOnly() const { return {keys, values}; }
};

/// Threads per block and elements per thread.
template <int threadCount, int itemCount>
struct SortShape {
    static constexpr int threads = threadCount;
    static constexpr int items = itemCount;
    static constexpr int elements = threads * items;
};

/// The shared memory of a block.
template <typename Shape, typename Bits, typename Value>
struct TileStorage {
    typename DigitRank<Shape::threads>::Storage ranks;
    std::int64_t starts[digitValues];  ///< per digit: a key's rank in the tile plus this is its index in the output
    Bits keys[Shape::elements];
    Value values[hasValues<Value> ? Shape::elements : 1];
};

/// The place in the tile of this thread's element of a row. A warp owns consecutive rows; a row has one element per
/// lane.
template <typename Shape>
[[nodiscard]] __device__ int placeIn(int row) {
    return (Warp::index() * Shape::items + row) * Warp::lanes + Warp::lane();
}

/// The value of the key at `index` of the input.
template <typename Value>
[[nodiscard]] __device__ Value ownIndex(std::size_t index) {
    return {static_cast<decltype(Value::index)>(index)};
}

/// Loads this thread's elements of a tile. Past the end of the tile they are `otherwise`.
template <typename Shape, typename T>
__device__ void loadRows(T (&rows)[Shape::items], const T* elements, int size, T otherwise) {
    if (size == Shape::elements) {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            rows[row] = elements[placeIn<Shape>(row)];
        }
    } else {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            rows[row] = placeIn<Shape>(row) < size ? elements[placeIn<Shape>(row)] : otherwise;
        }
    }
}

/// Loads this thread's values of the tile that starts at element `begin`. If `isInput`, own indices are generated
/// instead.
template <typename Shape, typename Value>
__device__ void loadValues(Value (&rows)[Shape::items], const Value* values, std::size_t begin, int size,
                           [[maybe_unused]] bool isInput) {
    if constexpr (isOwnIndex<Value>) {
        if (isInput) {
#pragma unroll
            for (int row = 0; row < Shape::items; ++row) {
                rows[row] = ownIndex<Value>(begin + placeIn<Shape>(row));
            }
            return;
        }
    }
    loadRows<Shape>(rows, values + begin, size, Value{});
}

/// The keys of a tile, in registers. Places past the end of the tile hold the greatest possible key, or else get the
/// greatest digit. These keys end up behind all others, because they rank last among equal keys.
template <typename Shape, typename Bits>
class TileKeys {
  public:
    [[nodiscard]] __device__ Bits operator[](int row) const { return keys_[row]; }

    __device__ void load(const Bits* keys, int size) {
        size_ = size;
        loadRows<Shape>(keys_, keys, size, greatest());
    }

    template <typename Coding>
    __device__ void loadAndEncode(const Bits* keys, int size, const Coding& coding) {
        size_ = size;
        loadRows<Shape>(keys_, keys, size, coding.decode(greatest()));
#pragma unroll
        for (Bits& key : keys_) {
            key = coding.encode(key);
        }
    }

    template <typename DigitOf>
    __device__ void count(DigitRank<Shape::threads>& ranks, DigitOf digit) const {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            ranks.count(digitIn(row, digit));
        }
    }

    /// Puts every key in its place in shared memory and remembers the place. Calls `also(row, place)` for each row.
    template <typename DigitOf, typename Value, typename Also>
    __device__ void pack(DigitRank<Shape::threads>& ranks, DigitOf digit, TileStorage<Shape, Bits, Value>& storage,
                         Also&& also) {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            places_[row] = ranks.next(digitIn(row, digit));
            storage.keys[places_[row]] = keys_[row];
            also(row, places_[row]);
        }
    }
    template <typename DigitOf, typename Value>
    __device__ void pack(DigitRank<Shape::threads>& ranks, DigitOf digit, TileStorage<Shape, Bits, Value>& storage) {
        pack(ranks, digit, storage, [](int, std::uint32_t) {});
    }

    /// Puts the values in the places of their keys.
    template <typename Value>
    __device__ void packValues(const Value (&values)[Shape::items], TileStorage<Shape, Bits, Value>& storage) const {
        if constexpr (hasValues<Value>) {
#pragma unroll
            for (int row = 0; row < Shape::items; ++row) {
                storage.values[places_[row]] = values[row];
            }
        }
    }

  private:
    /// Keys that are no integers have no greatest one.
    [[nodiscard]] static __device__ constexpr Bits greatest() {
        if constexpr (std::is_unsigned_v<Bits>) {
            return static_cast<Bits>(~Bits{0});
        } else {
            return {};
        }
    }

    template <typename DigitOf>
    [[nodiscard]] __device__ std::uint32_t digitIn(int row, const DigitOf& digit) const {
        if constexpr (greatestKeyIsLast<DigitOf>) {
            return digit.of(keys_[row]);
        } else {
            return placeIn<Shape>(row) < size_ ? digit.of(keys_[row]) : digitValues - 1;
        }
    }

    int size_;
    Bits keys_[Shape::items];
    std::uint32_t places_[Shape::items];
};

/// Writes the `size` packed elements of a tile to where their digits start, and applies `decode` to the keys.
/// Neighbours with the same digit stay neighbours, so each digit is written as one run.
template <typename Shape, typename Bits, typename Value, typename DigitOf, typename Decode>
__device__ void storePacked(const TileStorage<Shape, Bits, Value>& storage, int size, DigitOf digit,
                            Elements<Bits, Value> to, Decode decode) {
    const auto store = [&](unsigned i) {
        const Bits key = storage.keys[i];
        const std::int64_t start = storage.starts[digit.of(key)];
        (to.keys + start)[i] = decode(key);
        if constexpr (hasValues<Value>) {
            (to.values + start)[i] = storage.values[i];
        }
    };
    if (size == Shape::elements) {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            store(row * Shape::threads + threadIdx.x);
        }
    } else {
        for (unsigned i = threadIdx.x; i < static_cast<unsigned>(size); i += Shape::threads) {
            store(i);
        }
    }
}

/// The same. Only the last pass decodes the keys.
template <typename Shape, typename Bits, typename Value, typename DigitOf, typename Coding>
__device__ void storePacked(const TileStorage<Shape, Bits, Value>& storage, int size, DigitOf digit,
                            Elements<Bits, Value> to, const Coding& coding, bool isLast) {
    if (!Coding::isIdentity && isLast) {
        storePacked(storage, size, digit, to, [&](const Bits& key) -> Bits { return coding.decode(key); });
    } else {
        storePacked(storage, size, digit, to, [](const Bits& key) -> Bits { return key; });
    }
}

}  // namespace StreamCompaction::Radix
