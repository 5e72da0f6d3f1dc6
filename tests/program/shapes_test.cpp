#include "cli/shapes.h"

#include <gtest/gtest.h>

#include "cli/usage_error.h"

namespace Bench {
namespace {

TEST(ParseShape, TakesTwoSizes) {
    EXPECT_EQ(parseShape("3000x2048"), (Shape{3000, 2048}));
    EXPECT_EQ(parseShape("2^22x1"), (Shape{1 << 22, 1}));
    EXPECT_EQ(parseShape("1x16M"), (Shape{1, 1 << 24}));
}

TEST(ParseShape, RefusesAnythingElse) {
    for (const char* text : {"", "x", "7", "7x", "x7", "0x7", "7x0", "3x4x5", "3 x 4", "-1x2", "2^50x2^50"}) {
        EXPECT_THROW((void)parseShape(text), UsageError) << text;
    }
}

TEST(ToString, CanBeParsed) { EXPECT_EQ(toString(parseShape("2^10x7")), "1024x7"); }

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

}  // namespace
}  // namespace Bench
