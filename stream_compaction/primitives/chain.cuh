#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/look_back.cuh"
#include "stream_compaction/primitives/look_back_device.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/tile_order.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/runtime/early_launch.cuh"

/// What stands before a tile: each tile publishes its own sum and then asks for the sum of all tiles before it.
///
/// Blocks that are all resident exchange their sums around a barrier of the grid (GridChain). Any number of blocks look
/// back instead (LookBackChain).
namespace StreamCompaction {

/// The sums that a block learns from its grid.
template <typename T>
struct GridSums {
    T before;  ///< of the blocks before this one
    T all;     ///< of all blocks
};

/// A chain of the blocks of a cooperative grid: block b has tile b and a place in global memory.
template <typename T>
struct GridChain {
    T* places;  ///< one per block

    /// By all threads of the block. Returns once all blocks have published.
    __device__ void publish(const T& mine) const {
        if (threadIdx.x == 0) {
            places[blockIdx.x] = mine;
        }
        cooperative_groups::this_grid().sync();
    }

    /// The sum of the blocks before this one, in every thread. The order of operands is kept.
    template <typename Op>
    [[nodiscard]] __device__ T before(const Op& op) const {
        const T identity = op.template identity<T>();
        T sum = identity;
        for (unsigned first = 0; first < blockIdx.x; first += Warp::lanes) {
            const unsigned block = first + Warp::lane();
            sum = op(sum, Warp::reduce(block < blockIdx.x ? places[block] : identity, op));
        }
        return sum;
    }

    /// The sum of the blocks before this one and the sum of all, in every thread, from one reading of the places.
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

/// A chain of any number of tiles, by decoupled look-back (primitives/look_back.cuh). Its words in scratch are the
/// counter of tickets and the statuses of the tiles. An earlier kernel of the stream clears them.
template <typename T>
struct LookBackChain {
    using Platform = LookBack::DevicePlatform;
    using Statuses = LookBack::Statuses<T>;

    std::uint64_t* words;
    std::size_t tiles;

    [[nodiscard]] static constexpr std::size_t wordsFor(std::size_t tiles) {
        return ticketWords + Statuses::wordsFor(tiles);
    }

    /// By one warp, as soon as the tile's sum is known. Waits for the earlier kernels of the stream.
    __device__ void publish(int tile, const T& mine) const {
        waitForEarlierKernels();
        if (Warp::lane() == 0) {
            statuses().publish(Platform{}, tile, LookBack::State::Aggregate, mine);
        }
    }

    /// By one warp, after the tile has been published: the sum of the tiles before it, in every lane. A warp that has
    /// not published calls waitForEarlierKernels() before.
    template <typename Op>
    [[nodiscard]] __device__ T before(int tile, const T& mine, const Op& op) const {
        const T sum = LookBack::lookBack(Platform{}, statuses(), tile, op);
        if (Warp::lane() == 0) {
            statuses().publish(Platform{}, tile, LookBack::State::Prefix, op(sum, mine));
        }
        return sum;
    }

  protected:
    [[nodiscard]] __device__ Statuses statuses() const { return Statuses(words + ticketWords); }
};

/// A LookBackChain that can also add in the same order in every run, for sums of floating-point numbers that come out
/// bit for bit the same. Behind the statuses stand the prefixes of the groups of tiles.
template <typename T>
struct ReproducibleChain : LookBackChain<T> {
    using Base = LookBackChain<T>;
    using typename Base::Platform, typename Base::Statuses;

    [[nodiscard]] static constexpr std::size_t wordsFor(std::size_t tiles) {
        const std::size_t groups = tiles / LookBack::groupSize<Platform> + 1;
        return Base::wordsFor(tiles) + Statuses::wordsFor(groups + 1);
    }

    /// As `before`. All tiles of a launch call one of the two.
    template <typename Op>
    [[nodiscard]] __device__ T beforeInOrder(int tile, const T& mine, const Op& op) const {
        const Statuses groups(this->words + Base::wordsFor(this->tiles));
        return LookBack::lookBackInOrder(Platform{}, this->statuses(), groups, tile, mine, op);
    }
};

}  // namespace StreamCompaction
