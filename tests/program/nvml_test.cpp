#include "measure/nvml.h"

#include <gtest/gtest.h>

namespace Bench {
namespace {

TEST(DescribeThrottling, NamesWhatHoldsTheClockDown) {
    EXPECT_EQ(describeThrottling(0x20), "temperature");
    EXPECT_EQ(describeThrottling(0x4 | 0x80), "power cap, power brake");
}

TEST(DescribeThrottling, NamesNoIdleCardAndNoSettingOfTheUser) { EXPECT_EQ(describeThrottling(0x1 | 0x2 | 0x100), ""); }

TEST(NvmlTest, KnowsNothingOfACardThatIsNotThere) { EXPECT_EQ(Nvml("FFFF:FF:1F.7").throttleReason(), ""); }

}  // namespace
}  // namespace Bench
