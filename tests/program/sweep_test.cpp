#include "cli/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/sizes.h"
#include "cli/usage_error.h"

namespace Bench {
namespace {

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

TEST(ParseSweep, TakesLists) { EXPECT_THAT(parse({"1000", "2^4:2^6", "32", "7"}), ElementsAre(7, 16, 32, 64, 1000)); }

TEST(ParseSweep, AddsSizesThatAreNoPowersOfTwo) {
    EXPECT_THAT(parse({"2^4:2^6", "npot"}), ElementsAre(13, 16, 29, 32, 61, 64));
    EXPECT_THAT(parse({"npot", "2", "4"}), ElementsAre(1, 2, 4));
}

TEST(ParseSweep, EndsAtTheLargestSizeThereIs) {
    EXPECT_EQ(parse({"2^40:" + std::to_string(largestSize)}).back(), std::size_t{1} << 55);
}

TEST(ParseSweep, RefusesWhatItDoesNotUnderstand) {
    for (const char* item : {"", "x", "2^4:", ":2^4", "2^4:x4", "2^6:2^4", "1:8:x1", "1:8:x0", "1:8:0", "1:8:-1",
                             "1:8:x", "1:8:", "1:2:3:4", "npot", "1:8:4x", "1:100000:1", "2^4:npot"}) {
        EXPECT_THROW((void)parse({item}), UsageError) << item;
    }
}

}  // namespace
}  // namespace Bench
