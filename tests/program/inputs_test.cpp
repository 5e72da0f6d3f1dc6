#include "problems/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/usage_error.h"

namespace Bench {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::Lt;
using Kind = InputPattern::Kind;

// The published first numbers of SplitMix64 with this seed: equal on every platform.
TEST(RandomAt, IsSplitMix64) {
    EXPECT_EQ(randomAt(1234567, 0), 6457827717110365317u);
    EXPECT_EQ(randomAt(1234567, 1), 3203168211198807973u);
    EXPECT_EQ(randomAt(1234567, 2), 9817491932198370423u);
    EXPECT_EQ(randomAt(1234567, 3), 4593380528125082431u);
    EXPECT_EQ(randomAt(1234567, 4), 16408922859458223821u);
}

TEST(MakeInput, HasTheSameValuesOnEveryPlatform) {
    EXPECT_THAT(makeInput<int>({Kind::Uniform}, 4, 42), ElementsAre(-1109970394, 686809907, 1196582743, 1478287871));
    EXPECT_THAT(makeInput<int>({Kind::Modulo, 50}, 6, 42), ElementsAre(2, 7, 43, 21, 30, 44));
    EXPECT_THAT(makeInput<int>({Kind::RandomBits}, 8, 42), ElementsAre(1, 0, 0, 0, 0, 1, 0, 1));
}

TEST(MakeInput, FollowsThePattern) {
    EXPECT_THAT(makeInput<int>({Kind::Zeros}, 3, 42), ElementsAre(0, 0, 0));
    EXPECT_THAT(makeInput<int>({Kind::Ones}, 3, 42), ElementsAre(1, 1, 1));
    EXPECT_THAT(makeInput<int>({Kind::Ascending}, 4, 42), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(makeInput<int>({Kind::Descending}, 4, 42), ElementsAre(3, 2, 1, 0));
}

TEST(MakeInput, KeepsItsFirstElementsWhenItGrows) {
    const auto whole = makeInput<int>({Kind::Uniform}, 1000, 7);
    const auto start = makeInput<int>({Kind::Uniform}, 997, 7);
    EXPECT_TRUE(std::equal(start.begin(), start.end(), whole.begin()));
}

TEST(MakeInput, DependsOnTheSeed) {
    EXPECT_NE(makeInput<int>({Kind::Uniform}, 100, 1), makeInput<int>({Kind::Uniform}, 100, 2));
}

TEST(MakeInput, CoversTheWholeRange) {
    constexpr int quarter = std::numeric_limits<int>::max() / 2;
    const auto uniform = makeInput<int>({Kind::Uniform}, 10000, 42);
    EXPECT_THAT(uniform, Contains(Lt(-quarter)));
    EXPECT_THAT(uniform, Contains(Gt(quarter)));

    const auto modulo = makeInput<int>({Kind::Modulo, 4}, 10000, 42);
    EXPECT_THAT(modulo, Each(testing::AllOf(testing::Ge(0), Lt(4))));
    const auto zeros = std::ranges::count(modulo, 0);
    EXPECT_NEAR(static_cast<double>(zeros), 2500, 200);

    EXPECT_THAT(makeInput<int>({Kind::Modulo, 1}, 100, 42), Each(0));
}

TEST(MakeInput, CastsToEveryType) {
    EXPECT_THAT(makeInput<std::int8_t>({Kind::Modulo, 50}, 4, 42), ElementsAre(2, 7, 43, 21));
    EXPECT_THAT(makeInput<std::int64_t>({Kind::Modulo, 50}, 4, 42), ElementsAre(2, 7, 43, 21));
    EXPECT_THAT(makeInput<float>({Kind::Modulo, 50}, 4, 42), ElementsAre(2, 7, 43, 21));
    EXPECT_THAT(makeInput<double>({Kind::Ascending}, 3, 42), ElementsAre(0, 1, 2));
}

TEST(MakeInput, CoversTheWholeRangeOfEveryType) {
    constexpr std::int64_t quarter = std::numeric_limits<std::int64_t>::max() / 2;
    const auto int64s = makeInput<std::int64_t>({Kind::Uniform}, 1000, 42);
    EXPECT_THAT(int64s, Contains(Lt(-quarter)));
    EXPECT_THAT(int64s, Contains(Gt(quarter)));
    const auto int8s = makeInput<std::int8_t>({Kind::Uniform}, 10000, 42);
    EXPECT_THAT(int8s, Contains(-128));
    EXPECT_THAT(int8s, Contains(127));
}

template <typename T>
class UniformFloats : public testing::Test {};
using FloatingTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(UniformFloats, FloatingTypes);

TYPED_TEST(UniformFloats, AreFiniteAndOfAllMagnitudesAndSigns) {
    const auto values = makeInput<TypeParam>({Kind::Uniform}, 100'000, 42);
    EXPECT_TRUE(std::ranges::all_of(values, [](TypeParam x) { return std::isfinite(x); }));
    const TypeParam large = std::sqrt(std::numeric_limits<TypeParam>::max());
    EXPECT_THAT(values, Contains(Gt(large)));
    EXPECT_THAT(values, Contains(Lt(-large)));
    EXPECT_THAT(values, Contains(testing::AllOf(Gt(0), Lt(1 / large))));
}

TEST(MakeInput, KeepsTheFractionAskedFor) {
    for (const double p : {0.0, 0.1, 0.5, 1.0}) {
        const auto values = makeInput<int>({Kind::Kept, 0, p}, 10000, 42);
        const auto kept = static_cast<double>(10000 - std::ranges::count(values, 0));
        EXPECT_NEAR(kept, 10000 * p, p == 0 || p == 1 ? 0 : 200) << p;
        EXPECT_THAT(values, Each(testing::AllOf(testing::Ge(0), testing::Le(127))));
    }
    EXPECT_THAT(makeInput<std::int8_t>({Kind::Kept, 0, 1}, 10000, 42), Each(Gt(0)));
}

TEST(MakeInput, LowersTheEntropy) {
    const auto meanOfSetBits = [](std::uint32_t k) {
        const auto values = makeInput<int>({Kind::And, k}, 10000, 42);
        int bits = 0;
        for (const int value : values) {
            bits += std::popcount(static_cast<unsigned>(value));
        }
        return bits / 10000.0;
    };
    EXPECT_NEAR(meanOfSetBits(1), 16, 0.2);
    EXPECT_NEAR(meanOfSetBits(2), 8, 0.2);
    EXPECT_NEAR(meanOfSetBits(5), 1, 0.2);
}

TEST(MakeInput, MayBeEmpty) {
    EXPECT_TRUE(makeInput<int>({Kind::Uniform}, 0, 42).empty());
    EXPECT_TRUE(makeInput<int>({Kind::Descending}, 0, 42).empty());
}

TEST(ParseInputPattern, IsTheReverseOfToString) {
    for (const char* text : {"uniform", "zeros", "ones", "ascending", "descending", "mod:1", "mod:50", "mod:2147483647",
                             "random-bits", "and:1", "and:64", "kept:0", "kept:0.25", "kept:1"}) {
        EXPECT_EQ(toString(parseInputPattern(text)), text);
    }
    EXPECT_EQ(parseInputPattern("mod:50"), (InputPattern{Kind::Modulo, 50}));
    EXPECT_EQ(parseInputPattern("kept:0.25"), (InputPattern{Kind::Kept, 0, 0.25}));
}

TEST(ParseInputPattern, RefusesOtherTexts) {
    for (const char* text : {"",       "unifrm",         "mod",    "mod:",      "mod:0",    "mod:-3",  "mod:x",
                             "mod:5x", "mod:2147483648", "Ones",   "mod:1.5",   "and:",     "and:0",   "and:65",
                             "kept",   "kept:",          "kept:x", "kept:-0.1", "kept:1.1", "kept:nan"}) {
        EXPECT_THROW((void)parseInputPattern(text), UsageError) << text;
    }
}

}  // namespace
}  // namespace Bench
