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

constexpr int largest = std::numeric_limits<int>::max();
constexpr int smallest = std::numeric_limits<int>::min();

using Ints = std::vector<int>;

/// What the check finds in `result` as the result of the operation on `input`; empty if it is right.
template <typename T, typename Result>
[[nodiscard]] std::string judge(Operation operation, const std::vector<T>& input, Result result) {
    const auto problem = problemOn(operation, input);
    dynamic_cast<ProblemOn<T, Result>&>(*problem).result() = std::move(result);
    return problem->mismatch().value_or("");
}

TEST(Problems, FindWhatIsWrongInAnArray) {
    using enum Operation;
    const Ints runs{5, 5, 7, 5, 5, 5, 2};
    const Ints segments{2, -4, 5, largest, 1, 6};
    Ints many(2000, 9);  // two of them are wanted
    many[700] = 3;
    struct Case {
        Operation operation;
        Ints input;
        Array<int> result;
        std::string finding;
    };
    const Case cases[] = {
        {Scan, {3, 1, 7, 0, 4}, {0, 3, 4, 11, 11}, ""},
        {Scan, {largest, 1, 1}, {0, largest, smallest}, ""},
        {Scan, {3, 1, 7, 0, 4}, {3, 4, 11, 11, 15}, "first mismatch at index 0: expected 0, got 3"},
        {Scan, {3, 1, 7}, {0, 3}, "wrong count: expected 3 elements, got 2"},
        {Compact, {3, 0, -7, 0, 0, 4}, {3, -7, 4}, ""},
        {Compact, {0, 0}, {}, ""},
        {Compact, {3, 0, -7, 0, 0, 4}, {3, 4, -7}, "first mismatch at index 1: expected -7, got 4"},
        {Compact, {3, 0, -7, 0, 0, 4}, {3, -7}, "wrong count: expected 3 elements, got 2"},
        {Compact, {3, 0}, {3, 0}, "wrong count: expected 1 elements, got 2"},
        {Unique, runs, {5, 7, 5, 2}, ""},
        {Unique, runs, {5, 7, 2, 5}, "first mismatch at index 2: expected 5, got 2"},
        {Unique, runs, {5, 7, 2}, "wrong count: expected 4 elements, got 3"},
        {Sort, {3, smallest, -7, largest, 0}, {smallest, -7, 0, 3, largest}, ""},
        {Sort, {3, -7, 0}, {-7, 3, 0}, "first mismatch at index 1: expected 0, got 3"},
        {Sort, {3, -7, 0}, {-7, 0, 4}, "first mismatch at index 2: expected 3, got 4"},
        {Sort, {3, 3, 0}, {0, 0, 3}, "first mismatch at index 1: expected 3, got 0"},
        {Sort, {3, 3, 0}, {0, 3}, "wrong count: expected 3 elements, got 2"},
        // Four elements are a matrix of two rows and two columns.
        {RowSum, {3, 1, largest, 1}, {4, smallest}, ""},
        {RowSum, {3, 1, 7, 0}, {4, 6}, "first mismatch at index 1: expected 7, got 6"},
        {RowSum, {3, 1, 7, 0}, {4}, "wrong count: expected 2 elements, got 1"},
        // A segment ends where the lowest bit changes.
        {SegmentedScan, segments, {0, 2, 0, 5, smallest + 4, 0}, ""},
        {SegmentedScan, segments, {0, 2, -2, 5, smallest + 4, 0}, "first mismatch at index 2: expected 0, got -2"},
        {SegmentedScan, segments, {0, 2, 0, 5, smallest + 4}, "wrong count: expected 6 elements, got 5"},
        {SegmentedSort, {2, -4, 5, 1, 3, 6}, {-4, 2, 1, 3, 5, 6}, ""},
        {SegmentedSort, {2, -4, 5, 1, 3, 6}, {-4, 1, 2, 3, 5, 6}, "first mismatch at index 1: expected 2, got 1"},
        {SegmentedSort, {2, -4, 5, 1, 3, 6}, {-4, 2, 1, 5, 3, 6}, "first mismatch at index 3: expected 3, got 5"},
        {SegmentedSort, {2, -4, 5, 1, 3, 6}, {-4, 2, 1, 3, 5}, "wrong count: expected 6 elements, got 5"},
        {TopK, many, {3, 9}, ""},
        {TopK, many, {9, 3}, ""},
        {TopK, many, {9, 9}, "the elements are not the first 2 of the input"},
        {TopK, many, {3, 3}, "the elements are not the first 2 of the input"},
        {TopK, many, {3, 8}, "the elements are not the first 2 of the input"},
        {TopK, many, {3}, "wrong count: expected 2 elements, got 1"},
        {MultiPartition, {0x102, 0x1, 0x2, -1}, {0x1, 0x102, 0x2, -1}, ""},
        {MultiPartition,
         {0x102, 0x1, 0x2, -1},
         {0x1, 0x2, 0x102, -1},
         "first mismatch at index 1: expected 258, got 2"},
        {MultiPartition, {0x102, 0x1, 0x2, -1}, {0x1, 0x102, 0x2}, "wrong count: expected 4 elements, got 3"},
    };
    for (const auto& [operation, input, result, finding] : cases) {
        EXPECT_EQ(judge(operation, input, result), finding) << name(operation);
    }
}

TEST(Problems, FindWhatIsWrongInPairs) {
    using enum Operation;
    const Ints runs{5, 5, 7, 5, 5, 5, 2};
    const Ints keys{5, 3, 5, 3};
    struct Case {
        Operation operation;
        Ints input;
        Pairs<int> result;
        std::string finding;
    };
    const Case cases[] = {
        {RunLength, runs, {{5, 7, 5, 2}, {2, 1, 3, 1}}, ""},
        {RunLength, runs, {{5, 7, 5, 2}, {2, 1, 4, 1}}, "first mismatch at index 2: expected (5, 3), got (5, 4)"},
        {RunLength, runs, {{5, 7, 4, 2}, {2, 1, 3, 1}}, "first mismatch at index 2: expected (5, 3), got (4, 3)"},
        {RunLength, runs, {{5, 7, 5, 2}, {2, 1, 3}}, "wrong count: expected 4 elements, got 3"},
        {ReduceByKey, runs, {{5, 7, 5, 2}, {1, 2, 12, 6}}, ""},
        {ReduceByKey, runs, {{5, 7, 5, 2}, {1, 2, 12, 0}}, "first mismatch at index 3: expected (2, 6), got (2, 0)"},
        {SortPairs, keys, {{3, 3, 5, 5}, {1, 3, 0, 2}}, ""},
        {SortPairs, keys, {{3, 3, 5, 5}, {1, 3, 2, 0}}, "index 3: (5, 0) stands behind (5, 2)"},
        {SortPairs, keys, {{5, 3, 5, 3}, {0, 1, 2, 3}}, "index 1: (3, 1) stands behind (5, 0)"},
        {SortPairs, keys, {{3, 3, 5, 5}, {1, 1, 0, 2}}, "index 1: (3, 1) stands behind (3, 1)"},
        {SortPairs, {5, 3}, {{3, 4}, {1, 0}}, "index 1: (4, 0) is no pair of the input"},
        {SortPairs, {5, 3}, {{3, 5}, {1, 2}}, "index 1: (5, 2) is no pair of the input"},
        {SortPairs, {5, 3}, {{3, 5}, {-1, 0}}, "index 0: (3, -1) is no pair of the input"},
        {SortPairs, {5, 3}, {{3, 5}, {1}}, "wrong count: expected 2 elements, got 1"},
    };
    for (const auto& [operation, input, result, finding] : cases) {
        EXPECT_EQ(judge(operation, input, result), finding) << name(operation);
    }
}

TEST(Problems, FindWhatIsWrongInOtherResults) {
    using enum Operation;
    const auto judgePartition = [](const Parts<int>& parts) { return judge(Partition, Ints{3, 0, -7, 0, 4}, parts); };
    EXPECT_EQ(judgePartition({{3, -7, 4}, {0, 0}}), "");
    EXPECT_EQ(judgePartition({{-7, 3, 4}, {0, 0}}), "in the kept part: first mismatch at index 0: expected 3, got -7");
    EXPECT_EQ(judgePartition({{3, -7, 4}, {0, 4}}),
              "in the rejected part: first mismatch at index 1: expected 0, got 4");
    EXPECT_EQ(judgePartition({{3, -7, 4}, {0}}), "in the rejected part: wrong count: expected 2 elements, got 1");

    const Ints input{0, 5, 0, 0, -1, 2};
    const auto judgeRecords = [&](const Array<Record>& records) { return judge(CompactFlagged, input, records); };
    EXPECT_EQ(judgeRecords({recordAt(1), recordAt(4), recordAt(5)}), "");
    EXPECT_EQ(judgeRecords({recordAt(1), recordAt(4)}), "wrong count: expected 3 elements, got 2");
    EXPECT_EQ(judgeRecords({recordAt(1), recordAt(4), {5, 0}}),
              "first mismatch at index 2: expected record 5, got 5 with complement 0");
    // Six flags, two sectors of two records each, three records.
    EXPECT_EQ(problemOn(CompactFlagged, input)->bytesMoved(), 6u + 2 * 32 + 3 * 16);

    Array<BinCount> counts(256, 0);
    counts[3] = 2;
    counts[255] = 1;
    const auto judgeCounts = [&] { return judge(Histogram, Ints{3, 255, 256, -1, 3}, counts); };
    EXPECT_EQ(judgeCounts(), "");
    ++counts[254];
    EXPECT_EQ(judgeCounts(), "first mismatch at index 254: expected 0, got 1");
    counts.pop_back();
    EXPECT_EQ(judgeCounts(), "wrong count: expected 256 elements, got 255");
}

/// The same of one operation on other types.
template <typename T>
[[nodiscard]] std::string judgeSums(Operation operation, const std::vector<T>& input, Array<SumOf<T>> sums) {
    return judge(operation, input, std::move(sums));
}

TEST(Problems, AddUpBytesInInts) {
    using enum Operation;
    const std::vector<std::int8_t> bytes{100, 100, -1, 0};
    EXPECT_EQ(judgeSums(Scan, bytes, {0, 100, 200, 199}), "");
    EXPECT_EQ(judgeSums(Scan, bytes, {0, 100, -56, -57}), "first mismatch at index 2: expected 200, got -56");
    EXPECT_EQ(judgeSums(RowSum, bytes, {200, -1}), "");
}

TEST(Problems, LetSumsBeRoundedWhereTheyAreNotExact) {
    using enum Operation;
    using Floats = std::vector<float>;
    constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(judgeSums(ScanSquares, Floats{3, 1, 7, 4}, {0, 9, 10, 59}), "");
    EXPECT_EQ(judgeSums(ScanSquares, Floats{3, 1, 7, 4}, {0, 3, 4, 11}),
              "first mismatch at index 1: expected 9, got 3");
    EXPECT_EQ(judgeSums(Scan, Floats{8388608, 1, 7}, {0, 8388608, 8388610}),
              "first mismatch at index 2: expected 8388609, got 8388610");
    EXPECT_EQ(judgeSums(Scan, std::vector<double>{1e15, 1, 7}, {0, 1e15, 1e15 + 2}),
              "first mismatch at index 2: expected 1000000000000001, got 1000000000000002");
    const Floats large{1 << 30, 1, 1 << 30};
    EXPECT_EQ(judgeSums(Scan, large, {0, 1 << 30, 1 << 30}), "");
    EXPECT_EQ(judgeSums(Scan, large, {0, 1 << 30, (1 << 30) + 2048}), "");
    EXPECT_NE(judgeSums(Scan, large, {0, 1 << 30, (1 << 30) + 16384}), "");
    EXPECT_NE(judgeSums(Scan, large, {0, 1 << 30, notANumber}), "");
    constexpr float epsilon = std::numeric_limits<float>::epsilon();
    EXPECT_EQ(judgeSums(RowSum, Floats{1, 1, 1, -1}, {2 + 3 * epsilon, 4 * epsilon}), "");
    EXPECT_NE(judgeSums(RowSum, Floats{1, 1, 1, -1}, {2, 5 * epsilon}), "");
    EXPECT_NE(judgeSums(RowSum, Floats{1, 1, 1, -1}, {2, notANumber}), "");
    EXPECT_EQ(judgeSums(RowSum, std::vector<double>{1e16, 1, 1, -1}, {1e16, 0}), "");
    EXPECT_EQ(judge(Sort, Floats{3, -0.5F, 1e38F, -1e-38F}, Array<float>{-0.5F, -1e-38F, 3, 1e38F}), "");
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

TEST(Problems, FindTheFirstWrongElementOfManyChunks) {
    const Ints ones(300'000, 1);
    Array<int> sums(ones.size());
    std::iota(sums.begin(), sums.end(), 0);
    ASSERT_EQ(judge(Operation::Scan, ones, sums), "");
    sums[299'999] = -1;
    sums[70'000] = -2;
    EXPECT_EQ(judge(Operation::Scan, ones, sums), "first mismatch at index 70000: expected 70000, got -2");
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
