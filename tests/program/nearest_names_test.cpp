#include "cli/nearest_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace Bench {
namespace {

TEST(UnknownName, SuggestsTheNearestOrLists) {
    constexpr std::array<std::string_view, 6> known{"cpu", "cpu-scan", "naive", "efficient", "efficient-optimized",
                                                    "cub"};
    EXPECT_EQ(unknownName("variant", "navie", known), "unknown variant 'navie': did you mean naive?");
    EXPECT_EQ(unknownName("variant", "cpb", known), "unknown variant 'cpb': did you mean cpu or cub?");
    EXPECT_THAT(nearestNames("optimized", known), testing::ElementsAre("efficient-optimized"));
    EXPECT_EQ(unknownName("variant", "quicksort", known),
              "unknown variant 'quicksort': expected cpu, cpu-scan, naive, efficient, efficient-optimized, cub");
}

}  // namespace
}  // namespace Bench
