#include "inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "usage_error.h"

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
    EXPECT_THAT(makeInput({Kind::Uniform, 0}, 4, 42), ElementsAre(-1109970394, 686809907, 1196582743, 1478287871));
    EXPECT_THAT(makeInput({Kind::Modulo, 50}, 6, 42), ElementsAre(2, 7, 43, 21, 30, 44));
    EXPECT_THAT(makeInput({Kind::RandomBits, 0}, 8, 42), ElementsAre(1, 0, 0, 0, 0, 1, 0, 1));
}

TEST(MakeInput, FollowsThePattern) {
    EXPECT_THAT(makeInput({Kind::Zeros, 0}, 3, 42), ElementsAre(0, 0, 0));
    EXPECT_THAT(makeInput({Kind::Ones, 0}, 3, 42), ElementsAre(1, 1, 1));
    EXPECT_THAT(makeInput({Kind::Ascending, 0}, 4, 42), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(makeInput({Kind::Descending, 0}, 4, 42), ElementsAre(3, 2, 1, 0));
}

TEST(MakeInput, KeepsItsFirstElementsWhenItGrows) {
    const auto whole = makeInput({Kind::Uniform, 0}, 1000, 7);
    const auto start = makeInput({Kind::Uniform, 0}, 997, 7);
    EXPECT_TRUE(std::equal(start.begin(), start.end(), whole.begin()));
}

TEST(MakeInput, DependsOnTheSeed) {
    EXPECT_NE(makeInput({Kind::Uniform, 0}, 100, 1), makeInput({Kind::Uniform, 0}, 100, 2));
}

TEST(MakeInput, CoversTheWholeRange) {
    constexpr int quarter = std::numeric_limits<int>::max() / 2;
    const auto uniform = makeInput({Kind::Uniform, 0}, 10000, 42);
    EXPECT_THAT(uniform, Contains(Lt(-quarter)));
    EXPECT_THAT(uniform, Contains(Gt(quarter)));

    const auto modulo = makeInput({Kind::Modulo, 4}, 10000, 42);
    EXPECT_THAT(modulo, Each(testing::AllOf(testing::Ge(0), Lt(4))));
    const auto zeros = std::ranges::count(modulo, 0);
    EXPECT_NEAR(static_cast<double>(zeros), 2500, 200);

    EXPECT_THAT(makeInput({Kind::Modulo, 1}, 100, 42), Each(0));
}

TEST(MakeInput, MayBeEmpty) {
    EXPECT_TRUE(makeInput({Kind::Uniform, 0}, 0, 42).empty());
    EXPECT_TRUE(makeInput({Kind::Descending, 0}, 0, 42).empty());
}

TEST(ParseInputPattern, IsTheReverseOfToString) {
    for (const char* text :
         {"uniform", "zeros", "ones", "ascending", "descending", "mod:1", "mod:50", "mod:2147483647", "random-bits"}) {
        EXPECT_EQ(toString(parseInputPattern(text)), text);
    }
    EXPECT_EQ(parseInputPattern("mod:50"), (InputPattern{Kind::Modulo, 50}));
}

TEST(ParseInputPattern, RefusesOtherTexts) {
    for (const char* text :
         {"", "unifrm", "mod", "mod:", "mod:0", "mod:-3", "mod:x", "mod:5x", "mod:2147483648", "Ones"}) {
        EXPECT_THROW((void)parseInputPattern(text), UsageError) << text;
    }
}

}  // namespace
}  // namespace Bench
