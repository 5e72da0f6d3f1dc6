#include <array>
#include <numeric>

#include "device_fixture.cuh"
#include "element_sizes.h"
#include "stream_compaction/multi_partition.cuh"

namespace StreamCompaction::Testing {
namespace {

using Radix::MultiPartition;

/// The part of an element of any type: a hash of its bytes. Parts from `parts` on do not exist.
struct HashedPart {
    std::uint32_t parts;

    template <typename T>
    __host__ __device__ std::uint32_t operator()(const T& x) const {
        std::uint64_t words[2] = {};
        memcpy(words, &x, sizeof(T));
        return static_cast<std::uint32_t>(randomBits(words[0], words[1]) % parts);
    }
};

/// Ways to choose parts of integers, of which some do not exist.
struct ChosenPart {
    enum class Way { First, Last, Bits, Rare, Behind, Any };

    Way way;
    std::uint32_t parts;

    __host__ __device__ std::uint32_t operator()(std::uint32_t x) const {
        switch (way) {
            case Way::First:
                return 0;
            case Way::Last:
                return parts - 1;
            case Way::Bits:
                return x % parts;
            case Way::Rare:
                return x % 100 == 0 ? x / 100 % parts : parts / 2;
            case Way::Behind:
                return parts + x % 2;
            case Way::Any:
                break;
        }
        return x;
    }
};

struct alignas(16) AlignedBytes {
    std::uint64_t words[2];
};

/// What a partition returns.
template <typename K, typename V>
struct Partitioned {
    std::vector<K> keys;
    std::vector<V> values;
    std::vector<std::size_t> begins;
};

/// The same by the standard library.
template <typename K, typename V, typename PartOf>
[[nodiscard]] Partitioned<K, V> expectedPartition(const std::vector<K>& keys, const std::vector<V>& values,
                                                  std::uint32_t parts, PartOf partOf) {
    const auto part = [&](std::size_t i) { return std::min(partOf(keys[i]), parts - 1); };
    std::vector<std::size_t> places(keys.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::stable_sort(places, {}, part);
    Partitioned<K, V> expected;
    for (const std::size_t place : places) {
        expected.keys.push_back(keys[place]);
        expected.values.push_back(values[place]);
    }
    for (std::uint32_t p = 0; p <= parts; ++p) {
        expected.begins.push_back(
            static_cast<std::size_t>(std::ranges::lower_bound(places, p, {}, part) - places.begin()));
    }
    return expected;
}

/// A value of any type that contains its index.
template <typename V>
[[nodiscard]] V valueAt(std::size_t i) {
    V value{};
    std::memcpy(&value, &i, std::min(sizeof(V), sizeof(i)));
    return value;
}

class MultiPartitionTest : public DeviceTest {
  protected:
    /// Expects elements alone, and elements with values, to be partitioned. The arrays begin `offset` elements behind
    /// an aligned address.
    template <typename V = std::uint32_t, typename K, typename PartOf>
    static void expectPartitioned(const std::vector<K>& keys, std::uint32_t parts, PartOf partOf,
                                  MultiPartition partition = {}, std::size_t offset = 0) {
        const std::size_t n = keys.size();
        const std::vector<V> values = hostArray(n, valueAt<V>);
        const Partitioned<K, V> expected = expectedPartition(keys, values, parts, partOf);
        GuardedArray<K> keysIn(n, offset);
        GuardedArray<V> valuesIn(n, offset);
        keysIn.write(keys);
        valuesIn.write(values);
        const K* const keysFrom = keysIn.data();
        const V* const valuesFrom = valuesIn.data();
        GuardedArray<K> keysOut(n, offset);
        GuardedArray<V> valuesOut(n, offset);
        GuardedArray<std::size_t> begins(parts + 1);
        const auto poison = [&] {
            keysOut.poison(n, nullptr);
            valuesOut.poison(n, nullptr);
            begins.poison(parts + 1, nullptr);
        };
        const std::string what = "n = " + std::to_string(n) + ", parts = " + std::to_string(parts);

        poison();
        auto scratch = usedScratch(partition.scratchBytes(keysFrom, keysOut.data(), begins.data(), n, parts, partOf));
        partition(keysFrom, keysOut.data(), begins.data(), n, parts, partOf, scratch.bytes(), nullptr);
        ASSERT_TRUE(sameBits(begins.read(parts + 1), expected.begins)) << what;
        ASSERT_TRUE(sameBits(keysOut.read(n), expected.keys)) << what;

        poison();
        auto scratchOfPairs = usedScratch(partition.scratchBytes(keysFrom, keysOut.data(), valuesFrom, valuesOut.data(),
                                                                 begins.data(), n, parts, partOf));
        partition(keysFrom, keysOut.data(), valuesFrom, valuesOut.data(), begins.data(), n, parts, partOf,
                  scratchOfPairs.bytes(), nullptr);
        ASSERT_TRUE(sameBits(begins.read(parts + 1), expected.begins)) << what << ", with values";
        ASSERT_TRUE(sameBits(keysOut.read(n), expected.keys)) << what << ", with values";
        ASSERT_TRUE(sameBits(valuesOut.read(n), expected.values)) << what << ", values";
    }

    template <typename K, typename V>
    static void expectSizesPartitioned() {
        for (const std::size_t n : {std::size_t{1}, std::size_t{777}, sized(1000003, 30011)}) {
            ASSERT_NO_FATAL_FAILURE((expectPartitioned<V>(hostArray(n, AnyBytes<K>{n}), 200, HashedPart{200})));
        }
    }
};

TEST_F(MultiPartitionTest, EveryElementSize) {
    expectSizesPartitioned<std::uint8_t, std::uint32_t>();
    expectSizesPartitioned<std::int16_t, ThreeBytes>();
    expectSizesPartitioned<ThreeBytes, double>();
    expectSizesPartitioned<float, std::uint8_t>();
    expectSizesPartitioned<double, TwelveBytes>();
    expectSizesPartitioned<TwelveBytes, float>();
    expectSizesPartitioned<SixteenBytes, AlignedBytes>();
    expectSizesPartitioned<AlignedBytes, SixteenBytes>();
}

/// At the ends of tiles, and where another way begins.
TEST_F(MultiPartitionTest, SizesAtBorders) {
    std::vector<std::size_t> sizes{0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025};
    for (const std::size_t border : {2048, 4096, 5632, 11264, 16384, 22528, 32768}) {
        sizes.insert(sizes.end(), {border - 1, border, border + 1});
    }
    if (!quick()) {
        for (int k = 16; k <= 24; ++k) {
            const std::size_t power = std::size_t{1} << k;
            sizes.insert(sizes.end(), {power - 1, power, power + 1});
        }
    }
    for (const std::size_t n : sizes) {
        ASSERT_NO_FATAL_FAILURE(
            expectPartitioned(hostArray(n, AnyBits<std::uint32_t>{n}), 256, ChosenPart{ChosenPart::Way::Bits, 256}));
    }
}

TEST_F(MultiPartitionTest, NumbersOfParts) {
    using Way = ChosenPart::Way;
    const auto keys = hostArray(sized(100003, 12007), AnyBits<std::uint32_t>{1});
    for (const std::uint32_t parts : {1, 2, 3, 31, 33, 128, 255, 256}) {
        for (const Way way : {Way::First, Way::Last, Way::Bits, Way::Rare, Way::Behind, Way::Any}) {
            ASSERT_NO_FATAL_FAILURE(expectPartitioned(keys, parts, ChosenPart{way, parts}))
                << "way " << static_cast<int>(way);
        }
    }
}

/// Parts that descend while keys ascend.
struct Descending {
    __host__ __device__ std::uint32_t operator()(double x) const { return x < 0 ? 9 : x < 0.5 ? 1 : 0; }
    __host__ __device__ std::uint32_t operator()(std::uint32_t x) const { return ~x >> 24; }
};

/// The keys beyond the end of the last tile are zero or the greatest, and their parts may come first.
TEST_F(MultiPartitionTest, PartsInDescendingOrderOfKeys) {
    for (const std::size_t n : {1, 100, 5000, 20001}) {
        ASSERT_NO_FATAL_FAILURE(expectPartitioned(hostArray(n, AnyBits<std::uint32_t>{2}), 256, Descending{}));
        ASSERT_NO_FATAL_FAILURE(expectPartitioned(hostArray(n, AnyBits<double>{3}), 10, Descending{}));
    }
}

TEST_F(MultiPartitionTest, Misaligned) {
    for (const std::size_t offset : {1, 2, 3}) {
        ASSERT_NO_FATAL_FAILURE(expectPartitioned<std::uint8_t>(hostArray(15001, AnyBits<std::uint8_t>{4}), 100,
                                                                HashedPart{100}, {}, offset));
        ASSERT_NO_FATAL_FAILURE(
            expectPartitioned(hostArray(15001, AnyBits<std::uint32_t>{5}), 100, HashedPart{100}, {}, offset));
    }
}

TEST_F(MultiPartitionTest, ByTickets) {
    expectPartitioned(hostArray(sized(2500007, 40007), AnyBits<std::uint32_t>{6}), 256, HashedPart{256},
                      {.order = TileOrder::Ticket});
}

/// Each way, on elements that it can hold.
TEST_F(MultiPartitionTest, WaysForOtherSizesAndCards) {
    const auto expectPartitionedBy = []<typename Way>(Way) {
        const std::size_t n = sized(200003, 25013);
        constexpr std::uint32_t parts = 50;
        const auto keys = hostArray(n, AnyBits<std::uint32_t>{7});
        const std::vector<std::uint32_t> values(n);
        const DeviceBuffer<std::uint32_t> in{std::span<const std::uint32_t>(keys)};
        GuardedArray<std::uint32_t> out(n);
        out.poison(n, nullptr);
        DeviceBuffer<std::size_t> begins(parts + 1);
        using Digit = Radix::PartDigit<std::uint32_t, std::uint32_t, HashedPart>;
        const std::size_t bytes = Way::template scratchBytes<std::uint32_t, Radix::NoValue>(n, false);
        auto scratch = usedScratch(bytes);
        const Radix::PartitionCall<std::uint32_t, Radix::NoValue, Digit> call{
            {in.data(), nullptr},  {out.data(), nullptr},    begins.data(), n, parts, Digit{{parts}, parts - 1},
            TileOrder::BlockIndex, {scratch.bytes(), bytes}, nullptr};
        if (Radix::WayTable<Way>::launch(call)) {
            const auto expected = expectedPartition(keys, values, parts, HashedPart{parts});
            EXPECT_TRUE(sameBits(out.read(n), expected.keys));
            std::vector<std::size_t> begun(parts + 1);
            begins.copyTo(begun);
            EXPECT_TRUE(sameBits(begun, expected.begins));
        }
    };
    using Radix::InOneLaunch;
    using Radix::InOnePass;
    using Radix::NoValue;
    using Radix::PassShape;
    using Radix::SortShape;
    expectPartitionedBy(InOneLaunch<Radix::Cluster, SortShape<512, 16>, 16>{});
    expectPartitionedBy(InOneLaunch<Radix::Grid, SortShape<1024, 8>, 128>{});
    expectPartitionedBy(InOneLaunch<Radix::Grid, SortShape<1024, 16>, 128>{});
    expectPartitionedBy(InOnePass<PassShape<std::uint32_t, NoValue, 64>>{});
    expectPartitionedBy(InOnePass<PassShape<std::uint32_t, NoValue, 96>>{});
    expectPartitionedBy(InOnePass<PassShape<std::uint32_t, NoValue, 44>>{});
}

/// Every replay partitions what is in the array then.
TEST_F(MultiPartitionTest, Replays) {
    const std::size_t n = 30011;
    const std::uint32_t parts = 77;
    const MultiPartition partition;
    const HashedPart partOf{parts};
    const std::array keys{hostArray(n, AnyBits<std::uint32_t>{8}), std::vector<std::uint32_t>(n, 5)};
    const std::array sources{DeviceBuffer<std::uint32_t>{std::span<const std::uint32_t>(keys[0])},
                             DeviceBuffer<std::uint32_t>{std::span<const std::uint32_t>(keys[1])}};
    DeviceBuffer<std::uint32_t> in(n);
    std::array outs{GuardedArray<std::uint32_t>(n), GuardedArray<std::uint32_t>(n)};
    DeviceBuffer<std::size_t> begins(parts + 1);
    const std::uint32_t* const from = in.data();
    auto scratch = usedScratch(partition.scratchBytes(from, in.data(), begins.data(), n, parts, partOf));
    outs[0].poison(n, nullptr);
    outs[1].poison(n, nullptr);
    replay(2, [&](cudaStream_t stream) {
        for (int i = 0; i < 2; ++i) {
            Common::checkCUDAError(
                cudaMemcpyAsync(in.data(), sources[i].data(), in.byteCount(), cudaMemcpyDeviceToDevice, stream),
                "cudaMemcpyAsync");
            partition(from, outs[i].data(), begins.data(), n, parts, partOf, scratch.bytes(), stream);
        }
    });
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(sameBits(outs[i].read(n), expectedPartition(keys[i], keys[i], parts, partOf).keys));
    }
}

TEST_F(MultiPartitionTest, RefusesBadArguments) {
    const std::size_t n = 5000;
    const std::uint32_t parts = 10;
    const HashedPart partOf{parts};
    const MultiPartition partition;
    DeviceBuffer<std::uint32_t> a(2 * n);
    DeviceBuffer<std::uint32_t> b(2 * n);
    DeviceBuffer<std::size_t> c(parts + 1);
    Common::checkCUDAError(cudaMemset(a.data(), 0, a.byteCount()), "cudaMemset");
    DeviceBuffer<std::byte> scratch(partition.scratchBytes(std::as_const(a).data(), b.data(), std::as_const(a).data(),
                                                           b.data(), c.data(), n, parts, partOf));
    const auto expectRefused = [&](const std::uint32_t* in, std::uint32_t* out, std::size_t* begins,
                                   std::uint32_t someParts, Scratch memory) {
        EXPECT_THROW(partition(in, out, begins, n, someParts, partOf, memory, nullptr), std::invalid_argument);
    };
    expectRefused(a.data(), b.data(), c.data(), 0, scratch.bytes());
    expectRefused(a.data(), b.data(), c.data(), MultiPartition::mostParts + 1, scratch.bytes());
    expectRefused(a.data(), b.data(), c.data(), parts, {});
    expectRefused(a.data(), a.data(), c.data(), parts, scratch.bytes());
    expectRefused(a.data(), a.data() + n - 1, c.data(), parts, scratch.bytes());
    expectRefused(nullptr, b.data(), c.data(), parts, scratch.bytes());
    expectRefused(a.data(), nullptr, c.data(), parts, scratch.bytes());
    expectRefused(a.data(), b.data(), nullptr, parts, scratch.bytes());
    expectRefused(a.data(), b.data(), reinterpret_cast<std::size_t*>(a.data()), parts, scratch.bytes());
    expectRefused(a.data(), b.data(), reinterpret_cast<std::size_t*>(b.data()), parts, scratch.bytes());
    const auto expectPairsRefused = [&](const std::uint32_t* valuesIn, std::uint32_t* valuesOut) {
        EXPECT_THROW(partition(std::as_const(a).data(), b.data(), valuesIn, valuesOut, c.data(), n, parts, partOf,
                               scratch.bytes(), nullptr),
                     std::invalid_argument);
    };
    expectPairsRefused(a.data() + n, b.data() + n - 1);
    expectPairsRefused(b.data() + n - 1, b.data() + n);
    expectPairsRefused(a.data() + n, a.data());
    expectPairsRefused(nullptr, b.data() + n);
    partition(std::as_const(a).data(), b.data(), std::as_const(a).data() + n, b.data() + n, c.data(), n, parts, partOf,
              scratch.bytes(), nullptr);
    Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

}  // namespace
}  // namespace StreamCompaction::Testing
