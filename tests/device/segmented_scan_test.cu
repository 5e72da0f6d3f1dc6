#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "../primitives/noncommutative.cuh"
#include "device_fixture.cuh"
#include "segments.h"
#include "stream_compaction/segments.cuh"

namespace StreamCompaction::Testing {
namespace {

using SinglePass::ScanKind;

template <typename T, typename Op>
[[nodiscard]] std::vector<T> expectedSums(const std::vector<T>& in, const std::vector<std::size_t>& borders,
                                          ScanKind kind, const Op& op, const T& initial) {
    std::vector<T> sums(in.size());
    forEachSegment(borders, [&](std::size_t begin, std::size_t end) {
        if (kind == ScanKind::Exclusive) {
            std::exclusive_scan(&in[begin], &in[end], &sums[begin], initial, op);
        } else {
            std::inclusive_scan(&in[begin], &in[end], &sums[begin], op, initial);
        }
    });
    return sums;
}

/// One flag per element, of any type that converts to bool.
template <typename Flag>
[[nodiscard]] std::vector<Flag> flagsOf(const std::vector<std::size_t>& borders) {
    std::vector<Flag> flags(borders.back());
    for (const std::size_t border : borders) {
        if (border < flags.size()) {
            flags[border] = static_cast<Flag>(1 + border % 100);
        }
    }
    return flags;
}

/// Expects the scans of an array to be right, with segments by flags of type Flag and by offsets of type Offset.
template <typename T, typename In, typename Op = Sum, typename Flag = std::uint8_t, typename Offset = std::uint32_t>
void expectSums(const std::vector<In>& in, const std::vector<std::size_t>& borders, const SegmentedScan& scan,
                const Op& op, const T& initial, std::size_t misalignment = 0) {
    const std::size_t n = in.size();
    const auto expected = expectedSums(std::vector<T>(in.begin(), in.end()), borders, scan.kind, op, initial);
    auto deviceIn = placed(in, misalignment);
    auto flags = placed(flagsOf<Flag>(borders), misalignment + 1);
    auto offsets = placed(std::vector<Offset>(borders.begin(), borders.end()), misalignment + 2);
    GuardedArray<T> out(n, misalignment / 2);
    const auto expectScanned = [&](const auto& heads) {
        out.poison(n, nullptr);
        auto scratch = usedScratch(scan.scratchBytes(noArray<In>, heads, noArray<T>, n, op, initial));
        scan(static_cast<const In*>(deviceIn.data()), heads, out.data(), n, op, initial, scratch.bytes(), nullptr);
        ASSERT_TRUE(sameBits(out.read(n), expected)) << "n = " << n;
    };
    ASSERT_NO_FATAL_FAILURE(expectScanned(static_cast<const Flag*>(flags.data()))) << "by flags";
    // The last border is n. It marks nothing.
    ASSERT_NO_FATAL_FAILURE(expectScanned(segmentsAt(static_cast<const Offset*>(offsets.data()), borders.size())))
        << "by offsets";
}

constexpr std::array bothKinds{ScanKind::Exclusive, ScanKind::Inclusive};

/// The elements of a tile of ints, in a scan by look-back.
constexpr std::size_t tileOfInts = SinglePass::ScanBlockFor<OpenRun<int, bool>>::Type::vectors * vectorLength<int>;

struct Regime {
    std::string name;
    SegmentLengths lengths;
};

[[nodiscard]] std::vector<Regime> regimes() {
    const auto random = [](std::size_t most) -> SegmentLengths {
        return [most](std::size_t segment) { return randomBits(70, segment) % (most + 1); };
    };
    return {
        {"one segment", [](std::size_t) { return std::size_t{1} << 40; }},
        {"segments of one element", [](std::size_t) { return std::size_t{1}; }},
        {"pairs", [](std::size_t) { return std::size_t{2}; }},
        {"short, some empty", random(6)},
        {"a warp's row", [](std::size_t) { return std::size_t{128}; }},
        {"of any length up to two rows", random(256)},
        {"of any length up to 5 tiles", random(5 * tileOfInts)},
        {"one tile each", [](std::size_t) { return tileOfInts; }},
        {"thousands of empty segments",
         [](std::size_t segment) { return segment % 10000 == 0 ? std::size_t{3000} : std::size_t{0}; }},
        {"short, long, short",
         [](std::size_t segment) { return segment == 40 ? 3 * tileOfInts + 7 : 1 + segment % 3; }},
        {"a head at the last element of each tile",
         [](std::size_t segment) { return segment == 0 ? tileOfInts - 1 : tileOfInts; }},
    };
}

/// Around the parts of threads, warps and tiles, 2^k, and the sizes at which another kernel takes over.
[[nodiscard]] std::vector<std::size_t> sizesAroundBorders() {
    std::vector<std::size_t> sizes{1, 2, 3, 5, 31, 32, 33, 127, 128, 129};
    for (const std::size_t border : {std::size_t{1024}, tileOfInts, 2 * tileOfInts, std::size_t{1} << 14}) {
        sizes.insert(sizes.end(), {border - 1, border, border + 1});
    }
    if (!quick()) {
        sizes.insert(sizes.end(),
                     {100001, 36 * tileOfInts, 36 * tileOfInts + 123, (1u << 20) - 1, (1u << 20) + 1, 5000003});
    }
    return sizes;
}

class SegmentedScanTest : public DeviceTest {};

TEST_F(SegmentedScanTest, EveryRegime) {
    for (const Regime& regime : regimes()) {
        SCOPED_TRACE(regime.name);
        for (const std::size_t n : sizesAroundBorders()) {
            const auto borders = segmentBorders(n, regime.lengths);
            const auto in = hostArray(n, Summand<int>{n});
            const ScanKind kind = bothKinds[n % 2];
            ASSERT_NO_FATAL_FAILURE(expectSums<int>(in, borders, {.kind = kind}, Sum{}, 0));
        }
        const std::size_t n = quick() ? 300003 : 4400003;
        const auto in = hostArray(n, Summand<int>{n});
        const auto borders = segmentBorders(n, regime.lengths);
        ASSERT_NO_FATAL_FAILURE(expectSums<int>(in, borders, {.kind = ScanKind::Inclusive}, Sum{}, 1000));
        ASSERT_NO_FATAL_FAILURE(expectSums<int>(in, borders, {.order = TileOrder::Ticket}, Sum{}, -7));
    }
}

TEST_F(SegmentedScanTest, EveryAlignment) {
    const SegmentLengths lengths = [](std::size_t segment) { return randomBits(71, segment) % 50; };
    for (const std::size_t n : {std::size_t{3001}, std::size_t{300001}}) {
        const auto borders = segmentBorders(n, lengths);
        for (std::size_t misalignment = 0; misalignment < 16; misalignment += quick() ? 5 : 1) {
            ASSERT_NO_FATAL_FAILURE(
                expectSums<int>(hostArray(n, Summand<int>{3}), borders, {}, Sum{}, 0, misalignment));
            ASSERT_NO_FATAL_FAILURE(expectSums<std::uint8_t>(hostArray(n, Summand<std::uint8_t>{3}), borders, {}, Sum{},
                                                             std::uint8_t{0}, misalignment));
        }
    }
}

/// One size per algorithm of a scan.
[[nodiscard]] std::vector<std::size_t> sizesOfEveryPath() {
    return quick() ? std::vector<std::size_t>{100, 8000, 30001, 300000}
                   : std::vector<std::size_t>{100, 3000, 8000, 30001, 500000, 2200003, 6000000};
}

template <typename T, typename In = T, typename Flag = std::uint8_t, typename Offset = std::uint32_t, typename Op = Sum>
void expectSumsOfType(const Op& op = {}, const T& initial = Op{}.template identity<T>()) {
    const SegmentLengths lengths = [](std::size_t segment) {
        return randomBits(72, segment) % (segment % 50 == 0 ? 40000 : 9);
    };
    for (const std::size_t n : sizesOfEveryPath()) {
        for (const ScanKind kind : bothKinds) {
            ASSERT_NO_FATAL_FAILURE((expectSums<T, In, Op, Flag, Offset>(
                hostArray(n, RandomValue<In>{n}), segmentBorders(n, lengths), {.kind = kind}, op, initial)));
        }
    }
}

TEST_F(SegmentedScanTest, EveryType) {
    expectSumsOfType<std::int8_t>();
    expectSumsOfType<std::uint16_t>();
    expectSumsOfType<float>();
    expectSumsOfType<std::int64_t>();
    expectSumsOfType<double>();
}

TEST_F(SegmentedScanTest, SumsWiderThanElements) {
    expectSumsOfType<std::int64_t, std::int8_t>();
    expectSumsOfType<int, std::uint8_t>();
}

TEST_F(SegmentedScanTest, FlagsAndOffsetsOfOtherTypes) {
    expectSumsOfType<int, int, int, int>();
    expectSumsOfType<int, int, std::int16_t, std::size_t>();
    expectSumsOfType<int, int, std::int8_t, std::size_t>();
    expectSumsOfType<std::uint8_t, std::uint8_t, double, std::int64_t>();
    expectSumsOfType<std::int64_t, std::int64_t, std::uint64_t, std::uint64_t>();
}

TEST_F(SegmentedScanTest, OperatorsThatDoNotCommute) {
    expectSumsOfType<AffineMap>(Compose{}, AffineMap{3, 5});
    expectSumsOfType<Matrix>(Multiply{}, Matrix{{1, 2, 3, 7}});
}

TEST_F(SegmentedScanTest, OtherOperators) {
    expectSumsOfType<int>(Max{});
    expectSumsOfType<float>(Min{}, 2.0F);
}

/// Random floats, whose sums depend on the order of the additions.
struct RandomFloat {
    __host__ __device__ float operator()(std::size_t i) const {
        return static_cast<float>(randomBits(73, i) >> 40) * 0x1p-24F;
    }
};

TEST_F(SegmentedScanTest, ReproducibleFloatsAreTheSameInEveryRun) {
    const std::size_t n = quick() ? 500003 : 9000001;
    const auto in = deviceArray(n, RandomFloat{});
    const auto borders = segmentBorders(n, [](std::size_t segment) { return segment * 1000; });
    const std::vector<std::uint8_t> flags = flagsOf<std::uint8_t>(borders);
    const DeviceBuffer<std::uint8_t> heads{std::span<const std::uint8_t>(flags)};
    const SegmentedScan scan{.reproducible = true};
    DeviceBuffer<float> out(n);
    auto scratch = usedScratch(scan.scratchBytes(in.data(), heads.data(), out.data(), n));
    std::vector<float> first;
    for (int run = 0; run < 4; ++run) {
        scan(in.data(), heads.data(), out.data(), n, scratch.bytes(), nullptr);
        std::vector<float> sums(n);
        out.copyTo(sums);
        if (run == 0) {
            first = sums;
        }
        ASSERT_TRUE(sameBits(sums, first)) << "run " << run;
    }
}

struct BeginsHundred {
    __host__ __device__ bool operator()(std::size_t i) const { return i % 100 == 0; }
};
struct IsMultipleOfSeven {
    __host__ __device__ bool operator()(int x) const { return x % 7 == 0; }
};
struct IsZero {
    __host__ __device__ bool operator()(std::uint8_t x) const { return x == 0; }
};
struct IndexModulo11 {
    __host__ __device__ int operator()(std::size_t i) const { return static_cast<int>(i % 11); }
};
struct Negated {
    __host__ __device__ int operator()(int x) const { return -x; }
};

TEST_F(SegmentedScanTest, OfFunctions) {
    for (const std::size_t n : sizesOfEveryPath()) {
        const auto in = hostArray(n, [](std::size_t i) { return static_cast<int>(randomBits(74, i) % 1000); });
        const DeviceBuffer<int> deviceIn{std::span<const int>(in)};
        const auto remainders = hostArray(n, [&](std::size_t i) { return static_cast<std::uint8_t>(in[i] % 7); });
        const DeviceBuffer<std::uint8_t> deviceRemainders{std::span<const std::uint8_t>(remainders)};
        const auto negated = hostArray(n, [&](std::size_t i) { return -in[i]; });
        const auto ofIndex = segmentBorders(n, [](std::size_t) { return std::size_t{100}; });
        std::vector<std::size_t> ofElement{0};
        for (std::size_t i = 1; i < n; ++i) {
            if (in[i] % 7 == 0) {
                ofElement.push_back(i);
            }
        }
        ofElement.push_back(n);
        const SegmentedScan scan;
        GuardedArray<int> out(n);
        const auto expectScanned = [&](const auto& source, const auto& heads, const std::vector<int>& expected) {
            out.poison(n, nullptr);
            auto scratch = usedScratch(scan.scratchBytes(source, heads, out.data(), n));
            scan(source, heads, out.data(), n, scratch.bytes(), nullptr);
            ASSERT_TRUE(sameBits(out.read(n), expected)) << "n = " << n;
        };
        ASSERT_NO_FATAL_FAILURE(expectScanned(transformed(deviceIn.data(), Negated{}), generated(BeginsHundred{}),
                                              expectedSums(negated, ofIndex, scan.kind, Sum{}, 0)));
        ASSERT_NO_FATAL_FAILURE(expectScanned(deviceIn.data(), transformed(deviceIn.data(), IsMultipleOfSeven{}),
                                              expectedSums(in, ofElement, scan.kind, Sum{}, 0)));
        ASSERT_NO_FATAL_FAILURE(expectScanned(deviceIn.data(), transformed(deviceRemainders.data(), IsZero{}),
                                              expectedSums(in, ofElement, scan.kind, Sum{}, 0)));
        ASSERT_NO_FATAL_FAILURE(
            expectScanned(generated(IndexModulo11{}), generated(BeginsHundred{}),
                          expectedSums(hostArray(n, IndexModulo11{}), ofIndex, scan.kind, Sum{}, 0)));
    }
}

TEST_F(SegmentedScanTest, InPlaceInAGraph) {
    for (const std::size_t n : sizesOfEveryPath()) {
        const auto in = hostArray(n, Summand<int>{5});
        const auto borders = segmentBorders(n, [](std::size_t segment) { return 1 + segment % 300; });
        const std::vector<std::uint32_t> begins(borders.begin(), borders.end());
        const DeviceBuffer<std::uint32_t> offsets{std::span<const std::uint32_t>(begins)};
        const SegmentedScan scan;
        auto array = placed(in, 0);
        const auto heads = segmentsAt(offsets.data(), offsets.size());
        auto scratch = usedScratch(scan.scratchBytes(noArray<int>, heads, noArray<int>, n));
        replay(3, [&](cudaStream_t stream) {
            scan(static_cast<const int*>(array.data()), heads, array.data(), n, scratch.bytes(), stream);
        });
        auto expected = in;
        for (int i = 0; i < 3; ++i) {
            expected = expectedSums(expected, borders, scan.kind, Sum{}, 0);
        }
        ASSERT_TRUE(sameBits(array.read(n), expected)) << "n = " << n;
    }
}

/// Expects sums of type T to overwrite flags of that type.
template <typename T>
void expectInPlaceOfTheFlags() {
    for (const std::size_t n : sizesOfEveryPath()) {
        const auto in = hostArray(n, Summand<T>{6});
        const auto borders = segmentBorders(n, [](std::size_t segment) { return 1 + segment % 300; });
        const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
        auto array = placed(flagsOf<T>(borders), 0);
        const SegmentedScan scan;
        const T* const flags = array.data();
        auto scratch = usedScratch(scan.scratchBytes(deviceIn.data(), flags, array.data(), n));
        scan(deviceIn.data(), flags, array.data(), n, scratch.bytes(), nullptr);
        ASSERT_TRUE(sameBits(array.read(n), expectedSums(in, borders, scan.kind, Sum{}, T{0}))) << "n = " << n;
    }
}

TEST_F(SegmentedScanTest, InPlaceOfTheFlags) {
    ASSERT_NO_FATAL_FAILURE(expectInPlaceOfTheFlags<int>());
    ASSERT_NO_FATAL_FAILURE(expectInPlaceOfTheFlags<std::uint8_t>());
}

// The first element begins a segment in any case, and offsets of n or more mark nothing.
TEST_F(SegmentedScanTest, OffsetsThatDoNotCoverTheArray) {
    for (const std::size_t n : sizesOfEveryPath()) {
        const auto in = hostArray(n, Summand<int>{7});
        const DeviceBuffer<int> deviceIn{std::span<const int>(in)};
        for (const std::vector<std::size_t>& begins : partialOffsets(n)) {
            const auto borders = bordersOf(begins, n);
            const DeviceBuffer<std::size_t> deviceBegins{std::span<const std::size_t>(begins)};
            const auto heads = segmentsAt(deviceBegins.data(), begins.size());
            const SegmentedScan scan;
            GuardedArray<int> out(n);
            auto scratch = usedScratch(scan.scratchBytes(deviceIn.data(), heads, out.data(), n));
            scan(deviceIn.data(), heads, out.data(), n, scratch.bytes(), nullptr);
            ASSERT_TRUE(sameBits(out.read(n), expectedSums(in, borders, scan.kind, Sum{}, 0))) << "n = " << n;
        }
    }
}

struct One {
    __host__ __device__ std::uint32_t operator()(std::size_t /*i*/) const { return 1; }
};
struct PlaceInBlockOfThousand {
    __host__ __device__ std::uint32_t operator()(std::size_t i) const { return static_cast<std::uint32_t>(i % 1000); }
};
struct BeginsThousand {
    __host__ __device__ bool operator()(std::size_t i) const { return i % 1000 == 0; }
};
struct TimesThousand {
    __host__ __device__ std::size_t operator()(std::size_t i) const { return i * 1000; }
};

TEST_F(SegmentedScanTest, MoreThanTwoToThe32Elements) {
    const std::size_t n = (std::size_t{1} << 32) + 7;
    if (!hasRoomFor((n + n / 1000) * sizeof(std::uint32_t))) {
        GTEST_SKIP() << "takes " << n * sizeof(std::uint32_t) << " bytes of device memory and a while";
    }
    const SegmentedScan scan;
    DeviceBuffer<std::uint32_t> out(n);
    auto scratch = usedScratch(scan.scratchBytes(generated(One{}), generated(BeginsThousand{}), out.data(), n));
    scan(generated(One{}), generated(BeginsThousand{}), out.data(), n, scratch.bytes(), nullptr);
    EXPECT_EQ(wrongElements(n, out.data(), PlaceInBlockOfThousand{}), 0U);
    const std::size_t segments = Common::divideRoundUp(n, 1000);
    const auto begins = deviceArray(segments, TimesThousand{});
    Common::checkCUDAError(cudaMemset(out.data(), 0xA5, out.byteCount()), "cudaMemset");
    scan(generated(One{}), segmentsAt(begins.data(), segments), out.data(), n, scratch.bytes(), nullptr);
    EXPECT_EQ(wrongElements(n, out.data(), PlaceInBlockOfThousand{}), 0U);
}

TEST_F(SegmentedScanTest, RefusesBadArguments) {
    const std::size_t n = 1000;
    const SegmentedScan scan;
    DeviceBuffer<int> array(2 * n);
    DeviceBuffer<int> out(n);
    DeviceBuffer<int> heads(2 * n);
    const int* const in = array.data();
    const int* const flags = heads.data();
    auto scratch = usedScratch(scan.scratchBytes(in, flags, out.data(), n));
    const auto expectRefused = [&](const int* from, const auto& begins, int* to, Scratch lent) {
        EXPECT_THROW(scan(from, begins, to, n, lent, nullptr), std::invalid_argument);
    };
    expectRefused(nullptr, flags, out.data(), scratch.bytes());
    try {
        scan(in, noArray<const int>, out.data(), n, scratch.bytes(), nullptr);
        FAIL() << "accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "heads: expected an array of 1000 elements, got a null pointer");
    }
    expectRefused(in, flags, nullptr, scratch.bytes());
    expectRefused(in, flags, array.data() + 1, scratch.bytes());
    expectRefused(in, flags, heads.data() + 1, scratch.bytes());
    expectRefused(in, flags, out.data(), scratch.bytes().first(scratch.size() - 1));
    expectRefused(in, segmentsAt(noArray<const int>, 3), out.data(), scratch.bytes());
    expectRefused(in, segmentsAt(flags, 3), heads.data(), scratch.bytes());
    expectRefused(in, segmentsAt(flags, std::numeric_limits<std::size_t>::max()), out.data(), scratch.bytes());
    EXPECT_THROW((void)scan.scratchBytes(in, flags, out.data(), std::numeric_limits<std::size_t>::max()),
                 std::invalid_argument);
}

TEST_F(SegmentedScanTest, NothingToDo) {
    SegmentedScan{}(noArray<const int>, noArray<const int>, noArray<int>, 0, {}, nullptr);
    SegmentedScan{}(noArray<const int>, segmentsAt(noArray<const int>, 0), noArray<int>, 0, {}, nullptr);
}

}  // namespace
}  // namespace StreamCompaction::Testing
