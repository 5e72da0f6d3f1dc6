#include <algorithm>
#include <compare>
#include <numeric>
#include <string>

#include "device_fixture.cuh"
#include "element_sizes.h"
#include "stream_compaction/top_k.cuh"
#if !defined(STREAM_COMPACTION_SIMULATED)
#include "stream_compaction/cub_top_k.cuh"
#endif

namespace StreamCompaction::Testing {
namespace {

using Radix::bitsOf;
using Radix::TopK;

/// The documented order of keys: NaNs are last, positive before negative ones, and -0 precedes +0.
template <typename K>
[[nodiscard]] bool precedes(K a, K b) {
    if constexpr (std::is_floating_point_v<K>) {
        const auto kind = [](K x) { return !std::isnan(x) ? 0 : std::signbit(x) ? 2 : 1; };
        return kind(a) != kind(b) ? kind(a) < kind(b) : std::strong_order(a, b) < 0;
    } else {
        return a < b;
    }
}

/// The indices of the first k keys of a stable sort, ascending.
template <typename K>
[[nodiscard]] std::vector<std::uint32_t> expectedIndices(const std::vector<K>& keys, std::size_t k, bool largest) {
    std::vector<std::uint32_t> indices(keys.size());
    std::iota(indices.begin(), indices.end(), 0u);
    std::ranges::stable_sort(indices, [&](std::uint32_t i, std::uint32_t j) {
        return largest ? precedes(keys[j], keys[i]) : precedes(keys[i], keys[j]);
    });
    indices.resize(k);
    std::ranges::sort(indices);
    return indices;
}

template <typename T>
[[nodiscard]] std::vector<T> taken(const std::vector<T>& elements, const std::vector<std::uint32_t>& indices) {
    std::vector<T> chosen;
    std::ranges::transform(indices, std::back_inserter(chosen), [&](std::uint32_t i) { return elements[i]; });
    return chosen;
}

template <typename K>
void expectKeys(const std::vector<K>& keys, std::size_t k, const TopK& top = {}, std::size_t misalignment = 0) {
    const std::size_t n = keys.size();
    const auto expected = taken(keys, expectedIndices(keys, k, top.largest));
    auto in = placed(keys, misalignment);
    GuardedArray<K> out(k, misalignment + 1);
    auto scratch = usedScratch(top.scratchBytes(noArray<K>, noArray<K>, n, k));
    top(static_cast<const K*>(in.data()), out.data(), n, k, scratch.bytes(), nullptr);
    ASSERT_TRUE(sameBits(out.read(k), expected)) << "n = " << n << ", k = " << k;
}

template <typename K, typename V>
void expectPairs(const std::vector<K>& keys, const std::vector<V>& values, std::size_t k, const TopK& top = {}) {
    const std::size_t n = keys.size();
    const auto indices = expectedIndices(keys, k, top.largest);
    const DeviceBuffer<K> keysIn{std::span<const K>(keys)};
    const DeviceBuffer<V> valuesIn{std::span<const V>(values)};
    GuardedArray<K> keysOut(k);
    GuardedArray<V> valuesOut(k);
    auto scratch =
        usedScratch(top.scratchBytes(keysIn.data(), keysOut.data(), valuesIn.data(), valuesOut.data(), n, k));
    top(keysIn.data(), keysOut.data(), valuesIn.data(), valuesOut.data(), n, k, scratch.bytes(), nullptr);
    ASSERT_TRUE(sameBits(keysOut.read(k), taken(keys, indices))) << "n = " << n << ", k = " << k;
    ASSERT_TRUE(sameBits(valuesOut.read(k), taken(values, indices))) << "n = " << n << ", k = " << k;
}

/// Expects the keys and their indices behind a filter whose bound has this rank in a sample, by blocks of `threads`.
template <int threads = 512, typename K>
void expectFiltered(const std::vector<K>& keys, std::size_t k, std::uint64_t rank, const TopK& top = {}) {
    using Bits = BitsOf<K>;
    using Indices = GeneratedSource<IndexAs<std::uint32_t>>;
    const std::size_t n = keys.size();
    const auto indices = expectedIndices(keys, k, top.largest);
    const auto coding = KeyCoding<Bits>::template of<K>(top.largest);
    const DeviceBuffer<K> in{std::span<const K>(keys)};
    GuardedArray<K> out(k);
    GuardedArray<std::uint32_t> indicesOut(k);
    const std::size_t bytes = TopK::scratchFor<Bits, Indices>(n, rank);
    auto scratch = usedScratch(bytes);
    top.select<Bits, Radix::NoValue, threads>({bitsOf(in.data()), {}}, {bitsOf(out.data()), nullptr}, n, k, rank,
                                              coding, ScratchArena(scratch.bytes(), bytes), nullptr);
    ASSERT_TRUE(sameBits(out.read(k), taken(keys, indices))) << "n = " << n << ", k = " << k;
    out.poison(k, nullptr);
    top.select<Bits, Indices, threads>({bitsOf(in.data()), {}}, {bitsOf(out.data()), indicesOut.data()}, n, k, rank,
                                       coding, ScratchArena(scratch.bytes(), bytes), nullptr);
    ASSERT_TRUE(sameBits(out.read(k), taken(keys, indices))) << "n = " << n << ", k = " << k;
    ASSERT_TRUE(sameBits(indicesOut.read(k), indices)) << "n = " << n << ", k = " << k;
}

/// Every bit pattern, negative NaNs too.
template <typename K>
struct EveryPattern {
    std::uint64_t seed;
    K operator()(std::size_t i) const {
        const std::uint64_t bits = randomBits(seed, i);
        K key;
        std::memcpy(&key, &bits, sizeof(K));
        return key;
    }
};

/// One of few values, some of which are special.
template <typename K>
struct OneOfFew {
    std::uint64_t seed;
    K operator()(std::size_t i) const {
        using Numbers = std::numeric_limits<K>;
        const K few[] = {K{0},
                         static_cast<K>(-K{0}),
                         K{1},
                         Numbers::lowest(),
                         Numbers::max(),
                         Numbers::quiet_NaN(),
                         Numbers::infinity(),
                         static_cast<K>(-Numbers::quiet_NaN())};
        return few[randomBits(seed, i) % std::size(few)];
    }
};

template <typename K>
[[nodiscard]] std::vector<std::vector<K>> inputs(std::size_t n) {
    auto all = patterns<K>(n);
    all.push_back(hostArray(n, EveryPattern<K>{n}));
    all.push_back(hostArray(n, OneOfFew<K>{n}));
    return all;
}

/// Around rows, tiles and the border to several blocks.
template <typename K>
[[nodiscard]] std::vector<std::size_t> sizesAroundBorders() {
    constexpr std::size_t tile = 512 * 4 * vectorLength<BitsOf<K>>;
    std::vector<std::size_t> sizes{1, 2, 31, 33, 1000};
    for (const std::size_t border : {std::size_t{512} * vectorLength<BitsOf<K>>, tile, 2 * tile}) {
        sizes.insert(sizes.end(), {border - 1, border, border + 1});
    }
    sizes.push_back(5 * tile + 77);
    return sizes;
}

[[nodiscard]] std::vector<std::size_t> ranksAmong(std::size_t n) {
    std::vector<std::size_t> ks{1, n / 1000, n / 3, n - 1, n};
    std::ranges::sort(ks);
    const auto rest = std::ranges::unique(ks);
    ks.erase(rest.begin(), rest.end());
    return ks;
}

class TopKTest : public DeviceTest {
  protected:
    /// A quick run gives each input one k and one order, in turn.
    template <typename K>
    static void expectEveryInput() {
        std::size_t turn = 0;
        for (const std::size_t n : sizesAroundBorders<K>()) {
            const auto ks = ranksAmong(n);
            for (const auto& keys : inputs<K>(n)) {
                for (std::size_t i = 0; i < (quick() ? 1 : 2 * ks.size()); ++i, ++turn) {
                    const std::size_t k = ks[turn / 2 % ks.size()];
                    ASSERT_NO_FATAL_FAILURE(expectKeys(keys, k, {.largest = turn % 2 != 0}));
                }
            }
        }
    }
};

TEST_F(TopKTest, Bytes) { expectEveryInput<std::uint8_t>(); }
TEST_F(TopKTest, SignedBytes) { expectEveryInput<std::int8_t>(); }
TEST_F(TopKTest, Shorts) { expectEveryInput<std::int16_t>(); }
TEST_F(TopKTest, Ints) { expectEveryInput<int>(); }
TEST_F(TopKTest, UnsignedInts) { expectEveryInput<unsigned>(); }
TEST_F(TopKTest, Words) { expectEveryInput<std::int64_t>(); }
TEST_F(TopKTest, Floats) { expectEveryInput<float>(); }
TEST_F(TopKTest, Doubles) { expectEveryInput<double>(); }

TEST_F(TopKTest, EveryAlignment) {
    for (std::size_t misalignment = 0; misalignment < 16; misalignment += quick() ? 3 : 1) {
        for (const std::size_t n : {std::size_t{1001}, std::size_t{70003}}) {
            ASSERT_NO_FATAL_FAILURE(expectKeys(hostArray(n, EveryPattern<std::uint8_t>{1}), n / 7, {}, misalignment));
            ASSERT_NO_FATAL_FAILURE(expectKeys(hostArray(n, EveryPattern<int>{1}), n / 7, {}, misalignment));
        }
    }
}

// The first of equal keys are taken, so the indices that go with them are known.
TEST_F(TopKTest, ValuesOfTheFirstOfEqualKeys) {
    for (const std::size_t n : {std::size_t{100}, std::size_t{9999}, std::size_t{40001}}) {
        for (const std::size_t k : ranksAmong(n)) {
            const auto keys = hostArray(n, [](std::size_t i) { return static_cast<int>(randomBits(3, i) % 5); });
            const auto indices = hostArray(n, IndexAs<std::uint32_t>{});
            ASSERT_NO_FATAL_FAILURE(expectPairs(keys, indices, k));
            ASSERT_NO_FATAL_FAILURE(expectPairs(keys, indices, k, {.largest = true}));
            ASSERT_NO_FATAL_FAILURE(expectPairs(hostArray(n, OneOfFew<double>{4}), indices, k));
        }
    }
}

TEST_F(TopKTest, ValuesOfEverySize) {
    const std::size_t n = 40001;
    const auto keys = hostArray(n, EveryPattern<std::uint16_t>{6});
    expectPairs(keys, hostArray(n, AnyBytes<std::uint8_t>{7}), 1000);
    expectPairs(keys, hostArray(n, AnyBytes<ThreeBytes>{7}), 1000);
    expectPairs(keys, hostArray(n, AnyBytes<TwelveBytes>{7}), 1000);
    expectPairs(keys, hostArray(n, AnyBytes<SixteenBytes>{7}), 1000);
}

template <typename K>
void expectEveryInputFiltered() {
    const std::size_t n = Radix::sampleSize + 1234;
    const std::size_t k = n / 300;
    const std::uint64_t rank = 120;  // above that of any key of the first k
    bool largest = false;
    for (const auto& keys : inputs<K>(n)) {
        ASSERT_NO_FATAL_FAILURE(expectFiltered(keys, k, rank, {.largest = largest}));
        largest = !largest;
    }
}

TEST_F(TopKTest, BehindAFilter) {
    expectEveryInputFiltered<std::int8_t>();
    expectEveryInputFiltered<std::uint16_t>();
    expectEveryInputFiltered<int>();
    expectEveryInputFiltered<float>();
    expectEveryInputFiltered<double>();
}

// The bound is the least key of the sample, so too few pass the filter.
TEST_F(TopKTest, BehindAFilterThatIsWrong) {
    const std::size_t n = Radix::sampleSize + 5;
    expectFiltered(hostArray(n, EveryPattern<int>{8}), n / 2, 1);
    expectFiltered(hostArray(n, EveryPattern<float>{8}), n, 1);
}

// Several tiles per warp of the filter. If the keys ascend, the first warps keep all candidates.
TEST_F(TopKTest, BehindAFilterOfManyTiles) {
    const std::size_t n = quick() ? 200'003 : 10'000'003;
    const std::size_t k = n / 300;
    const std::uint64_t rank = 120;
    expectFiltered(hostArray(n, EveryPattern<int>{14}), k, rank);
    expectFiltered(hostArray(n, IndexAs<int>{}), k, rank);
    expectFiltered(hostArray(n, EveryPattern<std::int64_t>{15}), k, rank, {.largest = true});
    expectFiltered<Radix::mostSelectThreads>(hostArray(n, EveryPattern<int>{16}), k, rank);
    expectFiltered<Radix::mostSelectThreads>(hostArray(n, EveryPattern<std::int64_t>{17}), k, 1);
    expectFiltered<Radix::mostSelectThreads>(hostArray(n, EveryPattern<std::uint8_t>{18}), k, rank);
    expectFiltered<Radix::mostSelectThreads>(hostArray(n, EveryPattern<int>{19}), k, 0);
}

TEST_F(TopKTest, TheBoundIsSeldomTight) {
    const std::size_t n = std::size_t{1} << 28;
    EXPECT_EQ(TopK::rankOfBound<std::uint32_t>(std::size_t{1} << 21, 1000), 0U);
    EXPECT_EQ(TopK::rankOfBound<std::uint32_t>(n, n / 3), 0U);
    EXPECT_EQ(TopK::rankOfBound<std::uint32_t>(n, 1), 12U);
    EXPECT_EQ(TopK::rankOfBound<std::uint32_t>(n, n / 1024), 8U + 16 + 12);
    EXPECT_EQ(TopK::rankOfBound<std::uint8_t>((std::size_t{1} << 23) + 1, 1), 12U);
}

TEST_F(TopKTest, OfManyKeys) {
    if (quick()) {
        GTEST_SKIP() << "takes a card";
    }
    const std::size_t n = (std::size_t{1} << 23) + 11;
    for (const std::size_t k : {std::size_t{1}, std::size_t{1024}, n / 1024, n / 16, n / 2}) {
        expectKeys(hostArray(n, EveryPattern<int>{9}), k);
        expectKeys(std::vector<int>(n, 7), k);
        expectPairs(hostArray(n, EveryPattern<float>{9}), hostArray(n, IndexAs<std::uint32_t>{}), k, {.largest = true});
    }
    const std::size_t ofLargeBlocks = (std::size_t{1} << 25) + 11;
    expectPairs(hostArray(ofLargeBlocks, EveryPattern<int>{9}), hostArray(ofLargeBlocks, IndexAs<std::uint32_t>{}),
                ofLargeBlocks / 1024);
}

TEST_F(TopKTest, ReplayedFromAGraph) {
    const std::size_t n = 2 * Radix::sampleSize + 5;
    const std::size_t k = 200;
    const auto keys = hostArray(n, EveryPattern<int>{10});
    const auto expected = taken(keys, expectedIndices(keys, k, false));
    const DeviceBuffer<int> in{std::span<const int>(keys)};
    GuardedArray<int> out(k);
    for (const std::uint64_t rank : {0, 200}) {
        const std::size_t bytes = TopK::scratchFor<std::uint32_t, Radix::NoValue>(n, rank);
        auto scratch = usedScratch(bytes);
        replay(3, [&](cudaStream_t stream) {
            out.poison(k, stream);
            TopK{}.select<std::uint32_t, Radix::NoValue>({bitsOf(in.data()), {}}, {bitsOf(out.data()), nullptr}, n, k,
                                                         rank, KeyCoding<std::uint32_t>::of<int>(),
                                                         ScratchArena(scratch.bytes(), bytes), stream);
        });
        ASSERT_TRUE(sameBits(out.read(k), expected)) << rank;
    }
}

#if !defined(STREAM_COMPACTION_SIMULATED)
/// The first k keys by CUB, ascending: by its top-k, or by its sort if it has none.
template <typename K, typename Peer = Cub::TopK>
[[nodiscard]] std::vector<K> firstByCub(const DeviceBuffer<K>& keys, std::size_t k) {
    DeviceBuffer<K> out(keys.size());
    const auto run = [&](const auto& peer, auto... sizes) {
        DeviceBuffer<std::byte> scratch(peer.scratchBytes(keys.data(), out.data(), sizes...));
        peer(keys.data(), out.data(), sizes..., scratch.bytes(), nullptr);
    };
    if constexpr (requires { Peer::reasonForAbsence; }) {
        run(Cub::Sort{}, keys.size());
    } else {
        run(Peer{}, keys.size(), k);
    }
    std::vector<K> first(k);
    out.copyTo(first);
    std::ranges::sort(first);
    return first;
}

struct FewInts {
    std::uint64_t seed;
    __host__ __device__ int operator()(std::size_t i) const { return static_cast<int>(randomBits(seed, i) % 41) - 20; }
};

template <typename K>
void expectLikeCub(const DeviceBuffer<K>& keys) {
    const std::size_t n = keys.size();
    for (const std::size_t k : {std::size_t{1}, std::size_t{1000}, n / 1000, n / 3, n}) {
        const TopK top;
        GuardedArray<K> out(k);
        auto scratch = usedScratch(top.scratchBytes(keys.data(), out.data(), n, k));
        top(keys.data(), out.data(), n, k, scratch.bytes(), nullptr);
        std::vector<K> first = out.read(k);
        std::ranges::sort(first);
        ASSERT_TRUE(sameBits(first, firstByCub(keys, k))) << "k = " << k;
    }
}

TEST_F(TopKTest, AgreesWithCub) {
    const std::size_t n = quick() ? 100003 : 40000003;
    expectLikeCub<std::uint32_t>(deviceArray(n, AnyBits<std::uint32_t>{11}));
    expectLikeCub<std::int64_t>(deviceArray(n, AnyBits<std::int64_t>{12}));
    expectLikeCub<int>(deviceArray(n, FewInts{13}));
}
#endif

TEST_F(TopKTest, RefusesBadArguments) {
    const std::size_t n = 1000;
    const std::size_t k = 10;
    DeviceBuffer<int> in(n);
    DeviceBuffer<int> out(n);
    DeviceBuffer<double> values(n);
    DeviceBuffer<double> valuesOut(n);
    const TopK top;
    auto scratch = usedScratch(top.scratchBytes(in.data(), out.data(), values.data(), valuesOut.data(), n, k));
    const auto expectRefused = [&](const int* from, int* to, std::size_t size, std::size_t first, Scratch lent) {
        EXPECT_THROW(top(from, to, size, first, lent, nullptr), std::invalid_argument);
    };
    expectRefused(nullptr, out.data(), n, k, scratch.bytes());
    expectRefused(in.data(), nullptr, n, k, scratch.bytes());
    expectRefused(in.data(), in.data() + n - 1, n, k, scratch.bytes());
    expectRefused(in.data(), out.data(), n, n + 1, scratch.bytes());
    expectRefused(in.data(), out.data(), n, k, scratch.bytes().first(100));
    EXPECT_THROW((void)top.scratchBytes(in.data(), out.data(), n, n + 1), std::invalid_argument);
    const auto expectValuesRefused = [&](const double* from, double* to) {
        EXPECT_THROW(top(in.data(), out.data(), from, to, n, k, scratch.bytes(), nullptr), std::invalid_argument);
    };
    expectValuesRefused(nullptr, valuesOut.data());
    expectValuesRefused(values.data(), nullptr);
    expectValuesRefused(values.data(), values.data() + n - 1);
    expectValuesRefused(values.data(), reinterpret_cast<double*>(in.data()));
    DeviceBuffer<std::size_t> counts(k);
    const auto expectCountRefused = [&](const std::size_t* count, std::size_t first) {
        const CountInDeviceMemory number{count, n};
        const int* const keys = in.data();
        EXPECT_THROW(
            top(keys, out.data(), keys, reinterpret_cast<int*>(counts.data()), number, first, scratch.bytes(), nullptr),
            std::invalid_argument);
    };
    expectCountRefused(nullptr, k);
    expectCountRefused(counts.data(), k);
    expectCountRefused(reinterpret_cast<const std::size_t*>(out.data()), k);
    expectCountRefused(reinterpret_cast<const std::size_t*>(values.data()), n + 1);
    top(in.data(), out.data(), n, 0, {}, nullptr);
    top(in.data(), out.data(), 0, 0, {}, nullptr);
}

}  // namespace
}  // namespace StreamCompaction::Testing
