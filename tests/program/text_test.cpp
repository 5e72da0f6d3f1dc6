#include "problems/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stream_compaction/cpu/utf8.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "cli/usage_error.h"
#include "problems/text_problems.h"
#include "variants/variants.h"

namespace Bench {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using Kind = InputPattern::Kind;
namespace Utf8 = StreamCompaction::Utf8;

constexpr std::array textPatterns{InputPattern{Kind::Ascii}, InputPattern{Kind::Cyrillic},
                                  InputPattern{Kind::Cjk},   InputPattern{Kind::Emoji},
                                  InputPattern{Kind::Mixed}, InputPattern{Kind::IllFormed, 10}};

/// Text of one size.
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

TEST(MakeText, KeepsToItsScript) {
    EXPECT_THAT(textOf<char32_t>({Kind::Ascii}, 1000), Each(AllOf(Ge(U'!'), Le(U'~'))));
    EXPECT_THAT(textOf<char32_t>({Kind::Cyrillic}, 1000), Each(AllOf(Ge(char32_t{0x410}), Le(char32_t{0x44F}))));
    EXPECT_THAT(textOf<char32_t>({Kind::Emoji}, 1000), Each(Ge(char32_t{0x1F300})));
    EXPECT_THROW((void)textOf<char32_t>({Kind::Zeros}, 1), UsageError);
}

TEST(MakeText, IsTheSameForEveryLength) {
    const auto longText = textOf<std::uint8_t>({Kind::Mixed}, 200'000);
    const auto shortText = textOf<std::uint8_t>({Kind::Mixed}, 100'000);
    EXPECT_TRUE(std::equal(shortText.begin(), shortText.end() - 4, longText.begin()));
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

TEST(ReadText, RepeatsAFile) {
    const auto path = std::filesystem::temp_directory_path() / "stream_compaction_text_test";
    std::ofstream(path) << "abc";
    const auto text = readText(path, 7);
    EXPECT_EQ(std::string(text.begin(), text.end()), "abcabca");
    std::filesystem::remove(path);
    EXPECT_THROW((void)readText(path, 7), UsageError);
}

TEST(ReadText, RefusesAFolder) { EXPECT_THROW((void)readText(testing::TempDir(), 7), UsageError); }

TEST(ReadText, ReadsNoMoreThanItNeeds) {
    const char* const endless = "/dev/zero";
    if (!std::filesystem::exists(endless)) {
        GTEST_SKIP() << "needs " << endless;
    }
    EXPECT_EQ(readText(endless, 7), Array<std::uint8_t>(7, 0));
}

TEST(AbridgedText, ShowsTheBeginning) {
    const std::string_view text = "Grüße\n\xFF";
    EXPECT_EQ(abridgedText(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size())),
              "\"Grüße \uFFFD\"");
    EXPECT_THAT(abridgedText(std::span<const char32_t>(textOf<char32_t>({Kind::Ascii}, 1000))), HasSubstr(" ...\""));
}

/// Every operation on every text, on enough of it for several chunks, solved by the CPU.
class TextProblemTest : public testing::TestWithParam<std::tuple<Operation, InputPattern>> {};

TEST_P(TextProblemTest, IsSolvedByTheReference) {
    const auto [operation, pattern] = GetParam();
    const std::array<std::size_t, 2> sizes{300'000, 299'997};
    const auto variant = selectVariants(allVariants(), std::array{operation}, std::array{listedTypeOfText},
                                        std::vector{std::string(serialCpuVariant)})
                             .at(0);
    for (const auto& problem : makeTextProblems(operation, pattern, sizes, 42)) {
        const auto run = variant.prepare(*problem, 0);
        run->poisonOutput();
        EXPECT_NE(problem->mismatch(), std::nullopt) << "before it is solved";
        run->launch();
        run->fetchResult();
        EXPECT_EQ(problem->mismatch(), std::nullopt);
        EXPECT_GE(problem->bytesMoved(), problem->size());
    }
}

INSTANTIATE_TEST_SUITE_P(All, TextProblemTest,
                         testing::Combine(testing::ValuesIn(operationsOnText), testing::ValuesIn(textPatterns)),
                         [](const auto& info) {
                             std::string text =
                                 std::string(name(std::get<0>(info.param))) + "_" + toString(std::get<1>(info.param));
                             std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
                             return text;
                         });

// With AddressSanitizer this finds, too, what they would leave behind.
TEST(TextPeers, SayWhatTheyCannotTake) {
    const std::string_view text = "ab\xC3";
    const std::array<std::size_t, 1> sizes{text.size()};
    const auto problem =
        std::move(textProblemsOn(Operation::Utf8ToUtf32, Array<std::uint8_t>(text.begin(), text.end()), sizes).front());
    for (const Variant& variant :
         selectVariants(allVariants(), std::array{Operation::Utf8ToUtf32}, std::array{listedTypeOfText}, {})) {
        if (variant.name == "iconv" || variant.name == "simdutf") {
            EXPECT_THAT([&] { variant.prepare(*problem, 0)->launch(); },
                        testing::ThrowsMessage<CannotTakeInput>(HasSubstr("cut off inside a character")));
        }
    }
}

TEST(ConversionProblem, FindsWhatIsWrong) {
    const std::string_view text = "ab\xC3\xA9\xFFz";
    const std::array<std::size_t, 1> sizes{text.size()};
    const auto problem =
        std::move(textProblemsOn(Operation::Utf8ToUtf32, Array<std::uint8_t>(text.begin(), text.end()), sizes).front());
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
