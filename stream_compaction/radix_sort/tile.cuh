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

/// A tile on its way through one pass of a radix sort: loaded, ranked by a digit, packed in order in shared memory.
namespace StreamCompaction::Radix {

/// Goes with keys that have no values.
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

/// An array of keys, as bits, and one of the values that go with them.
template <typename Bits, typename Value>
struct Elements {
    Bits* keys;
    Value* values;

    [[nodiscard]] __device__ Elements<const Bits, const Value> readOnly() const { return {keys, values}; }
};

/// Threads of a block and elements a thread.
template <int threadCount, int itemCount>
struct SortShape {
    static constexpr int threads = threadCount;
    static constexpr int items = itemCount;
    static constexpr int elements = threads * items;
};

/// A block's shared memory.
template <typename Shape, typename Bits, typename Value>
struct TileStorage {
    typename DigitRank<Shape::threads>::Storage ranks;
    std::int64_t starts[digitValues];  ///< where, for each digit, the tile's rank 0 would go
    Bits keys[Shape::elements];
    Value values[hasValues<Value> ? Shape::elements : 1];
};

/// This thread's place in a row of its warp. A warp owns consecutive rows of a tile, a row being an element a lane.
template <typename Shape>
[[nodiscard]] __device__ int placeIn(int row) {
    return (Warp::index() * Shape::items + row) * Warp::lanes + Warp::lane();
}

/// The value of the key at `index` of the input.
template <typename Value>
[[nodiscard]] __device__ Value ownIndex(std::size_t index) {
    return {static_cast<decltype(Value::index)>(index)};
}

/// Loads this thread's elements of a tile; `otherwise` past the end of it.
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

/// Loads this thread's values of the tile that starts at element `begin`. Where `isInput`, own indices are made
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

/// A tile's keys, in registers. Past the end of the tile lie the greatest keys there can be, which come out behind all
/// others, for they rank last among their equals.
template <typename Shape, typename Bits>
class TileKeys {
  public:
    [[nodiscard]] __device__ Bits operator[](int row) const { return keys_[row]; }

    __device__ void load(const Bits* keys, int size) { loadRows<Shape>(keys_, keys, size, greatest); }

    __device__ void loadAndEncode(const Bits* keys, int size, const KeyCoding<Bits>& coding) {
        loadRows<Shape>(keys_, keys, size, coding.decode(greatest));
#pragma unroll
        for (Bits& key : keys_) {
            key = coding.encode(key);
        }
    }

    __device__ void count(DigitRank<Shape::threads>& ranks, Digit digit) const {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            ranks.count(digit.of(keys_[row]));
        }
    }

    /// Puts every key in its place in shared memory, and remembers the place in its stead; calls `also(row, place)`.
    template <typename Value, typename Also>
    __device__ void pack(DigitRank<Shape::threads>& ranks, Digit digit, TileStorage<Shape, Bits, Value>& storage,
                         Also&& also) {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            places_[row] = ranks.next(digit.of(keys_[row]));
            storage.keys[places_[row]] = keys_[row];
            also(row, places_[row]);
        }
    }
    template <typename Value>
    __device__ void pack(DigitRank<Shape::threads>& ranks, Digit digit, TileStorage<Shape, Bits, Value>& storage) {
        pack(ranks, digit, storage, [](int, std::uint32_t) {});
    }

    /// Puts the values there, too.
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
    static constexpr Bits greatest = static_cast<Bits>(~Bits{0});

    Bits keys_[Shape::items];
    std::uint32_t places_[Shape::items];
};

/// Writes the packed elements of a tile, `size` of them, to where their digits start; `decode` is applied to the keys.
/// Neighbours with the same digit stay neighbours, so that writes are runs as long as the digit is frequent.
template <typename Shape, typename Bits, typename Value, typename Decode>
__device__ void storePacked(const TileStorage<Shape, Bits, Value>& storage, int size, Digit digit,
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

/// The same with the keys decoded if this is the last pass.
template <typename Shape, typename Bits, typename Value>
__device__ void storePacked(const TileStorage<Shape, Bits, Value>& storage, int size, Digit digit,
                            Elements<Bits, Value> to, const KeyCoding<Bits>& coding, bool isLast) {
    if (isLast) {
        storePacked(storage, size, digit, to, [&](Bits key) { return coding.decode(key); });
    } else {
        storePacked(storage, size, digit, to, [](Bits key) { return key; });
    }
}

}  // namespace StreamCompaction::Radix
