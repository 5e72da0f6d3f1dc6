// Operators of a scan on the host; no device is needed.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
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

/// The bits of a value; all NaNs give the same bits.
template <typename T>
[[nodiscard]] std::uint64_t bitsOf(T value) {
    std::uint64_t bits = ~std::uint64_t{0};
    if (!isNan(value)) {
        bits = 0;
        std::memcpy(&bits, &value, sizeof(value));
    }
    return bits;
}

TYPED_TEST(ExtremesOfFloatingPointTest, AssociateAndKeepNans) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr std::array values{nan, -infinity, -2.0f, -0.0f, 0.0f, 1.0f, infinity};
    const auto expectAssociative = [&](const auto& op) {
        for (const float x : values) {
            for (const float y : values) {
                const auto a = static_cast<TypeParam>(x);
                const auto b = static_cast<TypeParam>(y);
                EXPECT_EQ(isNan(op(a, b)), isNan(a) || isNan(b)) << x << ' ' << y;
                for (const float z : values) {
                    const auto c = static_cast<TypeParam>(z);
                    EXPECT_EQ(bitsOf(op(op(a, b), c)), bitsOf(op(a, op(b, c)))) << x << ' ' << y << ' ' << z;
                }
            }
        }
    };
    expectAssociative(Max{});
    expectAssociative(Min{});
}

TYPED_TEST(ExtremesOfFloatingPointTest, IdentitiesLeaveNans) {
    const auto nan = static_cast<TypeParam>(std::numeric_limits<float>::quiet_NaN());
    EXPECT_TRUE(isNan(Max{}(Max{}.identity<TypeParam>(), nan)));
    EXPECT_TRUE(isNan(Min{}(nan, Min{}.identity<TypeParam>())));
}

TEST(SumOperator, OfBoolsIsWhetherAnyIsSet) {
    EXPECT_FALSE(Sum{}(false, false));
    EXPECT_TRUE(Sum{}(false, true));
    EXPECT_TRUE(Sum{}(true, true));
    EXPECT_FALSE(Sum{}.identity<bool>());
}

TEST(Contract, OperatorsAreToldFromWhatHasNoIdentity) {
    const auto function = [](int a, int b) { return a < b ? b : a; };
    EXPECT_TRUE((OperatorOn<AssociativeOperator<int, decltype(function)>, int>));
    EXPECT_FALSE((OperatorOn<decltype(function), int>));
}

TEST(Extremes, IdentitiesOfIntegersAreTheirLimits) {
    EXPECT_EQ(Max{}.identity<int>(), std::numeric_limits<int>::min());
    EXPECT_EQ(Min{}.identity<std::uint8_t>(), 255);
}

}  // namespace
}  // namespace StreamCompaction
