#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "stream_compaction/cpu/row_sum.h"

namespace StreamCompaction {
namespace {

template <typename T>
using SumRows = void (*)(int rows, int cols, T* out, const T* in);

template <typename T>
[[nodiscard]] std::vector<SumRows<T>> bothVersions() {
    return {CPU::sumRows, CPU::parallelSumRows};
}

/// Sizes around the borders of vectors, pieces (128) and tasks (2^16).
const std::vector<int> lengths{1, 2, 3, 15, 16, 17, 127, 128, 129, 1000, 65536, 65537, 200003};

template <typename T>
[[nodiscard]] std::vector<T> sums(SumRows<T> sumRows, int rows, int cols, const std::vector<T>& in) {
    std::vector<T> out(rows + 1, T{-77});
    sumRows(rows, cols, out.data(), in.data());
    EXPECT_EQ(out.back(), T{-77}) << "written past the last row";
    out.pop_back();
    return out;
}

/// Exact in any order. Ints wrap.
template <typename T>
void expectExact() {
    for (const int cols : lengths) {
        const int rows = cols < 1000 ? 50 : 3;
        std::mt19937 generator(cols);
        std::vector<T> in(static_cast<std::size_t>(rows) * cols);
        for (T& x : in) {
            x = std::is_integral_v<T> ? static_cast<T>(generator())
                                      : static_cast<T>(static_cast<int>(generator() % 17) - 8);
        }
        std::vector<T> expected;
        for (auto row = in.begin(); row != in.end(); row += cols) {
            using Exact = std::conditional_t<std::is_integral_v<T>, std::uint32_t, double>;
            expected.push_back(static_cast<T>(std::accumulate(row, row + cols, Exact{})));
        }
        for (const SumRows<T> version : bothVersions<T>()) {
            ASSERT_EQ(sums(version, rows, cols, in), expected) << rows << " x " << cols;
        }
    }
}

TEST(CpuRowSum, MatchesTheStandardLibrary) {
    expectExact<float>();
    expectExact<double>();
    expectExact<std::int32_t>();
}

TEST(CpuRowSum, RoundsWithinTheBound) {
    for (const int cols : lengths) {
        std::mt19937 generator(cols);
        std::uniform_real_distribution<float> uniform(-1, 1);
        std::vector<float> in(cols);
        for (float& x : in) {
            x = std::ldexp(uniform(generator), static_cast<int>(generator() % 40));
        }
        const double expected = std::accumulate(in.begin(), in.end(), 0.0);
        const double magnitude =
            std::accumulate(in.begin(), in.end(), 0.0, [](double sum, float x) { return sum + std::fabs(x); });
        const double bound = 2 * std::log2(cols) * std::numeric_limits<float>::epsilon();
        for (const SumRows<float> version : bothVersions<float>()) {
            EXPECT_LE(std::fabs(sums(version, 1, cols, in).at(0) - expected), bound * magnitude) << cols;
        }
    }
}

TEST(CpuRowSum, IsTheSameBitForBitInEveryRun) {
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> in(3000001);
    std::ranges::generate(in, [&] { return uniform(generator); });
    const auto first = sums<float>(CPU::parallelSumRows, 1, 3000001, in);
    for (int run = 0; run < 5; ++run) {
        EXPECT_EQ(sums<float>(CPU::parallelSumRows, 1, 3000001, in), first);
    }
}

TEST(CpuRowSum, WritesZerosWithoutColumnsAndNothingWithoutRows) {
    for (const SumRows<float> version : bothVersions<float>()) {
        EXPECT_EQ(sums(version, 3, 0, {}), std::vector<float>(3, 0.0f));
        EXPECT_EQ(sums(version, 0, 3, {}), std::vector<float>());
    }
}

TEST(CpuRowSum, RefusesBadArguments) {
    float array[4]{};
    for (const SumRows<float> version : bothVersions<float>()) {
        EXPECT_THROW(version(-1, 1, array, array), std::invalid_argument);
        EXPECT_THROW(version(1, -1, array, array), std::invalid_argument);
        EXPECT_THROW(version(2, 2, nullptr, array), std::invalid_argument);
        EXPECT_THROW(version(2, 2, array, nullptr), std::invalid_argument);
        EXPECT_NO_THROW(version(0, 0, nullptr, nullptr));
    }
}

}  // namespace
}  // namespace StreamCompaction
