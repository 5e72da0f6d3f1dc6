#include "cli/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "words.h"

namespace Bench {
namespace {

TEST(ParseSize, UnderstandsEveryForm) {
    const std::pair<const char*, std::size_t> cases[] = {
        {"1", 1},           {"1000000", 1000000}, {"2^0", 1},   {"2^24", 1u << 24},
        {"10^6", 1000000},  {"1<<24", 1u << 24},  {"3<<2", 12}, {"16M", 16u << 20},
        {"16m", 16u << 20}, {"4K", 4096},         {"4k", 4096}, {"2G", std::size_t{1} << 31},
        {"0001", 1},        {"1^99999", 1},
    };
    for (const auto& [text, size] : cases) {
        EXPECT_EQ(parseSize(text), size) << text;
    }
}

/// Expects an error for no text, and for each of these words.
template <typename Parse>
void expectRefused(const Parse& parse, const std::string& texts) {
    EXPECT_THROW((void)parse(""), UsageError);
    const Words words(texts);
    for (const char* text : words.get()) {
        EXPECT_THROW((void)parse(text), UsageError) << text;
    }
}

TEST(ParseSize, RefusesOtherTextsAndWhatNoMemoryHolds) {
    expectRefused(parseSize, "-1 +5 abc 1.5 1e6 12x 0x10 M 2^ ^2 2^-1 2^^3 <<4 1<< 1<4 16MB 1,000 0 0K 0^3");
    expectRefused(parseSize, "2^64 1<<64 1<<99999999999 18446744073709551615 99999999999999999999999 17179869184G");
    EXPECT_THROW((void)parseSize(" 8"), UsageError);
    EXPECT_THROW((void)parseSize("8 "), UsageError);
}

TEST(ParseBytes, TakesTheSameNumbersAndSpeaksOfBytes) {
    EXPECT_EQ(parseBytes("2^34"), std::size_t{1} << 34);
    for (const auto& [text, message] :
         {std::pair{"-1", "expected a number of bytes such as 1000000, 2^24, 1<<24 or 16M, got '-1'"},
          {"0", "expected at least 1 byte, got '0'"},
          {"2^64", "'2^64' bytes are more than any memory holds"}}) {
        EXPECT_THAT([text] { (void)parseBytes(text); }, testing::ThrowsMessage<UsageError>(message));
    }
}

TEST(FormatBytes, TakesTheLargestUnitThatFits) {
    EXPECT_EQ(formatBytes(0), "0 bytes");
    EXPECT_EQ(formatBytes(1023), "1023 bytes");
    EXPECT_EQ(formatBytes(1536), "1.5 KiB");
    EXPECT_EQ(formatBytes(std::size_t{240} << 20), "240.0 MiB");
    EXPECT_EQ(formatBytes(std::size_t{24} << 40), "24.0 TiB");
}

using testing::ElementsAre;

[[nodiscard]] std::vector<std::size_t> parse(const std::vector<std::string>& items) { return parseSweep(items); }

TEST(ParseSweep, DoublesUnlessToldOtherwise) {
    EXPECT_THAT(parse({"2^10:2^13"}), ElementsAre(1024, 2048, 4096, 8192));
    EXPECT_THAT(parse({"3:25"}), ElementsAre(3, 6, 12, 24));
    EXPECT_THAT(parse({"5:5"}), ElementsAre(5));
    EXPECT_EQ(parse({"2^10:2^28"}).size(), 19u);
}

TEST(ParseSweep, TakesAFactorOrAStep) {
    EXPECT_THAT(parse({"2^4:2^10:x4"}), ElementsAre(16, 64, 256, 1024));
    EXPECT_THAT(parse({"1:1000:x10"}), ElementsAre(1, 10, 100, 1000));
    EXPECT_THAT(parse({"1000:3000:1K"}), ElementsAre(1000, 2024));
    EXPECT_THAT(parse({"1000:2000:250"}), ElementsAre(1000, 1250, 1500, 1750, 2000));
    EXPECT_THAT(parse({"10:20:100"}), ElementsAre(10));
}

TEST(ParseSweep, AddsSizesThatAreNoPowersOfTwo) {
    EXPECT_THAT(parse({"2^4:2^6", "npot"}), ElementsAre(13, 16, 29, 32, 61, 64));
    EXPECT_THAT(parse({"npot", "2", "4"}), ElementsAre(1, 2, 4));
}

TEST(ParseSweep, RefusesWhatItDoesNotUnderstand) {
    expectRefused(
        [](const char* item) { return parse({item}); },
        "x 2^4: :2^4 2^4:x4 2^6:2^4 1:8:x1 1:8:x0 1:8:0 1:8:-1 1:8:x 1:8: 1:2:3:4 npot 1:8:4x 1:100000:1 2^4:npot");
}

TEST(ParseShape, TakesTwoSizes) {
    EXPECT_EQ(parseShape("3000x2048"), (Shape{3000, 2048}));
    EXPECT_EQ(parseShape("2^22x1"), (Shape{1 << 22, 1}));
    EXPECT_EQ(parseShape("1x16M"), (Shape{1, 1 << 24}));
}

TEST(ParseShape, RefusesAnythingElse) { expectRefused(parseShape, "x 7 7x x7 0x7 7x0 3x4x5 -1x2 2^50x2^50"); }

TEST(NearSquare, HasRowsByTheSizeAndWhatColumnsFit) {
    EXPECT_EQ(nearSquare(1 << 20), (Shape{1024, 1024}));
    EXPECT_EQ(nearSquare((1 << 20) - 3), (Shape{1024, 1023}));
    EXPECT_EQ(nearSquare(1), (Shape{1, 1}));
    for (std::size_t n = 1; n < 5000; ++n) {
        const Shape shape = nearSquare(n);
        EXPECT_GE(shape.cols, 1u);
        EXPECT_LE(shape.size(), n);
        EXPECT_GT(shape.size() + shape.rows, n);
    }
}

TEST(ParsePercentage, IsAFraction) {
    EXPECT_DOUBLE_EQ(parsePercentage("2%"), 0.02);
    EXPECT_DOUBLE_EQ(parsePercentage("0.5%"), 0.005);
    EXPECT_EQ(parsePercentage("0%"), 0);
    expectRefused(parsePercentage, "% 2 -2% x% 2%% inf% nan% 1e999%");
}

TEST(ParseDuration, IsInMicroseconds) {
    EXPECT_EQ(parseDuration("2s"), 2e6);
    EXPECT_EQ(parseDuration("0.5s"), 5e5);
    EXPECT_EQ(parseDuration("500ms"), 5e5);
    expectRefused(parseDuration, "s ms 2 -2s 0s 0ms xs 2m 2us 2sms infs");
}

}  // namespace
}  // namespace Bench
