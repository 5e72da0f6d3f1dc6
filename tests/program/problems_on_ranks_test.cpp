// Results that are spread over ranks, each of which checks its own part.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "problems/inputs.h"
#include "problems/problems.h"
#include "thread_world.h"

namespace Bench {
namespace {

namespace Utf8 = StreamCompaction::Utf8;
using testing::Each;
using testing::ElementsAre;
using Finding = std::optional<std::string>;

template <typename T>
using PartsOfRanks = std::vector<std::vector<T>>;

/// What each rank finds, given its parts of the input and of the result. `problemsOn(input, parts)` makes the problems.
template <typename T, typename Result, typename ProblemsOn>
[[nodiscard]] std::vector<Finding> judgeBy(const ProblemsOn& problemsOn, const PartsOfRanks<T>& inputs,
                                           const std::vector<Result>& results) {
    return onRanks(static_cast<int>(inputs.size()), [&](const World& world) {
        const auto& input = inputs[static_cast<std::size_t>(world.rank())];
        const Part part{world.sum(input.size()), {world.sumBefore(input.size()), input.size()}, &world};
        const auto problems = problemsOn(Array<T>(input.begin(), input.end()), std::span<const Part>(&part, 1));
        dynamic_cast<ProblemOn<T, Result>&>(*problems.front()).result() =
            results[static_cast<std::size_t>(world.rank())];
        return problems.front()->mismatch();
    });
}

using Arrays = std::vector<Array<int>>;

template <typename Result>
[[nodiscard]] auto judge(Operation operation, const PartsOfRanks<int>& inputs, const std::vector<Result>& results) {
    return judgeBy(std::bind_front(problemsOn<int>, operation), inputs, results);
}

using Utf8::Result;

/// All ranks get the result of the whole text.
template <typename To, typename From>
[[nodiscard]] auto judgeText(Operation operation, const PartsOfRanks<From>& texts, const std::vector<Array<To>>& parts,
                             Result whole) {
    std::vector<Converted<To>> results;
    std::ranges::transform(parts, std::back_inserter(results), [whole](const Array<To>& part) {
        return Converted<To>{part, whole};
    });
    return judgeBy(std::bind_front(textProblemsOn<From>, operation), texts, results);
}

const Finding none;

TEST(ProblemsOnRanks, ScanGoesOnWhereTheEarlierRanksEnd) {
    const PartsOfRanks<int> inputs{{1, 2}, {}, {3, 4}};
    EXPECT_THAT(judge(Operation::Scan, inputs, Arrays{{0, 1}, {}, {3, 6}}), Each(none));
    EXPECT_THAT(judge(Operation::Scan, inputs, Arrays{{0, 1}, {}, {0, 3}}),
                ElementsAre(none, none, "first mismatch at index 2: expected 3, got 0"));
    EXPECT_THAT(judge(Operation::Scan, inputs, Arrays{{0, 1}, {}, {3}}),
                ElementsAre(none, none, "wrong count: expected 2 elements, got 1"));
}

TEST(ProblemsOnRanks, CompactLeavesEachRankWhatItKeeps) {
    const PartsOfRanks<int> inputs{{0, 2}, {3, 4}};
    EXPECT_THAT(judge(Operation::Compact, inputs, Arrays{{2}, {3, 4}}), Each(none));
    EXPECT_THAT(judge(Operation::Compact, inputs, Arrays{{2, 3}, {4}}),
                ElementsAre("wrong count: expected 1 elements, got 2", "wrong count: expected 2 elements, got 1"));
    EXPECT_THAT(judge(Operation::Compact, inputs, Arrays{{2}, {3, 5}}),
                ElementsAre(none, "first mismatch at index 1: expected 4, got 5"));
}

TEST(ProblemsOnRanks, PartitionLeavesEachRankBothParts) {
    const PartsOfRanks<int> inputs{{0, 2, 0}, {}, {3, 4}};
    EXPECT_THAT(judge(Operation::Partition, inputs, std::vector<Parts<int>>{{{2}, {0, 0}}, {}, {{3, 4}, {}}}),
                Each(none));
    EXPECT_THAT(judge(Operation::Partition, inputs, std::vector<Parts<int>>{{{2}, {0}}, {}, {{3, 4}, {0}}}),
                ElementsAre("in the rejected part: wrong count: expected 2 elements, got 1", none,
                            "in the rejected part: wrong count: expected 0 elements, got 1"));
}

TEST(ProblemsOnRanks, CharactersBelongToTheRankWithTheirFirstByte) {
    // a, U+20AC, U+1F600, z
    const PartsOfRanks<std::uint8_t> texts{{'a', 0xE2}, {0x82}, {0xAC, 0xF0}, {0x9F, 0x98, 0x80, 'z'}};
    const auto judgeUtf32 = [&](const std::vector<Array<char32_t>>& parts) {
        return judgeText(Operation::Utf8ToUtf32, texts, parts, Result{4, Result::noError});
    };
    EXPECT_THAT(judgeUtf32({{U'a', 0x20AC}, {}, {0x1F600}, {U'z'}}), Each(none));
    EXPECT_THAT(judgeUtf32({{U'a', 0x20AC}, {}, {0x1F601}, {U'z'}}),
                ElementsAre(none, none, "first mismatch at index 0: expected 128512, got 128513", none));
    EXPECT_THAT(
        judgeUtf32({{U'a'}, {}, {0x20AC, 0x1F600}, {U'z'}}),
        ElementsAre("wrong count: expected 2 elements, got 1", none, "wrong count: expected 1 elements, got 2", none));
}

TEST(ProblemsOnRanks, SecondSurrogatesBelongToTheRankWithTheSecondByte) {
    const PartsOfRanks<std::uint8_t> texts{{'a', 0xF0}, {}, {0x9F}, {0x98, 0x80, 'z'}};
    const Result whole{4, Result::noError};
    const auto judgeUtf16 = [&](const std::vector<Array<char16_t>>& parts) {
        return judgeText(Operation::Utf8ToUtf16, texts, parts, whole);
    };
    EXPECT_THAT(judgeUtf16({{u'a', 0xD83D}, {}, {0xDE00}, {u'z'}}), Each(none));
    EXPECT_THAT(judgeUtf16({{u'a', 0xD83D}, {}, {0xDE01}, {u'z'}}),
                ElementsAre(none, none, "first mismatch at index 0: expected 56832, got 56833", none));
}

TEST(ProblemsOnRanks, EachSurrogateBecomesHalfOfAPair) {
    const PartsOfRanks<char16_t> texts{{u'a', 0xD83D}, {0xDE00}, {0xDE00, 0x20AC}};
    const Result whole{11, Result::errorAt(3, Utf8::ErrorKind::Surrogate)};
    EXPECT_THAT(judgeText(Operation::Utf16ToUtf8, texts,
                          std::vector<Array<std::uint8_t>>{
                              {'a', 0xF0, 0x9F}, {0x98, 0x80}, {0xEF, 0xBF, 0xBD, 0xE2, 0x82, 0xAC}},
                          whole),
                Each(none));
}

TEST(ProblemsOnRanks, ErrorsAreThoseOfTheWholeText) {
    const PartsOfRanks<std::uint8_t> texts{{'a'}, {'b', 0xF0, 0x9F}, {}, {'c', 0x80}};
    const std::vector<Array<char32_t>> parts{{U'a'}, {U'b', 0xFFFD}, {}, {U'c', 0xFFFD}};
    const auto judgeError = [&](std::uint64_t error) {
        return judgeText(Operation::Utf8ToUtf32, texts, parts, {5, error});
    };
    EXPECT_THAT(judgeError(Result::errorAt(2, Utf8::ErrorKind::Truncated)), Each(none));
    EXPECT_THAT(judgeError(Result::errorAt(5, Utf8::ErrorKind::UnexpectedContinuation)),
                Each(Finding("wrong error: expected a truncated sequence at 2, got an unexpected continuation byte at "
                             "5")));
    const auto judgeValidation = [&](Result whole) {
        return judgeBy(std::bind_front(textProblemsOn<std::uint8_t>, Operation::Utf8Validate), texts,
                       std::vector<Result>(texts.size(), whole));
    };
    EXPECT_THAT(judgeValidation({5, Result::errorAt(2, Utf8::ErrorKind::Truncated)}), Each(none));
    EXPECT_THAT(judgeValidation({2, Result::errorAt(2, Utf8::ErrorKind::Truncated)}),
                Each(Finding("wrong count: expected 5 elements, got 2")));
}

TEST(ProblemsOnRanks, SortAscendsAcrossRanks) {
    const PartsOfRanks<int> inputs{{4, 3}, {}, {2, 1}};
    EXPECT_THAT(judge(Operation::Sort, inputs, Arrays{{1, 2}, {}, {3, 4}}), Each(none));
    EXPECT_THAT(judge(Operation::Sort, inputs, Arrays{{3, 4}, {}, {1, 2}}),
                ElementsAre(none, none, "a smaller element follows the last one of an earlier rank"));
    EXPECT_THAT(judge(Operation::Sort, inputs, Arrays{{2, 1}, {}, {3, 4}}),
                ElementsAre("a smaller element follows a larger one", none, none));
    EXPECT_THAT(
        judge(Operation::Sort, inputs, Arrays{{1, 2, 3}, {}, {4}}),
        ElementsAre("wrong count: expected 2 elements, got 3", none, "wrong count: expected 2 elements, got 1"));
}

TEST(ProblemsOnRanks, SortHasTheElementsOfAllInputs) {
    const PartsOfRanks<int> inputs{{4, 3}, {2, 1}};
    EXPECT_THAT(judge(Operation::Sort, inputs, Arrays{{1, 2}, {3, 5}}),
                Each(Finding("the elements are not those of the input")));
    EXPECT_THAT(judge(Operation::Sort, inputs, Arrays{{1, 2}, {4, 4}}),
                Each(Finding("the elements are not those of the input")));
}

TEST(ProblemsOnRanks, PairsAreStableAcrossRanks) {
    const PartsOfRanks<int> keys{{7, 5}, {5, 5}};
    EXPECT_THAT(judge(Operation::SortPairs, keys, std::vector<Pairs<int>>{{{5, 5}, {1, 2}}, {{5, 7}, {3, 0}}}),
                Each(none));
    EXPECT_THAT(judge(Operation::SortPairs, keys, std::vector<Pairs<int>>{{{5, 5}, {1, 3}}, {{5, 7}, {2, 0}}}),
                ElementsAre(none, "index 2: (5, 2) stands behind (5, 3)"));
}

TEST(ProblemsOnRanks, PairsAreThoseOfAllInputs) {
    const PartsOfRanks<int> keys{{7, 5}, {5, 6}};
    EXPECT_THAT(judge(Operation::SortPairs, keys, std::vector<Pairs<int>>{{{5, 5}, {1, 2}}, {{6, 7}, {3, 0}}}),
                Each(none));
    const std::string otherElements = "the elements are not those of the input";
    // The second rank had the pair (6, 3), which the first one gets as (5, 3).
    EXPECT_THAT(judge(Operation::SortPairs, keys, std::vector<Pairs<int>>{{{5, 5}, {2, 3}}, {{6, 7}, {1, 0}}}),
                ElementsAre(otherElements, otherElements));
    EXPECT_THAT(judge(Operation::SortPairs, keys, std::vector<Pairs<int>>{{{5, 5}, {1, 2}}, {{6, 8}, {3, 4}}}),
                ElementsAre(otherElements, "index 3: (8, 4) is no pair of the input"));
}

/// `makeProblems(world)` makes a problem for each size.
template <typename T, typename SomeProblem, typename MakeProblems>
void expectShares(std::span<const std::size_t> sizes, const MakeProblems& makeProblems) {
    const auto inputsOf = [&](const World& world) {
        std::vector<std::vector<T>> inputs;  // one per size
        for (const auto& problem : makeProblems(world)) {
            const auto input = dynamic_cast<SomeProblem&>(*problem).input();
            inputs.emplace_back(input.begin(), input.end());
        }
        return inputs;
    };
    const auto whole = inputsOf(alone);
    const auto parts = onRanks(3, inputsOf);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::vector<T> joined;
        for (const auto& part : parts) {
            joined.insert(joined.end(), part[i].begin(), part[i].end());
        }
        EXPECT_EQ(joined.size(), sizes[i]);
        EXPECT_TRUE(joined == whole[i]) << "n = " << sizes[i];
    }
}

constexpr std::array<std::size_t, 3> someSizes{1000, 2, 70'001};

TEST(ProblemsOnRanks, EachRankHasItsShareOfTheSameInput) {
    for (const InputPattern pattern : {InputPattern{}, InputPattern{InputPattern::Kind::Descending}}) {
        SCOPED_TRACE(toString(pattern));
        expectShares<std::int64_t, SortProblem<std::int64_t>>(someSizes, [&](const World& world) {
            return makeProblems(Operation::Sort, ElementType::Int64, pattern, someSizes, 42, world);
        });
    }
}

TEST(ProblemsOnRanks, BytesAreThoseOfAllRanks) {
    for (const Operation operation : {Operation::Scan, Operation::Compact, Operation::Partition, Operation::Sort,
                                      Operation::SortPairs, Operation::Utf8ToUtf32, Operation::Utf8ToUtf16,
                                      Operation::Utf8Validate, Operation::Utf32ToUtf8, Operation::Utf16ToUtf8}) {
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
