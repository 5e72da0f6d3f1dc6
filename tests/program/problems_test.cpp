#include "problems/problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "problem_on.h"
#include "problems/inputs.h"
#include "variants/variants.h"

namespace Bench {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::StartsWith;

using Finding = std::optional<std::string>;

constexpr int largest = std::numeric_limits<int>::max();
constexpr int smallest = std::numeric_limits<int>::min();

/// The finding for `result` as the result of the operation on `input`.
template <typename SomeProblem, typename T, typename Result>
[[nodiscard]] Finding judge(Operation operation, const std::vector<T>& input, Result result) {
    const auto problem = problemOn(operation, input);
    dynamic_cast<SomeProblem&>(*problem).result() = std::move(result);
    return problem->mismatch();
}

template <typename T>
[[nodiscard]] Finding judgeScan(const std::vector<T>& input, Array<SumOf<T>> sums) {
    return judge<ScanProblem<T>>(Operation::Scan, input, std::move(sums));
}

[[nodiscard]] Finding judgeCompact(const std::vector<int>& input, Array<int> kept) {
    return judge<CompactProblem<int>>(Operation::Compact, input, std::move(kept));
}

[[nodiscard]] Finding judgePartition(const std::vector<int>& input, Array<int> kept, Array<int> rejected) {
    return judge<PartitionProblem<int>>(Operation::Partition, input, Parts<int>{std::move(kept), std::move(rejected)});
}

template <typename T>
[[nodiscard]] Finding judgeSort(const std::vector<T>& input, Array<T> sorted) {
    return judge<SortProblem<T>>(Operation::Sort, input, std::move(sorted));
}

[[nodiscard]] Finding judgePairs(const std::vector<int>& keys, Array<int> sortedKeys, Array<PairValue> values) {
    return judge<SortPairsProblem<int>>(Operation::SortPairs, keys,
                                        Pairs<int>{std::move(sortedKeys), std::move(values)});
}

TEST(ScanProblem, WantsSumsOfSquaresWhereTheyAreAskedFor) {
    const auto judgeSquares = [](Array<float> sums) {
        return judge<ScanProblem<float>>(Operation::ScanSquares, std::vector<float>{3, 1, 7, 4}, std::move(sums));
    };
    EXPECT_EQ(judgeSquares({0, 9, 10, 59}), std::nullopt);
    EXPECT_EQ(judgeSquares({0, 3, 4, 11}), "first mismatch at index 1: expected 9, got 3");
}

TEST(ScanProblem, WantsExclusiveSumsThatWrap) {
    EXPECT_EQ(judgeScan<int>({3, 1, 7, 0, 4}, {0, 3, 4, 11, 11}), std::nullopt);
    EXPECT_EQ(judgeScan<int>({largest, 1, 1}, {0, largest, smallest}), std::nullopt);
    EXPECT_EQ(judgeScan<int>({3, 1, 7, 0, 4}, {3, 4, 11, 11, 15}), "first mismatch at index 0: expected 0, got 3");
    EXPECT_EQ(judgeScan<int>({3, 1, 7}, {0, 3}), "wrong count: expected 3 elements, got 2");
}

TEST(ScanProblem, AddsUpBytesInInts) {
    EXPECT_EQ(judgeScan<std::int8_t>({100, 100, -1, 0}, {0, 100, 200, 199}), std::nullopt);
    EXPECT_EQ(judgeScan<std::int8_t>({100, 100, -1, 0}, {0, 100, -56, -57}),
              "first mismatch at index 2: expected 200, got -56");
}

TEST(ScanProblem, WantsExactSumsOfDoublesAndOfFloatsWhereTheyAreExact) {
    EXPECT_EQ(judgeScan<float>({3, 1, 7}, {0, 3, 4}), std::nullopt);
    EXPECT_EQ(judgeScan<float>({8388608, 1, 7}, {0, 8388608, 8388610}),
              "first mismatch at index 2: expected 8388609, got 8388610");
    EXPECT_EQ(judgeScan<double>({1e15, 1, 7}, {0, 1e15, 1e15 + 2}),
              "first mismatch at index 2: expected 1000000000000001, got 1000000000000002");
}

TEST(ScanProblem, LetsLargeFloatSumsBeRounded) {
    const std::vector<float> input{1 << 30, 1, 1 << 30};
    EXPECT_EQ(judgeScan<float>(input, {0, 1 << 30, 1 << 30}), std::nullopt);
    EXPECT_EQ(judgeScan<float>(input, {0, 1 << 30, (1 << 30) + 2048}), std::nullopt);
    EXPECT_THAT(judgeScan<float>(input, {0, 1 << 30, (1 << 30) + 16384}).value(), HasSubstr("index 2"));
    EXPECT_THAT(judgeScan<float>(input, {0, 1 << 30, std::numeric_limits<float>::quiet_NaN()}).value(),
                HasSubstr("index 2"));
}

TEST(CompactProblem, WantsNonzeroInOrder) {
    EXPECT_EQ(judgeCompact({3, 0, -7, 0, 0, 4}, {3, -7, 4}), std::nullopt);
    EXPECT_EQ(judgeCompact({0, 0}, {}), std::nullopt);
    EXPECT_EQ(judgeCompact({3, 0, -7, 0, 0, 4}, {3, 4, -7}), "first mismatch at index 1: expected -7, got 4");
    EXPECT_EQ(judgeCompact({3, 0, -7, 0, 0, 4}, {3, -7}), "wrong count: expected 3 elements, got 2");
    EXPECT_EQ(judgeCompact({3, 0}, {3, 0}), "wrong count: expected 1 elements, got 2");
}

TEST(UniqueProblem, WantsTheFirstElementOfEachRun) {
    const auto judgeUnique = [](Array<int> unique) {
        return judge<UniqueProblem<int>>(Operation::Unique, std::vector<int>{5, 5, 7, 5, 5, 5, 2}, std::move(unique));
    };
    EXPECT_EQ(judgeUnique({5, 7, 5, 2}), std::nullopt);
    EXPECT_EQ(judgeUnique({5, 7, 2, 5}), "first mismatch at index 2: expected 5, got 2");
    EXPECT_EQ(judgeUnique({5, 7, 2}), "wrong count: expected 4 elements, got 3");
}

[[nodiscard]] Finding judgeRuns(Operation operation, Array<int> keys, Array<PairValue> values) {
    return judge<RunsProblem<int>>(operation, std::vector<int>{5, 5, 7, 5, 5, 5, 2},
                                   Pairs<int>{std::move(keys), std::move(values)});
}

TEST(RunsProblem, WantsTheLengthOfEachRun) {
    EXPECT_EQ(judgeRuns(Operation::RunLength, {5, 7, 5, 2}, {2, 1, 3, 1}), std::nullopt);
    EXPECT_EQ(judgeRuns(Operation::RunLength, {5, 7, 5, 2}, {2, 1, 4, 1}),
              "first mismatch at index 2: expected (5, 3), got (5, 4)");
    EXPECT_EQ(judgeRuns(Operation::RunLength, {5, 7, 4, 2}, {2, 1, 3, 1}),
              "first mismatch at index 2: expected (5, 3), got (4, 3)");
    EXPECT_EQ(judgeRuns(Operation::RunLength, {5, 7, 5, 2}, {2, 1, 3}), "wrong count: expected 4 elements, got 3");
}

TEST(RunsProblem, WantsTheSumOfTheIndicesOfEachRun) {
    EXPECT_EQ(judgeRuns(Operation::ReduceByKey, {5, 7, 5, 2}, {1, 2, 12, 6}), std::nullopt);
    EXPECT_EQ(judgeRuns(Operation::ReduceByKey, {5, 7, 5, 2}, {1, 2, 12, 0}),
              "first mismatch at index 3: expected (2, 6), got (2, 0)");
}

TEST(PartitionProblem, WantsBothPartsInOrder) {
    EXPECT_EQ(judgePartition({3, 0, -7, 0, 4}, {3, -7, 4}, {0, 0}), std::nullopt);
    EXPECT_EQ(judgePartition({3, 0, -7, 0, 4}, {-7, 3, 4}, {0, 0}),
              "in the kept part: first mismatch at index 0: expected 3, got -7");
    EXPECT_EQ(judgePartition({3, 0, -7, 0, 4}, {3, -7, 4}, {0, 4}),
              "in the rejected part: first mismatch at index 1: expected 0, got 4");
    EXPECT_EQ(judgePartition({3, 0, -7, 0, 4}, {3, -7, 4}, {0}),
              "in the rejected part: wrong count: expected 2 elements, got 1");
}

TEST(SortProblem, WantsTheSameElementsAscending) {
    EXPECT_EQ(judgeSort<int>({3, smallest, -7, largest, 0}, {smallest, -7, 0, 3, largest}), std::nullopt);
    EXPECT_EQ(judgeSort<float>({3, -0.5F, 1e38F, -1e-38F}, {-0.5F, -1e-38F, 3, 1e38F}), std::nullopt);
    EXPECT_EQ(judgeSort<int>({3, -7, 0}, {-7, 3, 0}), "first mismatch at index 1: expected 0, got 3");
    EXPECT_EQ(judgeSort<int>({3, -7, 0}, {-7, 0, 4}), "first mismatch at index 2: expected 3, got 4");
    EXPECT_EQ(judgeSort<int>({3, 3, 0}, {0, 0, 3}), "first mismatch at index 1: expected 3, got 0");
    EXPECT_EQ(judgeSort<int>({3, 3, 0}, {0, 3}), "wrong count: expected 3 elements, got 2");
}

TEST(SortPairsProblem, WantsEqualKeysInTheirOrder) {
    EXPECT_EQ(judgePairs({5, 3, 5, 3}, {3, 3, 5, 5}, {1, 3, 0, 2}), std::nullopt);
    EXPECT_EQ(judgePairs({5, 3, 5, 3}, {3, 3, 5, 5}, {1, 3, 2, 0}), "index 3: (5, 0) stands behind (5, 2)");
    EXPECT_EQ(judgePairs({5, 3, 5, 3}, {5, 3, 5, 3}, {0, 1, 2, 3}), "index 1: (3, 1) stands behind (5, 0)");
    EXPECT_EQ(judgePairs({5, 3, 5, 3}, {3, 3, 5, 5}, {1, 1, 0, 2}), "index 1: (3, 1) stands behind (3, 1)");
    EXPECT_EQ(judgePairs({5, 3}, {3, 4}, {1, 0}), "index 1: (4, 0) is no pair of the input");
    EXPECT_EQ(judgePairs({5, 3}, {3, 5}, {1, 2}), "index 1: (5, 2) is no pair of the input");
    EXPECT_EQ(judgePairs({5, 3}, {3, 5}, {-1, 0}), "index 0: (3, -1) is no pair of the input");
    EXPECT_EQ(judgePairs({5, 3}, {3, 5}, {1}), "wrong count: expected 2 elements, got 1");
}

template <typename T>
[[nodiscard]] Finding judgeRowSums(const std::vector<T>& input, Array<SumOf<T>> sums) {
    return judge<RowSumProblem<T>>(Operation::RowSum, input, std::move(sums));
}

// Four elements are a matrix of two rows and two columns.
TEST(RowSumProblem, WantsASumOfEachRowThatWraps) {
    EXPECT_EQ(judgeRowSums<int>({3, 1, 7, 0}, {4, 7}), std::nullopt);
    EXPECT_EQ(judgeRowSums<int>({3, 1, largest, 1}, {4, smallest}), std::nullopt);
    EXPECT_EQ(judgeRowSums<std::int8_t>({100, 100, -1, 0}, {200, -1}), std::nullopt);
    EXPECT_EQ(judgeRowSums<int>({3, 1, 7, 0}, {4, 6}), "first mismatch at index 1: expected 7, got 6");
    EXPECT_EQ(judgeRowSums<int>({3, 1, 7, 0}, {4}), "wrong count: expected 2 elements, got 1");
}

TEST(RowSumProblem, LetsFloatingPointSumsBeRounded) {
    const float epsilon = std::numeric_limits<float>::epsilon();
    EXPECT_EQ(judgeRowSums<float>({1, 1, 1, -1}, {2 + 3 * epsilon, 4 * epsilon}), std::nullopt);
    EXPECT_THAT(judgeRowSums<float>({1, 1, 1, -1}, {2, 5 * epsilon}).value_or(""),
                StartsWith("first mismatch at index 1"));
    EXPECT_THAT(judgeRowSums<float>({1, 1, 1, -1}, {2, std::numeric_limits<float>::quiet_NaN()}).value_or(""),
                StartsWith("first mismatch at index 1"));
    EXPECT_EQ(judgeRowSums<double>({1e16, 1, 1, -1}, {1e16, 0}), std::nullopt);
}

TEST(RowSumProblem, HasTheShapesThatAreAskedFor) {
    const std::array shapes{Shape{2, 3}, Shape{1, 4}};
    const auto problems = makeRowSumProblems(ElementType::Int32, {InputPattern::Kind::Ascending}, shapes, 42);
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[0]->shape(), shapes[0]);
    EXPECT_EQ(problems[0]->size(), 6u);
    EXPECT_EQ(problems[0]->resultSize(), 2u);
    EXPECT_EQ(problems[1]->shape(), shapes[1]);
    EXPECT_EQ(problemOn(Operation::RowSum, std::vector<int>(1021))->shape(), (Shape{32, 31}));
    EXPECT_EQ(problemOn(Operation::Scan, std::vector<int>(6))->shape(), std::nullopt);
}

TEST(SegmentedScanProblem, WantsSumsThatRestartWhereTheLowestBitChanges) {
    const auto judgeSums = [](Array<int> sums) {
        return judge<SegmentedScanProblem<int>>(Operation::SegmentedScan, std::vector<int>{2, -4, 5, largest, 1, 6},
                                                std::move(sums));
    };
    EXPECT_EQ(judgeSums({0, 2, 0, 5, smallest + 4, 0}), std::nullopt);
    EXPECT_EQ(judgeSums({0, 2, -2, 5, smallest + 4, 0}), "first mismatch at index 2: expected 0, got -2");
    EXPECT_EQ(judgeSums({0, 2, 0, 5, smallest + 4}), "wrong count: expected 6 elements, got 5");
}

TEST(SegmentedSortProblem, WantsTheElementsOfEachSegmentAscending) {
    const auto judgeSorted = [](Array<int> sorted) {
        return judge<SegmentedSortProblem<int>>(Operation::SegmentedSort, std::vector<int>{2, -4, 5, 1, 3, 6},
                                                std::move(sorted));
    };
    EXPECT_EQ(judgeSorted({-4, 2, 1, 3, 5, 6}), std::nullopt);
    EXPECT_EQ(judgeSorted({-4, 1, 2, 3, 5, 6}), "first mismatch at index 1: expected 2, got 1");
    EXPECT_EQ(judgeSorted({-4, 2, 1, 5, 3, 6}), "first mismatch at index 3: expected 3, got 5");
    EXPECT_EQ(judgeSorted({-4, 2, 1, 3, 5}), "wrong count: expected 6 elements, got 5");
}

TEST(CompactFlaggedProblem, WantsTheRecordsOfNonzeroElements) {
    const std::vector<int> input{0, 5, 0, 0, -1, 2};
    const auto judge = [&input](const std::vector<Record>& result) {
        const auto problem = problemOn(Operation::CompactFlagged, input);
        dynamic_cast<CompactFlaggedProblem<int>&>(*problem).result().assign(result.begin(), result.end());
        return problem->mismatch();
    };
    EXPECT_EQ(judge({recordAt(1), recordAt(4), recordAt(5)}), std::nullopt);
    EXPECT_EQ(judge({recordAt(1), recordAt(4)}), "wrong count: expected 3 elements, got 2");
    EXPECT_EQ(judge({recordAt(1), recordAt(4), {5, 0}}),
              "first mismatch at index 2: expected record 5, got 5 with complement 0");
    // Six flags, two sectors of two records each, three records.
    EXPECT_EQ(problemOn(Operation::CompactFlagged, input)->bytesMoved(), 6u + 2 * 32 + 3 * 16);
}

TEST(TopKProblem, WantsTheSmallestInAnyOrder) {
    std::vector<int> input(2000, 9);  // two are wanted
    input[700] = 3;
    const auto judge = [&input](const std::vector<int>& result) {
        const auto problem = problemOn(Operation::TopK, input);
        dynamic_cast<TopKProblem<int>&>(*problem).result().assign(result.begin(), result.end());
        return problem->mismatch();
    };
    const std::string wrong = "the elements are not the first 2 of the input";
    EXPECT_EQ(judge({3, 9}), std::nullopt);
    EXPECT_EQ(judge({9, 3}), std::nullopt);
    EXPECT_EQ(judge({9, 9}), wrong);
    EXPECT_EQ(judge({3, 3}), wrong);
    EXPECT_EQ(judge({3, 8}), wrong);
    EXPECT_EQ(judge({3}), "wrong count: expected 2 elements, got 1");
    input[1999] = -1;
    EXPECT_EQ(judge({-1, 3}), std::nullopt);
    EXPECT_EQ(judge({3, 9}), wrong);
}

TEST(MultiPartitionProblem, WantsTheOrderOfTheInputInEachPart) {
    const auto judge = [](const std::vector<int>& result) {
        const auto problem = problemOn(Operation::MultiPartition, std::vector<int>{0x102, 0x1, 0x2, -1});
        dynamic_cast<MultiPartitionProblem<int>&>(*problem).result().assign(result.begin(), result.end());
        return problem->mismatch();
    };
    EXPECT_EQ(judge({0x1, 0x102, 0x2, -1}), std::nullopt);
    EXPECT_EQ(judge({0x1, 0x2, 0x102, -1}), "first mismatch at index 1: expected 258, got 2");
    EXPECT_EQ(judge({0x1, 0x102, 0x2}), "wrong count: expected 4 elements, got 3");
}

TEST(HistogramProblem, CountsWhatIsInABin) {
    const auto judge = [](const std::vector<BinCount>& counts) {
        const auto problem = problemOn(Operation::Histogram, std::vector<int>{3, 255, 256, -1, 3});
        dynamic_cast<NarrowHistogramProblem<int>&>(*problem).result().assign(counts.begin(), counts.end());
        return problem->mismatch();
    };
    std::vector<BinCount> counts(256);
    counts[3] = 2;
    counts[255] = 1;
    EXPECT_EQ(judge(counts), std::nullopt);
    ++counts[254];
    EXPECT_EQ(judge(counts), "first mismatch at index 254: expected 0, got 1");
    counts.pop_back();
    EXPECT_EQ(judge(counts), "wrong count: expected 256 elements, got 255");
}

TEST(Problem, CountsBytesInTheirTrueSizes) {
    EXPECT_EQ(problemOn(Operation::RowSum, std::vector<std::int8_t>(16))->bytesMoved(), 32u);
    EXPECT_EQ(problemOn(Operation::Scan, std::vector<int>(100))->bytesMoved(), 800u);
    EXPECT_EQ(problemOn(Operation::Histogram, std::vector<std::int8_t>(100))->bytesMoved(), 1124u);
    EXPECT_EQ(problemOn(Operation::Scan, std::vector<std::int8_t>(100))->bytesMoved(), 500u);
    EXPECT_EQ(problemOn(Operation::Compact, std::vector<double>{1, 0, 2, 3})->bytesMoved(), 56u);
    EXPECT_EQ(problemOn(Operation::Partition, std::vector<int>{1, 0, 2, 3})->bytesMoved(), 32u);
    EXPECT_EQ(problemOn(Operation::Sort, std::vector<std::int8_t>(100))->bytesMoved(), 200u);
    EXPECT_EQ(problemOn(Operation::SortPairs, std::vector<std::int64_t>(100))->bytesMoved(), 2400u);
    EXPECT_EQ(problemOn(Operation::SegmentedScan, std::vector<std::int64_t>(100))->bytesMoved(), 1600u);
    EXPECT_EQ(problemOn(Operation::SegmentedSort, std::vector<int>(100))->bytesMoved(), 800u);
    EXPECT_EQ(problemOn(Operation::Unique, std::vector<std::int64_t>(100))->bytesMoved(), 808u);
    EXPECT_EQ(problemOn(Operation::RunLength, std::vector<std::int64_t>(100))->bytesMoved(), 812u);
    EXPECT_EQ(problemOn(Operation::ReduceByKey, std::vector<std::int64_t>(100))->bytesMoved(), 1212u);
}

/// Solves the problem at two sizes, large enough for several chunks, and looks for what the check should find.
void expectSolved(const Variant& variant, InputPattern pattern) {
    SCOPED_TRACE(std::string(variant.title) + " of " + std::string(name(variant.type)) + ", " + toString(pattern));
    const std::array<std::size_t, 2> sizes{300'000, 298'997};
    const auto problems = makeProblems(variant.operation, variant.type, pattern, sizes, 42);
    const auto solve = [&](Problem& problem) {
        const auto run = variant.prepare(problem, {});
        run->poisonOutput();
        EXPECT_NE(problem.mismatch(), std::nullopt) << "before it is solved";
        run->launch();
        run->fetchResult();
        EXPECT_EQ(problem.mismatch(), std::nullopt);
    };
    solve(*problems[0]);
    solve(*problems[1]);
    if (!isOnText(variant.operation)) {
        EXPECT_NE(problems[0]->mismatch(), std::nullopt) << "with the result of the other size";
        EXPECT_LE(problems[0]->bytesMoved(), sizes[0] * bytesPerElement(variant.operation, variant.type));
    }
}

TEST(Problems, AreSolvedByTheCpu) {
    using Kind = InputPattern::Kind;
    int solved = 0;
    for (const Variant& variant : allVariants()) {
        if (variant.name == "cpu" && !isOnText(variant.operation)) {
            expectSolved(variant, defaultInput(variant.operation));
            ++solved;
        } else if (variant.name == "cpu") {
            for (const InputPattern pattern :
                 {InputPattern{Kind::Ascii}, InputPattern{Kind::Cyrillic}, InputPattern{Kind::Cjk},
                  InputPattern{Kind::Emoji}, InputPattern{Kind::Mixed}, InputPattern{Kind::IllFormed, 10}}) {
                expectSolved(variant, pattern);
            }
        }
    }
    EXPECT_EQ(solved, 61);
}

TEST(Problem, FindsTheFirstWrongElementOfManyChunks) {
    const std::vector<int> ones(300'000, 1);
    Array<int> sums(ones.size());
    std::iota(sums.begin(), sums.end(), 0);
    ASSERT_EQ(judgeScan<int>(ones, sums), std::nullopt);
    sums[299'999] = -1;
    sums[70'000] = -2;
    EXPECT_EQ(judgeScan<int>(ones, sums), "first mismatch at index 70000: expected 70000, got -2");
}

TEST(MakeProblems, TakesTheInputOfTheLargestSizeForAll) {
    const std::array<std::size_t, 2> sizes{2, 4};
    const auto problems =
        makeProblems(Operation::Scan, ElementType::Int64, {InputPattern::Kind::Descending}, sizes, 42);
    EXPECT_THAT(dynamic_cast<ScanProblem<std::int64_t>&>(*problems.at(0)).input(),
                ElementsAreArray(std::vector<std::int64_t>{3, 2}));
    EXPECT_THAT(dynamic_cast<ScanProblem<std::int64_t>&>(*problems.at(1)).input(),
                ElementsAreArray(std::vector<std::int64_t>{3, 2, 1, 0}));
}

}  // namespace
}  // namespace Bench
