#include "stream_compaction/cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace StreamCompaction {
namespace {

using Transform = void (*)(int, int*, const int*);
using Compact = int (*)(int, int*, const int*);

/// Sizes around the borders of the parallel tasks (2^14), and other sizes.
const std::vector<int> sizes{0, 1, 2, 3, 100, 16383, 16384, 16385, 65536, 1000003};

std::vector<std::vector<int>> inputs(int n) {
    std::mt19937 generator(n);
    std::vector<int> random(n);
    std::ranges::generate(random, [&] { return static_cast<int>(generator()); });
    std::vector<int> sparse(n);
    std::ranges::generate(sparse, [&] { return static_cast<int>(generator() % 100 == 0 ? generator() : 0); });
    std::vector<int> ascending(n);
    std::iota(ascending.begin(), ascending.end(), -n / 2);
    return {random,
            sparse,
            ascending,
            std::vector<int>(ascending.rbegin(), ascending.rend()),
            std::vector<int>(n, 0),
            std::vector<int>(n, std::numeric_limits<int>::max())};
}

/// The call, and the same in place.
void expectOutput(Transform call, const std::vector<int>& in, const std::vector<int>& expected) {
    const int n = static_cast<int>(in.size());
    std::vector<int> out(n, -1);
    call(n, out.data(), in.data());
    ASSERT_EQ(out, expected) << "n = " << n;
    std::vector<int> inPlace = in;
    call(n, inPlace.data(), inPlace.data());
    ASSERT_EQ(inPlace, expected) << "in place, n = " << n;
}

class CpuScan : public testing::TestWithParam<Transform> {};
class CpuCompact : public testing::TestWithParam<Compact> {};
class CpuSort : public testing::TestWithParam<Transform> {};

TEST_P(CpuScan, MatchesTheStandardLibrary) {
    for (const int n : sizes) {
        for (const std::vector<int>& in : inputs(n)) {
            std::vector<unsigned> sums(n);
            std::exclusive_scan(in.begin(), in.end(), sums.begin(), 0u, std::plus<unsigned>{});
            ASSERT_NO_FATAL_FAILURE(expectOutput(GetParam(), in, {sums.begin(), sums.end()}));
        }
    }
}

TEST_P(CpuCompact, MatchesTheStandardLibrary) {
    for (const int n : sizes) {
        for (const std::vector<int>& in : inputs(n)) {
            std::vector<int> expected;
            std::ranges::copy_if(in, std::back_inserter(expected), [](int x) { return x != 0; });
            std::vector<int> out(n, -1);
            out.resize(GetParam()(n, out.data(), in.data()));
            ASSERT_EQ(out, expected) << "n = " << n;
        }
    }
}

TEST_P(CpuSort, MatchesTheStandardLibrary) {
    for (const int n : sizes) {
        for (const std::vector<int>& in : inputs(n)) {
            std::vector<int> expected = in;
            std::ranges::stable_sort(expected);
            ASSERT_NO_FATAL_FAILURE(expectOutput(GetParam(), in, expected));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, CpuScan, testing::Values(CPU::scan, CPU::parallelScan));
INSTANTIATE_TEST_SUITE_P(Variants, CpuCompact,
                         testing::Values(CPU::compactWithoutScan, CPU::compactWithScan, CPU::parallelCompact));
INSTANTIATE_TEST_SUITE_P(Variants, CpuSort, testing::Values(CPU::sort, CPU::parallelSort));

TEST(Cpu, CompactWithoutScanWorksInPlace) {
    std::vector<int> array{0, 1, 0, 2, 3, 0};
    EXPECT_EQ(CPU::compactWithoutScan(6, array.data(), array.data()), 3);
    array.resize(3);
    EXPECT_EQ(array, (std::vector<int>{1, 2, 3}));
}

TEST(Cpu, ParallelCompactWritesTheKeptElementsOnly) {
    constexpr int n = 1000001;  // the last elements are not kept
    std::vector<int> in(n);
    for (int i = 0; i < n; i += 3) {
        in[i] = i + 1;
    }
    std::vector<int> out(n, -1);
    const int kept = CPU::parallelCompact(n, out.data(), in.data());
    EXPECT_TRUE(std::all_of(out.begin() + kept, out.end(), [](int x) { return x == -1; }));
}

TEST(Cpu, RefusesBadArguments) {
    int array[4]{};
    for (const Transform call : {CPU::scan, CPU::parallelScan, CPU::sort, CPU::parallelSort}) {
        EXPECT_THROW(call(-1, array, array), std::invalid_argument);
        EXPECT_THROW(call(4, nullptr, array), std::invalid_argument);
        EXPECT_THROW(call(4, array, nullptr), std::invalid_argument);
        EXPECT_NO_THROW(call(0, nullptr, nullptr));
    }
    for (const Compact call : {CPU::compactWithoutScan, CPU::compactWithScan, CPU::parallelCompact}) {
        EXPECT_THROW(call(-1, array, array), std::invalid_argument);
        EXPECT_THROW(call(4, nullptr, array), std::invalid_argument);
        EXPECT_EQ(call(0, nullptr, nullptr), 0);
    }
    EXPECT_THROW(CPU::compactWithScan(4, array, array), std::invalid_argument);
    EXPECT_THROW(CPU::parallelCompact(3, array, array + 1), std::invalid_argument);
}

TEST(Cpu, TimerHoldsTheLastCall) {
    std::vector<int> array(1 << 20, 1);
    CPU::scan(1 << 20, array.data(), array.data());
    EXPECT_GT(CPU::timer().getCpuElapsedTimeForPreviousOperation(), 0.0f);
}

}  // namespace
}  // namespace StreamCompaction
