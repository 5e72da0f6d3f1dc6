#include "cli/nearest_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace Bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::array<std::string_view, 6> known{"cpu", "cpu-scan", "naive", "efficient", "efficient-optimized", "cub"};

TEST(NearestNames, FindsTypingMistakes) {
    EXPECT_THAT(nearestNames("naiv", known), ElementsAre("naive"));
    EXPECT_THAT(nearestNames("navie", known), ElementsAre("naive"));
    EXPECT_THAT(nearestNames("eficient", known), ElementsAre("efficient"));
}

TEST(NearestNames, PutsTheNearestFirst) { EXPECT_THAT(nearestNames("cpb", known), ElementsAre("cpu", "cub")); }

TEST(NearestNames, FindsPartsOfNames) {
    EXPECT_THAT(nearestNames("optimized", known), ElementsAre("efficient-optimized"));
}

TEST(NearestNames, GivesAtMostThree) {
    constexpr std::array<std::string_view, 4> alike{"a1", "a2", "a3", "a4"};
    EXPECT_THAT(nearestNames("a", alike), ElementsAre("a1", "a2", "a3"));
}

TEST(NearestNames, FindsNothingForSomethingElse) { EXPECT_THAT(nearestNames("quicksort", known), IsEmpty()); }

TEST(UnknownName, SuggestsOrLists) {
    EXPECT_EQ(unknownName("variant", "naiv", known), "unknown variant 'naiv': did you mean naive?");
    EXPECT_EQ(unknownName("variant", "cpb", known), "unknown variant 'cpb': did you mean cpu or cub?");
    EXPECT_EQ(unknownName("variant", "quicksort", known),
              "unknown variant 'quicksort': expected cpu, cpu-scan, naive, efficient, efficient-optimized, cub");
}

}  // namespace
}  // namespace Bench
