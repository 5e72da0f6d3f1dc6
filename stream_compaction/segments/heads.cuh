#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/warp.cuh"

namespace StreamCompaction {

/// Segments of an array of n elements, by offsets; see `segmentsAt`.
template <typename Offset>
struct SegmentsAt {
    const Offset* begins;  ///< in device memory
    std::size_t count;     ///< of offsets
};

/// The segments that begin at the elements begins[0], begins[1] and so on, as the rows of a matrix in CSR do. `begins`
/// is an ascending array of `count` integers in device memory. Equal neighbours stand for empty segments. Elements
/// before begins[0] are a segment, too. Offsets of n or more begin no segment, so a number of segments that only the
/// device knows can be rounded up on the host.
template <typename Offset>
[[nodiscard]] SegmentsAt<Offset> segmentsAt(const Offset* begins, std::size_t count) {
    return {begins, count};
}

/// Offsets stand for themselves, as sources do.
template <typename Offset>
[[nodiscard]] SegmentsAt<Offset> sourceOf(const SegmentsAt<Offset>& segments) {
    return segments;
}

}  // namespace StreamCompaction

/// Heads, the first elements of segments.
namespace StreamCompaction::Segments {

/// The memory of the offsets.
template <typename Offset>
[[nodiscard]] Arguments::Region arrayOf(const SegmentsAt<Offset>& segments) {
    return Arguments::array("begins", segments.begins, segments.count);
}

/// The number of offsets below `bound`, in every lane. `sorted` is an ascending array of n offsets. Called by all lanes
/// of a warp. Each step looks at the ends of 32 parts of what is left, so log32(n) steps are enough.
template <typename Offset>
[[nodiscard]] __device__ std::size_t countBelow(const Offset* sorted, std::size_t n, std::size_t bound) {
    std::size_t below = 0;
    std::size_t left = n;
    while (left > 0) {
        const std::size_t part = (left + Warp::lanes - 1) / Warp::lanes;
        const std::size_t end = min(part * (Warp::lane() + 1), left);
        const bool isBelow = static_cast<std::size_t>(sorted[below + end - 1]) < bound;
        const std::size_t wholeParts = min(part * __popc(__ballot_sync(Warp::allLanes, isBelow)), left);
        below += wholeParts;
        left = left == wholeParts ? 0 : min(part, left - wholeParts) - 1;
    }
    return below;
}

/// Whether a segment begins at each element of a tile: one bit per element, in shared memory, because registers are
/// scarce. The bits of a vector are in one word, and those of its neighbours in other words. So threads that mark heads
/// near each other seldom wait for one another, and those of a warp read their words without bank conflicts.
template <typename Shape>
class HeadBits {
  public:
    /// Whether the elements of this thread's vector of a row are heads.
    [[nodiscard]] __device__ auto row(int row) const {
        const std::uint32_t bits = words_[wordOf(Shape::vector(row))] >> shiftOf(Shape::vector(row));
        Vector<bool, Shape::vectorLength> areHeads;
#pragma unroll
        for (int i = 0; i < Shape::vectorLength; ++i) {
            areHeads.items[i] = (bits >> i & 1) != 0;
        }
        return areHeads;
    }

    /// Marks the heads by flags, a source whose elements convert to bool. Called by all threads of the block. Contains
    /// barriers.
    template <typename Flags>
    __device__ void markAll(const Flags& flags, int tile, std::size_t n) {
        const RegisterTile<Flags, Shape> flagsOfTile(flags, tile, n);
        clear();
        __syncthreads();
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            const auto vector = flagsOfTile.row(row);
            std::uint32_t bits = 0;
#pragma unroll
            for (int i = 0; i < Shape::vectorLength; ++i) {
                bits |= static_cast<std::uint32_t>(static_cast<bool>(vector.items[i])) << i;
            }
            mark(Shape::vector(row), bits);
        }
        __syncthreads();
    }

    /// Marks the heads by offsets. One warp searches for the first offset in the tile. The threads read the offsets in
    /// batches, because a load behind an atomic operation waits for it.
    template <typename Offset>
    __device__ void markAll(const SegmentsAt<Offset>& segments, int tile, std::size_t n) {
        constexpr int batch = 4;
        __shared__ std::size_t first;
        const std::size_t begin = Shape::begin(tile);
        if (Warp::index() == 0) {
            const std::size_t before = countBelow(segments.begins, segments.count, begin);
            if (threadIdx.x == 0) {
                first = before;
            }
        }
        clear();
        __syncthreads();
        const auto size = static_cast<std::size_t>(Shape::sizeOf(tile, n));
        for (std::size_t at = first + threadIdx.x; at < segments.count; at += batch * Shape::threads) {
            Offset offsets[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                offsets[i] = segments.begins[min(at + i * Shape::threads, segments.count - 1)];
            }
            std::size_t place = 0;
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                place = static_cast<std::size_t>(offsets[i]) - begin;
                if (place < size) {
                    mark(static_cast<int>(place / Shape::vectorLength), 1u << place % Shape::vectorLength);
                }
            }
            if (place >= size) {
                break;
            }
        }
        __syncthreads();
    }

  private:
    static constexpr int words = Shape::elements / 32;

    [[nodiscard]] __device__ static int wordOf(int vector) { return vector % words; }
    [[nodiscard]] __device__ static int shiftOf(int vector) { return vector / words * Shape::vectorLength; }

    __device__ void clear() {
        __shared__ std::uint32_t memory[words];
        words_ = memory;
        for (int word = static_cast<int>(threadIdx.x); word < words; word += Shape::threads) {
            words_[word] = 0;
        }
    }

    __device__ void mark(int vector, std::uint32_t bits) {
        if (bits != 0) {
            atomicOr(&words_[wordOf(vector)], bits << shiftOf(vector));
        }
    }

    std::uint32_t* words_;
};

/// The heads of a tile as bits.
template <typename Heads, typename Shape>
struct MarkedHeads : HeadBits<Shape> {
    /// Called by all threads of the block. Contains barriers.
    __device__ MarkedHeads(const Heads& heads, int tile, std::size_t n) { this->markAll(heads, tile, n); }
};

/// A loader of heads as bits, used as a SourceLoader is.
template <typename Heads, typename Shape>
class MarkedHeadLoader : public HeadBits<Shape> {
  public:
    /// The bits have memory of their own.
    struct Storage {};

    /// Of an array of n elements.
    __device__ MarkedHeadLoader(Storage& /*storage*/, const Heads& heads, const std::size_t& n)
        : heads_(heads), n_(n) {}
    /// Does nothing.
    __device__ void start(int /*tile*/) {}
    /// Called by all threads of the block. Contains barriers.
    __device__ void finish(int tile) { this->markAll(heads_, tile, n_); }

  private:
    const Heads& heads_;
    const std::size_t& n_;
};

/// Whether heads are an array of bytes, or a function of one. The bytes are loaded as they are, because they need
/// little room.
template <typename Heads>
inline constexpr bool areBytes = false;
/// The same of a source that reads an array.
template <typename Heads>
requires readsArray<Heads>
inline constexpr bool areBytes<Heads> = sizeof(Stored<Heads>) == 1;

/// The heads of a tile, in registers or as bits.
template <typename Heads, typename Shape>
using RegisterHeads = std::conditional_t<areBytes<Heads>, RegisterTile<Heads, Shape>, MarkedHeads<Heads, Shape>>;
/// What loads the heads of a tile into shared memory. The room is written out because offsets have no elements that are
/// stored.
template <typename Heads, typename Shape>
using HeadLoader =
    std::conditional_t<areBytes<Heads>, SourceLoader<Heads, Shape, static_cast<std::size_t>(Shape::elements)>,
                       MarkedHeadLoader<Heads, Shape>>;

}  // namespace StreamCompaction::Segments
