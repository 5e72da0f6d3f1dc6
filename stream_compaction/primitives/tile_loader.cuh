#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/bulk_copy.cuh"
#include "stream_compaction/primitives/tile.cuh"

namespace StreamCompaction {

/// Loads a block's tile into shared memory. One thread starts the copy, all threads finish it. If the card has a copy
/// engine and the array is aligned to 16 bytes, the engine moves all but the last few bytes. `finish` loads the rest
/// through registers.
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

    /// Called by all threads of the block. Contains a barrier.
    __device__ TileLoader(Storage& storage, const T* in, std::size_t n) : storage_(storage), in_(in), n_(n) {
        if (threadIdx.x == 0) {
            storage_.copy.initialize();
        }
        __syncthreads();
    }

    /// Called by one thread.
    __device__ void start(int tile) {
        if (const unsigned bytes = bytesInBulk(tile); bytes > 0) {
            storage_.copy.start(storage_.elements, in_ + Shape::begin(tile), bytes);
        }
    }

    /// Called by all threads, after `start` and a barrier. Returns once the whole tile is in shared memory.
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

    /// The tile's memory, which may be reused once the tile has been read.
    [[nodiscard]] __device__ std::byte* memory() const { return storage_.elements; }

  private:
    [[nodiscard]] __device__ unsigned bytesInBulk(int tile) const {
        const bool isAligned = reinterpret_cast<std::uintptr_t>(in_) % BulkCopy::alignment == 0;
        const auto bytes = static_cast<unsigned>(Shape::tileOf(in_, tile, n_).size * sizeof(T));
        return BulkCopy::isAvailable() && isAligned ? bytes / BulkCopy::alignment * BulkCopy::alignment : 0;
    }

    /// Loads the tile from its element `first` on. Places past the end of the array repeat the last element.
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

}  // namespace StreamCompaction
