#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "device_fixture.cuh"
#include "stream_compaction/row_sum.cuh"
#include "stream_compaction/thrust_row_sum.cuh"

#if !defined(STREAM_COMPACTION_SIMULATED)
#include "stream_compaction/cub_row_sum.cuh"
#endif

namespace StreamCompaction::Testing {
namespace {

using RowSum::Adaptive;

/// 16 bytes.
struct alignas(16) FourFloats {
    float items[4];

    FourFloats() = default;
    __host__ __device__ explicit FourFloats(float x) : items{x, 2 * x, 1 - x, 3} {}
    friend __host__ __device__ FourFloats operator+(FourFloats a, const FourFloats& b) {
        for (int i = 0; i < 4; ++i) {
            a.items[i] += b.items[i];
        }
        return a;
    }
};

struct alignas(16) TwoDoubles {
    double first;
    double second;

    TwoDoubles() = default;
    __host__ __device__ explicit TwoDoubles(float x) : first(x), second(1 - x) {}
    friend __host__ __device__ TwoDoubles operator+(TwoDoubles a, TwoDoubles b) {
        a.first += b.first;
        a.second += b.second;
        return a;
    }
};

/// The type in which elements are added up.
template <typename T>
using SumOf = std::conditional_t<std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>, float,
                                 std::conditional_t<std::is_same_v<T, std::int8_t>, int, T>>;

/// Small whole numbers, whose sums are exact in any order; integers over their full range.
template <typename T>
struct ExactSummand {
    std::uint64_t seed;
    __host__ __device__ T operator()(std::size_t i) const {
        if constexpr (std::is_integral_v<T>) {
            return Summand<T>{seed}(i);
        } else {
            return static_cast<T>(Summand<float>{seed}(i));
        }
    }
};

/// The same in the type in which they are added up.
template <typename T>
struct WidenedSummand {
    std::uint64_t seed;
    __host__ __device__ SumOf<T> operator()(std::size_t i) const {
        return static_cast<SumOf<T>>(ExactSummand<T>{seed}(i));
    }
};

template <typename T>
struct Ones {
    __host__ __device__ T operator()(std::size_t) const { return T{1}; }
};

/// From -0.9 to 0.9, with any mantissa.
struct Fractions {
    __host__ __device__ float operator()(std::size_t i) const {
        return static_cast<float>(randomBits(3, i)) * 1e-19f - 0.9f;
    }
};

/// Like deviceArray, but also for no elements.
template <typename Value>
[[nodiscard]] auto deviceMatrix(std::size_t n, Value value) {
    return n > 0 ? deviceArray(n, value) : DeviceBuffer<decltype(value(0))>();
}

struct MatrixSize {
    std::size_t rows;
    std::size_t cols;
};

/// All pairs of these that have few enough elements.
[[nodiscard]] std::vector<MatrixSize> grid(std::size_t mostElements) {
    const std::vector<std::size_t> edges{0,   1,   2,    3,    7,    31,   32,   33,   127,
                                         128, 129, 1023, 1024, 1025, 2047, 2048, 4097, (std::size_t{1} << 20) + 1};
    std::vector<MatrixSize> sizes;
    for (const std::size_t rows : edges) {
        for (const std::size_t cols : edges) {
            if (rows * cols <= mostElements) {
                sizes.push_back({rows, cols});
            }
        }
    }
    return sizes;
}

/// At least one matrix per mapping.
[[nodiscard]] std::vector<MatrixSize> oneOfEachMapping() {
    std::vector<MatrixSize> sizes{{300, 1},   {300, 12}, {70, 97},  {33, 250},
                                  {20, 1000}, {9, 1500}, {5, 3001}, {3, 40001}};
    if (!quick()) {
        sizes.insert(sizes.end(), {{1100, 3001}, {2, 300007}, {1, 5000011}});
    }
    return sizes;
}

/// The sums of a matrix in device memory, written to guarded and poisoned memory.
template <typename In, typename Op = Adaptive>
[[nodiscard]] std::vector<SumOf<In>> sumsOf(const In* matrix, MatrixSize size, std::size_t pitch, const Op& op = {}) {
    GuardedArray<SumOf<In>> out(size.rows);
    auto scratch = usedScratch(op.scratchBytes(matrix, out.data(), size.rows, size.cols, pitch));
    op(matrix, out.data(), size.rows, size.cols, pitch, scratch.bytes(), nullptr);
    return out.read(size.rows);
}

#if defined(STREAM_COMPACTION_SIMULATED)
using Peer = Thrust::RowSum;
#else
using Peer = Cub::RowSum;
#endif

/// The sums by a peer.
template <typename T>
[[nodiscard]] std::vector<T> oracleSums(const DeviceBuffer<T>& matrix, MatrixSize size) {
    std::vector<T> sums(size.rows);
    if (size.rows > 0) {
        DeviceBuffer<T> out(size.rows);
        const Peer peer;
        DeviceBuffer<std::byte> scratch(peer.scratchBytes(matrix.data(), out.data(), size.rows, size.cols, size.cols));
        peer(matrix.data(), out.data(), size.rows, size.cols, size.cols, scratch.bytes(), nullptr);
        out.copyTo(sums);
    }
    return sums;
}

template <typename T, typename Op = Adaptive>
void expectExact(MatrixSize size, const Op& op = {}) {
    const std::size_t n = size.rows * size.cols;
    const auto matrix = deviceMatrix(n, ExactSummand<T>{n});
    const auto expected = oracleSums(deviceMatrix(n, WidenedSummand<T>{n}), size);
    ASSERT_TRUE(sameBits(sumsOf(matrix.data(), size, size.cols, op), expected)) << size.rows << " x " << size.cols;
}

class RowSumTest : public DeviceTest {};

template <typename T>
class TypedRowSumTest : public DeviceTest {};

using ElementTypes =
    testing::Types<float, double, int, std::int8_t, std::int64_t, __half, __nv_bfloat16, FourFloats, TwoDoubles>;
TYPED_TEST_SUITE(TypedRowSumTest, ElementTypes);

TYPED_TEST(TypedRowSumTest, MatchesTheOracleOnEveryShape) {
    const std::size_t most = quick() ? 20000 : std::size_t{1} << (std::is_same_v<TypeParam, float> ? 25 : 22);
    for (const MatrixSize size : grid(most)) {
        expectExact<TypeParam>(size);
    }
    for (const MatrixSize size : oneOfEachMapping()) {
        expectExact<TypeParam>(size);
    }
}

// Rows with gaps, in a matrix of any alignment that ends at the end of its memory. Elements in the gaps would spoil a
// sum.
TYPED_TEST(TypedRowSumTest, TakesAnyPitchAndAlignment) {
    for (const MatrixSize size : oneOfEachMapping()) {
        const std::size_t n = size.rows * size.cols;
        const auto expected = oracleSums(deviceMatrix(n, WidenedSummand<TypeParam>{5}), size);
        const auto elements = hostArray(n, ExactSummand<TypeParam>{5});
        for (const std::size_t gap : {0, 1, 3, 8}) {
            for (const std::size_t offset : {0, 1, 5}) {
                const std::size_t pitch = size.cols + gap;
                std::vector<TypeParam> spoiled(offset + (size.rows - 1) * pitch + size.cols,
                                               static_cast<TypeParam>(100.0f));
                for (std::size_t row = 0; row < size.rows; ++row) {
                    std::copy_n(elements.begin() + row * size.cols, size.cols, spoiled.begin() + offset + row * pitch);
                }
                const DeviceBuffer<TypeParam> memory{std::span<const TypeParam>(spoiled)};
                ASSERT_TRUE(sameBits(sumsOf(memory.data() + offset, size, pitch), expected))
                    << size.rows << " x " << size.cols << ", pitch " << pitch << ", offset " << offset;
            }
        }
    }
}

TEST_F(RowSumTest, EveryStepOfTheStudyMatchesTheOracle) {
    for (const MatrixSize size : {MatrixSize{3, 0}, {5, 1}, {7, 33}, {40, 255}, {20, 1025}, {10, 2047}, {10, 2048}}) {
        expectExact<float>(size, RowSum::OneAccumulator{});
        expectExact<float>(size, RowSum::Ilp<2>{});
        expectExact<float>(size, RowSum::Ilp<3>{});
        expectExact<float>(size, RowSum::Ilp<5>{});
        expectExact<float>(size, RowSum::Ilp<10>{});
        expectExact<float>(size, RowSum::ShuffleFinish{});
        expectExact<float>(size, RowSum::VectorLoads{});
        expectExact<int>(size, RowSum::VectorLoads{});
        expectExact<double>(size, RowSum::VectorLoads{});
    }
    expectExact<float>({10, 2047}, RowSum::CompiledFor<2047>{});
    expectExact<float>({10, 2048}, RowSum::CompiledFor<2048>{});
}

TEST_F(RowSumTest, ThrustMatchesCub) { expectExact<int>({100, 77}, Thrust::RowSum{}); }

// Sums in a wider type than the elements have twice as many digits.
TEST_F(RowSumTest, AddsUpInTheTypeOfTheResult) {
    const std::vector<float> tenths(100000, 0.1f);
    const DeviceBuffer<float> matrix{std::span<const float>(tenths)};
    DeviceBuffer<double> out(1);
    DeviceBuffer<std::byte> scratch(
        Adaptive{}.scratchBytes(matrix.data(), out.data(), 1, tenths.size(), tenths.size()));
    Adaptive{}(matrix.data(), out.data(), 1, tenths.size(), tenths.size(), scratch.bytes(), nullptr);
    double sum = 0;
    out.copyTo(std::span(&sum, 1));
    EXPECT_NEAR(sum, 100000.0 * 0.1f, 1e-8);
}

// Sums of bools are counts in a wider type, and "any of them" in bool.
TEST_F(RowSumTest, AddsUpBools) {
    for (const MatrixSize size : oneOfEachMapping()) {
        std::vector<char> elements(size.rows * size.cols);
        for (std::size_t i = 0; i < elements.size(); ++i) {
            elements[i] = i / size.cols % 3 != 0 && randomBits(9, i) % (size.cols / 2 + 1) == 0;
        }
        std::vector<int> counts;
        std::vector<char> any;
        for (auto row = elements.begin(); row != elements.end(); row += static_cast<std::ptrdiff_t>(size.cols)) {
            counts.push_back(static_cast<int>(std::count(row, row + static_cast<std::ptrdiff_t>(size.cols), 1)));
            any.push_back(counts.back() > 0);
        }
        const DeviceBuffer<char> matrix{std::span<const char>(elements)};
        const auto* const bools = reinterpret_cast<const bool*>(matrix.data());
        const auto sumInto = [&](auto* out) {
            auto scratch = usedScratch(Adaptive{}.scratchBytes(bools, out, size.rows, size.cols, size.cols));
            Adaptive{}(bools, out, size.rows, size.cols, size.cols, scratch.bytes(), nullptr);
        };
        GuardedArray<int> countsFound(size.rows);
        sumInto(countsFound.data());
        ASSERT_EQ(countsFound.read(size.rows), counts) << size.rows << " x " << size.cols;
        GuardedArray<char> anyFound(size.rows);
        sumInto(reinterpret_cast<bool*>(anyFound.data()));
        ASSERT_EQ(anyFound.read(size.rows), any) << size.rows << " x " << size.cols;
    }
}

/// Gives 3 for 0, so a sum that includes missing elements is wrong.
struct SquareAndThree {
    __host__ __device__ int operator()(std::int8_t x) const { return x * x + 3; }
};

TEST_F(RowSumTest, AddsUpAFunctionOfEachElement) {
    for (const MatrixSize size : oneOfEachMapping()) {
        for (const std::size_t gap : {0, 5}) {
            const std::size_t pitch = size.cols + gap;
            const auto elements = hostArray(size.rows * pitch, ExactSummand<std::int8_t>{7});
            std::vector<int> expected(size.rows);
            for (std::size_t i = 0; i < elements.size(); ++i) {
                expected[i / pitch] += i % pitch < size.cols ? SquareAndThree{}(elements[i]) : 0;
            }
            const DeviceBuffer<std::int8_t> matrix{std::span<const std::int8_t>(elements)};
            const auto in = transformed(matrix.data(), SquareAndThree{});
            GuardedArray<int> out(size.rows);
            auto scratch = usedScratch(Adaptive{}.scratchBytes(in, out.data(), size.rows, size.cols, pitch));
            Adaptive{}(in, out.data(), size.rows, size.cols, pitch, scratch.bytes(), nullptr);
            ASSERT_EQ(out.read(size.rows), expected) << size.rows << " x " << size.cols << ", pitch " << pitch;
        }
    }
}

/// A reference sum and the sum of the absolute values, in the widest type and compensated (Neumaier, 1974).
struct Reference {
    long double sum = 0;
    long double magnitude = 0;
};

template <typename T>
[[nodiscard]] Reference referenceOf(std::span<const T> elements) {
    Reference reference;
    long double lost = 0;
    for (const T element : elements) {
        const auto x = static_cast<long double>(element);
        const long double sum = reference.sum + x;
        lost += std::fabs(reference.sum) >= std::fabs(x) ? (reference.sum - sum) + x : (x - sum) + reference.sum;
        reference.sum = sum;
        reference.magnitude += std::fabs(x);
    }
    reference.sum += lost;
    return reference;
}

/// From -1 to 1.
[[nodiscard]] double uniform(std::size_t i) { return static_cast<double>(randomBits(11, i) >> 11) * 0x1p-52 - 1; }

using ValueAt = double (*)(std::size_t);

/// Inputs whose floating-point sums have large errors.
const std::pair<const char*, ValueAt> hardInputs[] = {
    {"uniform", uniform},
    {"positive", [](std::size_t i) { return uniform(i) + 1; }},
    {"a tenth", [](std::size_t) { return 0.1; }},
    {"each cancels the one before",
     [](std::size_t i) { return (i % 2 == 0 ? 1 : -1) * (uniform(i / 2) + 3) * 1e6 + (i % 97 == 0 ? 1e-3 : 0); }},
    {"sixty powers of two apart",
     [](std::size_t i) { return std::ldexp(uniform(i), static_cast<int>(i * 7 % 60) - 30); }},
    {"one large among small", [](std::size_t i) { return i == 3 ? 1e9 : uniform(i); }},
    {"descending", [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); }},
};

template <typename T>
void expectWithinTheBound() {
    std::vector<std::size_t> lengths{1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 95, 96, 97, 200, 1023, 2047, 5000, 20000};
    if (!quick()) {
        lengths.insert(lengths.end(), {65535, 65537, 300001, 3000001});
    }
    for (const auto& [name, valueAt] : hardInputs) {
        for (const std::size_t cols : lengths) {
            const MatrixSize size{std::max<std::size_t>(1, std::min<std::size_t>(50, 200000 / cols)), cols};
            const auto elements =
                hostArray(size.rows * cols, [&](std::size_t i) { return static_cast<T>(valueAt(i)); });
            const DeviceBuffer<T> matrix{std::span<const T>(elements)};
            const auto sums = sumsOf(matrix.data(), size, cols);
            const double bound = 2 * std::log2(static_cast<double>(cols)) * std::numeric_limits<SumOf<T>>::epsilon();
            for (std::size_t row = 0; row < size.rows; ++row) {
                const Reference expected = referenceOf(std::span(elements).subspan(row * cols, cols));
                ASSERT_LE(std::fabs(sums[row] - expected.sum), bound * expected.magnitude)
                    << name << ", " << size.rows << " x " << cols << ", row " << row;
            }
        }
    }
}

TEST_F(RowSumTest, RoundsFloatsWithinTheBound) { expectWithinTheBound<float>(); }
TEST_F(RowSumTest, RoundsDoublesWithinTheBound) { expectWithinTheBound<double>(); }

TEST_F(RowSumTest, IsTheSameBitForBitInEveryRun) {
    for (const MatrixSize size : oneOfEachMapping()) {
        const auto matrix = deviceArray(size.rows * size.cols, Fractions{});
        const auto first = sumsOf(matrix.data(), size, size.cols);
        for (int run = 0; run < (quick() ? 1 : 10); ++run) {
            ASSERT_TRUE(sameBits(sumsOf(matrix.data(), size, size.cols), first)) << size.rows << " x " << size.cols;
        }
    }
}

TEST_F(RowSumTest, CanBeCapturedInAGraph) {
    for (const MatrixSize size : {MatrixSize{1000, 5}, {1000, 0}, {3000, 2047}, {2, 500000}}) {
        const std::size_t n = size.rows * size.cols;
        const auto matrix = deviceMatrix(n, ExactSummand<float>{1});
        GuardedArray<float> out(size.rows);
        auto scratch = usedScratch(Adaptive{}.scratchBytes(matrix.data(), out.data(), size.rows, size.cols, size.cols));
        replay(3, [&](cudaStream_t stream) {
            Adaptive{}(matrix.data(), out.data(), size.rows, size.cols, size.cols, scratch.bytes(), stream);
        });
        ASSERT_TRUE(sameBits(out.read(size.rows), oracleSums(matrix, size))) << size.rows << " x " << size.cols;
    }
}

TEST_F(RowSumTest, TakesMoreThanTwoToThe31Elements) {
    constexpr std::size_t n = (std::size_t{1} << 31) + 5;
    if (!hasRoomFor(n * (sizeof(std::int8_t) + sizeof(int)))) {
        GTEST_SKIP() << "takes 10 GiB of device memory and a while";
    }
    const auto ones = deviceMatrix(n, Ones<std::int8_t>{});
    EXPECT_EQ(sumsOf(ones.data(), {1, n}, n).at(0), static_cast<int>(static_cast<std::uint32_t>(n)));
    EXPECT_EQ(sumsOf(ones.data(), {2, n / 2}, n / 2 + 1), std::vector<int>(2, static_cast<int>(n / 2)));
    EXPECT_EQ(sumsOf(ones.data(), {n / 2047, 2047}, 2047), std::vector<int>(n / 2047, 2047));
    EXPECT_EQ(sumsOf(ones.data(), {n / 7, 7}, 7), std::vector<int>(n / 7, 7));

    DeviceBuffer<int> out(n);
    Common::checkCUDAError(cudaMemset(out.data(), 0xA5, out.byteCount()), "cudaMemset");
    Adaptive{}(ones.data(), out.data(), n, 1, 1, {}, nullptr);
    std::vector<int> sums(n);
    out.copyTo(sums);
    EXPECT_TRUE(std::ranges::all_of(sums, [](int sum) { return sum == 1; }));
}

TEST_F(RowSumTest, TakesARowOfMoreThanTwoToThe31Floats) {
    constexpr std::size_t n = (std::size_t{1} << 31) + 5;
    if (!hasRoomFor(n * sizeof(float))) {
        GTEST_SKIP() << "takes 8 GiB of device memory and a while";
    }
    const auto ones = deviceMatrix(n, Ones<float>{});
    EXPECT_NEAR(sumsOf(ones.data(), {1, n}, n).at(0), static_cast<double>(n), 2 * 31 * 1.2e-7 * n);
}

template <typename Op>
class RowSumOperationTest : public DeviceTest {};

using RowSumOperations = testing::Types<Adaptive, RowSum::OneAccumulator, Peer, Thrust::RowSum>;
TYPED_TEST_SUITE(RowSumOperationTest, RowSumOperations);

TYPED_TEST(RowSumOperationTest, RefusesBadArguments) {
    DeviceBuffer<float> memory(100);
    DeviceBuffer<float> out(10);
    float* const in = memory.data();
    float* const none = nullptr;
    const TypeParam sum;
    auto scratch = usedScratch(sum.scratchBytes(in, out.data(), 10, 10, 10));
    const auto expectRefused = [&](const float* matrix, float* sums, std::size_t pitch) {
        EXPECT_THROW(sum(matrix, sums, 10, 10, pitch, scratch.bytes(), nullptr), std::invalid_argument);
    };
    expectRefused(in, out.data(), 9);
    expectRefused(none, out.data(), 10);
    expectRefused(in, none, 10);
    expectRefused(in, in + 99, 10);
    EXPECT_NO_THROW(sum(none, none, 0, 10, 10, scratch.bytes(), nullptr));
}

// With a single row the pitch is never used.
TYPED_TEST(RowSumOperationTest, TakesASingleRowOfAnyPitch) {
    const DeviceBuffer<float> matrix = deviceArray(10, Ones<float>{});
    EXPECT_EQ(sumsOf(matrix.data(), {1, 10}, static_cast<std::size_t>(-1), TypeParam{}), std::vector<float>{10.0f});
}

TYPED_TEST(RowSumOperationTest, WritesZerosWithoutColumns) {
    const float* const none = nullptr;
    EXPECT_EQ(sumsOf(none, {10, 0}, 0, TypeParam{}), std::vector<float>(10, 0.0f));
}

TEST_F(RowSumTest, RefusesTooLittleScratchAndOtherColumnsThanItIsCompiledFor) {
    const DeviceBuffer<float> in(100);
    DeviceBuffer<float> out(10);
    EXPECT_THROW(Adaptive{}(in.data(), out.data(), 1, 1 << 20, 1 << 20, {}, nullptr), std::invalid_argument);
    EXPECT_THROW(RowSum::CompiledFor<2048>{}(in.data(), out.data(), 10, 10, 10, {}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace StreamCompaction::Testing
