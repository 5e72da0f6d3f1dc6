#pragma once

#include <algorithm>
#include <cstddef>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/runtime/card_table.h"
#include "stream_compaction/runtime/device.h"

/// What a scan or a compaction launches for which size, on which card. The card is a row of `cards`.
namespace StreamCompaction::SinglePass {

/// Threads per block and rows per warp.
template <int threadCount, int rowCount>
struct BlockShape {
    static constexpr int threads = threadCount;
    static constexpr int rows = rowCount;
    static constexpr std::size_t vectors = std::size_t{threads} * rows;
};

/// The shapes of blocks that are all resident.
using TinyBlock = BlockShape<256, 1>;
using SmallBlock = BlockShape<256, 4>;
using MediumBlock = BlockShape<512, 4>;  // always alone
using LargeBlock = BlockShape<256, 8>;

/// The largest grid of each shape, in 16-byte vectors of the array, that beats what comes next.
struct ResidentLimits {
    std::size_t ofTiny;
    std::size_t ofSmall;
    std::size_t ofLarge;  ///< larger arrays are for look-back
};

/// The limits of a kind of card.
struct Card {
    unsigned multiprocessors;  ///< that a card of this kind has at least
    ResidentLimits scan;
    ResidentLimits compact;  ///< of partitions as well
};

/// The kinds of cards, smallest first; a card is of the last kind for which it is large enough. To add one, add a row
/// with the limits that scripts/tune.sh finds on it.
inline constexpr Card cards[] = {
    // H200 and H100 (132 multiprocessors). No smaller card has been measured, so these limits hold there, too.
    {.multiprocessors = 0,
     .scan = {.ofTiny = 1u << 14, .ofSmall = 1u << 16, .ofLarge = 1u << 20},
     .compact = {.ofTiny = 1u << 16, .ofSmall = 1u << 17, .ofLarge = 1u << 17}},
};

/// The row of the current device.
[[nodiscard]] inline const Card& currentCard() { return rowFor(currentDevice().multiprocessors, cards); }

/// Registers that hold a vector. What has no access of its size is moved in pieces of its alignment, one per register.
template <typename T>
inline constexpr int registersPerVector = isAccessSize(sizeof(T))
                                              ? std::max<int>(1, sizeof(T) * vectorLength<T> / 4)
                                              : static_cast<int>(sizeof(T) / std::min<std::size_t>(alignof(T), 4));

/// The shapes of blocks that look back: the best of those that scripts/tune.sh tried on an H200. A compaction's thread
/// has at most 64 registers of elements and at most 64 elements.
using ScanBlock = BlockShape<128, 16>;
template <typename T>
using CompactBlock = BlockShape<isAccessSize(sizeof(T)) ? 256 : 128,
                                std::max(1, std::min({8, 64 / vectorLength<T>, 64 / registersPerVector<T>}))>;

/// Calls `visit(shape)` with the shape of the resident blocks that suit an array of `vectors` vectors, one block where
/// they fit, and returns what it returns. Returns `otherwise` where the array is too large.
template <typename Visit, typename Result>
constexpr Result withResidentShape(std::size_t vectors, const ResidentLimits& most, Result otherwise, Visit&& visit) {
    if (vectors <= TinyBlock::vectors) {
        return visit(TinyBlock{});
    }
    if (vectors <= SmallBlock::vectors) {
        return visit(SmallBlock{});
    }
    if (vectors <= MediumBlock::vectors) {
        return visit(MediumBlock{});
    }
    if (vectors <= most.ofTiny) {
        return visit(TinyBlock{});
    }
    if (vectors <= most.ofSmall) {
        return visit(SmallBlock{});
    }
    return vectors <= most.ofLarge ? visit(LargeBlock{}) : otherwise;
}

/// The most resident blocks that any card takes for an array of `vectors` vectors. Each needs a place in scratch.
[[nodiscard]] constexpr std::size_t mostResidentBlocks(std::size_t vectors, ResidentLimits Card::*limits) {
    std::size_t most = 0;
    for (const Card& card : cards) {
        most = std::max(most, withResidentShape(vectors, card.*limits, std::size_t{0}, [=](auto shape) {
                            return Common::divideRoundUp(vectors, decltype(shape)::vectors);
                        }));
    }
    return most;
}

}  // namespace StreamCompaction::SinglePass
