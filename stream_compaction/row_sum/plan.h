#pragma once

#include <algorithm>
#include <cstddef>

#include "stream_compaction/common.h"

/// How the adaptive row sum shares out a matrix: a pure function of its shape and the card, so that it can be tested
/// anywhere. The thresholds are measured (scripts/tune.sh, data/tune_row_sums.csv).
namespace StreamCompaction::RowSum {

/// A row-major matrix of which `cols` elements of each row count, `pitch` elements from one row to the next.
struct MatrixShape {
    std::size_t rows;
    std::size_t cols;
    std::size_t pitch;
    std::size_t elementBytes;
};

/// What matters of a card.
struct Card {
    std::size_t multiprocessors;
    std::size_t l2Bytes;
};

/// Who adds up a row.
enum class Mapping {
    Thread,      ///< a thread, out of a tile in shared memory that the rows of a block come to together
    EightLanes,  ///< a quarter of a warp
    Warp,
    SmallBlock,  ///< a block of 128 threads
    Block,       ///< of 256
    WideBlock,   ///< of 512, with more bytes under way each: for rows too few to fill the card otherwise
    Blocks,      ///< several wide blocks, a part of the row each; another launch adds up the parts
};

struct Plan {
    Mapping mapping = Mapping::Thread;
    std::size_t parts = 1;        ///< of a row
    std::size_t partVectors = 0;  ///< vectors of 16 bytes a part, when there are several
    bool readOnce = false;        ///< whether loads tell the cache that they will not come again
};

inline constexpr std::size_t planVectorBytes = 16;

/// Rows that a thread adds up by itself: short enough for a tile of a row a thread to leave room for many blocks, and
/// for four accumulators a row to round within the bound that row_sum.h promises.
inline constexpr std::size_t mostBytesAThread = 384;
inline constexpr std::size_t mostColumnsAThread = 96;

/// The longest rows of a mapping, in vectors.
inline constexpr std::size_t mostVectorsOfEightLanes = 64;
inline constexpr std::size_t mostVectorsOfAWarp = 256;
inline constexpr std::size_t mostVectorsOfASmallBlock = 448;
inline constexpr std::size_t mostVectorsOfABlock = std::size_t{1} << 14;

/// Where there are fewer rows than multiprocessors, the shortest that are worth a second launch: a single one of so
/// many vectors, and so many more with each row, for more rows keep more of the card busy as they are.
inline constexpr std::size_t fewestVectorsToSplit = 8192;
inline constexpr std::size_t moreVectorsARow = 256;

/// Parts of a row: at most so many, of so many vectors, unless the limit on their number makes them larger; in steps of
/// a vector a thread.
inline constexpr std::size_t mostParts = std::size_t{1} << 18;
inline constexpr std::size_t usualPartVectors = 4096;
inline constexpr std::size_t partStep = 512;

/// Blocks a multiprocessor that keep it busy.
inline constexpr std::size_t busyBlocks = 8;

/// A matrix of more than so many times the size of the second-level cache drives out what the cache held however its
/// elements are read; up to there, telling the cache to drive out those first that were read spares it to write back
/// what it holds of others.
inline constexpr std::size_t cachesOfReadOnce = 4;

[[nodiscard]] constexpr Plan splitRows(Plan plan, std::size_t rows, std::size_t vectors, const Card& card) {
    const auto inSteps = [](std::size_t n) { return Common::divideRoundUp(n, partStep) * partStep; };
    const std::size_t evenPart = inSteps(rows * vectors / (busyBlocks * card.multiprocessors));
    plan.mapping = Mapping::Blocks;
    plan.partVectors = std::max(std::clamp(evenPart, partStep, usualPartVectors), inSteps(vectors / mostParts));
    plan.parts = Common::divideRoundUp(vectors, plan.partVectors);
    return plan;
}

/// Rows and columns are not 0.
[[nodiscard]] constexpr Plan planFor(const MatrixShape& matrix, const Card& card) {
    const std::size_t rowBytes = matrix.cols * matrix.elementBytes;
    const std::size_t vectors = Common::divideRoundUp(rowBytes, planVectorBytes);
    Plan plan{.readOnce = matrix.rows * rowBytes <= cachesOfReadOnce * card.l2Bytes};
    if (matrix.pitch == matrix.cols && rowBytes <= mostBytesAThread && matrix.cols <= mostColumnsAThread) {
        plan.mapping = Mapping::Thread;
    } else if (vectors <= mostVectorsOfEightLanes) {
        plan.mapping = Mapping::EightLanes;
    } else if (vectors <= mostVectorsOfAWarp) {
        plan.mapping = Mapping::Warp;
    } else if (vectors <= mostVectorsOfASmallBlock) {
        plan.mapping = Mapping::SmallBlock;
    } else if (matrix.rows < card.multiprocessors ? vectors >= fewestVectorsToSplit + moreVectorsARow * matrix.rows
                                                  : vectors > mostVectorsOfABlock) {
        return splitRows(plan, matrix.rows, vectors, card);
    } else {
        plan.mapping = matrix.rows < busyBlocks * card.multiprocessors ? Mapping::WideBlock : Mapping::Block;
    }
    return plan;
}

}  // namespace StreamCompaction::RowSum
