#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/open_run.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/runtime/card_table.h"
#include "stream_compaction/runtime/device.h"

/// Chooses what a scan or a compaction launches, by the size of the array and the card. Each kind of card has a row in
/// `cards`.
namespace StreamCompaction::SinglePass {

/// Threads per block and rows per warp.
template <int threadCount, int rowCount>
struct BlockShape {
    static constexpr int threads = threadCount;
    static constexpr int rows = rowCount;
    static constexpr std::size_t vectors = std::size_t{threads} * rows;
};

/// The shapes of blocks that are all resident and keep their tiles in registers.
using TinyBlock = BlockShape<256, 1>;
using SmallBlock = BlockShape<256, 4>;
using MediumBlock = BlockShape<512, 4>;  // always alone
using LargeBlock = BlockShape<256, 8>;   // of scans

/// The largest arrays for which a grid of each kind is faster than the next choice. Scans count vectors of 16 bytes. So
/// do compactions, but vectors of more than four elements count as one per four elements (countedLength).
struct ScanLimits {
    std::size_t ofTiny;
    std::size_t ofSmall;
    std::size_t ofLarge;  ///< vectors times the words of a sum (wordsOf); larger arrays take look-back
};
struct CompactLimits {
    std::size_t ofTiny;
    std::size_t ofSmall;
    std::size_t ofHalf;   ///< of blocks that pack half a tile and meet
    std::size_t ofWhole;  ///< of blocks that pack a tile and meet; larger arrays take look-back
};

/// The limits of a kind of card.
struct Card {
    unsigned multiprocessors;  ///< the fewest that a card of this kind has
    ScanLimits scan;
    CompactLimits compact;  ///< also for partitions
};

/// The kinds of cards, smallest first. A card is of the last kind for which it has enough multiprocessors. To add a
/// kind, add a row with the limits at which the times of scripts/tune.sh cross there.
inline constexpr Card cards[] = {
    // H200 and H100 (132 multiprocessors). No smaller card has been measured, so smaller cards use these limits, too.
    {.multiprocessors = 0,
     .scan = {.ofTiny = 1u << 14, .ofSmall = 1u << 17, .ofLarge = 1u << 20},
     .compact = {.ofTiny = 1u << 16, .ofSmall = 1u << 17, .ofHalf = 1u << 18, .ofWhole = 1u << 19}},
};

/// The row of the current device.
[[nodiscard]] inline const Card& currentCard() { return rowFor(currentDevice().multiprocessors, cards); }

/// Registers per vector. An element without an access of its size is moved in pieces of its alignment, one per
/// register.
template <typename T>
inline constexpr int registersPerVector = isAccessSize(sizeof(T))
                                              ? std::max<int>(1, sizeof(T) * vectorLength<T> / 4)
                                              : static_cast<int>(sizeof(T) / std::min<std::size_t>(alignof(T), 4));

/// The shapes of blocks that look back: the best of those that scripts/tune.sh tried on an H200 and an H100. In a
/// compaction that moves elements one by one, a thread holds at most 64 of them, in at most 64 registers.
using ScanBlock = BlockShape<128, 16>;
using WideScanBlock = BlockShape<256, 8>;  // with a tile of the same size
inline constexpr std::size_t mostVectorsOfWideBlocks = 1u << 24;
template <typename T>
using CompactBlock = BlockShape<isAccessSize(sizeof(T)) ? 256 : 128,
                                std::max(1, std::min({8, 64 / vectorLength<T>, 64 / registersPerVector<T>}))>;
template <typename T>
using HalfCompactBlock = BlockShape<CompactBlock<T>::threads, std::max(1, CompactBlock<T>::rows / 2)>;
/// Of compactions that pack bytes in registers. A thread takes an odd number of vectors.
using ByteCompactBlock = BlockShape<128, 11>;

/// A compaction moves its elements one by one. So a vector counts as one per four elements when resident blocks are
/// chosen, and a thread takes fewer rows of long vectors.
template <int vectorLength>
inline constexpr int countedLength = std::min(vectorLength, 4);
template <typename Shape, int vectorLength>
using ResidentCompactBlock =
    BlockShape<Shape::threads, std::max(1, Shape::rows* countedLength<vectorLength> / vectorLength)>;

/// What happens to the elements that are not kept.
enum class Rejects {
    Dropped,
    Apart,   ///< in order, in an array of their own
    Behind,  ///< in order, behind the kept ones
};

/// The limits of a compaction. Resident blocks scatter what they store from registers, which pays for rejected elements
/// and for elements of less than four bytes only in the smallest arrays. Large arrays of bytes are packed in large
/// tiles. For up to twice as many vectors as elsewhere, smaller tiles whose blocks meet are faster. Blocks that meet
/// spare a partition into one array its second pass.
template <int vectorLength>
[[nodiscard]] CompactLimits compactLimits(Rejects rejects) {
    CompactLimits limits = currentCard().compact;
    if (rejects != Rejects::Dropped || countedLength<vectorLength> < vectorLength) {
        limits.ofSmall = limits.ofTiny;
    }
    if (rejects == Rejects::Dropped && vectorLength == 16) {
        limits.ofHalf *= 2;
        limits.ofWhole *= 2;
    }
    if (rejects == Rejects::Behind) {
        limits.ofWhole = std::numeric_limits<std::size_t>::max();
    }
    return limits;
}

/// The registers that a sum of type T takes.
template <typename T>
inline constexpr std::size_t wordsOf = Common::divideRoundUp(sizeof(T), 4);

/// The blocks that look back in large scans of sums of type T, their registers per thread, and whether other blocks are
/// faster for smaller arrays. The operator on open runs does not commute, so a tile of them is published only when all
/// its rows are scanned, and fewer rows take less time. With eight rows a tile of 8-byte sums would have half as many
/// elements as one of ints, so twice as many tiles would look back.
template <typename T>
struct ScanBlockFor {
    using Type = ScanBlock;
    static constexpr std::size_t registers(int rows) { return 24 + rows * sizeof(T) / 4; }
    static constexpr bool hasOthers = true;
};
template <typename T, typename Heads>
struct ScanBlockFor<OpenRun<T, Heads>> {
    using Type = BlockShape<128, sizeof(T) == 8 ? 16 : 8>;
    static constexpr std::size_t registers(int rows) { return 40 + rows * wordsOf<T>; }
    static constexpr bool hasOthers = false;
};

/// Calls `visit(shape)` for the shape of the blocks that scan an array of `vectors` vectors and look back. Results are
/// of type Out, sums of type T. More threads are faster for arrays up to some size, but not with results of eight
/// bytes.
template <typename Out, typename T, typename Visit>
void withScanBlock(std::size_t vectors, Visit&& visit) {
    if constexpr (sizeof(Out) < 8 && ScanBlockFor<T>::hasOthers) {
        if (vectors <= mostVectorsOfWideBlocks) {
            return visit(WideScanBlock{});
        }
    }
    visit(typename ScanBlockFor<T>::Type{});
}

/// Returns `visit(shape)` for the shape of the resident blocks that suits an array of `vectors` vectors: one block if
/// it holds the array, else a grid of tiny or small blocks. Returns false if the array is too large.
template <typename Limits, typename Visit>
bool withResidentShape(std::size_t vectors, const Limits& most, Visit&& visit) {
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
    return vectors <= most.ofSmall && visit(SmallBlock{});
}

/// The blocks of a shape for an array of up to `vectors` vectors, of which a grid takes at most `limit`.
template <typename Shape>
[[nodiscard]] constexpr std::size_t blocksUpTo(std::size_t limit, std::size_t vectors) {
    return Common::divideRoundUp(std::min(vectors, limit), Shape::vectors);
}

/// The most resident blocks that any card uses for an array of up to `vectors` vectors. Each needs an element of
/// scratch.
[[nodiscard]] constexpr std::size_t mostScanBlocks(std::size_t vectors) {
    std::size_t most = 0;
    for (const Card& card : cards) {
        most = std::max({most, blocksUpTo<TinyBlock>(card.scan.ofTiny, vectors),
                         blocksUpTo<SmallBlock>(card.scan.ofSmall, vectors),
                         blocksUpTo<LargeBlock>(card.scan.ofLarge, vectors)});
    }
    return most;
}
/// The same of a compaction that keeps its tiles in registers.
[[nodiscard]] constexpr std::size_t mostCompactBlocks(std::size_t vectors) {
    std::size_t most = 0;
    for (const Card& card : cards) {
        most = std::max({most, blocksUpTo<TinyBlock>(card.compact.ofTiny, vectors),
                         blocksUpTo<SmallBlock>(card.compact.ofSmall, vectors)});
    }
    return most;
}

}  // namespace StreamCompaction::SinglePass
