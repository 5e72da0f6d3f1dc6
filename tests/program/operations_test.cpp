#include "problems/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/values.h"
#include "problems/inputs.h"

namespace Bench {
namespace {

using Kind = InputPattern::Kind;

TEST(TypeName, SaysWhatGoesInAndComesOut) {
    EXPECT_EQ(typeName(Operation::Scan, ElementType::Int32), "int32");
    EXPECT_EQ(typeName(Operation::Scan, ElementType::Int8), "int8->int32");
    EXPECT_EQ(typeName(Operation::Sort, ElementType::Int8), "int8");
    EXPECT_EQ(typeName(Operation::RowSum, ElementType::Int8), "int8->int32");
    EXPECT_EQ(typeName(Operation::SortPairs, ElementType::Int32), "int32,int32");
    EXPECT_EQ(typeName(Operation::SortPairs, ElementType::Double), "double,int32");
    EXPECT_EQ(typeName(Operation::SegmentedScan, ElementType::Int32), "int32");
    EXPECT_EQ(typeName(Operation::Unique, ElementType::Int64), "int64");
    EXPECT_EQ(typeName(Operation::RunLength, ElementType::Int64), "int64->int64,int32");
    EXPECT_EQ(typeName(Operation::ReduceByKey, ElementType::Int64), "int64,int32");
    EXPECT_EQ(typeName(Operation::Utf8ToUtf16, listedTypeOfText), "utf8->utf16");
}

TEST(RequireCheckable, RefusesSumsOfArbitraryFloats) {
    EXPECT_THAT(
        [] { requireCheckable(Operation::Scan, ElementType::Float, {Kind::Uniform}, 10); },
        testing::ThrowsMessage<UsageError>(testing::HasSubstr("overflow and cancel so that none can be checked")));
    EXPECT_THROW(requireCheckable(Operation::Scan, ElementType::Double, {Kind::And, 2}, 10), UsageError);
    EXPECT_NO_THROW(requireCheckable(Operation::Scan, ElementType::Float, {Kind::Modulo, 50}, 10));
    EXPECT_NO_THROW(requireCheckable(Operation::Scan, ElementType::Int64, {Kind::Uniform}, 10));
    EXPECT_NO_THROW(requireCheckable(Operation::Sort, ElementType::Float, {Kind::Uniform}, 10));
}

TEST(RequireCheckable, RefusesSquaresWhoseSumsAreNotExact) {
    EXPECT_NO_THROW(requireCheckable(Operation::ScanSquares, ElementType::Float, {Kind::Modulo, 50}, 10));
    EXPECT_NO_THROW(requireCheckable(Operation::ScanSquares, ElementType::Float, {Kind::Ones}, 10));
    EXPECT_NO_THROW(requireCheckable(Operation::ScanSquares, ElementType::Int32, {Kind::Uniform}, 10));
    EXPECT_THROW(requireCheckable(Operation::ScanSquares, ElementType::Float, {Kind::Modulo, 5000}, 10), UsageError);
    EXPECT_THROW(requireCheckable(Operation::ScanSquares, ElementType::Float, {Kind::Ascending}, 10), UsageError);
}

TEST(RequireCheckable, RefusesMorePairsThanTheirValuesCount) {
    EXPECT_NO_THROW(requireCheckable(Operation::SortPairs, ElementType::Int64, {Kind::Uniform}, 2147483647));
    EXPECT_THROW(requireCheckable(Operation::SortPairs, ElementType::Int64, {Kind::Uniform}, 2147483648), UsageError);
    EXPECT_NO_THROW(requireCheckable(Operation::Sort, ElementType::Int64, {Kind::Uniform}, 2147483648));
    EXPECT_NO_THROW(requireCheckable(Operation::Unique, ElementType::Int64, {Kind::Runs, 10}, 2147483648));
    EXPECT_THROW(requireCheckable(Operation::RunLength, ElementType::Int64, {Kind::Runs, 10}, 2147483648), UsageError);
    EXPECT_THROW(requireCheckable(Operation::ReduceByKey, ElementType::Int64, {Kind::Runs, 10}, 2147483648),
                 UsageError);
}

TEST(RequireCheckable, RefusesMoreElementsThanOffsetsCount) {
    for (const Operation operation : operationsOnSegments) {
        EXPECT_NO_THROW(requireCheckable(operation, ElementType::Int32, {Kind::Segments, 100}, 2147483647));
        EXPECT_THROW(requireCheckable(operation, ElementType::Int32, {Kind::Segments, 100}, 2147483648), UsageError);
    }
}

}  // namespace
}  // namespace Bench
