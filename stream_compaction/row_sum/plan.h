#pragma once

#include <algorithm>
#include <cstddef>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/card_table.h"

/// How the adaptive row sum divides a matrix among threads. The plan is a pure function of the matrix's shape and the
/// card, so it can be tested without a card. The thresholds are measured (scripts/tune.sh).
namespace StreamCompaction::RowSum {

/// A row-major matrix: `cols` elements in each row, and `pitch` elements from the beginning of one row to the next.
struct MatrixShape {
    std::size_t rows;
    std::size_t cols;
    std::size_t pitch;
    std::size_t elementBytes;
};

/// The properties of a card on which a plan depends.
struct Card {
    std::size_t multiprocessors;
    std::size_t l2Bytes;
};

/// Which threads add up a row.
enum class Mapping {
    Thread,      ///< one thread; a block loads its rows into shared memory as one tile
    EightLanes,  ///< a quarter of a warp
    Warp,
    SmallBlock,  ///< a block of 128 threads
    Block,       ///< a block of 256 threads
    WideBlock,   ///< a block of 512 threads with more bytes in flight per thread; for too few rows to fill the card
    Blocks,      ///< several wide blocks, one per part of the row; a second launch adds up the parts
};

struct Plan {
    Mapping mapping = Mapping::Thread;
    std::size_t parts = 1;                                   ///< per row
    std::size_t partVectors = static_cast<std::size_t>(-1);  ///< vectors of 16 bytes per part, at most
    bool readOnce = false;  ///< whether loads hint to the cache that they are not repeated
};

inline constexpr std::size_t planVectorBytes = 16;

/// The longest row that one thread adds up. Its bytes are limited because a tile with one row per thread must leave
/// shared memory for many blocks. Its columns are limited because the rounding error with four accumulators must stay
/// within the bound of row_sum.h.
inline constexpr std::size_t mostBytesPerThread = 384;
inline constexpr std::size_t mostColumnsPerThread = 96;

/// Thresholds measured on a card. Lengths of rows are in vectors of 16 bytes.
struct Thresholds {
    std::size_t multiprocessors;  ///< the row holds for cards with at least this many

    /// The longest row, in bytes, that one thread adds up of a matrix that fits into the second-level cache. There the
    /// thread's wait for the whole tile is a larger part of the time.
    std::size_t bytesPerThreadInCache;

    /// The longest row of a mapping.
    std::size_t eightLanes;
    std::size_t warp;
    std::size_t smallBlock;
    std::size_t block;

    /// With fewer rows than multiprocessors, rows of at least splitVectors + splitVectorsPerRow * rows vectors are
    /// split. A split costs a second launch. With more rows, more of the card is busy without it.
    std::size_t splitVectors;
    std::size_t splitVectorsPerRow;

    /// Vectors per part: a multiple of partStep, and no more than partVectors, unless a row would have more than
    /// mostParts parts.
    std::size_t partStep;
    std::size_t partVectors;
    std::size_t mostParts;

    std::size_t busyBlocks;  ///< blocks per multiprocessor that keep it busy

    /// A matrix of up to this many times the second-level cache is read with the hint that no load is repeated. The
    /// cache then evicts the matrix first and need not write back data of other arrays. A larger matrix evicts those
    /// anyway.
    std::size_t readOnceCaches;
};

/// One row per card, the smallest card first.
inline constexpr Thresholds measuredThresholds[] = {
    {.multiprocessors = 0,  // measured on an H200
     .bytesPerThreadInCache = 128,
     .eightLanes = 64,
     .warp = 256,
     .smallBlock = 448,
     .block = std::size_t{1} << 14,
     .splitVectors = 8192,
     .splitVectorsPerRow = 256,
     .partStep = 512,
     .partVectors = 4096,
     .mostParts = std::size_t{1} << 18,
     .busyBlocks = 8,
     .readOnceCaches = 4},
};

/// The row of the table that holds for a card.
[[nodiscard]] constexpr const Thresholds& thresholdsOf(const Card& card) {
    return rowFor(card.multiprocessors, measuredThresholds);
}

/// The fewest vectors per part for rows of `vectors` vectors.
[[nodiscard]] constexpr std::size_t leastPartVectors(const Thresholds& table, std::size_t vectors) {
    return std::max<std::size_t>(1, Common::divideRoundUp(vectors / table.mostParts, table.partStep)) * table.partStep;
}

/// `plan` with each row of `vectors` vectors split into parts.
[[nodiscard]] constexpr Plan splitRows(Plan plan, std::size_t rows, std::size_t vectors, const Card& card) {
    const Thresholds& table = thresholdsOf(card);
    const std::size_t share = rows * vectors / (table.busyBlocks * card.multiprocessors);
    const std::size_t wanted = Common::divideRoundUp(share, table.partStep) * table.partStep;
    plan.mapping = Mapping::Blocks;
    plan.partVectors = std::max(std::min(wanted, table.partVectors), leastPartVectors(table, vectors));
    plan.parts = Common::divideRoundUp(vectors, plan.partVectors);
    return plan;
}

/// Vectors that hold a row.
[[nodiscard]] constexpr std::size_t vectorsOf(const MatrixShape& matrix) {
    return Common::divideRoundUp(matrix.cols * matrix.elementBytes, planVectorBytes);
}

/// An upper bound of Plan::parts for any card.
[[nodiscard]] constexpr std::size_t mostPartsOf(const MatrixShape& matrix) {
    const std::size_t vectors = vectorsOf(matrix);
    std::size_t parts = 1;
    for (const Thresholds& table : measuredThresholds) {
        if (vectors >= std::min(table.splitVectors, table.block)) {
            parts = std::max(parts, Common::divideRoundUp(vectors, leastPartVectors(table, vectors)));
        }
    }
    return parts;
}

/// The plan for a matrix with at least one row and one column.
[[nodiscard]] constexpr Plan planFor(const MatrixShape& matrix, const Card& card) {
    const Thresholds& table = thresholdsOf(card);
    const std::size_t rowBytes = matrix.cols * matrix.elementBytes;
    const std::size_t vectors = vectorsOf(matrix);
    const bool fillsCard = matrix.rows >= card.multiprocessors;
    const std::size_t longestUnsplit =
        fillsCard ? table.block : table.splitVectors + table.splitVectorsPerRow * matrix.rows - 1;

    const std::size_t bytes = matrix.rows * rowBytes;
    const std::size_t bytesPerThread = bytes <= card.l2Bytes ? table.bytesPerThreadInCache : mostBytesPerThread;

    Plan plan{.readOnce = bytes <= table.readOnceCaches * card.l2Bytes};
    if (matrix.pitch == matrix.cols && rowBytes <= bytesPerThread && matrix.cols <= mostColumnsPerThread) {
        plan.mapping = Mapping::Thread;
    } else if (vectors <= table.eightLanes) {
        plan.mapping = Mapping::EightLanes;
    } else if (vectors <= table.warp) {
        plan.mapping = Mapping::Warp;
    } else if (vectors <= table.smallBlock) {
        plan.mapping = Mapping::SmallBlock;
    } else if (vectors <= longestUnsplit) {
        plan.mapping = matrix.rows <= table.busyBlocks * card.multiprocessors ? Mapping::WideBlock : Mapping::Block;
    } else {
        plan = splitRows(plan, matrix.rows, vectors, card);
    }
    return plan;
}

}  // namespace StreamCompaction::RowSum
