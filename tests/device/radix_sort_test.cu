#include <array>
#include <compare>
#include <numeric>

#include "element_sizes.h"
#include "operation_under_test.cuh"
#include "stream_compaction/radix_sort.cuh"

#if !defined(STREAM_COMPACTION_SIMULATED)
#include "stream_compaction/cub.cuh"
#endif

namespace StreamCompaction::Testing {
namespace {

/// One size per algorithm that a sort may choose, and sizes at the borders between them. If the run is quick, one size
/// per block shape for few elements; WaysThatOtherCardsTake and ReplaysWithOtherKeys test other sizes.
[[nodiscard]] std::vector<std::size_t> sizesOfAllWays() {
    if (quick()) {
        return {2, 1000, 1025, 2049, 4097, 8193, 16385, 32769};
    }
    return {1, 2, 1000, 1025, 2049, 4096, 4097, 8193, 16385, 32769, 70001, 150001, 400009, 600011, 1500007};
}

/// Ascending and descending. The kernels treat both alike, so one of them is enough if the run is quick.
[[nodiscard]] std::vector<bool> directions() {
    return quick() ? std::vector<bool>{true} : std::vector<bool>{false, true};
}

/// Special values of a type.
template <typename K>
[[nodiscard]] std::vector<K> extremes() {
    using Limits = std::numeric_limits<K>;
    std::vector<K> keys{Limits::lowest(), Limits::max(), K{0}, K{1}, static_cast<K>(-1), Limits::min()};
    if constexpr (std::is_floating_point_v<K>) {
        keys.insert(keys.end(), {-K{0}, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                                 -Limits::quiet_NaN(), Limits::denorm_min(), -Limits::denorm_min()});
    }
    return keys;
}

template <typename K>
[[nodiscard]] std::vector<K> keysWithExtremes(std::size_t n, std::uint64_t seed) {
    const std::vector<K> special = extremes<K>();
    return hostArray(n, [&](std::size_t i) {
        const std::uint64_t bits = randomBits(~seed, i);
        return bits % 4 == 0 ? special[bits / 4 % special.size()] : AnyBits<K>{seed}(i);
    });
}

/// A value of any type that contains its index.
template <typename V>
[[nodiscard]] V valueAt(std::size_t i) {
    V value{};
    std::memcpy(&value, &i, std::min(sizeof(V), sizeof(i)));
    return value;
}

/// The bits of a key that a sort compares, as Sort defines them.
template <typename K>
[[nodiscard]] std::uint64_t comparedBits(const Radix::Sort& sort, K key) {
    const int end = sort.endBit == allBits ? static_cast<int>(8 * sizeof(K)) : sort.endBit;
    if (sort.beginBit == end) {
        return 0;
    }
    const std::uint64_t code = orderedBits(key);
    const std::uint64_t bits = (code >> sort.beginBit) & (~std::uint64_t{0} >> (64 - (end - sort.beginBit)));
    return sort.descending ? ~bits : bits;
}

/// The indices of the keys in sorted order, by the standard library.
template <typename K>
[[nodiscard]] std::vector<std::size_t> sortedPlaces(const Radix::Sort& sort, const std::vector<K>& keys) {
    std::vector<std::size_t> places(keys.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::stable_sort(places, {}, [&](std::size_t place) { return comparedBits(sort, keys[place]); });
    return places;
}

class RadixSortTest : public DeviceTest {
  protected:
    template <typename K>
    static void expectSorted(const Radix::Sort& sort, const std::vector<K>& keys) {
        std::vector<K> expected;
        for (const std::size_t place : sortedPlaces(sort, keys)) {
            expected.push_back(keys[place]);
        }
        DeviceBuffer<K> in{std::span<const K>(keys)};
        GuardedArray<K> out(keys.size());
        const auto expectSortedFrom = [&](auto from) {
            out.poison(keys.size(), nullptr);
            auto scratch = usedScratch(sort.scratchBytes(from, out.data(), keys.size()));
            sort(from, out.data(), keys.size(), scratch.bytes(), nullptr);
            ASSERT_TRUE(sameBits(out.read(keys.size()), expected)) << "n = " << keys.size();
        };
        expectSortedFrom(std::as_const(in).data());
        std::vector<K> after(keys.size());
        in.copyTo(after);
        ASSERT_TRUE(sameBits(after, keys)) << "the input of n = " << keys.size();
        expectSortedFrom(Radix::Consumed{in.data()});
    }

    template <typename K, typename V>
    static void expectPairsSorted(const Radix::Sort& sort, const std::vector<K>& keys) {
        const std::size_t n = keys.size();
        const std::vector<V> values = hostArray(n, valueAt<V>);
        std::vector<K> expectedKeys;
        std::vector<V> expectedValues;
        for (const std::size_t place : sortedPlaces(sort, keys)) {
            expectedKeys.push_back(keys[place]);
            expectedValues.push_back(values[place]);
        }
        DeviceBuffer<K> keysIn{std::span<const K>(keys)};
        DeviceBuffer<V> valuesIn{std::span<const V>(values)};
        GuardedArray<K> keysOut(n);
        GuardedArray<V> valuesOut(n);
        const auto expectSortedFrom = [&](auto keysFrom, auto valuesFrom) {
            keysOut.poison(n, nullptr);
            valuesOut.poison(n, nullptr);
            auto scratch = usedScratch(sort.scratchBytes(keysFrom, keysOut.data(), valuesFrom, valuesOut.data(), n));
            sort(keysFrom, keysOut.data(), valuesFrom, valuesOut.data(), n, scratch.bytes(), nullptr);
            ASSERT_TRUE(sameBits(keysOut.read(n), expectedKeys)) << "n = " << n;
            ASSERT_TRUE(sameBits(valuesOut.read(n), expectedValues)) << "n = " << n;
        };
        expectSortedFrom(std::as_const(keysIn).data(), std::as_const(valuesIn).data());
        expectSortedFrom(Radix::Consumed{keysIn.data()}, Radix::Consumed{valuesIn.data()});
    }

    /// Expects one of the ways of a table to sort keys.
    template <typename Ways, typename Bits>
    static void expectSortedBy(std::vector<Bits> keys) {
        const std::size_t n = keys.size();
        const DeviceBuffer<Bits> in{std::span<const Bits>(keys)};
        GuardedArray<Bits> out(n);
        const std::size_t bytes = Ways::template scratchBytes<Bits, Radix::NoValue>(n, false);
        auto scratch = usedScratch(bytes);
        const Radix::SortCall<Bits, Radix::NoValue> call{{in.data(), nullptr},
                                                         {out.data(), nullptr},
                                                         n,
                                                         {0, static_cast<int>(8 * sizeof(Bits))},
                                                         {},
                                                         TileOrder::BlockIndex,
                                                         {},
                                                         ScratchArena(scratch.bytes(), bytes),
                                                         nullptr};
        ASSERT_TRUE(Ways::launch(call));
        std::ranges::sort(keys);
        EXPECT_TRUE(sameBits(out.read(n), keys)) << "n = " << n;
    }

    template <typename K, typename Index>
    static void expectArgsorted(std::size_t n, TileOrder order = TileOrder::BlockIndex, int beginBit = 0,
                                int endBit = allBits) {
        for (const bool descending : directions()) {
            const Radix::ArgSort sort{descending, beginBit, endBit, order};
            const auto keys = hostArray(n, [](std::size_t i) { return static_cast<K>(randomBits(9, i) % 7 * 31); });
            std::vector<K> expectedKeys;
            std::vector<Index> expectedIndices;
            for (const std::size_t place : sortedPlaces(Radix::Sort{descending, beginBit, endBit}, keys)) {
                expectedKeys.push_back(keys[place]);
                expectedIndices.push_back(static_cast<Index>(place));
            }
            const DeviceBuffer<K> keysIn{std::span<const K>(keys)};
            GuardedArray<K> keysOut(n);
            GuardedArray<Index> indices(n);
            auto scratch = usedScratch(sort.scratchBytes(keysIn.data(), keysOut.data(), indices.data(), n));
            sort(keysIn.data(), keysOut.data(), indices.data(), n, scratch.bytes(), nullptr);
            ASSERT_TRUE(sameBits(keysOut.read(n), expectedKeys)) << "n = " << n;
            ASSERT_TRUE(sameBits(indices.read(n), expectedIndices)) << "n = " << n;
        }
    }
};

/// The tests of every algorithm that a sort may choose, one number of keys at a time.
class RadixSortWaysTest : public RadixSortTest, public testing::WithParamInterface<std::size_t> {
  protected:
    template <typename K>
    static void expectExtremesSorted() {
        const std::size_t n = GetParam();
        for (const bool descending : directions()) {
            ASSERT_NO_FATAL_FAILURE(expectSorted(Radix::Sort{.descending = descending}, keysWithExtremes<K>(n, n)));
        }
    }

    /// Keys with many duplicates.
    template <typename K, typename V>
    static void expectStable() {
        const auto keys =
            hostArray(GetParam(), [](std::size_t i) { return static_cast<K>(randomBits(3, i) % 5 * 50); });
        for (const bool descending : directions()) {
            ASSERT_NO_FATAL_FAILURE((expectPairsSorted<K, V>(Radix::Sort{.descending = descending}, keys)));
        }
    }
};

INSTANTIATE_TEST_SUITE_P(Sizes, RadixSortWaysTest, testing::ValuesIn(sizesOfAllWays()),
                         testing::PrintToStringParamName());

// Keys of the same size share their kernels, so one type of each size is enough if the run is quick.
TEST_P(RadixSortWaysTest, ExtremesOfEveryKeyType) {
    expectExtremesSorted<std::int8_t>();
    expectExtremesSorted<std::int16_t>();
    expectExtremesSorted<float>();
    expectExtremesSorted<double>();
    if (quick()) {
        return;
    }
    expectExtremesSorted<std::uint8_t>();
    expectExtremesSorted<std::uint16_t>();
    expectExtremesSorted<std::int32_t>();
    expectExtremesSorted<std::uint32_t>();
    expectExtremesSorted<std::int64_t>();
    expectExtremesSorted<std::uint64_t>();
}

TEST_P(RadixSortWaysTest, PairsOfEverySizeAreStable) {
    expectStable<std::uint8_t, std::uint8_t>();
    expectStable<std::uint16_t, ThreeBytes>();
    expectStable<std::int32_t, std::uint32_t>();
    expectStable<double, SixteenBytes>();
    if (quick()) {
        return;
    }
    expectStable<std::int32_t, std::uint16_t>();
    expectStable<float, double>();
    expectStable<std::uint64_t, std::uint64_t>();
    expectStable<std::int32_t, TwelveBytes>();
}

TEST_P(RadixSortWaysTest, ArgsortIsStable) {
    expectArgsorted<float, std::uint32_t>(GetParam());
    expectArgsorted<std::uint8_t, std::int64_t>(GetParam());
    if (!quick()) {
        expectArgsorted<double, int>(GetParam());
        expectArgsorted<std::int16_t, std::uint64_t>(GetParam());
    }
}

/// Keys for which all passes but the last are skipped, or the first ones.
TEST_P(RadixSortWaysTest, ArgsortOfKeysThatShareDigits) {
    const std::vector<std::uint32_t (*)(std::size_t)> patterns{
        [](std::size_t) -> std::uint32_t { return 0xC0FFEE; },
        [](std::size_t i) -> std::uint32_t { return randomBits(7, i) % 100 << 16 | 0xAB; }};
    const std::size_t n = GetParam();
    for (const auto pattern : patterns) {
        const auto keys = hostArray(n, pattern);
        const DeviceBuffer<std::uint32_t> keysIn{std::span<const std::uint32_t>(keys)};
        GuardedArray<std::uint32_t> keysOut(n);
        GuardedArray<std::uint32_t> indices(n);
        const Radix::ArgSort sort;
        auto scratch = usedScratch(sort.scratchBytes(keysIn.data(), keysOut.data(), indices.data(), n));
        sort(keysIn.data(), keysOut.data(), indices.data(), n, scratch.bytes(), nullptr);
        const auto places = sortedPlaces(Radix::Sort{}, keys);
        ASSERT_TRUE(sameBits(indices.read(n), std::vector<std::uint32_t>(places.begin(), places.end())));
    }
}

// Only the algorithm in passes takes tickets.
TEST_F(RadixSortTest, ByTickets) {
    const std::size_t n = sized(1500007, 40007);
    const Radix::Sort sort{.order = TileOrder::Ticket};
    expectSorted(sort, hostArray(n, AnyBits<int>{29}));
    expectPairsSorted<float, std::uint32_t>(sort, hostArray(n, AnyBits<float>{30}));
    expectArgsorted<int, std::uint32_t>(n, TileOrder::Ticket);
}

TEST_P(RadixSortWaysTest, Shapes) {
    const std::vector<std::uint32_t (*)(std::size_t i, std::size_t n)> shapes{
        [](std::size_t, std::size_t) -> std::uint32_t { return 0xC0FFEE; },
        [](std::size_t i, std::size_t) -> std::uint32_t { return i; },
        [](std::size_t i, std::size_t n) -> std::uint32_t { return n - i; },
        [](std::size_t i, std::size_t) -> std::uint32_t { return randomBits(4, i) % 2 == 0 ? 0x01020304 : 0xF1020304; },
        [](std::size_t i, std::size_t n) -> std::uint32_t { return i == n / 2 ? 7 : 0x70000000; },
        [](std::size_t i, std::size_t n) -> std::uint32_t { return i + 1 == n ? 0 : ~0u; },
        [](std::size_t i, std::size_t) -> std::uint32_t { return randomBits(5, i) % 100; },
        [](std::size_t i, std::size_t) -> std::uint32_t { return randomBits(6, i) % 100 << 8; },
        [](std::size_t i, std::size_t) -> std::uint32_t { return randomBits(7, i) % 100 << 16 | 0xAB; },
        [](std::size_t i, std::size_t) -> std::uint32_t { return randomBits(8, i) % 100 << 24 | 0xABCD; },
        [](std::size_t i, std::size_t) -> std::uint32_t { return randomBits(9, i) & 0x00FF00FF; },
        [](std::size_t i, std::size_t) -> std::uint32_t { return randomBits(10, i) & randomBits(11, i); },
        [](std::size_t i, std::size_t) -> std::uint32_t {
            return randomBits(10, i) & randomBits(11, i) & randomBits(12, i) & randomBits(13, i);
        }};
    const std::size_t n = GetParam();
    for (std::size_t s = 0; s < shapes.size(); s += quick() ? 6 : 1) {
        const auto keys = hostArray(n, [&](std::size_t i) { return shapes[s](i, n); });
        ASSERT_NO_FATAL_FAILURE(expectSorted(Radix::Sort{}, keys)) << "shape " << s;
    }
}

TEST_P(RadixSortWaysTest, BitRanges) {
    std::vector<std::pair<int, int>> ranges{{0, 1}, {5, 29}};
    if (!quick()) {
        ranges.insert(ranges.end(), {{0, 8}, {3, 12}, {24, 32}, {31, 32}, {0, 32}});
    }
    for (const auto& [begin, end] : ranges) {
        for (const bool descending : directions()) {
            const Radix::Sort sort{.descending = descending, .beginBit = begin, .endBit = end};
            ASSERT_NO_FATAL_FAILURE(expectSorted(sort, hostArray(GetParam(), AnyBits<int>{14})));
            ASSERT_NO_FATAL_FAILURE(
                (expectPairsSorted<float, std::uint32_t>(sort, hostArray(GetParam(), AnyBits<float>{15}))));
        }
    }
}

TEST_P(RadixSortWaysTest, EmptyBitRangesCopy) {
    for (const int bit : quick() ? std::vector{0, 7, 32} : std::vector{0, 1, 7, 8, 16, 31, 32}) {
        for (const bool descending : directions()) {
            const Radix::Sort sort{.descending = descending, .beginBit = bit, .endBit = bit};
            ASSERT_NO_FATAL_FAILURE(expectSorted(sort, hostArray(GetParam(), AnyBits<int>{14})));
            ASSERT_NO_FATAL_FAILURE(
                (expectPairsSorted<float, std::uint32_t>(sort, hostArray(GetParam(), AnyBits<float>{15}))));
        }
        ASSERT_NO_FATAL_FAILURE((expectArgsorted<int, std::uint32_t>(GetParam(), TileOrder::BlockIndex, bit, bit)));
    }
}

TEST_F(RadixSortTest, EveryEmptyBitRangeCopies) {
    for (int bit = 0; bit <= 64; ++bit) {
        const Radix::Sort sort{.beginBit = bit, .endBit = bit};
        ASSERT_NO_FATAL_FAILURE(expectSorted(sort, hostArray(333, AnyBits<std::int64_t>{14})));
        ASSERT_NO_FATAL_FAILURE(
            (expectPairsSorted<std::uint64_t, std::uint32_t>(sort, hostArray(333, AnyBits<std::uint64_t>{15}))));
        ASSERT_NO_FATAL_FAILURE((expectArgsorted<std::int64_t, std::uint32_t>(333, TileOrder::BlockIndex, bit, bit)));
    }
}

TEST_F(RadixSortTest, HighestBitsOfWideKeys) {
    expectSorted(Radix::Sort{.beginBit = 60, .endBit = 64}, hostArray(70001, AnyBits<std::int64_t>{16}));
}

TEST_F(RadixSortTest, ConsumedInputsSaveScratch) {
    for (const std::size_t n : {std::size_t{1000}, std::size_t{1} << 20, std::size_t{10000000}}) {
        const std::size_t bytes = Radix::Sort{}.scratchBytes(noArray<int>, noArray<int>, n);
        const std::size_t consuming = Radix::Sort{}.scratchBytes(Radix::Consumed{noArray<int>}, noArray<int>, n);
        EXPECT_LE(consuming, bytes);
        const bool holdsNoCopy = consuming < n * sizeof(int);
        EXPECT_EQ(holdsNoCopy, n == 10000000) << "n = " << n;
    }
}

// Every replay decides anew which passes run.
TEST_F(RadixSortTest, ReplaysWithOtherKeys) {
    for (const std::size_t n :
         {std::size_t{5000}, sized(300007, 40007), sized(2000003, 150001), sized(13000003, 3001)}) {
        const Radix::Sort sort;
        const auto few = hostArray(n, [](std::size_t i) { return static_cast<int>(randomBits(19, i) % 100); });
        const auto many = hostArray(n, AnyBits<int>{20});
        DeviceBuffer<int> in(n);
        std::array<GuardedArray<int>, 2> outs{GuardedArray<int>(n), GuardedArray<int>(n)};
        const DeviceBuffer<int> deviceFew{std::span<const int>(few)};
        const DeviceBuffer<int> deviceMany{std::span<const int>(many)};
        auto scratch = usedScratch(sort.scratchBytes(noArray<int>, noArray<int>, n));
        replay(2, [&](cudaStream_t stream) {
            for (const bool isFew : {true, false}) {
                const auto& keys = isFew ? deviceFew : deviceMany;
                Common::checkCUDAError(
                    cudaMemcpyAsync(in.data(), keys.data(), in.byteCount(), cudaMemcpyDeviceToDevice, stream),
                    "cudaMemcpyAsync");
                sort(in.data(), outs[isFew ? 0 : 1].data(), n, scratch.bytes(), stream);
            }
        });
        const auto sorted = [](std::vector<int> keys) {
            std::ranges::sort(keys);
            return keys;
        };
        EXPECT_TRUE(sameBits(outs[0].read(n), sorted(few)));
        EXPECT_TRUE(sameBits(outs[1].read(n), sorted(many)));
    }
}

/// Each algorithm with one shape, on a number of keys that it can hold.
TEST_F(RadixSortTest, WaysThatOtherCardsTake) {
    using namespace Radix;
    const auto keys = [](std::size_t n) { return hostArray(n, AnyBits<std::uint32_t>{27}); };
    expectSortedBy<WayTable<ByBlock<SortShape<512, 16>>>>(keys(8191));
    expectSortedBy<WayTable<ByGrid<SortShape<256, 8>, 128>>>(keys(5000));
    expectSortedBy<WayTable<BucketsByGrid<SortShape<256, 4>, 64>>>(keys(5000));
    expectSortedBy<WayTable<InPasses<SortShape<512, 22>>>>(keys(50000));
    using Attempt = BucketAttempt<SortShape<256, 4>, 2, 32>;
    expectSortedBy<WayTable<InBuckets<Attempt, InPasses<SortShape<512, 22>>>>>(keys(5000));
    expectSortedBy<WayTable<InSpans<InPasses<SortShape<512, 22>>, SortShape<320, 16>, 50000, Attempt>>>(keys(50000));
    expectSortedBy<WayTable<ByBlock<SortShape<512, 16>>, ByCluster<SortShape<256, 2>>, ByGrid<SortShape<512, 8>, 128>>>(
        keys(sized(50000, 15000)));
}

/// From one tile per block to two. Keys that are even, that differ in few bits, that have few different low bits, and
/// most of which share a bucket.
TEST_F(RadixSortTest, ManyKeysInBuckets) {
    constexpr std::size_t oneTile = std::size_t{1} << 21;
    for (const std::size_t n : {oneTile, oneTile + 1, 3 * oneTile / 2 + 333, 2 * oneTile - 5, 2 * oneTile}) {
        const std::size_t size = sized(n, n >> 8);
        for (const std::uint32_t mask : {~0u, 0xFFFFFu, 0xFFF00103u}) {
            expectSorted(Radix::Sort{.descending = n % 2 == 1}, hostArray(size, [=](std::size_t i) {
                             return static_cast<std::uint32_t>(randomBits(31, i)) & mask;
                         }));
        }
        expectSorted(Radix::Sort{}, hostArray(size, [](std::size_t i) {
                         return static_cast<std::uint32_t>(randomBits(32, i) & randomBits(33, i));
                     }));
    }
}

/// So many keys that their sort ends in spans. In the last inputs one span is too large, and spans have few different
/// keys.
TEST_F(RadixSortTest, ManyKeys) {
    const std::size_t n = sized((std::size_t{1} << 24) + 4097, 40007);
    const auto uniform = hostArray(n, AnyBits<std::uint32_t>{28});
    const auto withFrequentKey = hostArray(n, [&](std::size_t i) { return i % 2000 == 0 ? 0x12345678u : uniform[i]; });
    const auto withFewLowBits = hostArray(n, [&](std::size_t i) { return uniform[i] & 0xFFF81103u; });
    for (const auto& keys : {uniform, withFrequentKey, withFewLowBits}) {
        ASSERT_NO_FATAL_FAILURE(expectSorted(Radix::Sort{}, keys));
        ASSERT_NO_FATAL_FAILURE(
            (expectPairsSorted<std::uint32_t, std::uint32_t>(Radix::Sort{.descending = true}, keys)));
    }
    const auto wide = hostArray(n, AnyBits<std::int64_t>{29});
    ASSERT_NO_FATAL_FAILURE(expectSorted(Radix::Sort{.descending = true}, wide));
    ASSERT_NO_FATAL_FAILURE((expectPairsSorted<std::int64_t, SixteenBytes>(Radix::Sort{}, wide)));
}

/// So many spans that three passes come before them. In the second input one is too large.
TEST_F(RadixSortTest, ThreePassesBeforeSpans) {
    using Way = Radix::InSpans<Radix::InPasses<Radix::SortShape<512, 11>>, Radix::SortShape<256, 2>, 512,
                               Radix::BucketAttempt<Radix::SortShape<256, 1>, 1, 1>>;
    const std::size_t n = sized(28800000, 3001);
    for (const std::size_t distance : {n + 1, n / 600}) {
        expectSortedBy<Radix::WayTable<Way>>(
            hostArray(n, [=](std::size_t i) { return i % distance == 1 ? 77 : randomBits(30, i); }));
    }
}

/// Expects a sort by counting of n keys, to a place that is not aligned. The device knows how many keys there are.
template <typename K, typename KeyAt>
void expectCounted(std::size_t n, bool descending, KeyAt keyAt) {
    using Bits = BitsOf<K>;
    using Way = Radix::ByCounting<1>;
    const auto keys = hostArray(n, keyAt);
    const DeviceBuffer<K> in{std::span<const K>(keys)};
    GuardedArray<K> out(n + 1);
    const std::size_t capacity = n + 100;
    auto scratch = usedScratch(Way::scratchBytes<Bits, Radix::NoValue>(capacity, false));
    const DeviceBuffer<std::size_t> count{std::span<const std::size_t>(&n, 1)};
    Radix::SortCall<Bits, Radix::NoValue, CountInDeviceMemory> call{{Radix::bitsOf(in.data()), nullptr},
                                                                    {Radix::bitsOf(out.data() + 1), nullptr},
                                                                    {count.data(), capacity},
                                                                    {0, 8 * sizeof(K)},
                                                                    KeyCoding<Bits>::template of<K>(descending),
                                                                    TileOrder::BlockIndex,
                                                                    {},
                                                                    ScratchArena(scratch.bytes(), 0),
                                                                    nullptr};
    ASSERT_TRUE(Radix::WayTable<Way>::launch(call));
    auto expected = keys;
    std::ranges::sort(expected);
    if (descending) {
        std::ranges::reverse(expected);
    }
    const std::vector<K> written = out.read(n + 1);
    EXPECT_TRUE(sameBits(std::vector<K>(written.begin() + 1, written.end()), expected)) << "n = " << n;
    call.range = {0, 7};
    EXPECT_FALSE(Way::fits(call)) << "not all bits count";
}

TEST_F(RadixSortTest, ByCounting) {
    std::vector<std::size_t> sizes{1, 17, 4099};
    if (!quick()) {
        sizes.insert(sizes.end(), {2, 15, 16, 1000, 65535, 65537, 3000001});
    }
    for (const std::size_t n : sizes) {
        for (const bool descending : {false, true}) {
            expectCounted<std::int8_t>(n, descending, AnyBits<std::int8_t>{28});
            expectCounted<std::uint8_t>(n, descending, [](std::size_t) -> std::uint8_t { return 7; });
            expectCounted<std::int16_t>(n, descending, AnyBits<std::int16_t>{29});
            expectCounted<std::uint16_t>(n, descending, [](std::size_t i) {
                return static_cast<std::uint16_t>(randomBits(30, i) & randomBits(31, i) & randomBits(32, i));
            });
        }
    }
}

#if !defined(STREAM_COMPACTION_SIMULATED)
TEST_F(RadixSortTest, AgreesWithCub) {
    const std::size_t n = quick() ? 100003 : 40000003;
    const DeviceBuffer<std::uint32_t> keys = deviceArray(n, AnyBits<std::uint32_t>{21});
    const DeviceBuffer<std::uint32_t> values = deviceArray(n, Summand<std::uint32_t>{22});
    std::array<DeviceBuffer<std::uint32_t>, 4> outs;
    for (auto& out : outs) {
        out = DeviceBuffer<std::uint32_t>(n);
    }
    const Radix::Sort sort;
    auto scratch = usedScratch(sort.scratchBytes(noArray<std::uint32_t>, noArray<std::uint32_t>, noArray<std::uint32_t>,
                                                 noArray<std::uint32_t>, n));
    sort(keys.data(), outs[0].data(), values.data(), outs[1].data(), n, scratch.bytes(), nullptr);
    const auto callCub = [&](void* storage, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(storage, bytes, keys.data(), outs[2].data(), values.data(),
                                               outs[3].data(), n);
    };
    DeviceBuffer<std::byte> cubScratch(Cub::queryScratchBytes(callCub));
    std::size_t bytes = cubScratch.size();
    Common::checkCUDAError(callCub(cubScratch.data(), bytes), "cub::DeviceRadixSort");
    EXPECT_TRUE(Oracle::equal(outs[0].data(), outs[2].data(), n));
    EXPECT_TRUE(Oracle::equal(outs[1].data(), outs[3].data(), n));
}
#endif

TEST_F(RadixSortTest, RefusesBadArguments) {
    const std::size_t n = 5000;
    DeviceBuffer<int> a = deviceArray(2 * n, AnyBits<int>{25});
    DeviceBuffer<int> b = deviceArray(2 * n, AnyBits<int>{26});
    DeviceBuffer<std::byte> scratch(
        Radix::Sort{}.scratchBytes(noArray<int>, noArray<int>, noArray<int>, noArray<int>, n));
    const auto expectRefused = [&](const Radix::Sort& sort) {
        EXPECT_THROW(sort(a.data(), b.data(), n, scratch.bytes(), nullptr), std::invalid_argument);
    };
    expectRefused({.beginBit = -1});
    expectRefused({.beginBit = 33});
    expectRefused({.beginBit = 9, .endBit = 8});
    expectRefused({.endBit = -1});
    expectRefused({.endBit = 33});
    expectRefused({.beginBit = 33, .endBit = 33});
    const auto expectPairsRefused = [&](const int* keysIn, int* keysOut, const int* valuesIn, int* valuesOut,
                                        Scratch memory) {
        EXPECT_THROW(Radix::Sort{}(keysIn, keysOut, valuesIn, valuesOut, n, memory, nullptr), std::invalid_argument);
    };
    int* const a2 = a.data() + n;
    int* const b2 = b.data() + n;
    expectPairsRefused(a.data(), a.data(), b.data(), b2, scratch.bytes());
    expectPairsRefused(a.data(), a2, b.data(), b.data(), scratch.bytes());
    expectPairsRefused(a.data(), b.data(), a2, b.data() + n - 1, scratch.bytes());
    expectPairsRefused(a.data(), b.data(), b.data(), b2, scratch.bytes());
    expectPairsRefused(a.data(), b.data(), a2, a.data(), scratch.bytes());
    expectPairsRefused(a.data(), b.data(), nullptr, b2, scratch.bytes());
    expectPairsRefused(a.data(), b.data(), a2, b2, scratch.bytes().first(scratch.size() - 1));
    Radix::Sort{}(a.data(), a.data(), 0, {}, nullptr);
    Radix::Sort{}(a.data(), b.data(), a2, b2, n, scratch.bytes(), nullptr);
    Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/// Counts descents, and adds up a hash of each key; the order of the keys does not change that sum.
__global__ void kernInspect(std::size_t n, const std::uint32_t* keys, unsigned long long* descents,
                            unsigned long long* sum) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < n) {
        atomicAdd(sum, static_cast<unsigned long long>(randomBits(23, keys[i])));
        if (i > 0 && keys[i] < keys[i - 1]) {
            atomicAdd(descents, 1ULL);
        }
    }
}

TEST_F(RadixSortTest, MoreThan2To31Keys) {
    const std::size_t n = (std::size_t{1} << 31) + 5;
    const Radix::Sort sort;
    if (!hasRoomFor(2 * n * sizeof(std::uint32_t) +
                    sort.scratchBytes(noArray<std::uint32_t>, noArray<std::uint32_t>, n))) {
        GTEST_SKIP() << "takes 28 GiB of device memory";
    }
    const DeviceBuffer<std::uint32_t> in = deviceArray(n, AnyBits<std::uint32_t>{24});
    DeviceBuffer<std::uint32_t> out(n);
    DeviceBuffer<std::byte> scratch(sort.scratchBytes(noArray<std::uint32_t>, noArray<std::uint32_t>, n));
    sort(in.data(), out.data(), n, scratch.bytes(), nullptr);
    const auto inspect = [&](const DeviceBuffer<std::uint32_t>& keys) {
        DeviceBuffer<unsigned long long> results(2);
        Common::checkCUDAError(cudaMemset(results.data(), 0, results.byteCount()), "cudaMemset");
        kernInspect<<<Common::blocksFor(n, 256), 256>>>(n, keys.data(), results.data(), results.data() + 1);
        Common::checkLaunch("kernInspect");
        std::array<unsigned long long, 2> host{};
        results.copyTo(host);
        return host;
    };
    const auto after = inspect(out);
    EXPECT_EQ(after[0], 0U);
    EXPECT_EQ(after[1], inspect(in)[1]);
}

}  // namespace
}  // namespace StreamCompaction::Testing
