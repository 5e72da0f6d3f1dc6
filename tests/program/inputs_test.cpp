#include "problems/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stream_compaction/cpu/utf8.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "cli/values.h"
#include "problem_on.h"
#include "problems/problems.h"
#include "variants/variants.h"

namespace Bench {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::Lt;
using Kind = InputPattern::Kind;

// The first numbers of SplitMix64 with this seed, as published; equal on every platform.
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

TEST(MakeInput, HasRunsOfTheLengthAskedFor) {
    for (const std::uint32_t k : {1u, 2u, 10u, 1000u}) {
        const auto values = makeInput<std::int8_t>({Kind::Runs, k}, 100'000, 42);
        EXPECT_THAT(values, Each(testing::Ge(0)));
        std::size_t runs = 1;
        std::size_t length = 0;
        std::size_t longest = 0;
        for (std::size_t i = 1; i < values.size(); ++i) {
            runs += values[i] != values[i - 1] ? 1 : 0;
            length = values[i] == values[i - 1] ? length + 1 : 1;
            longest = std::max(longest, length);
        }
        EXPECT_NEAR(static_cast<double>(runs), 100'000.0 / k, 2) << k;
        EXPECT_LE(longest, 2 * k - 1);
        EXPECT_GE(longest, k);
    }
}

TEST(MakeInput, HasSegmentsWhereItHasRuns) {
    for (const std::uint32_t k : {1u, 2u, 10u, 1000u}) {
        const auto runs = makeInput<std::int64_t>({Kind::Runs, k}, 10'000, 42);
        const auto segments = makeInput<std::int64_t>({Kind::Segments, k}, 10'000, 42);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            ASSERT_EQ(beginsSegment(std::span<const std::int64_t>(segments), i), i == 0 || runs[i] != runs[i - 1]);
        }
        EXPECT_EQ(std::set<std::int64_t>(segments.begin(), segments.end()).size(), segments.size());
    }
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

TEST(MakeInput, FollowsZipfsLaw) {
    constexpr int k = 1000;
    constexpr int n = 100'000;
    const auto values = makeInput<int>({Kind::Zipf, k}, n, 42);
    EXPECT_THAT(values, Each(testing::AllOf(testing::Ge(1), testing::Le(k))));
    EXPECT_THAT(values, Contains(Gt(k * 9 / 10)));
    for (const int v : {1, 2, 10}) {
        const auto count = static_cast<double>(std::ranges::count(values, v));
        EXPECT_NEAR(count / n, std::log(1 + 1.0 / v) / std::log(1 + k), 0.005) << v;
    }
}

TEST(ParseInputPattern, IsTheReverseOfToString) {
    for (const char* text :
         {"uniform", "zeros", "ones", "ascending", "descending", "mod:1", "mod:50", "mod:2147483647", "random-bits",
          "and:1", "and:64", "zipf:1000", "kept:0", "kept:0.25", "kept:1", "runs:1", "runs:1000", "segments:100"}) {
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

namespace Utf8 = StreamCompaction::Utf8;

constexpr std::array textPatterns{InputPattern{Kind::Ascii}, InputPattern{Kind::Cyrillic},
                                  InputPattern{Kind::Cjk},   InputPattern{Kind::Emoji},
                                  InputPattern{Kind::Mixed}, InputPattern{Kind::IllFormed, 10}};

/// Text for a single size.
template <typename Element>
[[nodiscard]] Array<Element> textOf(InputPattern pattern, std::size_t n) {
    return makeText<Element>(pattern, std::array{n}, 42);
}

TEST(MakeText, IsWellFormedButWhereItIsNot) {
    for (const InputPattern pattern : textPatterns) {
        const auto text = textOf<std::uint8_t>(pattern, 200'000);
        EXPECT_EQ(StreamCompaction::CPU::validateUtf8(text).isWellFormed(), pattern.kind != Kind::IllFormed)
            << toString(pattern);
    }
}

TEST(MakeText, EndsNoSizeWithinACharacter) {
    std::vector<std::size_t> sizes(300);
    std::ranges::generate(sizes, [n = std::size_t{0}]() mutable { return n += 997; });
    const auto text = makeText<std::uint8_t>({Kind::Mixed}, sizes, 42);
    ASSERT_EQ(text.size(), sizes.back());
    for (const std::size_t n : sizes) {
        EXPECT_TRUE(StreamCompaction::CPU::validateUtf8(std::span(text).first(n)).isWellFormed()) << n;
    }
}

TEST(MakeText, IsMadeInParts) {
    const std::array<std::size_t, 3> sizes{500'000, 1, 199'999};
    const InputPattern pattern{Kind::IllFormed, 10};
    const auto whole = makeText<std::uint8_t>(pattern, sizes, 42);
    constexpr std::size_t chunk = 196'608;
    for (const Share share : {Share{0, 0}, Share{0, 1}, Share{1, 7}, Share{chunk - 1, 2}, Share{chunk, chunk},
                              Share{199'998, 250'000}, Share{250'000, 250'000}, Share{500'000, 0}}) {
        const auto expected = std::span(whole).subspan(share.begin, share.size);
        EXPECT_TRUE(std::ranges::equal(makeText<std::uint8_t>(pattern, sizes, 42, share), expected)) << share.begin;
    }
}

TEST(ReadText, RepeatsAFile) {
    const auto path = std::filesystem::temp_directory_path() / "stream_compaction_text_test";
    std::ofstream(path) << "abc";
    const auto text = readText(path, 7);
    EXPECT_EQ(std::string(text.begin(), text.end()), "abcabca");
    std::filesystem::remove(path);
    EXPECT_THROW((void)readText(path, 7), UsageError);
}

// With AddressSanitizer this also finds memory that they leak.
TEST(TextPeers, SayWhatTheyCannotTake) {
    const std::string_view text = "ab\xC3";
    const auto problem = textProblemOn(Operation::Utf8ToUtf32, Array<std::uint8_t>(text.begin(), text.end()));
    for (const Variant& variant :
         selectVariants(allVariants(), std::array{Operation::Utf8ToUtf32}, std::array{listedTypeOfText}, {})) {
        if (variant.hardware == Hardware::Cpu && !variant.library.empty()) {
            EXPECT_THAT([&] { variant.prepare(*problem, {})->launch(); },
                        testing::ThrowsMessage<CannotTakeInput>(testing::HasSubstr("cut off inside a character")))
                << variant.name;
        }
    }
}

TEST(ConversionProblem, FindsWhatIsWrong) {
    const std::string_view text = "ab\xC3\xA9\xFFz";
    const auto problem = textProblemOn(Operation::Utf8ToUtf32, Array<std::uint8_t>(text.begin(), text.end()));
    auto& result = dynamic_cast<ConversionProblem<std::uint8_t, char32_t>&>(*problem).result();
    const auto judge = [&](std::u32string_view elements, std::uint64_t error) {
        result = {Array<char32_t>(elements.begin(), elements.end()), {elements.size(), error}};
        return problem->mismatch();
    };
    const std::uint64_t error = Utf8::Result::errorAt(4, Utf8::ErrorKind::AboveLast);
    EXPECT_EQ(judge(U"ab\u00E9\uFFFDz", error), std::nullopt);
    EXPECT_EQ(judge(U"ab\u00E8\uFFFDz", error), "first mismatch at index 2: expected 233, got 232");
    EXPECT_EQ(judge(U"ab\u00E9z", error), "wrong count: expected 5 elements, got 4");
    EXPECT_EQ(judge(U"ab\u00E9\uFFFDz", Utf8::Result::noError),
              "wrong error: expected a code point above U+10FFFF at 4, got none");
    EXPECT_EQ(problem->bytesMoved(), 6u + 5u * 4u);
}

}  // namespace
}  // namespace Bench
