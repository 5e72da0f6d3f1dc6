#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "stream_compaction/primitives/bulk_copy.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/runtime/device.h"
#include "stream_compaction/runtime/early_launch.cuh"
#include "stream_compaction/runtime/element_count.cuh"
#include "stream_compaction/runtime/launch.cuh"

namespace StreamCompaction {

/// How blocks get their tiles.
enum class TileOrder {
    Ticket,      ///< in the order in which blocks begin, so all tiles before one that has begun have begun too
    BlockIndex,  ///< by index: saves a round trip, but the card must begin blocks in that order, as all do so far
};

/// The order of tiles that wait for earlier ones. By index, a block that takes several tiles would wait for blocks that
/// may begin only when it ends. So it takes tickets.
[[nodiscard]] constexpr TileOrder orderFor(TileOrder order, std::size_t blocks, std::size_t tiles) {
    return blocks < tiles ? TileOrder::Ticket : order;
}
/// The same if it is not known yet how many blocks there are.
template <typename Count>
[[nodiscard]] constexpr TileOrder orderFor(TileOrder order) {
    return isOnDevice<Count> ? TileOrder::Ticket : order;
}

/// Words of scratch for the ticket counter, which has a cache line of its own.
inline constexpr std::size_t ticketWords = 16;

/// Blocks of a launch of `kernel` over at most `tiles` tiles: a block for each tile if the host knows the number of
/// elements, or if there are few. Otherwise there are as many as the card holds at once, because a block without a tile
/// takes about a nanosecond.
template <auto kernel, typename Count>
[[nodiscard]] std::size_t blocksForTiles(std::size_t tiles, int threads, std::size_t sharedBytes = 0) {
    if constexpr (isOnDevice<Count>) {
        constexpr std::size_t fewRounds = 4;
        Arguments::requireAtMost("tiles", tiles, Common::mostBlocks);
        const std::size_t resident = onCurrentDevice<kernel>(threads, sharedBytes).residentBlocks;
        return tiles <= fewRounds * resident ? tiles : resident;
    } else {
        return tiles;
    }
}

/// The most blocks with a tile each that may meet (GridChain). Each needs an element of scratch.
inline constexpr std::size_t mostMeetingBlocks = 1024;

/// Whether there are so few tiles that small tiles whose blocks meet are faster than look-back: two per multiprocessor,
/// measured on an H200.
[[nodiscard]] inline bool areFew(std::size_t tiles) { return tiles <= 2 * currentDevice().multiprocessors; }

/// Calls `work(tile)` for each tile of this block, by all threads. `take(round)` returns the block's tile of a round.
/// If the host knows the number of elements, each block has one tile. Otherwise it takes one of `tiles` tiles after the
/// other until none is left. Between two tiles there is a barrier, after which shared memory may be used anew.
template <typename Count, typename Take, typename Work>
__device__ void forEachTile(int tiles, Take take, Work work) {
    if constexpr (isOnDevice<Count>) {
        int round = 0;
        for (int tile = take(round); tile < tiles; tile = take(++round)) {
            work(tile);
            BulkCopy::release();
            __syncthreads();
        }
        waitForEarlierKernels();  // also without a tile, because later kernels wait for this one alone
    } else {
        work(take(0));
    }
}

/// The block's tile of a round, by index.
[[nodiscard]] __device__ inline int tileByIndex(int round) { return static_cast<int>(round * gridDim.x + blockIdx.x); }

/// Takes this block's tile of a round, by one thread. An earlier kernel of the stream clears `counter`.
[[nodiscard]] __device__ inline int takeTile(TileOrder order, std::uint64_t* counter, int round = 0) {
    if (order == TileOrder::BlockIndex) {
        return tileByIndex(round);
    }
    waitForEarlierKernels();
    return static_cast<int>(atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ULL));
}

/// The block's tile of a round, for all threads. A ticket reaches them in `shared`; that path contains a barrier.
template <typename Word>
[[nodiscard]] __device__ int tileOfBlock(TileOrder order, std::uint64_t* counter, Word& shared, int round = 0) {
    if (order == TileOrder::BlockIndex) {
        return tileByIndex(round);
    }
    if (threadIdx.x == 0) {
        shared = takeTile(order, counter, round);
    }
    __syncthreads();
    return static_cast<int>(shared);
}

/// Calls `work(tile)` for each tile of this block, by all threads, if tiles do not wait for each other. The first two
/// rounds are by index. Then blocks take tickets, a round ahead, because some multiprocessors are faster than others.
/// An earlier kernel of the stream clears `counter`. `shared` is in shared memory.
template <typename Count, typename Work>
__device__ void forEachTileInAnyOrder(int tiles, std::uint64_t* counter, int& shared, Work work) {
    constexpr int roundsByIndex = 2;
    int next = 0;  // the tile of the next round, in the first thread
    const auto take = [&](int round) {
        int tile = tileByIndex(round);
        if (round >= roundsByIndex) {
            if (threadIdx.x == 0) {
                shared = next;
            }
            __syncthreads();
            tile = shared;
        }
        if (round + 1 >= roundsByIndex && tile < tiles && threadIdx.x == 0) {
            next = static_cast<int>(roundsByIndex * gridDim.x) + takeTile(TileOrder::Ticket, counter);
        }
        return tile;
    };
    forEachTile<Count>(tiles, take, work);
}

/// The index that a block gets if no tile is left. It is greater than that of any tile.
inline constexpr int noTile = std::numeric_limits<int>::max();

/// Starts loading the block's tile of a round, if it is one of the `tiles()` tiles, and returns its index to all
/// threads, or noTile. Contains a barrier.
template <typename Count, typename Loader, typename Tiles>
[[nodiscard]] __device__ int beginTile(TileOrder order, std::uint64_t* counter, int& shared, Loader& loader,
                                       Tiles tiles, int round) {
    if (threadIdx.x == 0) {
        const int tile = takeTile(order, counter, round);
        const bool isTile = !isOnDevice<Count> || tile < tiles();
        shared = isTile ? tile : noTile;
        if (isTile) {
            loader.start(tile);
        }
    }
    __syncthreads();
    return shared;
}

/// Loads each tile of this block by `loader` and calls `work(tile)` for it, by all threads. Tiles wait for earlier ones
/// by `chain`. `shared` is in shared memory. `tiles()` is the number of tiles. This asks for it in the first thread
/// alone, unless blocks meet.
///
/// Blocks that meet have one tile each, by index, whoever knows the number of elements. `work` calls chain.meet() once.
/// A block without a tile meets the others, too. What it publishes, a Value{}, counts only in the sum of all blocks.
template <typename Count, typename Chain, typename Loader, typename Tiles, typename Work>
__device__ void forEachTile(const Chain& chain, TileOrder order, int& shared, Loader& loader, Tiles tiles, Work work) {
    using TileCount = std::conditional_t<Chain::meetsInGrid, std::size_t, Count>;
    if constexpr (isOnDevice<Count> && Chain::meetsInGrid) {
        if (const int tile = static_cast<int>(blockIdx.x); tile >= tiles()) {
            if (Warp::index() == 0) {
                chain.publish(tile, typename Chain::Value{});
            }
            chain.meet();
            return;
        }
    }
    const auto take = [&](int round) {
        return beginTile<TileCount>(order, chain.ticketCounter(), shared, loader, tiles, round);
    };
    // Until beginTile() finds none left.
    forEachTile<TileCount>(noTile, take, work);
}

}  // namespace StreamCompaction
