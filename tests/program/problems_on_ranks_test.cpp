// Results that are spread over ranks, each of which checks its own part.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "problems/inputs.h"
#include "problems/problems.h"
#include "thread_world.h"

namespace Bench {
namespace {

using testing::Each;
using testing::ElementsAre;
using Finding = std::optional<std::string>;

template <typename T>
using PartsOfRanks = std::vector<std::vector<T>>;

/// What each rank finds, given its parts of the input and of the result.
template <typename SomeProblem, typename T, typename Result>
[[nodiscard]] std::vector<Finding> judge(Operation operation, const PartsOfRanks<T>& inputs,
                                         const std::vector<Result>& results) {
    return onRanks(static_cast<int>(inputs.size()), [&](const World& world) {
        const auto& input = inputs[static_cast<std::size_t>(world.rank())];
        const Part part{world.sum(input.size()), {world.sumBefore(input.size()), input.size()}, &world};
        const auto problems =
            problemsOn(operation, Array<T>(input.begin(), input.end()), std::span<const Part>(&part, 1));
        dynamic_cast<SomeProblem&>(*problems.front()).result() = results[static_cast<std::size_t>(world.rank())];
        return problems.front()->mismatch();
    });
}

[[nodiscard]] auto judgeScan(const PartsOfRanks<int>& inputs, const std::vector<Array<int>>& sums) {
    return judge<ScanProblem<int>>(Operation::Scan, inputs, sums);
}
[[nodiscard]] auto judgeCompact(const PartsOfRanks<int>& inputs, const std::vector<Array<int>>& kept) {
    return judge<CompactProblem<int>>(Operation::Compact, inputs, kept);
}
[[nodiscard]] auto judgeSort(const PartsOfRanks<int>& inputs, const std::vector<Array<int>>& sorted) {
    return judge<SortProblem<int>>(Operation::Sort, inputs, sorted);
}
[[nodiscard]] auto judgePairs(const PartsOfRanks<int>& keys, const std::vector<Pairs<int>>& sorted) {
    return judge<SortPairsProblem<int>>(Operation::SortPairs, keys, sorted);
}

const Finding none;

TEST(ProblemsOnRanks, ScanGoesOnWhereTheEarlierRanksEnd) {
    const PartsOfRanks<int> inputs{{1, 2}, {}, {3, 4}};
    EXPECT_THAT(judgeScan(inputs, {{0, 1}, {}, {3, 6}}), Each(none));
    EXPECT_THAT(judgeScan(inputs, {{0, 1}, {}, {0, 3}}),
                ElementsAre(none, none, "first mismatch at index 2: expected 3, got 0"));
    EXPECT_THAT(judgeScan(inputs, {{0, 1}, {}, {3}}),
                ElementsAre(none, none, "wrong count: expected 2 elements, got 1"));
}

TEST(ProblemsOnRanks, CompactLeavesEachRankWhatItKeeps) {
    const PartsOfRanks<int> inputs{{0, 2}, {3, 4}};
    EXPECT_THAT(judgeCompact(inputs, {{2}, {3, 4}}), Each(none));
    EXPECT_THAT(judgeCompact(inputs, {{2, 3}, {4}}),
                ElementsAre("wrong count: expected 1 elements, got 2", "wrong count: expected 2 elements, got 1"));
    EXPECT_THAT(judgeCompact(inputs, {{2}, {3, 5}}), ElementsAre(none, "first mismatch at index 1: expected 4, got 5"));
}

TEST(ProblemsOnRanks, SortAscendsAcrossRanks) {
    const PartsOfRanks<int> inputs{{4, 3}, {}, {2, 1}};
    EXPECT_THAT(judgeSort(inputs, {{1, 2}, {}, {3, 4}}), Each(none));
    EXPECT_THAT(judgeSort(inputs, {{3, 4}, {}, {1, 2}}),
                ElementsAre(none, none, "a smaller element follows the last one of an earlier rank"));
    EXPECT_THAT(judgeSort(inputs, {{2, 1}, {}, {3, 4}}),
                ElementsAre("a smaller element follows a larger one", none, none));
    EXPECT_THAT(judgeSort(inputs, {{1, 2, 3}, {}, {4}}), ElementsAre("wrong count: expected 2 elements, got 3", none,
                                                                     "wrong count: expected 2 elements, got 1"));
}

TEST(ProblemsOnRanks, SortHasTheElementsOfAllInputs) {
    const PartsOfRanks<int> inputs{{4, 3}, {2, 1}};
    EXPECT_THAT(judgeSort(inputs, {{1, 2}, {3, 5}}), Each(Finding("the elements are not those of the input")));
    EXPECT_THAT(judgeSort(inputs, {{1, 2}, {4, 4}}), Each(Finding("the elements are not those of the input")));
}

TEST(ProblemsOnRanks, PairsAreStableAcrossRanks) {
    const PartsOfRanks<int> keys{{7, 5}, {5, 5}};
    EXPECT_THAT(judgePairs(keys, {{{5, 5}, {1, 2}}, {{5, 7}, {3, 0}}}), Each(none));
    EXPECT_THAT(judgePairs(keys, {{{5, 5}, {1, 3}}, {{5, 7}, {2, 0}}}),
                ElementsAre(none, "index 2: (5, 2) stands behind (5, 3)"));
}

TEST(ProblemsOnRanks, PairsAreThoseOfAllInputs) {
    const PartsOfRanks<int> keys{{7, 5}, {5, 6}};
    EXPECT_THAT(judgePairs(keys, {{{5, 5}, {1, 2}}, {{6, 7}, {3, 0}}}), Each(none));
    const std::string otherElements = "the elements are not those of the input";
    // The second rank had the pair (6, 3), which the first one gets as (5, 3).
    EXPECT_THAT(judgePairs(keys, {{{5, 5}, {2, 3}}, {{6, 7}, {1, 0}}}), ElementsAre(otherElements, otherElements));
    EXPECT_THAT(judgePairs(keys, {{{5, 5}, {1, 2}}, {{6, 8}, {3, 4}}}),
                ElementsAre(otherElements, "index 3: (8, 4) is no pair of the input"));
}

TEST(ProblemsOnRanks, EachRankHasItsShareOfTheSameInput) {
    const std::array<std::size_t, 3> sizes{1000, 2, 70'001};
    constexpr int ranks = 3;
    for (const InputPattern pattern : {InputPattern{}, InputPattern{InputPattern::Kind::Descending}}) {
        const auto whole = makeProblems(Operation::Sort, ElementType::Int64, pattern, sizes, 42);
        const auto parts = onRanks(ranks, [&](const World& world) {
            std::vector<Array<std::int64_t>> inputs;
            for (const auto& problem : makeProblems(Operation::Sort, ElementType::Int64, pattern, sizes, 42, world)) {
                const auto input = dynamic_cast<SortProblem<std::int64_t>&>(*problem).input();
                inputs.emplace_back(input.begin(), input.end());
            }
            return inputs;
        });
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            Array<std::int64_t> joined;
            for (const auto& part : parts) {
                joined.insert(joined.end(), part[i].begin(), part[i].end());
            }
            const auto expected = dynamic_cast<SortProblem<std::int64_t>&>(*whole[i]).input();
            EXPECT_TRUE(std::ranges::equal(joined, expected)) << toString(pattern) << ", n = " << sizes[i];
        }
    }
}

TEST(ProblemsOnRanks, BytesAreThoseOfAllRanks) {
    for (const Operation operation : {Operation::Scan, Operation::Compact, Operation::Sort, Operation::SortPairs}) {
        const auto bytesIn = [operation](const World& world) {
            const std::array<std::size_t, 1> sizes{1001};
            return makeProblems(operation, ElementType::Int32, defaultInput(operation), sizes, 42, world)
                .front()
                ->bytesMoved();
        };
        EXPECT_THAT(onRanks(3, bytesIn), Each(bytesIn(alone))) << name(operation);
    }
}

}  // namespace
}  // namespace Bench
