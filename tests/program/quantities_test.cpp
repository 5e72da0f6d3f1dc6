#include "cli/quantities.h"

#include <gtest/gtest.h>

#include "cli/usage_error.h"

namespace Bench {
namespace {

TEST(ParsePercentage, IsAFraction) {
    EXPECT_DOUBLE_EQ(parsePercentage("2%"), 0.02);
    EXPECT_DOUBLE_EQ(parsePercentage("0.5%"), 0.005);
    EXPECT_EQ(parsePercentage("0%"), 0);
    for (const char* text : {"", "%", "2", "2 %", "-2%", "x%", "2%%", "inf%", "nan%", "1e999%"}) {
        EXPECT_THROW((void)parsePercentage(text), UsageError) << text;
    }
}

TEST(ParseDuration, IsInMicroseconds) {
    EXPECT_EQ(parseDuration("2s"), 2e6);
    EXPECT_EQ(parseDuration("0.5s"), 5e5);
    EXPECT_EQ(parseDuration("500ms"), 5e5);
    for (const char* text : {"", "s", "ms", "2", "2 s", "-2s", "0s", "0ms", "xs", "2m", "2us", "2sms", "infs"}) {
        EXPECT_THROW((void)parseDuration(text), UsageError) << text;
    }
}

}  // namespace
}  // namespace Bench
