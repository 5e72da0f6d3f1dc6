#include "problems/elements.h"

#include <gtest/gtest.h>

#include "cli/values.h"

namespace Bench {
namespace {

TEST(ElementType, IsTheReverseOfItsCppType) {
    for (const ElementType type : allElementTypes) {
        EXPECT_EQ(withElementType(type, []<typename T>(std::type_identity<T>) { return elementTypeOf<T>(); }), type);
    }
}

TEST(ParseElementType, KnowsEveryNameAndNoOther) {
    for (const ElementType type : allElementTypes) {
        EXPECT_EQ(parseElementType(name(type)), type);
    }
    EXPECT_EQ(parseElementType("int8"), ElementType::Int8);
    EXPECT_THROW((void)parseElementType("int"), UsageError);
    EXPECT_THROW((void)parseElementType(""), UsageError);
}

}  // namespace
}  // namespace Bench
