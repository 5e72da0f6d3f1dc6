#include "cli/sizes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cli/usage_error.h"

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

TEST(ParseSize, RefusesWhatIsNoNumberOfElements) {
    for (const char* text : {"",  "-1", "-5", "+5",   "abc",  "1.5", "1e6", "12x", "0x10", " 8",   "8 ",
                             "M", "2^", "^2", "2^-1", "2^^3", "<<4", "1<<", "1<4", "16MB", "1,000"}) {
        try {
            (void)parseSize(text);
            ADD_FAILURE() << text;
        } catch (const UsageError& error) {
            EXPECT_EQ(error.what(), "expected a number of elements such as 1000000, 2^24, 1<<24 or 16M, got '" +
                                        std::string(text) + "'");
        }
    }
}

TEST(ParseSize, RefusesZero) {
    for (const char* text : {"0", "000", "0K", "0<<5", "0^3"}) {
        EXPECT_THROW((void)parseSize(text), UsageError) << text;
    }
}

TEST(ParseSize, RefusesOverflow) {
    for (const char* text : {"2^64", "1<<64", "1<<99999999999", "18446744073709551615", "18446744073709551616",
                             "99999999999999999999999", "17179869184G", "2^18446744073709551615", "9999999999^9"}) {
        EXPECT_THROW((void)parseSize(text), UsageError) << text;
    }
}

TEST(FormatBytes, TakesTheLargestUnitThatFits) {
    EXPECT_EQ(formatBytes(0), "0 bytes");
    EXPECT_EQ(formatBytes(1023), "1023 bytes");
    EXPECT_EQ(formatBytes(1536), "1.5 KiB");
    EXPECT_EQ(formatBytes(std::size_t{240} << 20), "240.0 MiB");
    EXPECT_EQ(formatBytes(std::size_t{24} << 40), "24.0 TiB");
}

}  // namespace
}  // namespace Bench
