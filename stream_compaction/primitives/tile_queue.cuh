#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace StreamCompaction {

/// How the blocks of a persistent grid share out tiles.
enum class TileOrder {
    Ticket,      ///< whoever is ready takes the next tile
    RoundRobin,  ///< block b takes the tiles b, b + blocks, b + 2 blocks ...
};

/// Hands out the tiles of a pass to the blocks of a cooperative grid, in order, the first to each block by its index.
///
/// A cooperative grid is resident as a whole and a block works on one tile after the other, so every tile up to the
/// highest handed out is done or being worked on: the condition for look-back to make progress.
///
/// A ticket is an atomic addition, a round trip of a microsecond under load. `ask` for the next tile before the results
/// of the last are written and it costs nothing: what is left to do with the last tile depends on no other block.
class TileQueue {
  public:
    /// Words of scratch: the counter of tickets, alone in its cache line.
    static constexpr std::size_t counterWords = 16;

    __device__ TileQueue(TileOrder order, std::uint64_t* counter, int& shared)
        : order_(order), counter_(counter), shared_(shared) {}

    [[nodiscard]] __device__ static int first() { return static_cast<int>(blockIdx.x); }

    /// The tile after `tile`; only thread 0's answer counts, and it is not waited for.
    [[nodiscard]] __device__ int ask(int tile) const {
        const int blocks = static_cast<int>(gridDim.x);
        if (threadIdx.x != 0 || order_ == TileOrder::RoundRobin) {
            return tile + blocks;
        }
        return blocks + static_cast<int>(atomicAdd(reinterpret_cast<unsigned long long*>(counter_), 1ULL));
    }

    /// Tells all threads thread 0's answer; a barrier.
    [[nodiscard]] __device__ int tell(int answer) const {
        if (threadIdx.x == 0) {
            shared_ = answer;
        }
        __syncthreads();
        return shared_;
    }

  private:
    TileOrder order_;
    std::uint64_t* counter_;
    int& shared_;
};

/// Clears words of scratch that hold whatever an earlier use left there, by all blocks of a cooperative grid, and waits
/// until all are done.
__device__ inline void clearTogether(std::uint64_t* words, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
        words[i] = 0;
    }
    cooperative_groups::this_grid().sync();
}

}  // namespace StreamCompaction
