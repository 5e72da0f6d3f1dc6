// Operators of a scan on the host, which takes no device.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "stream_compaction/primitives/operators.cuh"

namespace StreamCompaction {
namespace {

struct WithoutLimits {
    int value;
};

static_assert(hasLimits<float> && hasLimits<std::int8_t> && hasLimits<__half> && hasLimits<__nv_bfloat16>);
static_assert(!hasLimits<WithoutLimits> && !hasLimits<int*>);

template <typename T>
class ExtremesOfFloatingPointTest : public testing::Test {};

using FloatingPointTypes = testing::Types<float, double, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(ExtremesOfFloatingPointTest, FloatingPointTypes);

TYPED_TEST(ExtremesOfFloatingPointTest, IdentitiesAreInfinite) {
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(static_cast<float>(Max{}.identity<TypeParam>()), -infinity);
    EXPECT_EQ(static_cast<float>(Min{}.identity<TypeParam>()), infinity);
}

TYPED_TEST(ExtremesOfFloatingPointTest, IdentitiesLeaveElementsAsTheyAre) {
    for (const float value : {-3.0f, -0.5f, 0.0f, 2.0f}) {
        const auto x = static_cast<TypeParam>(value);
        EXPECT_EQ(static_cast<float>(Max{}(Max{}.identity<TypeParam>(), x)), value);
        EXPECT_EQ(static_cast<float>(Max{}(x, Max{}.identity<TypeParam>())), value);
        EXPECT_EQ(static_cast<float>(Min{}(Min{}.identity<TypeParam>(), x)), value);
        EXPECT_EQ(static_cast<float>(Min{}(x, Min{}.identity<TypeParam>())), value);
    }
}

TEST(Extremes, IdentitiesOfIntegersAreTheirLimits) {
    EXPECT_EQ(Max{}.identity<int>(), std::numeric_limits<int>::min());
    EXPECT_EQ(Min{}.identity<std::uint8_t>(), 255);
}

}  // namespace
}  // namespace StreamCompaction
