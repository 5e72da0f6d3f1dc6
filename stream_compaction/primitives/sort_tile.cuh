#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/primitives/digit_rank.cuh"
#include "stream_compaction/primitives/key_coding.cuh"
#include "stream_compaction/primitives/packed_registers.cuh"
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
    /// Those behind the first `count` ones.
    [[nodiscard]] __device__ Elements behind(std::size_t count) const {
        return {keys + count, values == nullptr ? nullptr : values + count};
    }
};

/// Threads per block and elements per thread.
template <int threadCount, int itemCount>
struct SortShape {
    static constexpr int threads = threadCount;
    static constexpr int items = itemCount;
    static constexpr int elements = threads * items;
};

/// The tables of a ranking and the packed keys. The counts take no memory of their own: ranks of 32 bits replace them,
/// and beside ranks of 16 bits the keys do. Keys, and values below, are aligned for copyRun().
template <typename Shape, typename Bits, typename Rank>
struct RankedKeys {
    using Ranks = DigitRank<Shape::threads, Rank>;
    static_assert(Shape::elements <= 0xffff && sizeof(Rank) == 2);

    typename Ranks::Storage ranks;
    union {
        typename Ranks::Counts counts;
        alignas(16) Bits keys[Shape::elements];
    };
};
template <typename Shape, typename Bits>
struct RankedKeys<Shape, Bits, std::uint32_t> {
    using Ranks = DigitRank<Shape::threads, std::uint32_t>;

    union {
        typename Ranks::Storage ranks;
        typename Ranks::Counts counts;
    };
    alignas(16) Bits keys[Shape::elements];
};

/// The shared memory of a block. The key with digit d and rank r in the tile goes to keyRuns[d] + r, and its value to
/// valueRuns[d] + r.
template <typename Shape, typename Bits, typename Value, typename Rank = std::uint32_t>
struct TileStorage : RankedKeys<Shape, Bits, Rank> {
    Bits* keyRuns[digitValues];
    Value* valueRuns[hasValues<Value> ? digitValues : 1];
    alignas(16) Value values[hasValues<Value> ? Shape::elements : 1];

    /// The element with this digit and rank r goes to to[start + r].
    __device__ void setRun(int digit, const Elements<Bits, Value>& to, std::int64_t start) {
        keyRuns[digit] = to.keys + start;
        if constexpr (hasValues<Value>) {
            valueRuns[digit] = to.values + start;
        }
    }
};

/// The compiler learns where the pointer leads, so that it reads shared memory ahead of stores.
template <typename T>
[[nodiscard]] __device__ T* inGlobalMemory(T* pointer) {
    if constexpr (std::is_unsigned_v<T>) {  // nvcc cannot compile it for pointers to structs
        __builtin_assume(__isGlobal(pointer));
    }
    return pointer;
}

/// The runs that are stored by lines of memory instead of rows: none.
struct NoLines {
    __device__ void clear() {}
    template <typename T>
    [[nodiscard]] static __device__ bool has(const T* /*run*/) {
        return false;
    }
    template <typename T>
    __device__ void add(const T* /*run*/, int /*digit*/, int /*begin*/, int /*end*/) {}
    template <typename T, typename Decode>
    __device__ void store(T* const* /*runs*/, const T* /*elements*/, Decode /*decode*/) const {}
};

/// The memory of a block that stores its keys before it loads its values. Both use the same, so a tile holds as many
/// elements as a tile of keys alone.
///
/// The compiler does not learn where the pointers lead. So it stores a key before it reads the next one, which spreads
/// the accesses to shared memory over time. The other block of the multiprocessor waits less for its own.
///
/// `Lines` are NoLines, or list what is stored by lines (distributed/far_lines.cuh).
template <typename Shape, typename Bits, typename Value, typename Lines = NoLines>
struct PassStorage {
    using Ranks = DigitRank<Shape::threads, std::uint16_t>;
    static_assert(Shape::elements <= 0xffff);

    typename Ranks::Storage ranks;
    Lines lines;
    int tile;
    union {
        Bits* keyRuns[digitValues];
        Value* valueRuns[digitValues];
    };
    union {
        typename Ranks::Counts counts;
        Bits keys[Shape::elements];
        Value values[hasValues<Value> ? Shape::elements : 1];
    };
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

/// Loads this thread's elements in the rows [first, last) of a tile. Past the end of the tile they are `otherwise`. The
/// compiler has to know the rows.
template <typename Shape, typename T>
__device__ void loadRows(T* rows, int first, int last, const T* elements, int size, T otherwise) {
    if (size == Shape::elements) {
#pragma unroll
        for (int row = first; row < last; ++row) {
            rows[row - first] = elements[placeIn<Shape>(row)];
        }
    } else {
#pragma unroll
        for (int row = first; row < last; ++row) {
            rows[row - first] = placeIn<Shape>(row) < size ? elements[placeIn<Shape>(row)] : otherwise;
        }
    }
}
template <typename Shape, typename T>
__device__ void loadRows(T (&rows)[Shape::items], const T* elements, int size, T otherwise) {
    loadRows<Shape>(rows, 0, Shape::items, elements, size, otherwise);
}

/// Calls load(first, last) and then use(first, last) for all rows of a tile, a batch at a time. The next batch is in
/// flight while one is used. If a tile has many rows, all of them at once take no less time, and the accesses of other
/// warps to shared memory wait behind them.
template <int batch, int rows, typename Load, typename Use>
__device__ void forEachBatch(Load load, Use use) {
    load(0, min(batch, rows));
#pragma unroll
    for (int first = 0; first < rows; first += batch) {
        const int next = min(first + batch, rows);
        if (next < rows) {
            load(next, min(next + batch, rows));
        }
        use(first, next);
        __syncwarp();  // the compiler would otherwise load all rows first
    }
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

    /// The bits in which any key of this thread is not as `key`.
    [[nodiscard]] __device__ Bits differingFrom(Bits key) const {
        Bits differing = 0;
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            differing |= placeIn<Shape>(row) < size_ ? keys_[row] ^ key : Bits{0};
        }
        return differing;
    }

    template <typename Ranks, typename DigitOf>
    __device__ void count(Ranks& ranks, const DigitOf& digit) const {
        countRows(0, Shape::items, ranks, digit);
    }

    /// The number of places past the end that are counted as keys with this digit.
    template <typename DigitOf>
    [[nodiscard]] __device__ std::uint32_t countedPastTheEnd(const DigitOf& digit, std::uint32_t value) const {
        return value == digitPastTheEnd(digit) ? Shape::elements - size_ : 0;
    }

    /// Loads, encodes and counts the keys.
    template <typename Coding, typename Ranks, typename DigitOf>
    __device__ void loadAndCount(const Bits* keys, int size, const Coding& coding, Ranks& ranks, const DigitOf& digit) {
        size_ = size;
        const Bits otherwise = coding.decode(greatest());
        const auto load = [&](int first, int last) {
            loadRows<Shape>(keys_ + first, first, last, keys, size, otherwise);
        };
        const auto encodeAndCount = [&](int first, int last) {
#pragma unroll
            for (int row = first; row < last; ++row) {
                keys_[row] = coding.encode(keys_[row]);
            }
            countRows(first, last, ranks, digit);
        };
        forEachBatch<8, Shape::items>(load, encodeAndCount);
    }

    /// Puts every key in its place in shared memory and remembers the place. Calls `also(row, place)` for each row.
    template <typename Ranks, typename DigitOf, typename Storage, typename Also>
    __device__ void pack(Ranks& ranks, const DigitOf& digit, Storage& storage, Also&& also) {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            const std::uint32_t place = ranks.next(digitIn(row, digit));
            storage.keys[place] = keys_[row];
            also(row, place);
            places_.set(row, place);
        }
    }
    template <typename Ranks, typename DigitOf, typename Storage>
    __device__ void pack(Ranks& ranks, const DigitOf& digit, Storage& storage) {
        pack(ranks, digit, storage, [](int, std::uint32_t) {});
    }

    /// Puts the values in the places of their keys.
    template <typename Value, typename Storage>
    __device__ void packValues(const Value (&values)[Shape::items], Storage& storage) const {
        if constexpr (hasValues<Value>) {
#pragma unroll
            for (int row = 0; row < Shape::items; ++row) {
                storage.values[places_[row]] = values[row];
            }
        }
    }

    /// Puts the values of the tile, which begins at element `begin`, in the places of their keys. If `isInput`, own
    /// indices are generated. Other values are loaded.
    template <typename Value, typename Storage>
    __device__ void loadAndPackValues(const Value* values, std::size_t begin, [[maybe_unused]] bool isInput,
                                      Storage& storage) const {
        if constexpr (isOwnIndex<Value>) {
            if (isInput) {
#pragma unroll
                for (int row = 0; row < Shape::items; ++row) {
                    storage.values[places_[row]] = ownIndex<Value>(begin + placeIn<Shape>(row));
                }
                return;
            }
        }
        constexpr int most = static_cast<int>(20 / Common::greater(sizeof(Value), sizeof(std::uint32_t)));
        constexpr int batch = Shape::items > 16 ? most : Shape::items;
        Value rows[2][batch];
        const auto load = [&](int first, int last) {
            loadRows<Shape>(rows[first / batch % 2], first, last, values + begin, size_, Value{});
        };
        const auto pack = [&](int first, int last) {
#pragma unroll
            for (int row = first; row < last; ++row) {
                storage.values[places_[row]] = rows[first / batch % 2][row - first];
            }
        };
        forEachBatch<batch, Shape::items>(load, pack);
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
    [[nodiscard]] static __device__ std::uint32_t digitPastTheEnd(const DigitOf& digit) {
        if constexpr (greatestKeyIsLast<DigitOf>) {
            return digit.of(greatest());
        } else {
            return digitValues - 1;
        }
    }

    template <typename DigitOf>
    [[nodiscard]] __device__ std::uint32_t digitIn(int row, const DigitOf& digit) const {
        if constexpr (greatestKeyIsLast<DigitOf>) {
            return digit.of(keys_[row]);
        } else {
            return placeIn<Shape>(row) < size_ ? digit.of(keys_[row]) : digitPastTheEnd(digit);
        }
    }

    template <typename Ranks, typename DigitOf>
    __device__ void countRows(int first, int last, Ranks& ranks, const DigitOf& digit) const {
#pragma unroll
        for (int row = first; row < last; ++row) {
            ranks.count(digitIn(row, digit));
        }
    }

    int size_;
    Bits keys_[Shape::items];
    /// Two per register if there are many.
    PackedRegisters<std::conditional_t<(Shape::items > 16), std::uint16_t, std::uint32_t>, Shape::items> places_;
};

/// Calls store(row) for each packed element of this thread, one per row of the block.
template <typename Shape, typename Store>
__device__ void forEachPacked(int size, Store store) {
    if (size == Shape::elements) {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            store(row);
        }
    } else {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            if (row * Shape::threads + static_cast<int>(threadIdx.x) < size) {
                store(row);
            }
        }
    }
}

/// The digit of this thread's packed element of each row.
template <typename Shape>
using StoredDigits = PackedRegisters<std::uint8_t, Shape::items>;

/// Writes the packed keys of a tile to where their digits go, applies `decode` to them, and returns their digits.
/// Neighbours with the same digit stay neighbours, so each digit is written as one run.
template <typename Shape, typename Storage, typename DigitOf, typename Decode>
[[nodiscard]] __device__ StoredDigits<Shape> storeKeys(const Storage& storage, int size, const DigitOf& digit,
                                                       Decode decode) {
    storage.lines.store(storage.keyRuns, storage.keys, decode);
    StoredDigits<Shape> digits;
    forEachPacked<Shape>(size, [&](int row) {
        const auto key = (storage.keys + threadIdx.x)[row * Shape::threads];
        const std::uint32_t digitOfKey = digit.of(key);
        auto* const run = storage.keyRuns[digitOfKey];
        if (!storage.lines.has(run)) {
            (run + threadIdx.x)[row * Shape::threads] = decode(key);
        }
        digits.set(row, digitOfKey);
    });
    return digits;
}

/// Writes the packed values to where their digits go.
template <typename Shape, typename Storage>
__device__ void storeValues(const Storage& storage, int size, const StoredDigits<Shape>& digits) {
    storage.lines.store(storage.valueRuns, storage.values, [](const auto& value) { return value; });
    const int rows = (size - static_cast<int>(threadIdx.x) + Shape::threads - 1) / Shape::threads;
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
        if (row < rows) {
            auto* const run = storage.valueRuns[digits[row]];
            if (!storage.lines.has(run)) {
                (run + threadIdx.x)[row * Shape::threads] = (storage.values + threadIdx.x)[row * Shape::threads];
            }
        }
    }
}

/// Writes the packed elements of a tile, keys and values.
template <typename Shape, typename Bits, typename Value, typename Rank, typename DigitOf, typename Decode>
__device__ void storePacked(const TileStorage<Shape, Bits, Value, Rank>& storage, int size, const DigitOf& digit,
                            Decode decode) {
    forEachPacked<Shape>(size, [&](int row) {
        const Bits key = (storage.keys + threadIdx.x)[row * Shape::threads];
        const std::uint32_t digitOfKey = digit.of(key);
        (inGlobalMemory(storage.keyRuns[digitOfKey]) + threadIdx.x)[row * Shape::threads] = decode(key);
        if constexpr (hasValues<Value>) {
            (inGlobalMemory(storage.valueRuns[digitOfKey]) + threadIdx.x)[row * Shape::threads] =
                (storage.values + threadIdx.x)[row * Shape::threads];
        }
    });
}

/// Calls store(decode), which returns keys if `decodes`, and otherwise codes.
template <typename Coding, typename Store>
__device__ auto storeCoded(const Coding& coding, bool decodes, Store store) {
    if (!Coding::isIdentity && decodes) {
        return store([&](const auto& key) { return coding.decode(key); });
    }
    return store([](const auto& key) { return key; });
}

/// The value of the element that was at `index` behind `begin` of the input. Own indices may have no array.
template <typename Value>
[[nodiscard]] __device__ Value originalValue(const Value* values, std::size_t begin, std::size_t index) {
    if constexpr (isOwnIndex<Value>) {
        return values == nullptr ? ownIndex<Value>(index) : values[begin + index];
    } else {
        return values[begin + index];
    }
}

}  // namespace StreamCompaction::Radix
