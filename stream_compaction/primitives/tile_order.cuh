#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "stream_compaction/runtime/early_launch.cuh"

namespace StreamCompaction {

/// How blocks come by their tile, one a block.
enum class TileOrder {
    Ticket,      ///< in the order in which they begin: then every tile before one that has begun has begun too
    BlockIndex,  ///< by index: relies on the card to begin blocks in that order, as all do so far; saves a round trip
};

/// Words of scratch for the counter of tickets, alone in its cache line.
inline constexpr std::size_t ticketWords = 16;

/// Tells all threads of the block its tile, which is already on its way; a barrier.
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
