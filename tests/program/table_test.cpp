#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "output/results_table.h"

namespace Bench {
namespace {

using testing::ElementsAre;
using enum Table::Align;

[[nodiscard]] Table example() {
    Table table({{"name", Left}, {"us", Right}, {"note", Left}});
    table.addRow({"a|b", "1000", ""});
    table.addRow({"c", "7", "fast"});
    return table;
}

TEST(Table, LinesUpItsColumns) {
    EXPECT_THAT(example().lines(), ElementsAre("name    us  note", "a|b   1000", "c        7  fast"));
}

TEST(Table, IsMarkdownToo) {
    EXPECT_THAT(example().markdownLines(),
                ElementsAre("| name | us | note |", "| --- | ---: | --- |", "| a\\|b | 1000 |  |", "| c | 7 | fast |"));
}

}  // namespace
}  // namespace Bench
