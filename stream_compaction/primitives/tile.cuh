#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/primitives/warp.cuh"

/// Tiles: the parts of an array that a block works on, how they are laid out over its threads, read and written.
///
/// A warp owns consecutive rows of the tile, a row being 32 vectors of up to 16 bytes, one a lane: (warp, row, lane,
/// item) is the order of the elements. So each access of a warp to a row covers consecutive bytes, in 16-byte pieces
/// where the pointer allows.
namespace StreamCompaction {

/// Whether accesses of so many bytes exist.
constexpr bool isAccessSize(std::size_t bytes) { return std::has_single_bit(bytes) && bytes <= 16; }

/// Elements a vector: as many of the largest of the types as make 16 bytes; one, where a size is odd.
template <typename... T>
inline constexpr int vectorLength = (isAccessSize(sizeof(T)) && ...) ? static_cast<int>(16 / std::max({sizeof(T)...}))
                                                                     : 1;

/// Consecutive elements, moved in one access where there is one of their size.
template <typename T, int length>
struct alignas(isAccessSize(sizeof(T) * length) ? sizeof(T) * length : alignof(T)) Vector {
    T items[length];
};

/// The machine type of an access of so many bytes.
template <std::size_t bytes>
using AccessWord = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t,
                       std::conditional_t<bytes == 4, std::uint32_t, std::conditional_t<bytes == 8, uint2, uint4>>>>;

/// A machine word in memory that holds objects of any type: the compiler must not tell the two apart by their types.
template <typename Word>
struct [[gnu::may_alias]] AnyObject {
    Word word;
};

/// Copies a vector in one access; `from` and `to` are aligned to it.
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

/// A tile of an array: `size` elements, in aligned vectors when `isWhole`.
template <typename T>
struct TileOf {
    T* elements;
    int size;
    bool isWhole;
};

/// The vector at element `at`; in place of elements past the end of the tile its last one.
template <int length, typename T>
[[nodiscard]] __device__ Vector<T, length> loadVector(const TileOf<const T>& tile, int at) {
    Vector<T, length> vector;
    if (tile.isWhole) {
        copyVector(&vector, reinterpret_cast<const Vector<T, length>*>(tile.elements + at));
    } else {
#pragma unroll
        for (int i = 0; i < length; ++i) {
            vector.items[i] = tile.elements[min(at + i, tile.size - 1)];
        }
    }
    return vector;
}

/// Stores those of the vector's elements that lie in the tile.
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

/// How a tile lies over the threads of a block.
template <int threadCount, int rowCount, int length>
struct TileShape {
    static constexpr int threads = threadCount;
    static constexpr int warps = threads / Warp::lanes;
    static constexpr int rows = rowCount;
    static constexpr int vectorLength = length;
    static constexpr int vectors = threads * rows;
    static constexpr int elements = vectors * length;

    /// This thread's vector of a row of its warp, among the vectors of the tile.
    [[nodiscard]] __device__ static int vector(int row) {
        return (Warp::index() * rows + row) * Warp::lanes + Warp::lane();
    }
    /// The first element of that vector within the tile.
    [[nodiscard]] __device__ static int offset(int row) { return vector(row) * length; }

    [[nodiscard]] __device__ static std::size_t begin(int tile) { return static_cast<std::size_t>(tile) * elements; }

    /// Elements of tile number `tile` of n elements.
    [[nodiscard]] __device__ static int sizeOf(int tile, std::size_t n) {
        return static_cast<int>(min(n - begin(tile), std::size_t{elements}));
    }

    /// Tile number `tile` of an array of n elements.
    template <typename T>
    [[nodiscard]] __device__ static TileOf<T> tileOf(T* array, int tile, std::size_t n) {
        const int size = sizeOf(tile, n);
        return {array + begin(tile), size, size == elements && isVectorAligned<length>(array)};
    }
};

/// Shared memory that objects of any type may be put in.
template <typename T, int n>
struct SharedArray {
    [[nodiscard]] __device__ T* data() { return reinterpret_cast<T*>(bytes); }

    alignas(std::max<std::size_t>(alignof(T), 8)) std::byte bytes[n * sizeof(T)];
};

}  // namespace StreamCompaction
