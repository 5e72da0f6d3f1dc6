#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>

#include "../primitives/noncommutative.cuh"
#include "device_fixture.cuh"
#include "stream_compaction/runs.cuh"

namespace StreamCompaction::Testing {
namespace {

using Runs::Encode;
using Runs::IsEqual;
using Runs::ReduceByKey;
using Runs::Unique;

/// A key of `size` bytes with any alignment.
template <int size, int alignment>
struct alignas(alignment) Blob {
    std::uint8_t bytes[size];

    __host__ __device__ bool operator==(const Blob& other) const {
        bool isEqual = true;
        for (int i = 0; i < size; ++i) {
            isEqual = isEqual && bytes[i] == other.bytes[i];
        }
        return isEqual;
    }
};

/// A key made of a number. Different numbers below 200 make different keys.
template <typename K>
[[nodiscard]] K keyOf(std::uint64_t number) {
    if constexpr (std::is_arithmetic_v<K>) {
        return static_cast<K>(number);
    } else {
        K key;
        for (std::uint8_t& byte : key.bytes) {
            byte = static_cast<std::uint8_t>(number);
            number = number * 7 + 3;
        }
        return key;
    }
}

/// The length of run number `run`.
using Lengths = std::function<std::size_t(std::size_t run)>;

/// n keys in runs of these lengths, the last of which may be cut short.
template <typename K>
[[nodiscard]] std::vector<K> keysInRuns(std::size_t n, const Lengths& lengths) {
    std::vector<K> keys;
    for (std::size_t run = 0; keys.size() < n; ++run) {
        keys.insert(keys.end(), std::min(lengths(run), n - keys.size()), keyOf<K>(run % 101 + 2 * (run % 2)));
    }
    return keys;
}

/// What a result must be.
template <typename K, typename T>
struct Expected {
    std::vector<K> keys;
    std::vector<T> sums;
};

template <typename K, typename T, typename Equal, typename Op>
[[nodiscard]] Expected<K, T> expectedRuns(const std::vector<K>& keys, const std::vector<T>& values, Equal equal,
                                          Op op) {
    Expected<K, T> expected{std::vector<K>(keys.size()), std::vector<T>(keys.size())};
    const auto ends = thrust::reduce_by_key(thrust::seq, keys.begin(), keys.end(), values.begin(),
                                            expected.keys.begin(), expected.sums.begin(), equal, op);
    expected.keys.erase(ends.first, expected.keys.end());
    expected.sums.erase(ends.second, expected.sums.end());
    return expected;
}

struct Counter {
    DeviceBuffer<std::size_t> memory{1};
    Counter() { Common::checkCUDAError(cudaMemset(memory.data(), 0xA5, sizeof(std::size_t)), "cudaMemset"); }
    [[nodiscard]] std::size_t read() const {
        std::size_t count = 0;
        memory.copyTo({&count, 1});
        return count;
    }
};

template <typename K, typename Equal = IsEqual>
void expectUnique(const std::vector<K>& in, const Unique& unique = {}, std::size_t misalignment = 0, Equal equal = {}) {
    const std::size_t n = in.size();
    std::vector<K> expected;
    std::unique_copy(in.begin(), in.end(), std::back_inserter(expected), equal);
    auto deviceIn = placed(in, misalignment);
    GuardedArray<K> out(n, misalignment + 1);
    Counter count;
    auto scratch = usedScratch(unique.scratchBytes(noArray<K>, noArray<K>, noArray<std::size_t>, n));
    unique(static_cast<const K*>(deviceIn.data()), out.data(), count.memory.data(), n, equal, scratch.bytes(), nullptr);
    ASSERT_EQ(count.read(), expected.size()) << "n = " << n;
    ASSERT_TRUE(sameBits(out.read(expected.size()), expected)) << "n = " << n;
}

template <typename K, typename V, typename T = V, typename Equal = IsEqual, typename Op = Sum>
void expectReduced(const std::vector<K>& keys, const std::vector<V>& values, const ReduceByKey& reduce = {},
                   std::size_t misalignment = 0, Equal equal = {}, Op op = {}) {
    const std::size_t n = keys.size();
    const auto expected = expectedRuns(keys, std::vector<T>(values.begin(), values.end()), equal, op);
    auto deviceKeys = placed(keys, misalignment);
    auto deviceValues = placed(values, misalignment / 2);
    GuardedArray<K> uniqueKeys(n, misalignment + 1);
    GuardedArray<T> sums(n, misalignment / 3);
    Counter count;
    auto scratch = usedScratch(
        reduce.scratchBytes(noArray<K>, noArray<V>, noArray<K>, noArray<T>, noArray<std::size_t>, n, op, equal));
    reduce(static_cast<const K*>(deviceKeys.data()), static_cast<const V*>(deviceValues.data()), uniqueKeys.data(),
           sums.data(), count.memory.data(), n, op, equal, scratch.bytes(), nullptr);
    const std::size_t runs = expected.keys.size();
    ASSERT_EQ(count.read(), runs) << "n = " << n;
    ASSERT_TRUE(sameBits(uniqueKeys.read(runs), expected.keys)) << "n = " << n;
    ASSERT_TRUE(sameBits(sums.read(runs), expected.sums)) << "n = " << n;
}

template <typename Length, typename K>
void expectEncoded(const std::vector<K>& in, const Encode& encode = {}, std::size_t misalignment = 0) {
    const std::size_t n = in.size();
    const auto expected = expectedRuns(in, std::vector<Length>(n, 1), IsEqual{}, Sum{});
    auto deviceIn = placed(in, misalignment);
    GuardedArray<K> unique(n, misalignment + 1);
    GuardedArray<Length> lengths(n, misalignment / 3);
    Counter count;
    auto scratch = usedScratch(encode.scratchBytes(noArray<K>, noArray<K>, noArray<Length>, noArray<std::size_t>, n));
    encode(static_cast<const K*>(deviceIn.data()), unique.data(), lengths.data(), count.memory.data(), n,
           scratch.bytes(), nullptr);
    const std::size_t runs = expected.keys.size();
    ASSERT_EQ(count.read(), runs) << "n = " << n;
    ASSERT_TRUE(sameBits(unique.read(runs), expected.keys)) << "n = " << n;
    ASSERT_TRUE(sameBits(lengths.read(runs), expected.sums)) << "n = " << n;
}

/// The elements of a tile of an ints' reduction by key.
constexpr std::size_t tileOfInts = Runs::TileFor<ArraySource<int>, ArraySource<int>, int, int>::Shape::elements;

/// The elements of too many tiles to meet. Blocks look back instead, and may take tickets.
[[nodiscard]] std::size_t tooManyToMeet() { return (2 * currentDevice().multiprocessors + 3) * tileOfInts + 1; }

struct Regime {
    std::string name;
    Lengths lengths;
};

[[nodiscard]] std::vector<Regime> regimes() {
    const auto random = [](std::size_t most) -> Lengths {
        return [most](std::size_t run) { return 1 + randomBits(60, run) % most; };
    };
    return {
        {"all equal", [](std::size_t) { return std::size_t{1} << 40; }},
        {"all different", [](std::size_t) { return std::size_t{1}; }},
        {"pairs", [](std::size_t) { return std::size_t{2}; }},
        {"short", random(6)},
        {"of a warp's part", random(1500)},
        {"longer than tiles", random(5 * tileOfInts)},
        {"one tile each", [](std::size_t) { return tileOfInts; }},
        {"a third of a tile",
         [](std::size_t run) { return run % 3 == 2 ? tileOfInts - 2 * (tileOfInts / 3) : tileOfInts / 3; }},
        {"short, long, short", [](std::size_t run) { return run == 40 ? 3 * tileOfInts + 7 : 1 + run % 3; }},
        {"a new run at the last element of each tile",
         [](std::size_t run) { return run == 0 ? tileOfInts - 1 : tileOfInts; }},
    };
}

/// Around the parts of threads, warps and tiles, and 2^k.
[[nodiscard]] std::vector<std::size_t> sizesAroundBorders() {
    std::vector<std::size_t> sizes{1, 2, 3, 19, 20, 21};
    for (const std::size_t border : {std::size_t{32}, std::size_t{640}, std::size_t{1024}, tileOfInts,
                                     std::size_t{8192}, 2 * tileOfInts, std::size_t{1} << 14, 3 * tileOfInts}) {
        sizes.insert(sizes.end(), {border - 1, border, border + 1});
    }
    sizes.push_back(35 * tileOfInts + 123);  // more tiles than a warp has lanes
    if (!quick()) {
        sizes.insert(sizes.end(), {(1u << 20) - 1, (1u << 20) + 1, 5000003});
    }
    return sizes;
}

class RunsTest : public DeviceTest {};

TEST_F(RunsTest, UniqueOfEveryRegime) {
    for (const Regime& regime : regimes()) {
        SCOPED_TRACE(regime.name);
        for (const std::size_t n : sizesAroundBorders()) {
            ASSERT_NO_FATAL_FAILURE(expectUnique(keysInRuns<int>(n, regime.lengths)));
        }
        const std::size_t n = quick() ? 550001 : 3000001;
        ASSERT_NO_FATAL_FAILURE(expectUnique(keysInRuns<int>(n, regime.lengths)));
        ASSERT_NO_FATAL_FAILURE(expectUnique(keysInRuns<int>(n, regime.lengths), {.order = TileOrder::Ticket}));
    }
}

// Other shapes of tiles than those of ints, by look-back.
TEST_F(RunsTest, UniqueOfEverySize) {
    const auto lengths = [](std::size_t run) { return 1 + randomBits(64, run) % 4; };
    const std::size_t n = quick() ? 550003 : 4400003;
    expectUnique(keysInRuns<std::uint8_t>(n, lengths));
    expectUnique(keysInRuns<std::uint16_t>(n, lengths));
    expectUnique(keysInRuns<std::int64_t>(n, lengths));
    expectUnique(keysInRuns<Blob<12, 4>>(n / 4, lengths));
    expectUnique(keysInRuns<Blob<24, 8>>(n / 4, lengths));
    expectUnique(keysInRuns<Blob<64, 16>>(n / 4, lengths));
}

TEST_F(RunsTest, ReduceByKeyOfEveryRegime) {
    for (const Regime& regime : regimes()) {
        SCOPED_TRACE(regime.name);
        for (const std::size_t n : sizesAroundBorders()) {
            const auto values = hostArray(n, Summand<int>{n});
            ASSERT_NO_FATAL_FAILURE(expectReduced(keysInRuns<int>(n, regime.lengths), values));
        }
        const std::size_t n = tooManyToMeet();
        ASSERT_NO_FATAL_FAILURE(expectReduced(keysInRuns<int>(n, regime.lengths), hostArray(n, Summand<int>{n}),
                                              {.order = TileOrder::Ticket}));
    }
}

TEST_F(RunsTest, EncodeOfEveryRegime) {
    for (const Regime& regime : regimes()) {
        SCOPED_TRACE(regime.name);
        for (const std::size_t n : sizesAroundBorders()) {
            ASSERT_NO_FATAL_FAILURE(expectEncoded<int>(keysInRuns<int>(n, regime.lengths)));
        }
        ASSERT_NO_FATAL_FAILURE(expectEncoded<std::uint64_t>(keysInRuns<int>(40001, regime.lengths)));
        ASSERT_NO_FATAL_FAILURE(
            expectEncoded<int>(keysInRuns<int>(tooManyToMeet(), regime.lengths), {.order = TileOrder::Ticket}));
    }
}

TEST_F(RunsTest, EveryAlignment) {
    const auto lengths = [](std::size_t run) { return 1 + randomBits(61, run) % 5; };
    const std::size_t n = 30001;
    for (std::size_t misalignment = 0; misalignment < 16; misalignment += quick() ? 3 : 1) {
        const auto bytes = keysInRuns<std::uint8_t>(n, lengths);
        const auto ints = keysInRuns<int>(n, lengths);
        ASSERT_NO_FATAL_FAILURE(expectUnique(bytes, {}, misalignment));
        ASSERT_NO_FATAL_FAILURE(expectUnique(ints, {}, misalignment));
        ASSERT_NO_FATAL_FAILURE(expectEncoded<std::uint16_t>(bytes, {}, misalignment));
        ASSERT_NO_FATAL_FAILURE(expectReduced(ints, hostArray(n, Summand<int>{3}), {}, misalignment));
        ASSERT_NO_FATAL_FAILURE(expectReduced(ints, hostArray(n, Summand<std::int8_t>{3}), {}, misalignment));
    }
}

template <typename K, typename V, typename T = V>
void expectReducedTypes() {
    const auto lengths = [](std::size_t run) { return 1 + randomBits(62, run) % (run % 4 == 0 ? 900 : 4); };
    for (const std::size_t n : {std::size_t{100}, std::size_t{9999}, tooManyToMeet()}) {
        const auto keys = keysInRuns<K>(n, lengths);
        ASSERT_NO_FATAL_FAILURE((expectReduced<K, V, T>(keys, hostArray(n, Summand<V>{4}))));
        ASSERT_NO_FATAL_FAILURE(expectEncoded<int>(keys));
        ASSERT_NO_FATAL_FAILURE(expectUnique(keys));
    }
}

TEST_F(RunsTest, KeysOfEverySize) {
    expectReducedTypes<Blob<1, 1>, int>();
    expectReducedTypes<Blob<2, 2>, int>();
    expectReducedTypes<Blob<3, 1>, int>();
    expectReducedTypes<Blob<4, 1>, int>();
    expectReducedTypes<Blob<7, 1>, int>();
    expectReducedTypes<Blob<8, 4>, int>();
    expectReducedTypes<Blob<12, 4>, int>();
    expectReducedTypes<Blob<16, 8>, int>();
    expectReducedTypes<double, int>();
}

TEST_F(RunsTest, ValuesOfEveryType) {
    expectReducedTypes<int, std::int8_t>();
    expectReducedTypes<int, std::int8_t, std::int64_t>();
    expectReducedTypes<std::uint8_t, std::uint8_t>();
    expectReducedTypes<std::uint16_t, std::uint16_t, std::uint32_t>();
    expectReducedTypes<int, float>();
    expectReducedTypes<int, std::int64_t>();
    expectReducedTypes<std::int64_t, double>();
}

template <typename T, typename Op>
void expectReducedInOrder(Op op) {
    for (const Regime& regime : regimes()) {
        SCOPED_TRACE(regime.name);
        const std::size_t n = 40 * tileOfInts + 5;
        ASSERT_NO_FATAL_FAILURE((expectReduced<int, T, T>(keysInRuns<int>(n, regime.lengths),
                                                          hostArray(n, RandomValue<T>{5}), {}, 0, IsEqual{}, op)));
    }
}

TEST_F(RunsTest, OperatorsThatDoNotCommute) {
    expectReducedInOrder<AffineMap>(Compose{});
    expectReducedInOrder<Matrix>(Multiply{});
}

TEST_F(RunsTest, OtherOperators) {
    const std::size_t n = 40003;
    const auto keys = keysInRuns<int>(n, [](std::size_t run) { return 1 + randomBits(63, run) % 700; });
    expectReduced(keys, hostArray(n, Summand<int>{6}), {}, 0, IsEqual{}, Max{});
    expectReduced(keys, hostArray(n, Summand<float>{6}), {}, 0, IsEqual{}, Min{});
}

/// Numbers of the same ten are equal.
struct SameTen {
    __host__ __device__ bool operator()(int a, int b) const { return a / 10 == b / 10; }
};

TEST_F(RunsTest, OtherEqualities) {
    for (const std::size_t n : {std::size_t{1000}, std::size_t{400003}}) {
        const auto keys = hostArray(n, [](std::size_t i) { return static_cast<int>(i / 3 % 100); });
        expectUnique(keys, {}, 0, SameTen{});
        expectReduced(keys, hostArray(n, Summand<int>{7}), {}, 0, SameTen{});
    }
}

// A NaN is not equal to itself.
TEST_F(RunsTest, EachNaNIsARun) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const std::size_t n : {std::size_t{9}, std::size_t{tileOfInts + 9}, std::size_t{400003}}) {
        const auto keys = hostArray(n, [nan](std::size_t i) { return i % 7 < 3 ? nan : 0.0F; });
        std::vector<float> expected{nan};
        for (std::size_t i = 1; i < n; ++i) {
            if (keys[i - 1] != keys[i]) {
                expected.push_back(keys[i]);
            }
        }
        const DeviceBuffer<float> in{std::span<const float>(keys)};
        GuardedArray<float> out(n);
        GuardedArray<float> outOfEncode(n);
        GuardedArray<int> lengths(n);
        Counter count;
        auto scratch = usedScratch(Unique{}.scratchBytes(in.data(), out.data(), count.memory.data(), n));
        Unique{}(in.data(), out.data(), count.memory.data(), n, scratch.bytes(), nullptr);
        ASSERT_EQ(count.read(), expected.size());
        ASSERT_TRUE(sameBits(out.read(expected.size()), expected));
        scratch =
            usedScratch(Encode{}.scratchBytes(in.data(), outOfEncode.data(), lengths.data(), count.memory.data(), n));
        Encode{}(in.data(), outOfEncode.data(), lengths.data(), count.memory.data(), n, scratch.bytes(), nullptr);
        ASSERT_EQ(count.read(), expected.size());
        ASSERT_TRUE(sameBits(outOfEncode.read(expected.size()), expected));
        const auto all = lengths.read(expected.size());
        ASSERT_EQ(std::accumulate(all.begin(), all.end(), std::size_t{0}), n);
    }
}

struct Tens {
    __host__ __device__ int operator()(int x) const { return x / 10; }
};
struct IndexDividedBy300 {
    __host__ __device__ std::uint64_t operator()(std::size_t i) const { return i / 300; }
};

TEST_F(RunsTest, OfFunctions) {
    for (const std::size_t n : {std::size_t{1000}, std::size_t{3 * tileOfInts + 1}, std::size_t{400003}}) {
        const auto keys = hostArray(n, [](std::size_t i) { return static_cast<int>(i / 3 % 100); });
        const DeviceBuffer<int> deviceKeys{std::span<const int>(keys)};
        const auto mapped = hostArray(n, [&](std::size_t i) { return Tens{}(keys[i]); });
        Counter count;

        const auto expected = expectedRuns(mapped, hostArray(n, IndexAs<int>{}), IsEqual{}, Sum{});
        const std::size_t runs = expected.keys.size();
        const auto tens = transformed(deviceKeys.data(), Tens{});
        const auto places = indices<int>();
        GuardedArray<int> out(n);
        GuardedArray<int> sums(n);
        auto scratch =
            usedScratch(ReduceByKey{}.scratchBytes(tens, places, out.data(), sums.data(), count.memory.data(), n));
        ReduceByKey{}(tens, places, out.data(), sums.data(), count.memory.data(), n, scratch.bytes(), nullptr);
        ASSERT_EQ(count.read(), runs);
        ASSERT_TRUE(sameBits(out.read(runs), expected.keys));
        ASSERT_TRUE(sameBits(sums.read(runs), expected.sums));

        out.poison(n, nullptr);
        scratch = usedScratch(Unique{}.scratchBytes(tens, out.data(), count.memory.data(), n));
        Unique{}(tens, out.data(), count.memory.data(), n, scratch.bytes(), nullptr);
        ASSERT_EQ(count.read(), runs);
        ASSERT_TRUE(sameBits(out.read(runs), expected.keys));

        const auto blocks = generated(IndexDividedBy300{});
        GuardedArray<std::uint64_t> first(n);
        scratch = usedScratch(Unique{}.scratchBytes(blocks, first.data(), count.memory.data(), n));
        Unique{}(blocks, first.data(), count.memory.data(), n, scratch.bytes(), nullptr);
        const std::size_t ofBlocks = Common::divideRoundUp(n, 300);
        ASSERT_EQ(count.read(), ofBlocks);
        std::vector<std::uint64_t> numbers(ofBlocks);
        std::iota(numbers.begin(), numbers.end(), 0U);
        ASSERT_TRUE(sameBits(first.read(ofBlocks), numbers));
    }
}

TEST_F(RunsTest, ReplayedFromAGraph) {
    for (const std::size_t n : {std::size_t{1000}, std::size_t{12 * tileOfInts + 1}}) {
        const auto keys = keysInRuns<int>(n, [](std::size_t run) { return 1 + run % 9; });
        const auto values = hostArray(n, Summand<int>{8});
        const auto expected = expectedRuns(keys, values, IsEqual{}, Sum{});
        const DeviceBuffer<int> deviceKeys{std::span<const int>(keys)};
        const DeviceBuffer<int> deviceValues{std::span<const int>(values)};
        GuardedArray<int> out(n);
        GuardedArray<int> sums(n);
        Counter count;
        auto scratch = usedScratch(ReduceByKey{}.scratchBytes(deviceKeys.data(), deviceValues.data(), out.data(),
                                                              sums.data(), count.memory.data(), n));
        replay(3, [&](cudaStream_t stream) {
            out.poison(n, stream);
            sums.poison(n, stream);
            ReduceByKey{}(deviceKeys.data(), deviceValues.data(), out.data(), sums.data(), count.memory.data(), n,
                          scratch.bytes(), stream);
        });
        const std::size_t runs = expected.keys.size();
        ASSERT_EQ(count.read(), runs);
        ASSERT_TRUE(sameBits(out.read(runs), expected.keys));
        ASSERT_TRUE(sameBits(sums.read(runs), expected.sums));
    }
}

/// Takes milliseconds for one of the keys.
struct SlowEqual {
    __host__ __device__ bool operator()(int a, int b) const {
#if defined(__CUDA_ARCH__)
        for (int i = 0; b == -1 && i < 50; ++i) {
            __nanosleep(100000);
        }
#endif
        return a == b;
    }
};

// The first tile is late, so all other resident tiles look back to the beginning.
TEST_F(RunsTest, FirstTileLate) {
    const std::size_t n = quick() ? 300001 : 9000001;
    for (const std::size_t length : {std::size_t{3}, 5 * tileOfInts}) {
        auto keys = keysInRuns<int>(n, [length](std::size_t) { return length; });
        keys[7] = -1;
        expectReduced(keys, hostArray(n, Summand<int>{9}), {}, 0, SlowEqual{});
    }
}

struct IndexDividedBy3 {
    __host__ __device__ std::uint32_t operator()(std::size_t i) const { return static_cast<std::uint32_t>(i / 3); }
};
struct LengthOfThree {
    std::size_t n;
    __host__ __device__ std::uint64_t operator()(std::size_t run) const { return min(std::size_t{3}, n - 3 * run); }
};

TEST_F(RunsTest, MoreThanTwoToThe32Elements) {
    const std::size_t n = (std::size_t{1} << 32) + 7;
    const std::size_t runs = Common::divideRoundUp(n, 3);
    constexpr std::size_t bytes = n * (sizeof(std::uint32_t) + sizeof(std::uint64_t));
    if (!hasRoomFor(bytes)) {
        GTEST_SKIP() << "takes " << bytes << " bytes of device memory and a while";
    }
    const auto third = generated(IndexDividedBy3{});
    DeviceBuffer<std::uint32_t> out(n);
    DeviceBuffer<std::uint64_t> lengths(n);
    Counter count;
    auto scratch = usedScratch(Encode{}.scratchBytes(third, out.data(), lengths.data(), count.memory.data(), n));
    Encode{}(third, out.data(), lengths.data(), count.memory.data(), n, scratch.bytes(), nullptr);
    ASSERT_EQ(count.read(), runs);
    EXPECT_EQ(wrongElements(runs, lengths.data(), LengthOfThree{n}), 0U);
    EXPECT_EQ(wrongElements(runs, out.data(), IndexAs<std::uint32_t>{}), 0U);
}

TEST_F(RunsTest, RefusesBadArguments) {
    const std::size_t n = 1000;
    DeviceBuffer<int> keys(2 * n);
    DeviceBuffer<int> values(n);
    DeviceBuffer<int> out(n);
    DeviceBuffer<int> sums(n);
    Counter count;
    std::size_t* const counter = count.memory.data();
    auto scratch = usedScratch(
        ReduceByKey{}.scratchBytes(noArray<int>, noArray<int>, noArray<int>, noArray<int>, noArray<std::size_t>, n));
    const auto expectRefused = [&](const int* from, const int* addends, int* to, int* results, std::size_t* number,
                                   Scratch lent) {
        EXPECT_THROW(ReduceByKey{}(from, addends, to, results, number, n, lent, nullptr), std::invalid_argument);
    };
    expectRefused(nullptr, values.data(), out.data(), sums.data(), counter, scratch.bytes());
    expectRefused(keys.data(), nullptr, out.data(), sums.data(), counter, scratch.bytes());
    expectRefused(keys.data(), values.data(), nullptr, sums.data(), counter, scratch.bytes());
    expectRefused(keys.data(), values.data(), out.data(), nullptr, counter, scratch.bytes());
    expectRefused(keys.data(), values.data(), out.data(), sums.data(), nullptr, scratch.bytes());
    expectRefused(keys.data(), values.data(), keys.data(), sums.data(), counter, scratch.bytes());
    expectRefused(keys.data(), values.data(), out.data(), keys.data() + n - 1, counter, scratch.bytes());
    expectRefused(keys.data(), values.data(), values.data(), sums.data(), counter, scratch.bytes());
    expectRefused(keys.data(), values.data(), out.data(), values.data(), counter, scratch.bytes());
    expectRefused(keys.data(), values.data(), out.data(), sums.data(), counter,
                  scratch.bytes().first(scratch.size() - 1));
    const std::size_t tooMany = std::numeric_limits<std::size_t>::max();
    EXPECT_THROW(
        (void)ReduceByKey{}.scratchBytes(keys.data(), values.data(), out.data(), sums.data(), counter, tooMany),
        std::invalid_argument);
    EXPECT_THROW((void)Unique{}.scratchBytes(keys.data(), out.data(), counter, tooMany), std::invalid_argument);
    EXPECT_THROW(Encode{}(keys.data(), keys.data(), sums.data(), counter, n, scratch.bytes(), nullptr),
                 std::invalid_argument);
    EXPECT_THROW(Unique{}(keys.data(), keys.data() + 1, counter, n, scratch.bytes(), nullptr), std::invalid_argument);
    expectRefused(keys.data(), values.data(), out.data(), out.data(), counter, scratch.bytes());
    for (int* const array : {keys.data(), values.data(), out.data(), sums.data()}) {
        expectRefused(keys.data(), values.data(), out.data(), sums.data(), reinterpret_cast<std::size_t*>(array),
                      scratch.bytes());
    }
    EXPECT_THROW(Unique{}(keys.data(), out.data(), counter, -1, scratch.bytes(), nullptr), std::invalid_argument);
    DeviceBuffer<std::uint8_t> lengths(n);
    EXPECT_THROW(Encode{}(keys.data(), out.data(), lengths.data(), counter, 256, scratch.bytes(), nullptr),
                 std::invalid_argument);
    EXPECT_NO_THROW((void)Encode{}.scratchBytes(keys.data(), out.data(), lengths.data(), counter, 255));
}

TEST_F(RunsTest, NothingToDo) {
    Counter counts[3];
    Unique{}(noArray<int>, noArray<int>, counts[0].memory.data(), 0, {}, nullptr);
    Encode{}(noArray<int>, noArray<int>, noArray<int>, counts[1].memory.data(), 0, {}, nullptr);
    ReduceByKey{}(noArray<int>, noArray<int>, noArray<int>, noArray<int>, counts[2].memory.data(), 0, {}, nullptr);
    for (const Counter& count : counts) {
        EXPECT_EQ(count.read(), 0U);
    }
}

}  // namespace
}  // namespace StreamCompaction::Testing
