#pragma once

#include <algorithm>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/chain.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/primitives/tile_order.cuh"
#include "stream_compaction/runtime/card_table.h"
#include "stream_compaction/runtime/clear_words.cuh"
#include "stream_compaction/runtime/device.h"
#include "stream_compaction/runtime/early_launch.cuh"
#include "stream_compaction/runtime/launch.cuh"
#include "stream_compaction/utf8/report.cuh"
#include "stream_compaction/utf8/text_tile.cuh"

/// Chains, by which the tiles of a conversion learn how many elements earlier tiles write: the chains of
/// primitives/chain.cuh, together with the result to which conversions report.
namespace StreamCompaction::Utf8 {

/// For blocks that are all resident: the tiles exchange their counts around a barrier of the grid.
struct TextGridChain {
    GridChain<std::uint32_t> chain;
    Result* result;

    static constexpr bool isForAnyText = false;  ///< whether the launch may have fewer blocks than the text has tiles

    [[nodiscard]] __device__ std::uint64_t* ticketCounter() const { return chain.ticketCounter(); }
    /// Called by all threads, before anything else: the tile of this block.
    [[nodiscard]] __device__ int takeTile(int /*round*/) { return static_cast<int>(blockIdx.x); }
    __device__ void begin(std::uint64_t count) const {
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            *result = {count, Result::noError};
        }
    }
    /// The earliest error that is known to have been reported.
    [[nodiscard]] __device__ std::uint64_t knownError() const { return Result::noError; }
    /// Called by all threads. Returns once the result has been initialised.
    __device__ void synchronize() const { meetInGrid(); }
    __device__ void publish(std::uint32_t) const {}
    /// Called by all threads. Returns the sum of the counts of earlier tiles. `mine` is the count of this tile.
    __device__ std::uint64_t before(std::uint32_t mine) const {
        if (gridDim.x == 1) {
            __syncthreads();
            return 0;
        }
        chain.publish(mine);
        return chain.before(Sum{});
    }
};

/// For any number of blocks, after clearWords(): decoupled look-back.
struct TextLookBackChain {
    LookBackChain<LookBack::Count> chain;
    TileOrder order;
    Result* result;
    int tile = 0;

    static constexpr bool isForAnyText = true;

    [[nodiscard]] __device__ std::uint64_t* ticketCounter() const { return chain.ticketCounter(); }
    /// Called by all threads, before anything else: the tile of this block in a round. Contains a barrier if blocks
    /// take tickets.
    [[nodiscard]] __device__ int takeTile(int round) {
        __shared__ int ticket;
        return tile = tileOfBlock(order, ticketCounter(), ticket, round);
    }
    __device__ void begin(std::uint64_t) const {}
    [[nodiscard]] __device__ std::uint64_t knownError() const {
        waitForEarlierKernels();
        return reportedError(result);
    }
    __device__ void synchronize() const { waitForEarlierKernels(); }
    /// Called by one warp, as soon as the tile's count is known and before any thread calls before().
    __device__ void publish(std::uint32_t mine) const { chain.publish(tile, LookBack::Count{mine}); }
    __device__ std::uint64_t before(std::uint32_t mine) const {
        __shared__ std::uint64_t shared;
        if (Warp::index() == 0) {
            waitForEarlierKernels();  // another warp may have published
            const auto before = chain.before(tile, LookBack::Count{mine}, LookBack::AddCounts{});
            if (threadIdx.x == 0) {
                shared = before.value;
            }
        }
        __syncthreads();
        return shared;
    }
};

/// The count for forEachTile and blocksForTiles. With a TextGridChain a block always has one tile, which is empty
/// behind the text.
template <typename Text, typename Chain>
using TileCount = std::conditional_t<isCounted<Text> && Chain::isForAnyText, CountInDeviceMemory, std::size_t>;

/// The number of tiles of a text. An empty text has one, too, which reports that it is empty.
template <typename Text>
[[nodiscard]] __device__ int tilesOf(const Text& text, std::size_t tileBytes) {
    return static_cast<int>(max(text.tiles(tileBytes), std::size_t{1}));
}

/// Minimum blocks per multiprocessor for `__launch_bounds__`: `blocks` of `threads` threads, fewer for a TextGridChain,
/// which has few tiles.
template <typename Chain>
[[nodiscard]] constexpr int blocksThatFit(std::size_t threads, std::size_t blocks) {
    constexpr std::size_t fewBlocks = 4;
    return StreamCompaction::blocksThatFit(threads, std::is_same_v<Chain, TextGridChain> ? fewBlocks : blocks);
}

/// The limit of a kind of card.
struct Card {
    unsigned multiprocessors;  ///< the fewest that a card of this kind has
    std::size_t mostTogether;  ///< the most tiles for which a TextGridChain is faster than a TextLookBackChain
};

/// The kinds of cards, smallest first. A card is of the last kind for which it has enough multiprocessors. To add a
/// kind, add a row.
inline constexpr Card cards[] = {
    {.multiprocessors = 0, .mostTogether = 128},  // measured on an H200
};

/// The number of tiles of a text, for either chain. The tiles of a TextGridChain may be smaller.
struct ChainTiles {
    std::size_t together;
    std::size_t byLookBack;
    std::size_t statuses = byLookBack;  ///< fewer if tiles do not wait for each other, but at least one

    /// Scratch for either chain on any card. Throws std::invalid_argument for more tiles than a grid has blocks.
    [[nodiscard]] std::size_t scratchBytes() const {
        Arguments::requireAtMost("tiles of the text", byLookBack, Common::mostBlocks);
        std::size_t most = 0;
        for (const Card& card : cards) {
            most = std::max(most, card.mostTogether);
        }
        return std::max(scratchBytesFor<std::uint32_t>(std::min(together, most)),
                        scratchBytesFor<std::uint64_t>(LookBackChain<LookBack::Count>::wordsFor(statuses)));
    }
};

/// Calls `tryLaunch(chain, tiles, begin)` for the chain that suits the number of tiles. A TextGridChain is for few
/// tiles whose blocks are all resident, and takes no other launch. A TextLookBackChain takes clearWords() before, and
/// also serves if `tryLaunch` has returned false. `order` says how the blocks of a TextLookBackChain get their tiles.
template <typename TryLaunch>
void launchChain(ChainTiles tiles, unsigned residentBlocks, TileOrder order, Result* result, std::uint64_t count,
                 ScratchArena arena, cudaStream_t stream, TryLaunch&& tryLaunch) {
    const Card& card = rowFor(currentDevice().multiprocessors, cards);
    if (tiles.together <= std::min<std::size_t>(card.mostTogether, residentBlocks)) {
        ScratchArena rest = arena;
        if (tryLaunch(TextGridChain{{rest.take<std::uint32_t>(tiles.together)}, result}, tiles.together,
                      tiles.together == 1 ? Begin::Normal : Begin::Cooperative)) {
            return;
        }
    }
    const std::size_t words = LookBackChain<LookBack::Count>::wordsFor(tiles.statuses);
    const TextLookBackChain chain{{arena.take<std::uint64_t>(words), tiles.byLookBack}, order, result};
    clearWords(chain.chain.words, words, stream, BeginResult{result, count});
    (void)tryLaunch(chain, tiles.byLookBack, Begin::Programmatic);
}

}  // namespace StreamCompaction::Utf8
