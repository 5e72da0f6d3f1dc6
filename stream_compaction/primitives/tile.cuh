#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/primitives/bulk_copy.cuh"
#include "stream_compaction/primitives/warp.cuh"

/// Tiles: the parts of an array that a block works on, how they are laid out over its threads, loaded and stored.
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

/// A block's tile on its way into shared memory: one thread starts it, all finish it. What the copy engine can take
/// comes by bulk copy: of an array aligned to 16 bytes all but the last few bytes, where the card has such an engine.
/// The rest goes through registers, in `finish`.
///
/// `room` is the shared memory to reserve, for those who have another use for it behind the tile.
template <typename T, typename Shape, std::size_t room = Shape::elements * sizeof(T)>
class TileLoader {
  public:
    using Row = Vector<T, Shape::vectorLength>;

    struct Storage {
        alignas(128) std::byte elements[std::max(room, Shape::elements * sizeof(T))];
        BulkCopy copy;
    };

    /// By all threads of the block, for there is a barrier in it.
    __device__ TileLoader(Storage& storage, const T* in, std::size_t n) : storage_(storage), in_(in), n_(n) {
        if (threadIdx.x == 0) {
            storage_.copy.initialize();
        }
        __syncthreads();
    }

    /// By one thread.
    __device__ void start(int tile) {
        if (const unsigned bytes = bytesInBulk(tile); bytes > 0) {
            storage_.copy.start(storage_.elements, in_ + Shape::begin(tile), bytes);
        }
    }

    /// By all threads, after a barrier behind `start`; returns once all of the tile is there.
    __device__ void finish(int tile) {
        const unsigned bytes = bytesInBulk(tile);
        if (bytes > 0) {
            storage_.copy.wait(0);
        }
        if (bytes < Shape::elements * sizeof(T)) {
            loadByThreads(Shape::tileOf(in_, tile, n_), static_cast<int>(bytes / sizeof(T)));
        }
    }

    [[nodiscard]] __device__ Row row(int row) const {
        Row vector;
        copyVector(&vector, reinterpret_cast<const Row*>(storage_.elements) + Shape::vector(row));
        return vector;
    }

    /// The tile's memory, free for other use once it has been read.
    [[nodiscard]] __device__ std::byte* memory() const { return storage_.elements; }

  private:
    [[nodiscard]] __device__ unsigned bytesInBulk(int tile) const {
        const bool isAligned = reinterpret_cast<std::uintptr_t>(in_) % BulkCopy::alignment == 0;
        const auto bytes = static_cast<unsigned>(Shape::tileOf(in_, tile, n_).size * sizeof(T));
        return BulkCopy::isAvailable() && isAligned ? bytes / BulkCopy::alignment * BulkCopy::alignment : 0;
    }

    /// From element `first` of the tile on; in place of elements past the end of the array the last one.
    __device__ void loadByThreads(const TileOf<const T>& tile, int first) {
        if (tile.isWhole && !BulkCopy::isAvailable()) {
            auto* const rows = reinterpret_cast<Row*>(storage_.elements);
            for (int i = static_cast<int>(threadIdx.x); i < Shape::vectors; i += Shape::threads) {
                copyVector(rows + i, reinterpret_cast<const Row*>(tile.elements) + i);
            }
        } else {
            auto* const elements = reinterpret_cast<T*>(storage_.elements);
#pragma unroll 4
            for (int i = first + static_cast<int>(threadIdx.x); i < Shape::elements; i += Shape::threads) {
                elements[i] = tile.elements[min(i, tile.size - 1)];
            }
        }
        __syncthreads();
    }

    Storage& storage_;
    const T* in_;
    std::size_t n_;
};

/// The 16 bytes from byte `shift` of two vectors that follow one another; shift < 16.
[[nodiscard]] __device__ inline uint4 shiftVector(const uint4& low, const uint4& high, int shift) {
    uint4 a = low;
    uint4 b = high;
    if ((shift & 8) != 0) {
        a = {a.z, a.w, b.x, b.y};
        b = {b.z, b.w, 0, 0};
    }
    if ((shift & 4) != 0) {
        a = {a.y, a.z, a.w, b.x};
        b.x = b.y;
    }
    const int bits = (shift & 3) * 8;
    return {__funnelshift_r(a.x, a.y, bits), __funnelshift_r(a.y, a.z, bits), __funnelshift_r(a.z, a.w, bits),
            __funnelshift_r(a.w, b.x, bits)};
}

/// Copies a run of elements from shared to global memory, by all threads of the block. Whatever the alignment of
/// either, global memory is written in aligned vectors of 16 bytes, each cut out of two vectors of shared memory; only
/// the ends, whose vectors belong to other runs as well, go in smaller pieces. `shared` is aligned to 16 bytes; the run
/// begins at its element `first`.
template <typename T>
__device__ void copyRun(T* to, const std::byte* shared, unsigned first, unsigned count) {
    using Unit = AccessWord<std::min<std::size_t>(alignof(T), 16)>;
    constexpr int width = sizeof(uint4);
    const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % width);  // bytes before the run
    const int end = lead + static_cast<int>(count * sizeof(T));
    const int from = static_cast<int>(first * sizeof(T)) - lead;
    std::byte* const out = reinterpret_cast<std::byte*>(to) - lead;

    for (int at = static_cast<int>(threadIdx.x) * width; at < end; at += static_cast<int>(blockDim.x) * width) {
        if (at >= lead && at + width <= end) {
            const int shift = from & (width - 1);
            const auto* source = reinterpret_cast<const uint4*>(shared + (from + at - shift));
            *reinterpret_cast<uint4*>(out + at) = shift == 0 ? source[0] : shiftVector(source[0], source[1], shift);
        } else {
            const int last = min(at + width, end);
            for (int i = max(at, lead); i < last; i += static_cast<int>(sizeof(Unit))) {
                *reinterpret_cast<Unit*>(out + i) = *reinterpret_cast<const Unit*>(shared + (from + i));
            }
        }
    }
}

}  // namespace StreamCompaction
