#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/look_back.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/tile_order.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/runtime/early_launch.cuh"

/// Chains, by which a tile learns the sum of all tiles before it: each tile publishes its own sum, then asks for the
/// sum of the earlier ones.
///
/// If all blocks are resident, they exchange their sums around a barrier of the grid (GridChain). Otherwise they look
/// back (LookBackChain). A kernel that takes either one publishes by one warp, meets by all threads, and then asks by
/// one warp.
namespace StreamCompaction {

/// A barrier of all threads of a grid whose blocks are all resident. What a block has written before is visible to all
/// blocks after it. A single block needs no cooperative launch for it. The barrier of the block makes the lanes of each
/// warp converge. If they have diverged, the barrier of the grid hangs in code that nvcc does not optimise (-G), as of
/// 13.5 (docs/lab-notes/operations.md).
__device__ inline void meetInGrid() {
    __syncthreads();
    if (gridDim.x > 1) {
        cooperative_groups::this_grid().sync();
    }
}

/// The sums that a block learns from its grid.
template <typename T>
struct GridSums {
    T before;  ///< of the blocks before this one
    T all;     ///< of all blocks
};

/// A chain for a cooperative grid. Block b has tile b and publishes its sum in places[b], in global memory.
template <typename T>
struct GridChain {
    using Value = T;

    T* places;  ///< one per block

    static constexpr bool meetsInGrid = true;  ///< whether each block must call meet()

    /// A grid whose blocks meet takes no tickets.
    [[nodiscard]] __device__ std::uint64_t* ticketCounter() const { return nullptr; }

    /// Called by all threads of the block. Returns once all blocks have published.
    __device__ void publish(const T& mine) const {
        if (Warp::index() == 0) {
            publish(static_cast<int>(blockIdx.x), mine);
        }
        meet();
    }

    /// Called by one warp, before meet().
    __device__ void publish(int tile, const T& mine) const {
        if (Warp::lane() == 0) {
            places[tile] = mine;
        }
    }

    /// Called by all threads of the block. Returns once all blocks have published. Does nothing in a grid of one block.
    __device__ void meet() const {
        if (gridDim.x > 1) {
            meetInGrid();
        }
    }

    /// The sum of the blocks before this one, in every thread. Operands keep their order unless the operator commutes.
    /// The order of the additions depends only on the number of the block.
    template <typename Op>
    [[nodiscard]] __device__ T before(const Op& op) const {
        T sum = op.template identity<T>();
        if constexpr (isCommutative<Op>()) {
            for (unsigned block = Warp::lane(); block < blockIdx.x; block += Warp::lanes) {
                sum = op(sum, places[block]);
            }
        } else {
            const unsigned perLane = (blockIdx.x + Warp::lanes - 1) / Warp::lanes;
            const unsigned end = min((Warp::lane() + 1) * perLane, blockIdx.x);
            for (unsigned block = Warp::lane() * perLane; block < end; ++block) {
                sum = op(sum, places[block]);
            }
        }
        return Warp::reduce(sum, op);
    }

    /// The same, called as for a LookBackChain.
    template <typename Op>
    [[nodiscard]] __device__ T before(int /*tile*/, const T& /*mine*/, const Op& op) const {
        return before(op);
    }

    /// The sum of the blocks before this one and the sum of all blocks, in every thread. Reads each place once.
    template <typename Op>
    [[nodiscard]] __device__ GridSums<T> beforeAndAll(const Op& op) const {
        static_assert(isCommutative<Op>(), "each lane adds up the places of every 32nd block");
        const T identity = op.template identity<T>();
        GridSums<T> sums{identity, identity};
        for (unsigned block = Warp::lane(); block < gridDim.x; block += Warp::lanes) {
            const T place = places[block];
            sums.before = op(sums.before, block < blockIdx.x ? place : identity);
            sums.all = op(sums.all, place);
        }
        return {Warp::reduce(sums.before, op), Warp::reduce(sums.all, op)};
    }
};

/// A chain for any number of tiles, by decoupled look-back (primitives/look_back.cuh). `words`, in scratch, holds the
/// ticket counter and the statuses of the tiles. An earlier kernel of the stream clears it.
template <typename T>
struct LookBackChain {
    using Value = T;
    using Statuses = LookBack::Statuses<T>;

    std::uint64_t* words;
    std::size_t tiles;

    static constexpr bool meetsInGrid = false;

    [[nodiscard]] static __host__ __device__ constexpr std::size_t wordsFor(std::size_t tiles) {
        return ticketWords + Statuses::wordsFor(tiles);
    }

    [[nodiscard]] __device__ std::uint64_t* ticketCounter() const { return words; }
    __device__ void meet() const {}

    /// Called by one warp, as soon as the tile's sum is known. Waits for the earlier kernels of the stream, because one
    /// of them clears the words.
    __device__ void publish(int tile, const T& mine) const {
        waitForEarlierKernels();
        if (Warp::lane() == 0) {
            statuses().publish(tile, LookBack::State::Aggregate, mine);
        }
    }

    /// Called by one warp, after the tile has been published. Returns the sum of the tiles before it in every lane. A
    /// warp that has not published itself must call waitForEarlierKernels() first.
    template <typename Op>
    [[nodiscard]] __device__ T before(int tile, const T& mine, const Op& op) const {
        const T sum = LookBack::lookBack(statuses(), tile, op);
        if (Warp::lane() == 0) {
            statuses().publish(tile, LookBack::State::Prefix, op(sum, mine));
        }
        return sum;
    }

  protected:
    [[nodiscard]] __device__ Statuses statuses() const { return Statuses(words + ticketWords); }
};

/// A LookBackChain that can also add in a fixed order. Floating-point sums are then bitwise the same in every run. The
/// prefixes of the groups of tiles follow the statuses in `words`.
template <typename T>
struct ReproducibleChain : LookBackChain<T> {
    using Base = LookBackChain<T>;
    using typename Base::Statuses;

    [[nodiscard]] static __host__ __device__ constexpr std::size_t wordsFor(std::size_t tiles) {
        const std::size_t groups = tiles / LookBack::groupSize + 1;
        return Base::wordsFor(tiles) + Statuses::wordsFor(groups + 1);
    }

    /// The same as `before`, in a fixed order. All tiles of a launch must call the same one of the two.
    template <typename Op>
    [[nodiscard]] __device__ T beforeInOrder(int tile, const T& mine, const Op& op) const {
        const Statuses groups(this->words + Base::wordsFor(this->tiles));
        return LookBack::lookBackInOrder(this->statuses(), groups, tile, mine, op);
    }
};

}  // namespace StreamCompaction
