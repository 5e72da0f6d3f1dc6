#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "device_fixture.cuh"
#include "element_sizes.h"
#include "segments.h"
#include "stream_compaction/segments.cuh"

namespace StreamCompaction::Testing {
namespace {

/// Where each element of a stable sort of the segments was.
template <typename K>
[[nodiscard]] std::vector<std::size_t> sortedIndices(const std::vector<K>& keys,
                                                     const std::vector<std::size_t>& borders, bool descending) {
    std::vector<std::size_t> indices(keys.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
        indices[i] = i;
    }
    const auto isLess = [&](std::size_t a, std::size_t b) {
        return descending ? keys[b] < keys[a] : keys[a] < keys[b];
    };
    forEachSegment(borders, [&](std::size_t begin, std::size_t end) {
        std::stable_sort(indices.begin() + static_cast<std::ptrdiff_t>(begin),
                         indices.begin() + static_cast<std::ptrdiff_t>(end), isLess);
    });
    return indices;
}

template <typename T>
[[nodiscard]] std::vector<T> gathered(const std::vector<T>& from, const std::vector<std::size_t>& indices) {
    std::vector<T> to;
    for (const std::size_t i : indices) {
        to.push_back(from[i]);
    }
    return to;
}

/// Expects a sort of keys, and one of the keys with the values, to be right.
template <typename K, typename V, typename Offset = std::uint32_t>
void expectSorted(const std::vector<K>& keys, const std::vector<V>& values, const std::vector<std::size_t>& borders,
                  const SegmentedSort& sort = {}, std::size_t misalignment = 0) {
    const std::size_t n = keys.size();
    const auto indices = sortedIndices(keys, borders, sort.descending);
    const auto expectedKeys = gathered(keys, indices);
    const auto expectedValues = gathered(values, indices);
    auto keysIn = placed(keys, misalignment);
    auto valuesIn = placed(values, misalignment + 1);
    auto offsets = placed(std::vector<Offset>(borders.begin(), borders.end()), misalignment);
    const auto segments = segmentsAt(static_cast<const Offset*>(offsets.data()), borders.size());
    GuardedArray<K> keysOut(n, misalignment + 2);
    GuardedArray<V> valuesOut(n, misalignment);
    keysOut.poison(n, nullptr);
    auto scratch = usedScratch(sort.scratchBytes(noArray<const K>, segments, noArray<K>, n));
    sort(static_cast<const K*>(keysIn.data()), segments, keysOut.data(), n, scratch.bytes(), nullptr);
    ASSERT_TRUE(sameBits(keysOut.read(n), expectedKeys)) << "n = " << n;

    keysOut.poison(n, nullptr);
    valuesOut.poison(n, nullptr);
    scratch = usedScratch(sort.scratchBytes(noArray<const K>, segments, noArray<K>, noArray<const V>, noArray<V>, n));
    sort(static_cast<const K*>(keysIn.data()), segments, keysOut.data(), static_cast<const V*>(valuesIn.data()),
         valuesOut.data(), n, scratch.bytes(), nullptr);
    ASSERT_TRUE(sameBits(keysOut.read(n), expectedKeys)) << "n = " << n << ", with values";
    ASSERT_TRUE(sameBits(valuesOut.read(n), expectedValues)) << "n = " << n;
}

/// The elements that a block sorts in its larger tile.
constexpr std::size_t largeTile = Segments::LargeTile<std::uint32_t, std::uint32_t>::elements;

/// The least elements that all blocks sort together.
constexpr std::size_t leastHuge = Segments::leastHuge<std::uint32_t, std::uint32_t>;

struct Regime {
    std::string name;
    SegmentLengths lengths;
};

[[nodiscard]] std::vector<Regime> regimes() {
    const auto fixed = [](std::size_t length) -> SegmentLengths { return [length](std::size_t) { return length; }; };
    const auto random = [](std::size_t most) -> SegmentLengths {
        return [most](std::size_t segment) { return randomBits(80, segment) % (most + 1); };
    };
    return {
        {"one segment", fixed(std::size_t{1} << 40)},
        {"segments of one element", fixed(1)},
        {"pairs", fixed(2)},
        {"31", fixed(31)},
        {"a warp", fixed(32)},
        {"33", fixed(33)},
        {"short, some empty", random(6)},
        {"of any length up to a warp", random(32)},
        {"of any length up to two warps", random(64)},
        {"64", fixed(64)},
        {"65", fixed(65)},
        {"128", fixed(128)},
        {"129", fixed(129)},
        {"256", fixed(256)},
        {"257", fixed(257)},
        {"of any length up to 600", random(600)},
        {"one less than a small tile", fixed(Segments::SmallTile::elements - 1)},
        {"a small tile", fixed(Segments::SmallTile::elements)},
        {"one more than a small tile", fixed(Segments::SmallTile::elements + 1)},
        {"one less than a large tile", fixed(largeTile - 1)},
        {"a large tile", fixed(largeTile)},
        {"one more than a large tile", fixed(largeTile + 1)},
        {"of any length up to 3 large tiles", random(3 * largeTile)},
        {"one less than a huge segment", fixed(leastHuge - 1)},
        {"huge segments", fixed(leastHuge)},
        {"huge segments between short ones",
         [](std::size_t segment) { return segment % 1000 == 500 ? 5 * leastHuge + segment : segment % 50; }},
        {"thousands of empty segments",
         [](std::size_t segment) { return segment % 5000 == 0 ? std::size_t{3000} : std::size_t{0}; }},
        {"a mix",
         [](std::size_t segment) {
             const std::uint64_t bits = randomBits(81, segment);
             return bits % 100 == 0 ? bits / 100 % (2 * largeTile) : bits / 100 % (bits % 10 == 1 ? 600 : 20);
         }},
    };
}

/// Random keys, of which many are equal.
template <typename K>
struct RepeatedKey {
    std::uint64_t seed;
    __host__ __device__ K operator()(std::size_t i) const {
        return randomBits(~seed, i) % 2 == 0 ? static_cast<K>(randomBits(seed, i) % 7) : Summand<K>{seed}(i);
    }
};

class SegmentedSortTest : public DeviceTest {};

TEST_F(SegmentedSortTest, EveryRegime) {
    std::vector<std::size_t> sizes{1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 40001};
    if (!quick()) {
        sizes.insert(sizes.end(), {(1u << 20) - 1, 1u << 20, (1u << 20) + 1, 3000003});
    }
    for (const Regime& regime : regimes()) {
        SCOPED_TRACE(regime.name);
        for (const std::size_t n : sizes) {
            ASSERT_NO_FATAL_FAILURE(expectSorted(hostArray(n, RepeatedKey<int>{n}), hostArray(n, IndexAs<int>{}),
                                                 segmentBorders(n, regime.lengths), {.descending = n % 2 == 1}));
        }
    }
}

template <typename K, typename V, typename Offset = std::uint32_t>
void expectSortedTypes() {
    const SegmentLengths lengths = [](std::size_t segment) {
        const std::uint64_t bits = randomBits(82, segment);
        return bits % 30 == 0 ? bits / 30 % 10000 : bits / 30 % (bits % 10 == 1 ? 600 : 20);
    };
    for (const std::size_t n : {std::size_t{20}, std::size_t{50001}}) {
        for (const bool descending : {false, true}) {
            ASSERT_NO_FATAL_FAILURE(
                (expectSorted<K, V, Offset>(hostArray(n, RepeatedKey<K>{83}), hostArray(n, AnyBytes<V>{84}),
                                            segmentBorders(n, lengths), {.descending = descending})));
        }
    }
}

TEST_F(SegmentedSortTest, KeysOfEveryType) {
    expectSortedTypes<std::int8_t, int>();
    expectSortedTypes<std::uint16_t, int>();
    expectSortedTypes<std::uint32_t, int>();
    expectSortedTypes<float, int>();
    expectSortedTypes<std::int64_t, int>();
    expectSortedTypes<double, int>();
}

TEST_F(SegmentedSortTest, ValuesOfEverySize) {
    expectSortedTypes<int, std::uint8_t>();
    expectSortedTypes<int, std::uint16_t>();
    expectSortedTypes<int, ThreeBytes>();
    expectSortedTypes<int, std::uint64_t>();
    expectSortedTypes<int, TwelveBytes>();
    expectSortedTypes<double, SixteenBytes>();
}

TEST_F(SegmentedSortTest, OffsetsOfOtherTypes) {
    expectSortedTypes<int, int, int>();
    expectSortedTypes<int, int, std::int64_t>();
    expectSortedTypes<int, int, std::size_t>();
}

TEST_F(SegmentedSortTest, EveryAlignment) {
    const SegmentLengths lengths = [](std::size_t segment) { return randomBits(85, segment) % 100; };
    for (std::size_t misalignment = 0; misalignment < 16; misalignment += quick() ? 5 : 1) {
        const std::size_t n = 5001;
        ASSERT_NO_FATAL_FAILURE(expectSorted(hostArray(n, RepeatedKey<std::uint8_t>{1}),
                                             hostArray(n, IndexAs<std::uint16_t>{}), segmentBorders(n, lengths), {},
                                             misalignment));
    }
}

// Keys that are special to the coding of keys: NaNs are last, and -0 precedes +0.
TEST_F(SegmentedSortTest, TotalOrderOfFloats) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> keys{nan, 0.0F, -0.0F, -infinity, infinity, 1.0F, -1.0F, -0.0F, nan, 2.0F};
    const std::vector<std::uint32_t> begins{0, 8};
    const DeviceBuffer<float> in{std::span<const float>(keys)};
    const DeviceBuffer<std::uint32_t> offsets{std::span<const std::uint32_t>(begins)};
    const auto segments = segmentsAt(offsets.data(), offsets.size());
    GuardedArray<float> out(keys.size());
    const SegmentedSort sort;
    auto scratch = usedScratch(sort.scratchBytes(in.data(), segments, out.data(), keys.size()));
    sort(in.data(), segments, out.data(), keys.size(), scratch.bytes(), nullptr);
    EXPECT_TRUE(
        sameBits(out.read(keys.size()), {-infinity, -1.0F, -0.0F, -0.0F, 0.0F, 1.0F, infinity, nan, 2.0F, nan}));
}

// The first element begins a segment in any case, and offsets of n or more mark nothing.
TEST_F(SegmentedSortTest, OffsetsThatDoNotCoverTheArray) {
    for (const std::size_t n : {std::size_t{30}, std::size_t{1000}, std::size_t{20000}}) {
        const auto keys = hostArray(n, RepeatedKey<int>{86});
        const DeviceBuffer<int> in{std::span<const int>(keys)};
        for (const std::vector<std::size_t>& begins : partialOffsets(n)) {
            const auto borders = bordersOf(begins, n);
            const DeviceBuffer<std::size_t> deviceBegins{std::span<const std::size_t>(begins)};
            const auto segments = segmentsAt(deviceBegins.data(), begins.size());
            const SegmentedSort sort;
            GuardedArray<int> out(n);
            auto scratch = usedScratch(sort.scratchBytes(in.data(), segments, out.data(), n));
            sort(in.data(), segments, out.data(), n, scratch.bytes(), nullptr);
            ASSERT_TRUE(sameBits(out.read(n), gathered(keys, sortedIndices(keys, borders, false)))) << "n = " << n;
        }
    }
}

// The segments change between the launches of the graph.
TEST_F(SegmentedSortTest, ReplayedFromAGraphWithOtherSegments) {
    const std::size_t n = 30001;
    const auto keys = hostArray(n, RepeatedKey<int>{87});
    const auto few = segmentBorders(n, [](std::size_t) { return std::size_t{9000}; });
    const auto many = segmentBorders(n, [](std::size_t segment) { return segment % 90; });
    const DeviceBuffer<int> in{std::span<const int>(keys)};
    auto padded = few;
    padded.resize(many.size(), n);
    const DeviceBuffer<std::size_t> first{std::span<const std::size_t>(padded)};
    const DeviceBuffer<std::size_t> second{std::span<const std::size_t>(many)};
    DeviceBuffer<std::size_t> offsets(many.size());
    GuardedArray<int> sortedByFew(n);
    GuardedArray<int> sortedByMany(n);
    const SegmentedSort sort;
    const auto segments = segmentsAt(std::as_const(offsets).data(), offsets.size());
    auto scratch = usedScratch(sort.scratchBytes(in.data(), segments, noArray<int>, n));
    replay(3, [&](cudaStream_t stream) {
        for (const auto& [from, out] : {std::pair(&first, &sortedByFew), std::pair(&second, &sortedByMany)}) {
            Common::checkCUDAError(
                cudaMemcpyAsync(offsets.data(), from->data(), offsets.byteCount(), cudaMemcpyDeviceToDevice, stream),
                "cudaMemcpyAsync");
            out->poison(n, stream);
            sort(in.data(), segments, out->data(), n, scratch.bytes(), stream);
        }
    });
    EXPECT_TRUE(sameBits(sortedByFew.read(n), gathered(keys, sortedIndices(keys, few, false))));
    EXPECT_TRUE(sameBits(sortedByMany.read(n), gathered(keys, sortedIndices(keys, many, false))));
}

TEST_F(SegmentedSortTest, RefusesBadArguments) {
    const std::size_t n = 1000;
    const SegmentedSort sort;
    DeviceBuffer<int> keys(2 * n);
    DeviceBuffer<int> values(2 * n);
    DeviceBuffer<int> begins(n);
    DeviceBuffer<int> keysOut(n);
    DeviceBuffer<int> valuesOut(n);
    const int* const keysIn = keys.data();
    const int* const valuesIn = values.data();
    const auto segments = segmentsAt(std::as_const(begins).data(), n);
    auto scratch = usedScratch(sort.scratchBytes(keysIn, segments, noArray<int>, valuesIn, noArray<int>, n));
    const auto expectRefused = [&](const int* from, const int* valuesFrom, const auto& offsets, int* to, int* valuesTo,
                                   Scratch lent) {
        EXPECT_THROW(sort(from, offsets, to, valuesFrom, valuesTo, n, lent, nullptr), std::invalid_argument);
    };
    expectRefused(nullptr, valuesIn, segments, keysOut.data(), valuesOut.data(), scratch.bytes());
    expectRefused(keysIn, nullptr, segments, keysOut.data(), valuesOut.data(), scratch.bytes());
    expectRefused(keysIn, valuesIn, segments, nullptr, valuesOut.data(), scratch.bytes());
    expectRefused(keysIn, valuesIn, segments, keysOut.data(), nullptr, scratch.bytes());
    expectRefused(keysIn, valuesIn, segments, keys.data(), valuesOut.data(), scratch.bytes());
    expectRefused(keysIn, valuesIn, segments, keysOut.data(), values.data() + n - 1, scratch.bytes());
    expectRefused(keysIn, valuesIn, segments, keysOut.data(), keysOut.data(), scratch.bytes());
    expectRefused(keysIn, valuesIn, segments, begins.data(), valuesOut.data(), scratch.bytes());
    expectRefused(keysIn, valuesIn, segments, keysOut.data(), begins.data(), scratch.bytes());
    expectRefused(keysIn, valuesIn, segmentsAt(noArray<const int>, 3), keysOut.data(), valuesOut.data(),
                  scratch.bytes());
    expectRefused(keysIn, valuesIn, segments, keysOut.data(), valuesOut.data(),
                  scratch.bytes().first(scratch.size() - 1));
    EXPECT_THROW(sort(keysIn, segments, keys.data() + 1, n, scratch.bytes(), nullptr), std::invalid_argument);
    const std::size_t tooMany = std::numeric_limits<std::size_t>::max();
    EXPECT_THROW((void)sort.scratchBytes(keysIn, segments, keysOut.data(), tooMany), std::invalid_argument);
    EXPECT_THROW((void)sort.scratchBytes(keysIn, segmentsAt(noArray<const int>, tooMany), keysOut.data(), n),
                 std::invalid_argument);
}

TEST_F(SegmentedSortTest, NothingToDo) {
    const auto none = segmentsAt(noArray<const int>, 0);
    SegmentedSort{}(noArray<const int>, none, noArray<int>, 0, {}, nullptr);
    SegmentedSort{}(noArray<const int>, none, noArray<int>, noArray<const int>, noArray<int>, 0, {}, nullptr);
}

}  // namespace
}  // namespace StreamCompaction::Testing
