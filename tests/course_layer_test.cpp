// Compares every GPU variant of the course layer with the standard library, through the headers for plain C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "device/device_test.h"
#include "stream_compaction/cub.h"
#include "stream_compaction/efficient.h"
#include "stream_compaction/naive.h"
#include "stream_compaction/radix_sort.h"
#include "stream_compaction/row_sum.h"
#include "stream_compaction/shared_mem.h"
#include "stream_compaction/single_pass.h"
#include "stream_compaction/thrust.h"

namespace StreamCompaction {
namespace {

using Transform = void (*)(int, int*, const int*);
using Compact = int (*)(int, int*, const int*);
using Timer = Common::PerformanceTimer& (*)();

constexpr int poison = -559038737;

std::vector<int> randomInts(int n, unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<int> values(n);
    std::ranges::generate(values, [&] { return static_cast<int>(generator()); });
    return values;
}

struct Variant {
    const char* name;
    Timer timer;
    std::vector<Transform> scans;
    std::vector<Compact> compacts;
    std::vector<Transform> sorts;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

const std::vector<Variant> variants {
    {"Naive", Naive::timer, {Naive::scan}, {Naive::compact}, {Naive::sort}},
        {"Efficient",
         Efficient::timer,
         {Efficient::scan, Efficient::optimizedScan},
         {Efficient::compact, Efficient::optimizedCompact},
         {Efficient::sort}},
        {"SharedMem", SharedMem::timer, {SharedMem::scan}, {SharedMem::compact}, {SharedMem::sort}},
        {"SinglePass", SinglePass::timer, {SinglePass::scan}, {SinglePass::compact}, {}},
        {"Thrust", Thrust::timer, {Thrust::scan}, {Thrust::compact}, {Thrust::sort}},
#if !defined(STREAM_COMPACTION_SIMULATED)
        {"Cub", Cub::timer, {Cub::scan}, {Cub::compact}, {Cub::sort}},
#endif
        {"Radix",
         Radix::timer,
         {},
         {},
         {[](int n, int* odata, const int* idata) { Radix::sort(n, odata, idata); },
          [](int n, int* odata, const int* idata) { Radix::splitSort(n, odata, idata); }}},
};

/// The output of a call on an array of n elements. Fails if the call writes behind it.
std::vector<int> outputOf(Transform call, const std::vector<int>& in) {
    std::vector<int> out(in.size() + 16, poison);
    call(static_cast<int>(in.size()), out.data(), in.data());
    EXPECT_TRUE(std::all_of(out.begin() + in.size(), out.end(), [](int x) { return x == poison; }));
    out.resize(in.size());
    return out;
}

/// Each call, and the same in place.
void expectOutput(const std::vector<Transform>& calls, const std::vector<int>& in, const std::vector<int>& expected) {
    for (const Transform call : calls) {
        EXPECT_EQ(outputOf(call, in), expected) << "n = " << in.size();
        std::vector<int> inPlace = in;
        call(static_cast<int>(in.size()), inPlace.data(), inPlace.data());
        EXPECT_EQ(inPlace, expected) << "in place, n = " << in.size();
    }
}

class CourseLayer : public Testing::DeviceTest, public testing::WithParamInterface<Variant> {
  protected:
    static constexpr int large = Testing::isSimulated ? 1 << 14 : 1 << 19;
    const std::vector<int> sizes{0, 1, 2, 3, 255, 256, 257, 4097, large, 2 * large - 3};
};

TEST_P(CourseLayer, ScanIsExclusiveAndWraps) {
    for (const int n : sizes) {
        const std::vector<int> in = randomInts(n, n);
        std::vector<unsigned> sums(n);
        std::exclusive_scan(in.begin(), in.end(), sums.begin(), 0u, std::plus<unsigned>{});
        expectOutput(GetParam().scans, in, {sums.begin(), sums.end()});
    }
}

TEST_P(CourseLayer, CompactKeepsTheNonzeroInOrder) {
    for (const int n : sizes) {
        std::vector<int> in = randomInts(n, n);
        std::ranges::for_each(in, [](int& x) { x = x % 4; });
        std::vector<int> expected;
        std::ranges::copy_if(in, std::back_inserter(expected), [](int x) { return x != 0; });
        for (const Compact compact : GetParam().compacts) {
            std::vector<int> out(n, poison);
            const int count = compact(n, out.data(), in.data());
            ASSERT_EQ(count, static_cast<int>(expected.size())) << "n = " << n;
            EXPECT_TRUE(std::all_of(out.begin() + count, out.end(), [](int x) { return x == poison; }));
            out.resize(count);
            EXPECT_EQ(out, expected) << "n = " << n;
            std::vector<int> inPlace = in;
            inPlace.resize(compact(n, inPlace.data(), inPlace.data()));
            EXPECT_EQ(inPlace, expected) << "in place, n = " << n;
        }
    }
}

TEST_P(CourseLayer, SortTakesEveryInt) {
    for (const int n : sizes) {
        std::vector<int> in = randomInts(n, n);
        if (n >= 2) {
            in[n / 2] = std::numeric_limits<int>::min();
            in[n / 3] = std::numeric_limits<int>::max();
        }
        std::vector<int> expected = in;
        std::ranges::sort(expected);
        expectOutput(GetParam().sorts, in, expected);
    }
}

TEST_P(CourseLayer, TimerHoldsTheLastCall) {
    const std::vector<int> in = randomInts(100000, 1);
    const auto expectTimed = [&](auto call) {
        std::vector<int> out(in.size());
        call(static_cast<int>(in.size()), out.data(), in.data());
        EXPECT_GT(GetParam().timer().getGpuElapsedTimeForPreviousOperation(), 0.0f);
    };
    std::ranges::for_each(GetParam().scans, expectTimed);
    std::ranges::for_each(GetParam().compacts, expectTimed);
    std::ranges::for_each(GetParam().sorts, expectTimed);
}

TEST_P(CourseLayer, RefusesBadArguments) {
    std::vector<int> array(4, poison);
    const auto expectRefused = [&](auto call) {
        EXPECT_THROW(call(-1, array.data(), array.data()), std::invalid_argument);
        EXPECT_THROW(call(4, nullptr, array.data()), std::invalid_argument);
        EXPECT_THROW(call(4, array.data(), nullptr), std::invalid_argument);
        EXPECT_NO_THROW(call(0, nullptr, nullptr));
    };
    std::ranges::for_each(GetParam().scans, expectRefused);
    std::ranges::for_each(GetParam().compacts, expectRefused);
    std::ranges::for_each(GetParam().sorts, expectRefused);
    EXPECT_EQ(array, std::vector<int>(4, poison));
}

const auto nameOf = [](const testing::TestParamInfo<Variant>& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Variants, CourseLayer, testing::ValuesIn(variants), nameOf);

class RadixCourseLayer : public CourseLayer {};

TEST_P(RadixCourseLayer, SmallKeysTakeFewerPasses) {
    std::vector<int> in = randomInts(100000, 2);
    std::ranges::for_each(in, [](int& x) { x &= 127; });
    std::vector<int> expected = in;
    std::ranges::sort(expected);
    using Sort = void (*)(int, int*, const int*, int);
    for (const Sort sort : {Sort{Radix::sort}, Sort{Radix::splitSort}}) {
        std::vector<int> out(in.size());
        sort(static_cast<int>(in.size()), out.data(), in.data(), 7);
        EXPECT_EQ(out, expected);
        EXPECT_THROW(sort(1, out.data(), in.data(), 0), std::invalid_argument);
        EXPECT_THROW(sort(1, out.data(), in.data(), 33), std::invalid_argument);
        EXPECT_THROW(sort(0, out.data(), in.data(), 33), std::invalid_argument);
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, RadixCourseLayer, testing::Values(variants.back()), nameOf);

class RowSumCourseLayer : public Testing::DeviceTest, public testing::WithParamInterface<RowSum::Rung> {};

TEST_P(RowSumCourseLayer, AddsUpEachRow) {
    for (const int rows : {0, 1, 5, 300}) {
        for (const int cols : {2047, 2048}) {
            const std::vector<int> ints = randomInts(rows * cols, rows);
            std::vector<float> in(ints.size());
            std::ranges::transform(ints, in.begin(), [](int x) { return static_cast<float>(x % 10); });
            std::vector<float> expected;
            for (auto row = in.begin(); row != in.end(); row += cols) {
                expected.push_back(std::accumulate(row, row + cols, 0.0f));
            }
            expected.push_back(-1);
            std::vector<float> out(rows + 1, -1);
            RowSum::sum(GetParam(), rows, cols, out.data(), in.data());
            EXPECT_EQ(out, expected) << rows << " x " << cols;
        }
    }
    EXPECT_GT(RowSum::timer().getGpuElapsedTimeForPreviousOperation(), 0.0f);
}

TEST_P(RowSumCourseLayer, RefusesBadArguments) {
    float array[4]{};
    EXPECT_THROW(RowSum::sum(GetParam(), -1, 1, array, array), std::invalid_argument);
    EXPECT_THROW(RowSum::sum(GetParam(), 1, -1, array, array), std::invalid_argument);
    EXPECT_THROW(RowSum::sum(GetParam(), 2, 2, nullptr, array), std::invalid_argument);
    EXPECT_THROW(RowSum::sum(GetParam(), 2, 2, array, nullptr), std::invalid_argument);
}

using enum RowSum::Rung;
INSTANTIATE_TEST_SUITE_P(Rungs, RowSumCourseLayer,
                         testing::Values(BlockPerRow, BlockPerRowFixed, Ilp2, Ilp3, Ilp5, Ilp10, Shuffle, Vectors,
                                         Adaptive));

class RowSumCourseLayerDefault : public Testing::DeviceTest {};

TEST_F(RowSumCourseLayerDefault, WritesZerosWithoutColumns) {
    std::vector<float> out(3, -1);
    RowSum::sum(3, 0, out.data(), nullptr);
    EXPECT_EQ(out, std::vector<float>(3, 0.0f));
}

class SharedMemCourseLayer : public CourseLayer {};

TEST_P(SharedMemCourseLayer, BankConflictsChangeNoResult) {
    const std::vector<int> in = randomInts(100003, 4);
    EXPECT_TRUE(SharedMem::bankConflictAvoidance());
    const std::vector<int> expected = outputOf(SharedMem::scan, in);
    SharedMem::setBankConflictAvoidance(false);
    EXPECT_FALSE(SharedMem::bankConflictAvoidance());
    EXPECT_EQ(outputOf(SharedMem::scan, in), expected);
    SharedMem::setBankConflictAvoidance(true);
}

INSTANTIATE_TEST_SUITE_P(Variants, SharedMemCourseLayer, testing::Values(variants[2]), nameOf);

struct BlockSizes {
    const char* name;
    int byDefault;
    void (*set)(int);
    int (*get)();
    Transform call;
};

class BlockSize : public Testing::DeviceTest, public testing::WithParamInterface<BlockSizes> {
  protected:
    void TearDown() override {
        if (!IsSkipped()) {
            GetParam().set(GetParam().byDefault);
        }
    }
};

TEST_P(BlockSize, EveryAllowedOneWorks) {
    const auto& [name, byDefault, set, get, call] = GetParam();
    EXPECT_EQ(get(), byDefault);
    const std::vector<int> in = randomInts(5000, 3);
    const std::vector<int> expected = outputOf(call, in);
    for (const int blockSize : powerOfTwoBlockSizes) {
        set(blockSize);
        EXPECT_EQ(get(), blockSize);
        EXPECT_EQ(outputOf(call, in), expected) << blockSize;
    }
}

TEST_P(BlockSize, OthersAreRefused) {
    for (const int blockSize : {-1, 0, 1, 48, 2048}) {
        EXPECT_THROW(GetParam().set(blockSize), std::invalid_argument);
        EXPECT_EQ(GetParam().get(), GetParam().byDefault);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Variants, BlockSize,
    testing::Values(BlockSizes{"Naive", Naive::defaultBlockSize, Naive::setBlockSize, Naive::blockSize, Naive::scan},
                    BlockSizes{"Efficient", Efficient::defaultBlockSize, Efficient::setBlockSize, Efficient::blockSize,
                               Efficient::optimizedScan},
                    BlockSizes{"SharedMem", SharedMem::defaultBlockSize, SharedMem::setBlockSize, SharedMem::blockSize,
                               SharedMem::scan},
                    BlockSizes{"Radix", Radix::defaultBlockSize, Radix::setBlockSize, Radix::blockSize,
                               [](int n, int* odata, const int* idata) { Radix::splitSort(n, odata, idata); }}),
    [](const testing::TestParamInfo<BlockSizes>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace StreamCompaction
