#include <array>
#include <bit>
#include <functional>
#include <map>

#include "device_fixture.cuh"
#include "element_sizes.h"
#include "stream_compaction/histogram.cuh"

#if !defined(STREAM_COMPACTION_SIMULATED)
#include <cub/device/device_histogram.cuh>

#include "stream_compaction/cub.cuh"
#endif

namespace StreamCompaction::Testing {
namespace {

/// The bin of an element of any type: its first bytes, modulo `bins` and a few bins more, which do not exist.
struct FirstBytes {
    std::uint32_t bins;

    template <typename T>
    __host__ __device__ std::uint32_t operator()(const T& x) const {
        std::uint32_t bytes = 0;
        memcpy(&bytes, &x, sizeof(T) < sizeof(bytes) ? sizeof(T) : sizeof(bytes));
        return bytes % (bins + bins / 8 + 1);
    }
};

/// Bins of one width from -1 to 1.
struct EvenBins {
    std::uint32_t bins;

    __host__ __device__ std::uint32_t operator()(float x) const {
        return x >= -1 && x < 1 ? static_cast<std::uint32_t>((x + 1) / 2 * static_cast<float>(bins)) : noBin;
    }
};

/// Integers from `first` to first + count - 1.
struct Range {
    std::uint64_t seed;
    int first;
    std::uint64_t count;

    __host__ __device__ int operator()(std::size_t i) const {
        return first + static_cast<int>(randomBits(seed, i) % count);
    }
};

[[nodiscard]] std::vector<std::uint32_t> numbersOfBins() { return {1, 2, 255, 256, 257, 4096, 65536}; }

/// Sizes at the borders of warps, of vectors and of tiles, which have 2^14 ints or 2^16 bytes.
[[nodiscard]] std::vector<std::size_t> sizesAtBorders() {
    std::vector<std::size_t> sizes{0, 1, 3, 4, 15, 16, 17, 31, 32, 33, 1023, 1024, 1025};
    for (const std::size_t tile : {std::size_t{1} << 14, std::size_t{1} << 16}) {
        sizes.insert(sizes.end(), {tile - 1, tile, tile + 1, 2 * tile + 5});
    }
    if (!quick()) {
        for (int k = 17; k <= 26; k += 3) {
            const std::size_t power = std::size_t{1} << k;
            sizes.insert(sizes.end(), {power - 1, power, power + 1});
        }
    }
    return sizes;
}

template <typename Count, typename T, typename BinOf>
[[nodiscard]] std::vector<Count> expectedCounts(std::span<const T> elements, std::uint32_t bins, BinOf binOf) {
    std::vector<Count> counts(bins);
    for (const T& element : elements) {
        const std::uint32_t bin = binOf(element);
        if (bin < bins) {
            ++counts[bin];
        }
    }
    return counts;
}

class HistogramTest : public DeviceTest {
  protected:
    /// Expects the right counts of elements that begin `offset` elements behind an aligned address.
    template <typename Count, typename T, typename BinOf = OwnBin>
    static void expectCounted(const std::vector<T>& elements, std::uint32_t bins, BinOf binOf = {},
                              std::size_t offset = 0) {
        const std::size_t n = elements.size();
        DeviceBuffer<T> memory(n + offset);
        T* const in = memory.data() + offset;
        if (n > 0) {
            Common::checkCUDAError(cudaMemcpy(in, elements.data(), n * sizeof(T), cudaMemcpyHostToDevice),
                                   "cudaMemcpy");
        }
        GuardedArray<Count> counts(bins);
        counts.poison(bins, nullptr);
        ASSERT_EQ(Histogram{}.scratchBytes(in, counts.data(), n, bins, binOf), 0U);
        Histogram{}(static_cast<const T*>(in), counts.data(), n, bins, binOf, {}, nullptr);
        ASSERT_TRUE(sameBits(counts.read(bins), expectedCounts<Count>(std::span<const T>(elements), bins, binOf)))
            << "n = " << n << ", bins = " << bins << ", offset = " << offset;
    }

    template <typename T>
    static void expectCountedInManyBins() {
        for (const std::uint32_t bins : numbersOfBins()) {
            const std::size_t n = sized(300007, 5003);
            ASSERT_NO_FATAL_FAILURE(
                expectCounted<std::uint32_t>(hostArray(n, AnyBytes<T>{bins}), bins, FirstBytes{bins}));
        }
    }
};

TEST_F(HistogramTest, EveryElementSize) {
    expectCountedInManyBins<std::uint8_t>();
    expectCountedInManyBins<std::int16_t>();
    expectCountedInManyBins<ThreeBytes>();
    expectCountedInManyBins<std::int32_t>();
    expectCountedInManyBins<std::uint64_t>();
    expectCountedInManyBins<TwelveBytes>();
    expectCountedInManyBins<SixteenBytes>();
}

TEST_F(HistogramTest, SizesAtBorders) {
    for (const std::size_t n : sizesAtBorders()) {
        ASSERT_NO_FATAL_FAILURE(expectCounted<std::uint64_t>(hostArray(n, AnyBits<std::uint8_t>{n}), 256));
        ASSERT_NO_FATAL_FAILURE(expectCounted<std::uint64_t>(hostArray(n, Range{1, 0, 300}), 257));
    }
}

TEST_F(HistogramTest, Distributions) {
    const std::size_t n = sized(2000003, 40009);
    for (const std::uint32_t bins : numbersOfBins()) {
        const std::vector<std::function<std::uint32_t(std::size_t)>> distributions{
            [](std::size_t) { return 0; },
            [&](std::size_t) { return bins - 1; },
            [&](std::size_t i) { return randomBits(2, i) % bins; },
            [&](std::size_t i) { return randomBits(3, i) % 10 == 0 ? randomBits(4, i) % bins : bins / 2; },
            [&](std::size_t i) { return randomBits(5, i) & randomBits(6, i) & randomBits(7, i) & (bins - 1); },
            [&](std::size_t i) { return i % bins; },
            [&](std::size_t i) { return i * bins / n; },
            [&](std::size_t i) { return i % 2 * (bins - 1); }};
        for (const auto& distribution : distributions) {
            ASSERT_NO_FATAL_FAILURE(expectCounted<std::uint32_t>(hostArray(n, distribution), bins));
        }
    }
}

TEST_F(HistogramTest, ElementsInNoBinAreNotCounted) {
    const std::size_t n = 20011;
    for (const std::uint32_t bins : numbersOfBins()) {
        const auto near = [bins](std::size_t i) {
            const std::int64_t edge = bins;
            const std::int64_t far = std::int64_t{1} << 32;
            return std::array{
                std::int64_t{-1}, std::int64_t{0}, edge - 1, edge, edge + 1, -edge, far, -far}[randomBits(8, i) % 8];
        };
        ASSERT_NO_FATAL_FAILURE(expectCounted<std::uint32_t>(hostArray(n, near), bins));
        const auto narrow = [&](std::size_t i) { return static_cast<std::int32_t>(near(i)); };
        ASSERT_NO_FATAL_FAILURE(expectCounted<std::uint32_t>(hostArray(n, narrow), bins));
        ASSERT_NO_FATAL_FAILURE(expectCounted<std::uint32_t>(std::vector<int>(n, -1), bins));
        ASSERT_NO_FATAL_FAILURE(expectCounted<std::uint32_t>(std::vector<std::uint32_t>(n, noBin), bins));
        ASSERT_NO_FATAL_FAILURE(expectCounted<std::uint32_t>(hostArray(n, AnyBits<std::int8_t>{9}), bins));
    }
}

TEST_F(HistogramTest, FloatsInEvenBins) {
    const auto floats = hostArray(30011, [](std::size_t i) {
        return static_cast<float>(static_cast<int>(randomBits(10, i) % 4096) - 2048) / 1500;
    });
    for (const std::uint32_t bins : numbersOfBins()) {
        ASSERT_NO_FATAL_FAILURE(expectCounted<std::uint64_t>(floats, bins, EvenBins{bins}));
    }
    expectCounted<std::uint64_t>(hostArray(30011, AnyBits<float>{11}), 100, EvenBins{100});
}

TEST_F(HistogramTest, Misaligned) {
    for (std::size_t offset = 0; offset <= 16; ++offset) {
        for (const std::size_t n : {std::size_t{1}, std::size_t{11}, std::size_t{70001}}) {
            ASSERT_NO_FATAL_FAILURE(
                expectCounted<std::uint32_t>(hostArray(n, AnyBits<std::uint8_t>{12}), 256, OwnBin{}, offset));
            ASSERT_NO_FATAL_FAILURE(
                expectCounted<std::uint32_t>(hostArray(n, AnyBits<std::uint16_t>{13}), 1000, FirstBytes{1000}, offset));
        }
    }
    for (std::size_t offset = 0; offset <= 2; ++offset) {
        ASSERT_NO_FATAL_FAILURE(
            expectCounted<std::uint32_t>(hostArray(20011, AnyBytes<TwelveBytes>{14}), 77, FirstBytes{77}, offset));
    }
}

TEST_F(HistogramTest, BooleansAndSignedCounts) {
    const auto flags = hostArray(5000, [](std::size_t i) { return static_cast<char>(randomBits(15, i) % 3 == 0); });
    const DeviceBuffer<char> memory{std::span<const char>(flags)};
    DeviceBuffer<int> counts(2);
    Histogram{}(reinterpret_cast<const bool*>(memory.data()), counts.data(), flags.size(), 2, {}, nullptr);
    std::vector<int> host(2);
    counts.copyTo(host);
    std::map<char, int> expected;
    for (const char flag : flags) {
        ++expected[flag];
    }
    EXPECT_EQ(host, (std::vector<int>{expected[0], expected[1]}));
}

/// The counts begin at zero in each replay.
TEST_F(HistogramTest, Replays) {
    const std::size_t n = 50021;
    const DeviceBuffer<int> in = deviceArray(n, Range{16, -5, 1010});
    GuardedArray<std::uint64_t> counts(1000);
    counts.poison(1000, nullptr);
    replay(3, [&](cudaStream_t stream) { Histogram{}(in.data(), counts.data(), n, 1000, {}, stream); });
    const auto host = hostArray(n, Range{16, -5, 1010});
    EXPECT_TRUE(sameBits(counts.read(1000), expectedCounts<std::uint64_t>(std::span<const int>(host), 1000, OwnBin{})));
}

TEST_F(HistogramTest, RefusesBadArguments) {
    DeviceBuffer<std::uint32_t> memory(3000);
    std::uint32_t* const in = memory.data();
    std::uint32_t* const counts = in + 2000;
    const auto expectRefused = [&](const std::uint32_t* from, std::uint32_t* to, std::size_t n, std::uint32_t bins) {
        EXPECT_THROW(Histogram{}(from, to, n, bins, {}, nullptr), std::invalid_argument) << n << ", " << bins;
    };
    expectRefused(in, counts, 1000, 0);
    expectRefused(in, counts, 1000, Histogram::mostBins + 1);
    expectRefused(in, counts, std::size_t{1} << 32, 10);
    expectRefused(nullptr, counts, 1000, 10);
    expectRefused(in, nullptr, 1000, 10);
    expectRefused(in, nullptr, 0, 10);
    expectRefused(in, in, 1000, 10);
    expectRefused(in, in + 999, 1000, 10);
    expectRefused(in + 1, in, 1000, 2);
    EXPECT_THROW((void)Histogram{}.scratchBytes(in, counts, 10, 0), std::invalid_argument);
    Histogram{}(static_cast<const std::uint32_t*>(nullptr), counts, 0, 10, {}, nullptr);
    Histogram{}(static_cast<const std::uint32_t*>(in), counts, 2000, 10, {}, nullptr);
    Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

TEST(CounterTable, HoldsAllBinsOnEveryCard) {
    for (const std::size_t kibibytes : {48, 64, 99, 163, 227}) {
        const std::size_t sharedBytes = kibibytes << 10;
        for (std::size_t bins = 1; bins <= Histogram::mostBins; bins += bins < 3000 ? 1 : 997) {
            const CounterTable table = counterTableFor(bins, sharedBytes);
            ASSERT_LE(table.bytes(), sharedBytes) << bins << " bins";
            ASSERT_GE(std::size_t{table.counters} * table.parts, bins);
            ASSERT_LT(std::size_t{table.counters} * (table.parts - 1), bins);
            ASSERT_TRUE(std::has_single_bit(table.replicas) && table.replicas <= 32);
            ASSERT_TRUE(table.replicas == 1 || 2 * (table.bytes() + 1024) <= sharedBytes + 1024);
        }
    }
    EXPECT_EQ(counterTableFor(256, std::size_t{227} << 10).replicas, 32U);
    EXPECT_EQ(counterTableFor(4096, std::size_t{227} << 10).replicas, 4U);
    EXPECT_EQ(counterTableFor(50000, std::size_t{227} << 10).parts, 1U);
    EXPECT_EQ(counterTableFor(65536, std::size_t{227} << 10).parts, 2U);
}

TEST_F(HistogramTest, MoreThan2To32Elements) {
    const std::size_t n = (std::size_t{1} << 32) + 5;
    if (!hasRoomFor(n)) {
        GTEST_SKIP() << "takes 4 GiB of device memory";
    }
    DeviceBuffer<std::uint8_t> in(n);
    Common::checkCUDAError(cudaMemset(in.data(), 7, n), "cudaMemset");
    DeviceBuffer<std::uint64_t> counts(256);
    Histogram{}(std::as_const(in).data(), counts.data(), n, 256, {}, nullptr);
    std::vector<std::uint64_t> host(256);
    counts.copyTo(host);
    std::vector<std::uint64_t> expected(256);
    expected[7] = n;
    EXPECT_EQ(host, expected);
}

#if !defined(STREAM_COMPACTION_SIMULATED)
TEST_F(HistogramTest, AgreesWithCub) {
    const std::size_t n = quick() ? 100003 : 40000003;
    for (const int bins : {7, 256, 5000, 65536}) {
        DeviceBuffer<unsigned> ours(bins);
        DeviceBuffer<unsigned> theirs(bins);
        const DeviceBuffer<int> in = deviceArray(n, Range{18, -bins / 2, 2 * static_cast<std::uint64_t>(bins)});
        Histogram{}(in.data(), ours.data(), n, static_cast<std::uint32_t>(bins), {}, nullptr);
        const auto callCub = [&](void* storage, std::size_t& bytes) {
            return cub::DeviceHistogram::HistogramEven(storage, bytes, in.data(), theirs.data(), bins + 1, 0, bins,
                                                       static_cast<int>(n));
        };
        DeviceBuffer<std::byte> scratch(Cub::queryScratchBytes(callCub));
        std::size_t bytes = scratch.size();
        Common::checkCUDAError(callCub(scratch.data(), bytes), "cub::DeviceHistogram");
        std::vector<unsigned> expected(bins);
        std::vector<unsigned> got(bins);
        theirs.copyTo(expected);
        ours.copyTo(got);
        EXPECT_TRUE(sameBits(got, expected)) << bins << " bins";
    }
}
#endif

}  // namespace
}  // namespace StreamCompaction::Testing
