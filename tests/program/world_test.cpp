#include "world/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "thread_world.h"

namespace Bench {
namespace {

using testing::Each;
using testing::ElementsAre;
using Text = std::optional<std::string>;

TEST(World, GathersInTheOrderOfTheRanks) {
    const auto square = [](const World& world) { return world.rank() * world.rank(); };
    EXPECT_THAT(onRanks(4, [&](const World& world) { return world.gather(square(world)); }),
                Each(ElementsAre(0, 1, 4, 9)));
    EXPECT_THAT(onRanks(4, [&](const World& world) { return world.sum(square(world)); }), Each(14));
    EXPECT_THAT(onRanks(4, [&](const World& world) { return world.sumBefore(square(world)); }),
                ElementsAre(0, 0, 1, 5));
    EXPECT_THAT(onRanks(4, [&](const World& world) { return world.largest(-square(world)); }), Each(0));
    EXPECT_THAT(onRanks(4, [&](const World& world) { return world.ofFirst(5 + square(world)); }), Each(5));
}

TEST(World, TellsAllRanksTheTextOfTheFirstThatHasOne) {
    const auto textFrom = [](int first) {
        return onRanks(3, [first](const World& world) {
            return world.firstText(world.rank() < first ? std::nullopt : Text("wrong"));
        });
    };
    EXPECT_THAT(textFrom(0), Each(Text("wrong")));
    EXPECT_THAT(textFrom(1), Each(Text("rank 1: wrong")));
    EXPECT_THAT(textFrom(3), Each(Text()));
}

}  // namespace
}  // namespace Bench
