#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <array>
#include <memory>

#include "../primitives/noncommutative.cuh"
#include "operation_under_test.cuh"
#include "stream_compaction/map_scan_scatter.cuh"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction::Testing {
namespace {

using SinglePass::Scan;
using SinglePass::ScanKind;

/// One size per algorithm of a scan, for elements of any size.
[[nodiscard]] std::vector<std::size_t> sizesOfEveryPath() {
    std::vector<std::size_t> sizes{1, 2, 255, 1000, 4097, 8000, 30001, 100000, 500000};
    if (!quick()) {
        sizes.insert(sizes.end(), {2200003, 6000000});
    }
    return sizes;
}

template <typename T, typename In, typename Op>
[[nodiscard]] std::vector<T> expectedSums(const std::vector<In>& in, ScanKind kind, const Op& op) {
    std::vector<T> sums;
    T sum = op.template identity<T>();
    for (const In& x : in) {
        const T upTo = op(sum, static_cast<T>(x));
        sums.push_back(kind == ScanKind::Inclusive ? upTo : sum);
        sum = upTo;
    }
    return sums;
}

template <typename T, typename In, typename Op>
[[nodiscard]] std::vector<T> scanned(const Scan& scan, const std::vector<In>& in, const Op& op) {
    const DeviceBuffer<In> deviceIn{std::span<const In>(in)};
    GuardedArray<T> out(in.size());
    out.poison(in.size(), nullptr);
    auto scratch = usedScratch(scan.scratchBytes(noArray<In>, noArray<T>, in.size()));
    scan(deviceIn.data(), out.data(), in.size(), op, scratch.bytes(), nullptr);
    return out.read(in.size());
}

class SinglePassScanTest : public DeviceTest {
  protected:
    template <typename T, typename In, typename Op>
    static void expectRight(const Op& op) {
        for (const std::size_t n : sizesOfEveryPath()) {
            const auto in = hostArray(n, RandomValue<In>{31});
            for (const ScanKind kind : {ScanKind::Exclusive, ScanKind::Inclusive}) {
                const auto expected = expectedSums<T>(in, kind, op);
                ASSERT_TRUE(sameBits(scanned<T>(Scan{.kind = kind}, in, op), expected)) << "n = " << n;
                if (n > 1000000) {
                    const Scan byTicket{.kind = kind, .order = TileOrder::Ticket};
                    const Scan reproducible{.kind = kind, .reproducible = true};
                    ASSERT_TRUE(sameBits(scanned<T>(byTicket, in, op), expected)) << "n = " << n;
                    ASSERT_TRUE(sameBits(scanned<T>(reproducible, in, op), expected)) << "n = " << n;
                }
            }
        }
    }
};

struct Halve {
    __host__ __device__ double operator()(std::int16_t x) const { return x / 2.0; }
};
struct ThreeTimesTheIndex {
    __host__ __device__ std::int64_t operator()(std::size_t i) const { return 3 * static_cast<std::int64_t>(i); }
};

/// Expects the sums of `values` after `initial`. `in` produces the same values.
template <typename In, typename T>
void expectSumsOf(const In& in, const std::vector<T>& values, const T& initial) {
    const std::size_t n = values.size();
    for (const ScanKind kind : {ScanKind::Exclusive, ScanKind::Inclusive}) {
        std::vector<T> sums(n);
        if (kind == ScanKind::Exclusive) {
            std::exclusive_scan(values.begin(), values.end(), sums.begin(), initial);
        } else {
            std::inclusive_scan(values.begin(), values.end(), sums.begin(), std::plus<T>{}, initial);
        }
        GuardedArray<T> out(n);
        const Scan scan{.kind = kind};
        auto scratch = usedScratch(scan.scratchBytes(in, out.data(), n, Sum{}, initial));
        scan(in, out.data(), n, Sum{}, initial, scratch.bytes(), nullptr);
        ASSERT_TRUE(sameBits(out.read(n), sums)) << "n = " << n;

        const DeviceBuffer<T> deviceInitial{std::span(&initial, 1)};
        out.poison(n, nullptr);
        scan(in, out.data(), n, Sum{}, InDeviceMemory<T>{deviceInitial.data()}, scratch.bytes(), nullptr);
        ASSERT_TRUE(sameBits(out.read(n), sums)) << "n = " << n << ", the initial value in device memory";
    }
}

TEST_F(SinglePassScanTest, OfAFunctionBehindAnInitialValue) {
    std::vector<std::size_t> sizes{1, 100, 1000, 3000, 20011, 200003, 300007};
    if (!quick()) {
        sizes.insert(sizes.end(), {5000003, 20000003});
    }
    for (const std::size_t n : sizes) {
        const auto shorts = hostArray(n, Summand<std::int16_t>{21});
        const DeviceBuffer<std::int16_t> array{std::span<const std::int16_t>(shorts)};
        std::vector<double> halves(n);
        std::ranges::transform(shorts, halves.begin(), Halve{});
        expectSumsOf(transformed(array.data(), Halve{}), halves, 0.5);

        std::vector<std::int64_t> numbers(n);
        for (std::size_t i = 0; i < n; ++i) {
            numbers[i] = ThreeTimesTheIndex{}(i);
        }
        expectSumsOf(generated(ThreeTimesTheIndex{}), numbers, std::int64_t{-7});

        const std::vector<std::int64_t> plain(shorts.begin(), shorts.end());
        expectSumsOf(std::as_const(array).data(), plain, std::int64_t{11});
    }
}

TEST_F(SinglePassScanTest, RefusesAnInitialValueThatItWouldOverwrite) {
    const std::size_t n = 100;
    DeviceBuffer<int> array{std::span<const int>(std::vector<int>(n + 1))};
    auto scratch = usedScratch(Scan{}.scratchBytes(array.data(), array.data(), n));
    const auto scanFrom = [&](const int* initial) {
        Scan{}(std::as_const(array).data(), array.data(), n, Sum{}, InDeviceMemory<int>{initial}, scratch.bytes(),
               nullptr);
    };
    EXPECT_THROW(scanFrom(array.data() + n - 1), std::invalid_argument);
    EXPECT_THROW(scanFrom(nullptr), std::invalid_argument);
    EXPECT_NO_THROW(scanFrom(array.data() + n));
}

TEST_F(SinglePassScanTest, OperatorsThatDoNotCommute) {
    expectRight<AffineMap, AffineMap>(Compose{});
    expectRight<Matrix, Matrix>(Multiply{});
}

TEST_F(SinglePassScanTest, Extremes) {
    expectRight<int, int>(Max{});
    expectRight<float, float>(Min{});
    expectRight<std::int64_t, std::int8_t>(Max{});
}

/// Extremes of whole numbers of one sign. They are the same in every floating-point type that holds them. An identity
/// of 0 would give a wrong result.
template <typename T, typename Op>
void expectExtremesAsOfFloats(float sign, const Op& op) {
    for (const std::size_t n : sizesOfEveryPath()) {
        const auto floats =
            hostArray(n, [=](std::size_t i) { return sign * static_cast<float>(1 + randomBits(34, i) % 100); });
        const std::vector<T> in(floats.begin(), floats.end());
        for (const ScanKind kind : {ScanKind::Exclusive, ScanKind::Inclusive}) {
            const auto expected = expectedSums<float>(floats, kind, op);
            ASSERT_TRUE(sameBits(scanned<T>(Scan{.kind = kind}, in, op), {expected.begin(), expected.end()}))
                << "n = " << n;
        }
    }
}

TEST_F(SinglePassScanTest, ExtremesOfHalves) {
    expectExtremesAsOfFloats<__half>(-1, Max{});
    expectExtremesAsOfFloats<__half>(1, Min{});
    expectExtremesAsOfFloats<__nv_bfloat16>(-1, Max{});
    expectExtremesAsOfFloats<__nv_bfloat16>(1, Min{});
}

TEST_F(SinglePassScanTest, SumsWiderThanElements) {
    expectRight<int, std::int8_t>(Sum{});
    expectRight<std::int64_t, int>(Sum{});
    expectRight<double, float>(Sum{});
    expectBytesAccumulateWider(Scan{});
}

TEST_F(SinglePassScanTest, SmallElements) {
    expectRight<std::uint8_t, std::uint8_t>(Sum{});
    expectRight<std::int16_t, std::int16_t>(Sum{});
}

/// The inclusive sum of bools says whether any element up to this one is set.
TEST_F(SinglePassScanTest, SumsOfBools) {
    const Scan scan{.kind = ScanKind::Inclusive};
    for (const std::size_t n : sizesOfEveryPath()) {
        std::vector<std::uint8_t> in(n, 0);
        std::vector<std::uint8_t> expected(n, 0);
        in[n / 2] = 1;
        in[n - 1] = 1;
        std::fill(expected.begin() + static_cast<std::ptrdiff_t>(n / 2), expected.end(), std::uint8_t{1});
        const DeviceBuffer<std::uint8_t> deviceIn{std::span<const std::uint8_t>(in)};
        GuardedArray<std::uint8_t> out(n);
        const auto* const bools = reinterpret_cast<const bool*>(deviceIn.data());
        auto* const sums = reinterpret_cast<bool*>(out.data());
        auto scratch = usedScratch(scan.scratchBytes(bools, sums, n));
        scan(bools, sums, n, scratch.bytes(), nullptr);
        ASSERT_TRUE(sameBits(out.read(n), expected)) << "n = " << n;
    }
}

/// 16 bytes, made from an int.
struct Moments {
    std::int64_t sum;
    std::int64_t squares;

    Moments() = default;
    __host__ __device__ Moments(std::int64_t sum, std::int64_t squares) : sum(sum), squares(squares) {}
    __host__ __device__ explicit Moments(std::int8_t x) : sum(x), squares(x * x) {}
    friend __host__ __device__ Moments operator+(Moments a, Moments b) {
        return {a.sum + b.sum, a.squares + b.squares};
    }
};

/// 12 bytes.
struct Vector3 {
    int x, y, z;
    friend __host__ __device__ Vector3 operator+(Vector3 a, Vector3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
};

TEST_F(SinglePassScanTest, StructsWithAPlus) {
    expectRight<Moments, std::int8_t>(Sum{});
    for (const std::size_t n : sizesOfEveryPath()) {
        const auto in = hostArray(n, [](std::size_t i) { return Vector3{static_cast<int>(i % 7), 1, -2}; });
        ASSERT_TRUE(
            sameBits(scanned<Vector3>(Scan{}, in, Sum{}), expectedSums<Vector3>(in, ScanKind::Exclusive, Sum{})))
            << "n = " << n;
    }
}

struct BitwiseAnd {
    __host__ __device__ unsigned operator()(unsigned a, unsigned b) const { return a & b; }
};

TEST_F(SinglePassScanTest, OperatorMadeOfAFunctionAndItsIdentity) {
    expectRight<unsigned, unsigned>(AssociativeOperator(~0u, BitwiseAnd{}));
}

TEST_F(SinglePassScanTest, AnyAlignmentInAndOutOfPlace) {
    for (const std::size_t n :
         {std::size_t{3001}, std::size_t{200001}, quick() ? sized(600001, 300001) : std::size_t{3000017}}) {
        for (std::size_t inOffset = 0; inOffset < 4; ++inOffset) {
            for (std::size_t outOffset = 0; outOffset < 4; outOffset += sized(1, 2)) {
                const auto in = hostArray(n + inOffset, RandomValue<int>{32});
                DeviceBuffer<int> deviceIn{std::span<const int>(in)};
                GuardedArray<int> out(n, outOffset);
                out.poison(n, nullptr);
                auto scratch = usedScratch(Scan{}.scratchBytes(noArray<int>, noArray<int>, n), 0xFF);
                const auto expected = expectedScan<int>(std::span(in).subspan(inOffset));
                Scan{}(deviceIn.data() + inOffset, out.data(), n, scratch.bytes(), nullptr);
                ASSERT_TRUE(sameBits(out.read(n), expected)) << inOffset << " to " << outOffset;
                out.write(std::span(in).subspan(inOffset));
                Scan{}(static_cast<const int*>(out.data()), out.data(), n, scratch.bytes(), nullptr);
                ASSERT_TRUE(sameBits(out.read(n), expected)) << "in place at " << outOffset;
            }
        }
    }
}

/// A sum that takes milliseconds for a certain element.
struct SlowSum {
    static constexpr bool isCommutative = true;
    static constexpr std::int64_t marker = std::int64_t{1} << 62;

    template <typename T>
    [[nodiscard]] __host__ __device__ T identity() const {
        return T{};
    }
    __host__ __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const {
#ifdef __CUDA_ARCH__
        for (int i = 0; b == marker && i < 50; ++i) {
            __nanosleep(100000);
        }
#endif
        return a + b;
    }
};

// The first tile is late, so all other resident tiles look back to the beginning.
TEST_F(SinglePassScanTest, FirstTileLate) {
    auto in = hostArray(4000003, [](std::size_t i) { return static_cast<std::int64_t>(i % 100); });
    in[5] = SlowSum::marker;
    const auto expected = expectedSums<std::int64_t>(in, ScanKind::Exclusive, Sum{});
    for (const TileOrder order : {TileOrder::Ticket, TileOrder::BlockIndex}) {
        EXPECT_TRUE(sameBits(scanned<std::int64_t>(Scan{.order = order}, in, SlowSum{}), expected));
    }
    EXPECT_TRUE(sameBits(scanned<std::int64_t>(Scan{.reproducible = true}, in, SlowSum{}), expected));
}

/// The value i, and the sum of all values before it.
struct Index {
    template <typename T>
    struct As {
        __host__ __device__ T operator()(std::size_t i) const { return static_cast<T>(i); }
    };
    template <typename T>
    struct SumBefore {
        __host__ __device__ T operator()(std::size_t i) const {
            return static_cast<T>(i % 2 == 0 ? i / 2 * (i - 1) : (i - 1) / 2 * i);
        }
    };
};

template <typename T>
void expectSumsOfIndices(std::size_t n) {
    if (!hasRoomFor(n * sizeof(T))) {
        GTEST_SKIP() << "takes " << n * sizeof(T) << " bytes of device memory and a while";
    }
    DeviceBuffer<T> data = deviceArray(n, Index::As<T>{});
    auto scratch = usedScratch(Scan{}.scratchBytes(noArray<T>, noArray<T>, n));
    Scan{}(static_cast<const T*>(data.data()), data.data(), n, scratch.bytes(), nullptr);
    EXPECT_EQ(wrongElements(n, data.data(), Index::SumBefore<T>{}), 0U);
}

TEST_F(SinglePassScanTest, MoreThanTwoToThe31Elements) {
    expectSumsOfIndices<std::uint32_t>((std::size_t{1} << 31) + 5);
}

TEST_F(SinglePassScanTest, MoreThanTwoToThe32Elements) {
    expectSumsOfIndices<std::uint32_t>((std::size_t{1} << 32) + 7);
}

TEST_F(SinglePassScanTest, TwoToThe33Bytes) { expectSumsOfIndices<std::uint8_t>(std::size_t{1} << 33); }

// Uses all algorithms in turn on the same scratch. Each finds the data of another one there.
TEST_F(SinglePassScanTest, AMillionCallsOnTheSameScratch) {
    const int calls = quick() ? 200 : 1000000;
    const std::size_t most = 1500000;
    const DeviceBuffer<std::uint32_t> in = deviceArray(most, Index::As<std::uint32_t>{});
    DeviceBuffer<std::uint32_t> out(most);
    auto scratch = usedScratch(Scan{}.scratchBytes(noArray<std::uint32_t>, noArray<std::uint32_t>, most), 0xA7);
    const unsigned long long none = 0;
    DeviceBuffer<unsigned long long> wrong{std::span(&none, 1)};
    for (int call = 0; call < calls; ++call) {
        const std::size_t n = call % 500 == 0 ? most : call % 50 == 0 ? 100000 : 1 + call % 4000;
        Scan{}(in.data(), out.data(), n, scratch.bytes(), nullptr);
        if (call % 20 == 0) {
            kernCountWrong<<<Common::blocksFor(n, 256), 256>>>(n, out.data(), Index::SumBefore<std::uint32_t>{},
                                                               wrong.data());
        }
    }
    Common::checkLaunch("calls");
    unsigned long long result = 0;
    wrong.copyTo({&result, 1});
    EXPECT_EQ(result, 0U);
}

TEST_F(SinglePassScanTest, FourStreamsAtOnce) {
    const std::size_t n = quick() ? sized(600000, 300000) : 5000000;
    struct Lane {
        DeviceBuffer<std::uint32_t> in;
        DeviceBuffer<std::uint32_t> out;
        UsedScratch scratch;
        CudaStream stream;
    };
    std::array<Lane, 4> lanes;
    for (Lane& lane : lanes) {
        lane.in = deviceArray(n, Index::As<std::uint32_t>{});
        lane.out = DeviceBuffer<std::uint32_t>(n);
        lane.scratch = usedScratch(Scan{}.scratchBytes(noArray<std::uint32_t>, noArray<std::uint32_t>, n));
    }
    Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    for (int round = 0; round < (isSimulated ? 4 : 20); ++round) {
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            Lane& lane = lanes[i];
            Scan{}(lane.in.data(), lane.out.data(), round % 3 == 0 ? n / 50 : n - i, lane.scratch.bytes(), lane.stream);
        }
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        lanes[i].stream.synchronize();
        EXPECT_EQ(wrongElements(n - i, lanes[i].out.data(), Index::SumBefore<std::uint32_t>{}), 0U);
    }
}

TEST_F(SinglePassScanTest, LargeGraphReplay) {
    const std::size_t n = quick() ? sized(600000, 300000) : 5000000;
    const DeviceBuffer<std::uint32_t> in = deviceArray(n, Index::As<std::uint32_t>{});
    DeviceBuffer<std::uint32_t> out(n);
    auto scratch = usedScratch(Scan{}.scratchBytes(noArray<std::uint32_t>, noArray<std::uint32_t>, n));
    replay(5, [&](cudaStream_t stream) {
        Common::checkCUDAError(cudaMemsetAsync(out.data(), 0, out.byteCount(), stream), "cudaMemsetAsync");
        Scan{}(in.data(), out.data(), n, scratch.bytes(), stream);
    });
    EXPECT_EQ(wrongElements(n, out.data(), Index::SumBefore<std::uint32_t>{}), 0U);
}

struct RandomFloat {
    __host__ __device__ float operator()(std::size_t i) const {
        return static_cast<float>(randomBits(40, i) >> 40) * 0x1p-24f - 0.25f;
    }
};

TEST_F(SinglePassScanTest, ReproducibleFloatsAreTheSameInEveryRun) {
    for (const std::size_t n :
         {std::size_t{3000}, std::size_t{300001}, quick() ? sized(600000, 400000) : std::size_t{20000003}}) {
        const Scan scan{.reproducible = true};
        const DeviceBuffer<float> in = deviceArray(n, RandomFloat{});
        DeviceBuffer<float> first(n);
        DeviceBuffer<float> other(n);
        auto scratch = usedScratch(scan.scratchBytes(noArray<float>, noArray<float>, n));
        scan(in.data(), first.data(), n, scratch.bytes(), nullptr);
        for (int run = 1; run < (isSimulated ? 4 : 20); ++run) {
            scan(in.data(), other.data(), n, scratch.bytes(), nullptr);
            ASSERT_TRUE(Oracle::equal(first.data(), other.data(), n)) << "run " << run;
        }
        std::vector<float> sums(n);
        first.copyTo(sums);
        double expected = 0;
        for (std::size_t i = 0; i < n; ++i) {
            ASSERT_NEAR(sums[i], expected, 1 + 1e-5 * expected) << "element " << i << " of " << n;
            expected += RandomFloat{}(i);
        }
    }
}

}  // namespace
}  // namespace StreamCompaction::Testing
