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

/// Starts loading the block's tile, and returns its index to all threads. Contains a barrier.
template <typename Loader>
[[nodiscard]] __device__ int beginTile(TileOrder order, std::uint64_t* counter, int& shared, Loader& loader) {
    if (threadIdx.x == 0) {
        if (order == TileOrder::Ticket) {
            waitForEarlierKernels();
            shared = static_cast<int>(atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ULL));
        } else {
            shared = static_cast<int>(blockIdx.x);
        }
        loader.start(shared);
    }
    __syncthreads();
    return shared;
}

}  // namespace StreamCompaction
