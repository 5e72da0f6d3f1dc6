#include "operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "usage_error.h"

namespace Bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int largest = std::numeric_limits<int>::max();
constexpr int smallest = std::numeric_limits<int>::min();

TEST(ReferenceResult, ScansExclusivelyAndWraps) {
    EXPECT_THAT(referenceResult(Operation::Scan, std::vector{3, 1, 7, 0, 4}), ElementsAre(0, 3, 4, 11, 11));
    EXPECT_THAT(referenceResult(Operation::Scan, std::vector{largest, 1, 1}), ElementsAre(0, largest, smallest));
}

TEST(ReferenceResult, KeepsNonzeroInOrder) {
    EXPECT_THAT(referenceResult(Operation::Compact, std::vector{3, 0, -7, 0, 0, 4}), ElementsAre(3, -7, 4));
    EXPECT_THAT(referenceResult(Operation::Compact, std::vector{0, 0}), IsEmpty());
}

TEST(ReferenceResult, SortsNegativesFirst) {
    EXPECT_THAT(referenceResult(Operation::Sort, std::vector{3, smallest, -7, largest, 0}),
                ElementsAre(smallest, -7, 0, 3, largest));
}

TEST(BytesMoved, CountsWhatIsReadAndWritten) {
    EXPECT_EQ(bytesMoved(100, 100), 800u);
    EXPECT_EQ(bytesMoved(100, 75), 700u);
}

TEST(ParseOperation, KnowsEveryNameAndNoOther) {
    for (const Operation operation : allOperations) {
        EXPECT_EQ(parseOperation(name(operation)), operation);
    }
    EXPECT_THROW((void)parseOperation("scna"), UsageError);
    EXPECT_THROW((void)parseOperation(""), UsageError);
}

}  // namespace
}  // namespace Bench
