#include <gtest/gtest.h>

#include <cmath>

#include "stream_compaction/row_sum/plan.h"

namespace StreamCompaction::RowSum {
namespace {

constexpr Card h200{132, 60 << 20};
constexpr Thresholds thresholds = thresholdsOf(h200);

[[nodiscard]] constexpr Plan planOf(std::size_t rows, std::size_t cols, std::size_t elementBytes = 4) {
    return planFor({rows, cols, cols, elementBytes}, h200);
}

TEST(RowSumPlan, GivesLongerRowsToMoreThreads) {
    EXPECT_EQ(planOf(1 << 26, 1).mapping, Mapping::Thread);
    EXPECT_EQ(planOf(1 << 24, 32).mapping, Mapping::Thread);
    EXPECT_EQ(planOf(1 << 22, 128).mapping, Mapping::EightLanes);
    EXPECT_EQ(planOf(1 << 18, 1024).mapping, Mapping::Warp);
    EXPECT_EQ(planOf(1 << 18, 1500).mapping, Mapping::SmallBlock);
    EXPECT_EQ(planOf(3000, 2048).mapping, Mapping::Block);
    EXPECT_EQ(planOf(300, 20000).mapping, Mapping::WideBlock);
    EXPECT_EQ(planOf(7, 38347922).mapping, Mapping::Blocks);
    EXPECT_EQ(planOf(10000, 100000).mapping, Mapping::Blocks);
}

TEST(RowSumPlan, SplitsRowsOfSmallMatricesSooner) {
    EXPECT_EQ(planOf(1 << 22, 64).mapping, Mapping::Thread);
    EXPECT_EQ(planOf(1 << 16, 64).mapping, Mapping::EightLanes);
    EXPECT_EQ(planOf(1 << 17, 32).mapping, Mapping::Thread);
}

TEST(RowSumPlan, LeavesFewShortRowsToABlockEach) { EXPECT_EQ(planOf(10, 10000).mapping, Mapping::WideBlock); }

TEST(RowSumPlan, SplitsFewLongRows) {
    EXPECT_EQ(planOf(1, 1 << 14).mapping, Mapping::WideBlock);
    EXPECT_EQ(planOf(1, 1 << 16).mapping, Mapping::Blocks);
    EXPECT_EQ(planOf(16, 1 << 16).mapping, Mapping::Blocks);
    EXPECT_EQ(planOf(64, 1 << 16).mapping, Mapping::WideBlock);
    EXPECT_EQ(planOf(128, 1 << 15).mapping, Mapping::WideBlock);
    EXPECT_EQ(planOf(131, 1 << 20).mapping, Mapping::Blocks);
}

TEST(RowSumPlan, TakesTilesOfRowsWithoutGapsOnly) {
    EXPECT_EQ(planFor({1000, 7, 8, 4}, h200).mapping, Mapping::EightLanes);
}

TEST(RowSumPlan, DoesNotKeepTheCacheForWhatFitsIntoIt) {
    EXPECT_TRUE(planOf(3000, 2048).readOnce);
    EXPECT_FALSE(planOf(262144, 2048).readOnce);
}

TEST(RowSumPlan, CoversEveryRowWithItsParts) {
    for (std::size_t cols = 1 << 14; cols < std::size_t{1} << 36; cols = cols * 5 / 2 + 1) {
        for (const std::size_t rows : {1, 2, 100, 5000}) {
            for (const std::size_t bytes : {1, 2, 4, 8}) {
                const Plan plan = planOf(rows, cols, bytes);
                const std::size_t vectors = Common::divideRoundUp(cols * bytes, planVectorBytes);
                if (plan.mapping != Mapping::Blocks) {
                    EXPECT_EQ(plan.parts, 1u);
                    continue;
                }
                EXPECT_GE(plan.parts * plan.partVectors, vectors);
                EXPECT_LT((plan.parts - 1) * plan.partVectors, vectors);
                EXPECT_LE(plan.parts, thresholds.mostParts);
                EXPECT_LE(plan.parts, mostPartsOf({rows, cols, cols, bytes}));
            }
        }
    }
}

// The scratch must suffice on any card, because its size is computed without one.
TEST(RowSumPlan, HasNoMorePartsThanTheBoundForAnyCard) {
    for (const std::size_t multiprocessors : {1, 2, 46, 132, 1000}) {
        for (std::size_t rows = 1; rows < 5000; rows = rows * 3 / 2 + 1) {
            for (std::size_t cols = 1; cols < std::size_t{1} << 33; cols = cols * 7 / 4 + 1) {
                const MatrixShape matrix{rows, cols, cols, 4};
                ASSERT_LE(planFor(matrix, {multiprocessors, 60 << 20}).parts, mostPartsOf(matrix))
                    << rows << " x " << cols << " on " << multiprocessors;
            }
        }
    }
}

/// Levels of a wide block's addition tree for `vectors` vectors.
[[nodiscard]] double levelsOfAWideBlock(std::size_t vectors, std::size_t elementsPerVector) {
    constexpr std::size_t vectorsPerTurn = 512 * 4;
    return static_cast<double>(Common::divideRoundUp(vectors, vectorsPerTurn)) + 2 + 1 +
           std::log2(static_cast<double>(elementsPerVector)) + 5 + 4;
}

TEST(RowSumPlan, RoundsWithinTheBoundHoweverLongTheRow) {
    for (const std::size_t bytes : {4, 8}) {
        for (std::size_t cols = 1 << 16; cols * bytes <= std::size_t{1} << 37; cols *= 2) {
            const Plan plan = planOf(1, cols, bytes);
            ASSERT_EQ(plan.mapping, Mapping::Blocks);
            const std::size_t length = planVectorBytes / bytes;
            const double levels = levelsOfAWideBlock(plan.partVectors, length) +
                                  levelsOfAWideBlock(Common::divideRoundUp(plan.parts, length), length);
            EXPECT_LE(levels, 4 * std::log2(static_cast<double>(cols))) << cols << " elements of " << bytes;
        }
        // The longest rows with one block per row.
        const std::size_t rows = h200.multiprocessors - 1;
        const std::size_t length = planVectorBytes / bytes;
        const std::size_t cols = (thresholds.splitVectors + thresholds.splitVectorsPerRow * rows - 1) * length;
        ASSERT_EQ(planOf(rows, cols, bytes).mapping, Mapping::WideBlock);
        EXPECT_LE(levelsOfAWideBlock(cols / length, length), 4 * std::log2(static_cast<double>(cols)));
    }
}

}  // namespace
}  // namespace StreamCompaction::RowSum
