#include "operation_under_test.cuh"
#include "stream_compaction/map_scan_scatter.cuh"
#include "stream_compaction/shared_mem.cuh"
#include "stream_compaction/split_sort.cuh"

namespace StreamCompaction::Testing {

std::vector<AnyOperation> sharedMemOperations() {
    return joined(withFewTypes<SharedMem::Scan>("shared_mem_scan", Kind::Scan),
                  withFewTypes<MapScanScatter<SharedMem::Scan>>("shared_mem_compact", Kind::Compact),
                  withFewTypes<SplitSort<SharedMem::Scan>>("shared_mem_sort", Kind::Sort));
}

namespace {

class SharedMemScanTest : public DeviceTest {};

TEST_F(SharedMemScanTest, AccumulatesBytesInWiderTypes) { expectBytesAccumulateWider(SharedMem::Scan{}); }

TEST_F(SharedMemScanTest, WhatIsBuiltOnItRefusesItsBlockSizeBeforehand) {
    expectScanRefusedBeforehand<MapScanScatter<SharedMem::Scan>>();
    expectScanRefusedBeforehand<SplitSort<SharedMem::Scan>>();
}

template <typename T>
void expectScannedByEveryBlockSize(bool avoidBankConflicts) {
    const auto in = hostArray(quick() ? 30011 : 1000003, Summand<T>{20});
    const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
    for (const int blockSize : powerOfTwoBlockSizes) {
        const SharedMem::Scan scan{.blockSize = blockSize, .avoidBankConflicts = avoidBankConflicts};
        GuardedArray<T> out(in.size());
        DeviceBuffer<std::byte> scratch(scan.scratchBytes(noArray<T>, noArray<T>, in.size()));
        scan(deviceIn.data(), out.data(), in.size(), scratch.bytes(), nullptr);
        EXPECT_TRUE(sameBits(out.read(in.size()), expectedScan<T>(std::span(in)))) << blockSize;
    }
}

TEST_F(SharedMemScanTest, PaddingChangesNoResult) { expectScannedByEveryBlockSize<int>(false); }

TEST_F(SharedMemScanTest, SmallSumsTakeEveryBlockSize) {
    for (const bool avoidBankConflicts : {true, false}) {
        expectScannedByEveryBlockSize<std::uint8_t>(avoidBankConflicts);
        expectScannedByEveryBlockSize<std::int16_t>(avoidBankConflicts);
    }
}

// 32 threads of 8 elements make tiles of 256: 2^24 + 1 elements take four levels of totals.
TEST_F(SharedMemScanTest, TotalsAreScannedRecursively) {
    const SharedMem::Scan scan{.blockSize = 32};
    const std::size_t n = (std::size_t{1} << 24) + 1;
    const DeviceBuffer<int> in = deviceArray(n, Summand<int>{21});
    GuardedArray<int> out(n);
    DeviceBuffer<int> expected(n);
    DeviceBuffer<std::byte> scratch(scan.scratchBytes(noArray<int>, noArray<int>, n));
    scan(in.data(), out.data(), n, scratch.bytes(), nullptr);
    Oracle::scan(in.data(), expected.data(), n);
    EXPECT_TRUE(Oracle::equal(out.data(), expected.data(), n));
}

/// More elements than 32 bits can count.
class SharedMemHugeTest : public DeviceTest {
  protected:
    static constexpr std::size_t n = (std::size_t{1} << 32) + 7;

    void SetUp() override {
        DeviceTest::SetUp();
        if (!IsSkipped() && !hasRoomFor(std::size_t{64} << 30)) {
            GTEST_SKIP() << "takes 64 GiB of device memory and a while";
        }
    }
};

struct IsOdd {
    __host__ __device__ std::uint8_t operator()(std::size_t i) const { return i % 2; }
};

struct NonzeroAtOdd {
    __host__ __device__ std::uint8_t operator()(std::size_t i) const { return i % 2 == 0 ? 0 : i / 2 % 255 + 1; }
};

struct OddsBefore {
    __device__ std::uint64_t operator()(std::size_t i) const { return i / 2; }
};

struct KeptValue {
    __device__ std::uint8_t operator()(std::size_t i) const { return i % 255 + 1; }
};

struct IsOneFrom {
    std::size_t first;
    __device__ std::uint8_t operator()(std::size_t i) const { return i >= first; }
};

TEST_F(SharedMemHugeTest, Scan) {
    const SharedMem::Scan scan;
    const DeviceBuffer<std::uint8_t> in = deviceArray(n, IsOdd{});
    DeviceBuffer<std::uint64_t> out(n);
    DeviceBuffer<std::byte> scratch(scan.scratchBytes(noArray<std::uint8_t>, noArray<std::uint64_t>, n));
    scan(in.data(), out.data(), n, scratch.bytes(), nullptr);
    EXPECT_EQ(wrongElements(n, out.data(), OddsBefore{}), 0U);
}

TEST_F(SharedMemHugeTest, Compact) {
    const MapScanScatter<SharedMem::Scan> operation;
    const DeviceBuffer<std::uint8_t> in = deviceArray(n, NonzeroAtOdd{});
    DeviceBuffer<std::uint8_t> out(n);
    DeviceBuffer<std::size_t> count(1);
    DeviceBuffer<std::byte> scratch(
        operation.scratchBytes(noArray<std::uint8_t>, noArray<std::uint8_t>, noArray<std::size_t>, n));
    operation(in.data(), out.data(), count.data(), n, scratch.bytes(), nullptr);
    std::size_t kept = 0;
    count.copyTo({&kept, 1});
    ASSERT_EQ(kept, n / 2);
    EXPECT_EQ(wrongElements(kept, out.data(), KeptValue{}), 0U);
}

TEST_F(SharedMemHugeTest, Sort) {
    const SplitSort<SharedMem::Scan> sort{.bits = 1};
    const DeviceBuffer<std::uint8_t> in = deviceArray(n, IsOdd{});
    DeviceBuffer<std::uint8_t> out(n);
    DeviceBuffer<std::byte> scratch(sort.scratchBytes(noArray<std::uint8_t>, noArray<std::uint8_t>, n));
    sort(in.data(), out.data(), n, scratch.bytes(), nullptr);
    EXPECT_EQ(wrongElements(n, out.data(), IsOneFrom{n - n / 2}), 0U);
}

class SplitSortTest : public DeviceTest {
  protected:
    template <typename T>
    static std::vector<T> sorted(const std::vector<T>& keys, int bits, bool inPlace) {
        const SplitSort<SharedMem::Scan> sort{.bits = bits};
        DeviceBuffer<T> in{std::span<const T>(keys)};
        GuardedArray<T> out(keys.size());
        DeviceBuffer<std::byte> scratch(sort.scratchBytes(noArray<T>, noArray<T>, keys.size()));
        sort(in.data(), inPlace ? in.data() : out.data(), keys.size(), scratch.bytes(), nullptr);
        std::vector<T> result(keys.size());
        in.copyTo(result);
        return inPlace ? result : out.read(keys.size());
    }
};

TEST_F(SplitSortTest, SortsByTheLowestBitsOnly) {
    for (const int bits : {1, 7, 8, 31, 32}) {
        const std::uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
        auto keys = hostArray(5001, Summand<std::uint32_t>{22});
        for (auto& key : keys) {
            key &= mask;
        }
        auto expected = keys;
        std::ranges::sort(expected);
        EXPECT_TRUE(sameBits(sorted(keys, bits, false), expected)) << bits << " bits";
        EXPECT_TRUE(sameBits(sorted(keys, bits, true), expected)) << bits << " bits in place";
    }
}

TEST_F(SplitSortTest, ByNoBitsItCopies) {
    const std::vector<int> keys{3, 1, 2};
    EXPECT_EQ(sorted(keys, 0, false), keys);
    EXPECT_EQ(sorted(keys, 0, true), keys);
}

TEST_F(SplitSortTest, IsStable) {
    const auto keys = hostArray(70001, Summand<std::uint32_t>{23});
    auto expected = keys;
    std::ranges::stable_sort(expected, {}, [](std::uint32_t key) { return key & 15; });
    EXPECT_TRUE(sameBits(sorted(keys, 4, false), expected));
}

TEST_F(SplitSortTest, PutsExtremesInTheirPlaces) {
    using Limits = std::numeric_limits<int>;
    EXPECT_EQ(sorted<int>({0, Limits::max(), -1, Limits::min(), 1}, allBits, false),
              (std::vector<int>{Limits::min(), -1, 0, 1, Limits::max()}));
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(sameBits(sorted<float>({nan, 0.0f, inf, -0.0f, -inf, 1e-45f, -1.0f}, allBits, false),
                         {-inf, -1.0f, -0.0f, 0.0f, 1e-45f, inf, nan}));
}

TEST_F(SplitSortTest, RefusesMoreBitsThanAKeyHas) {
    EXPECT_THROW(sorted<int>({1, 2}, 33, false), std::invalid_argument);
    EXPECT_THROW(sorted<int>({1, 2}, -1, false), std::invalid_argument);
    EXPECT_NO_THROW(sorted<std::int64_t>({1, 2}, 64, false));
}

}  // namespace
}  // namespace StreamCompaction::Testing
