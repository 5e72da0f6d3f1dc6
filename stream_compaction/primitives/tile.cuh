#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/primitives/warp.cuh"

/// Tiles are the parts of an array that blocks work on. This header defines how a tile is laid out over the threads of
/// a block, read and written.
///
/// Each warp owns consecutive rows of the tile. A row has 32 vectors of up to 16 bytes, one per lane. The elements are
/// in the order (warp, row, lane, item). So each access of a warp to a row covers consecutive bytes, 16 per lane where
/// the pointer allows.
namespace StreamCompaction {

/// Whether the card has accesses of `bytes` bytes.
consteval bool isAccessSize(std::size_t bytes) { return std::has_single_bit(bytes) && bytes <= 16; }

/// Elements per vector: the number of elements of the largest type that fill 16 bytes. 1 if no access has the size of
/// one of the types.
template <typename... T>
inline constexpr int vectorLength = (isAccessSize(sizeof(T)) && ...) ? static_cast<int>(16 / std::max({sizeof(T)...}))
                                                                     : 1;

/// Consecutive elements, moved in one access if there is one of their size.
template <typename T, int length>
struct alignas(isAccessSize(sizeof(T) * length) ? sizeof(T) * length : alignof(T)) Vector {
    T items[length];
};

/// The machine type of an access of `bytes` bytes.
template <std::size_t bytes>
using AccessWord = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t,
                       std::conditional_t<bytes == 4, std::uint32_t, std::conditional_t<bytes == 8, uint2, uint4>>>>;

/// The widest machine word at whose addresses an array of T may begin.
template <typename T>
using AlignedWord = AccessWord<std::min<std::size_t>(alignof(T), 16)>;

/// A machine word that may alias objects of any type. The compiler must not conclude from the types that they are
/// different memory. MSVC, which ignores the attribute, never does.
template <typename Word>
struct [[gnu::may_alias]] AnyObject {
    Word word;
};

/// Copies a vector, in one access if there is one of its size. `from` and `to` are aligned to the vector.
template <typename T, int length>
__device__ void copyVector(Vector<T, length>* to, const Vector<T, length>* from) {
    if constexpr (isAccessSize(sizeof(Vector<T, length>))) {
        using Word = AnyObject<AccessWord<sizeof(Vector<T, length>)>>;
        *reinterpret_cast<Word*>(to) = *reinterpret_cast<const Word*>(from);
    } else {
        *to = *from;
    }
}

/// Whether vectors may be read from or written to the array in one access.
template <int length, typename T>
[[nodiscard]] __device__ bool isVectorAligned(const T* array) {
    return reinterpret_cast<std::uintptr_t>(array) % alignof(Vector<T, length>) == 0;
}

/// The number of elements before the first place at which a vector may begin, if there is one.
template <int length, typename T>
[[nodiscard]] __device__ std::size_t elementsBeforeVectors(const T* array) {
    constexpr std::size_t alignment = alignof(Vector<T, length>);
    return (0 - reinterpret_cast<std::uintptr_t>(array)) % alignment / sizeof(T);
}

/// A tile of an array, of `size` elements. `isWhole`: the tile is full, and its vectors are aligned.
template <typename T>
struct TileOf {
    T* elements;
    int size;
    bool isWhole;
};

/// Stores the elements of the vector that lie in the tile.
template <typename T, int length>
__device__ void storeVector(const TileOf<T>& tile, int at, const Vector<T, length>& vector) {
    if (tile.isWhole) {
        copyVector(reinterpret_cast<Vector<T, length>*>(tile.elements + at), &vector);
    } else {
#pragma unroll
        for (int i = 0; i < length; ++i) {
            if (at + i < tile.size) {
                tile.elements[at + i] = vector.items[i];
            }
        }
    }
}

/// How a tile is laid out over the threads of a block.
template <int threadCount, int rowCount, int length>
struct TileShape {
    static constexpr int threads = threadCount;
    static constexpr int warps = threads / Warp::lanes;
    static constexpr int rows = rowCount;
    static constexpr int vectorLength = length;
    static constexpr int vectors = threads * rows;
    static constexpr int elements = vectors * length;
    static constexpr bool isThreadwise = false;  ///< whether each thread owns consecutive elements

    /// The index in the tile of this thread's vector of row `row` of its warp.
    [[nodiscard]] __device__ static int vector(int row) {
        return (Warp::index() * rows + row) * Warp::lanes + Warp::lane();
    }
    /// The index in the tile of that vector's first element.
    [[nodiscard]] __device__ static int offset(int row) { return vector(row) * length; }

    [[nodiscard]] __device__ static std::size_t begin(int tile) { return static_cast<std::size_t>(tile) * elements; }

    /// The index in the array of the first element of this warp's part of the tile.
    [[nodiscard]] __device__ static std::size_t beginOfWarp(int tile) {
        return begin(tile) + Warp::index() * rows * Warp::lanes * length;
    }

    /// The number of tiles of an array of n elements.
    [[nodiscard]] __device__ static int tilesOf(std::size_t n) {
        return static_cast<int>((n + elements - 1) / elements);
    }

    /// The number of elements of tile `tile` of an array of n elements.
    [[nodiscard]] __device__ static int sizeOf(int tile, std::size_t n) {
        return static_cast<int>(min(n - begin(tile), std::size_t{elements}));
    }

    /// Tile `tile` of an array of n elements.
    template <typename T>
    [[nodiscard]] __device__ static TileOf<T> tileOf(T* array, int tile, std::size_t n) {
        const int size = sizeOf(tile, n);
        return {array + begin(tile), size, size == elements && isVectorAligned<length>(array)};
    }
};

/// A tile of which each thread owns consecutive elements, for algorithms that walk through them one by one. The rows of
/// a thread are its vectors. Their number is odd, so threads that read theirs from shared memory use different banks.
template <int threadCount, int vectorsPerThread, int length>
struct ThreadwiseShape : TileShape<threadCount, vectorsPerThread, length> {
    static_assert(vectorsPerThread % 2 == 1);

    static constexpr bool isThreadwise = true;
    static constexpr int elementsPerThread = vectorsPerThread * length;

    [[nodiscard]] __device__ static int vector(int row) {
        return static_cast<int>(threadIdx.x) * vectorsPerThread + row;
    }
    [[nodiscard]] __device__ static int offset(int row) { return vector(row) * length; }
};

/// A tile of one warp.
template <int rowCount, int length>
struct WarpShape : TileShape<Warp::lanes, rowCount, length> {
    [[nodiscard]] __device__ static int vector(int row) { return row * Warp::lanes + Warp::lane(); }
    [[nodiscard]] __device__ static int offset(int row) { return vector(row) * length; }
};

/// Loads this thread's vector of each row. Places past the end of the tile repeat its last element. The branches are
/// outside the loops: inside, the loads of one row would wait for those of the row before.
template <typename Shape, typename T>
__device__ void loadRows(Vector<T, Shape::vectorLength> (&rows)[Shape::rows], const TileOf<const T>& tile) {
    constexpr int length = Shape::vectorLength;
    const auto* const vectors = reinterpret_cast<const Vector<T, length>*>(tile.elements);
    const int whole = tile.size / length;  // vectors
    if (tile.isWhole) {
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            copyVector(&rows[row], vectors + Shape::vector(row));
        }
    } else if (Shape::rows <= 4 && whole > 0 && isVectorAligned<length>(tile.elements)) {
        // The few elements after the last whole vector are loaded by every thread, beside its vectors. With more rows,
        // registers would spill.
        Vector<T, length> rest;
#pragma unroll
        for (int i = 0; i < length; ++i) {
            rest.items[i] = tile.elements[min(whole * length + i, tile.size - 1)];
        }
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            copyVector(&rows[row], vectors + min(Shape::vector(row), whole - 1));
        }
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            if (Shape::vector(row) >= whole) {
#pragma unroll
                for (int i = 0; i < length; ++i) {
                    rows[row].items[i] = Shape::vector(row) == whole ? rest.items[i] : rest.items[length - 1];
                }
            }
        }
    } else {
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
#pragma unroll
            for (int i = 0; i < Shape::vectorLength; ++i) {
                rows[row].items[i] = tile.elements[min(Shape::offset(row) + i, tile.size - 1)];
            }
        }
    }
}

/// Calls `visit(element)` for each of n elements, in no order. The teams take turns at tiles of vectors; by default
/// each block is one. The vectors begin where they are aligned. A thread first loads all its vectors of a tile. The few
/// elements before and behind the vectors are loaded singly, and so are all if no vector is aligned.
template <typename Shape, typename T, typename Visit>
__device__ void forEachElement(const T* elements, std::size_t n, Visit&& visit, unsigned team = blockIdx.x,
                               unsigned teams = gridDim.x) {
    constexpr int length = Shape::vectorLength;
    using Row = Vector<T, length>;
    const std::size_t head = min(n, elementsBeforeVectors<length>(elements));
    const std::size_t vectors = isVectorAligned<length>(elements + head) ? (n - head) / length : 0;
    const auto* const from = reinterpret_cast<const Row*>(elements + head);
    for (std::size_t first = std::size_t{team} * Shape::vectors; first < vectors;
         first += std::size_t{teams} * Shape::vectors) {
        const int here = static_cast<int>(min(vectors - first, std::size_t{Shape::vectors}));
        Row rows[Shape::rows];
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            if (const int i = row * Shape::threads + static_cast<int>(threadIdx.x); i < here) {
                copyVector(&rows[row], from + first + i);
            }
        }
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            if (row * Shape::threads + static_cast<int>(threadIdx.x) < here) {
#pragma unroll
                for (int i = 0; i < length; ++i) {
                    visit(rows[row].items[i]);
                }
            }
        }
    }
    const std::size_t inVectors = vectors * length;
#pragma unroll 1
    for (std::size_t i = std::size_t{team} * Shape::threads + threadIdx.x; i < n - inVectors;
         i += std::size_t{teams} * Shape::threads) {
        visit(elements[i < head ? i : i + inVectors]);
    }
}

/// Shared memory for `n` objects of type T. No constructor is called.
template <typename T, int n>
struct SharedArray {
    [[nodiscard]] __device__ T* data() { return reinterpret_cast<T*>(bytes); }

    alignas(std::max<std::size_t>(alignof(T), 8)) std::byte bytes[n * sizeof(T)];
};

}  // namespace StreamCompaction
