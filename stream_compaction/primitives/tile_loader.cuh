#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/bulk_copy.cuh"
#include "stream_compaction/primitives/tile.cuh"

namespace StreamCompaction {

/// Loads a block's tile into shared memory. One thread starts the copy, all threads finish it. If the array is aligned
/// to 16 bytes, all but the last few bytes are moved in pieces. `finish` loads the rest element by element.
///
/// `room` is the number of bytes of shared memory to reserve, for a caller that later stores more than the tile there.
template <typename T, typename Shape, std::size_t room = Shape::elements * sizeof(T)>
class TileLoader {
  public:
    using Row = Vector<T, Shape::vectorLength>;

    struct Storage {
        alignas(128) std::byte elements[std::max(room, Shape::elements * sizeof(T))];
        BulkCopy copy;
    };

    /// Called by all threads of the block. Contains a barrier. `n` must live as long as the loader. It is read when a
    /// tile is loaded, not before.
    __device__ TileLoader(Storage& storage, const T* in, const std::size_t& n) : storage_(storage), in_(in), n_(n) {
        storage_.copy.initialize(threadIdx.x == 0);
        __syncthreads();
    }

    /// Called by one thread.
    __device__ void start(int tile) { piecesOf(tile).start(storage_.copy); }

    /// Called by all threads, after `start` and a barrier. Returns once the whole tile is in shared memory.
    __device__ void finish(int tile) {
        const auto pieces = piecesOf(tile);
        pieces.wait(storage_.copy, parity_);
        if (!BulkCopy::isAvailable() || pieces.bytes < Shape::elements * sizeof(T)) {
            pieces.copyByThreads();
            loadSingly(tile, static_cast<int>(pieces.bytes / sizeof(T)));
            __syncthreads();
        }
    }

    [[nodiscard]] __device__ Row row(int row) const {
        Row vector;
        copyVector(&vector, reinterpret_cast<const Row*>(storage_.elements) + Shape::vector(row));
        return vector;
    }

    /// The tile's memory, which may be reused once the tile has been read.
    [[nodiscard]] __device__ std::byte* memory() const { return storage_.elements; }

  private:
    /// The whole pieces of the tile. None if the array is not aligned to them.
    [[nodiscard]] __device__ PieceCopy<Shape::threads> piecesOf(int tile) const {
        const bool isAligned = reinterpret_cast<std::uintptr_t>(in_) % BulkCopy::alignment == 0;
        const auto bytes = static_cast<unsigned>(Shape::sizeOf(tile, n_) * sizeof(T));
        return {storage_.elements, in_ + Shape::begin(tile), isAligned ? AlignedRun<unsigned>::roundDown(bytes) : 0};
    }

    /// Loads the tile from its element `first` on. Places past the end of the array repeat the last element.
    __device__ void loadSingly(int tile, int first) {
        const T* const from = in_ + Shape::begin(tile);
        const int last = Shape::sizeOf(tile, n_) - 1;
        auto* const elements = reinterpret_cast<T*>(storage_.elements);
#pragma unroll 4
        for (int i = first + static_cast<int>(threadIdx.x); i < Shape::elements; i += Shape::threads) {
            elements[i] = from[min(i, last)];
        }
    }

    Storage& storage_;
    const T* in_;
    const std::size_t& n_;
    unsigned parity_ = 0;
};

}  // namespace StreamCompaction
