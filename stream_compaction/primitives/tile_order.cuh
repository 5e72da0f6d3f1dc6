#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "stream_compaction/runtime/early_launch.cuh"

namespace StreamCompaction {

/// How blocks get their tile, one per block.
enum class TileOrder {
    Ticket,      ///< in the order in which blocks begin, so all tiles before one that has begun have begun too
    BlockIndex,  ///< by index: saves a round trip, but the card must begin blocks in that order, as all do so far
};

/// Words of scratch for the ticket counter, which has a cache line of its own.
inline constexpr std::size_t ticketWords = 16;

/// Takes the tile of this block, by one thread. An earlier kernel of the stream clears `counter`.
[[nodiscard]] __device__ inline int takeTile(TileOrder order, std::uint64_t* counter) {
    if (order == TileOrder::BlockIndex) {
        return static_cast<int>(blockIdx.x);
    }
    waitForEarlierKernels();
    return static_cast<int>(atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ULL));
}

/// The tile of this block, for all threads. A ticket reaches them in `shared`; that path contains a barrier.
template <typename Word>
[[nodiscard]] __device__ int tileOfBlock(TileOrder order, std::uint64_t* counter, Word& shared) {
    if (order == TileOrder::BlockIndex) {
        return static_cast<int>(blockIdx.x);
    }
    if (threadIdx.x == 0) {
        shared = takeTile(order, counter);
    }
    __syncthreads();
    return static_cast<int>(shared);
}

/// Starts loading the block's tile, and returns its index to all threads. Contains a barrier.
template <typename Loader>
[[nodiscard]] __device__ int beginTile(TileOrder order, std::uint64_t* counter, int& shared, Loader& loader) {
    if (threadIdx.x == 0) {
        shared = takeTile(order, counter);
        loader.start(shared);
    }
    __syncthreads();
    return shared;
}

}  // namespace StreamCompaction
