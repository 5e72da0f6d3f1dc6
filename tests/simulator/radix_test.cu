#include <cstring>
#include <numeric>

#include "seeds.cuh"
#include "stream_compaction/multi_partition.cuh"
#include "stream_compaction/radix_sort.cuh"

namespace StreamCompaction::Testing {
namespace {

using Radix::NoValue;
using Radix::SortShape;
using Tile = SortShape<256, 2>;

class SeededRadixTest : public SeededTest {
  protected:
    /// What the last sort left at the beginning of its scratch.
    static inline std::vector<std::byte> scratchAfter{};

    /// What became of it, if it was one in spans.
    [[nodiscard]] static Radix::SpanState spanState() { return firstInScratch<Radix::SpanState>(); }

    /// Whether it needed no passes, if it was one in buckets that may be too large.
    [[nodiscard]] static bool neededNoPasses() { return firstInScratch<Radix::Counters>().areSorted; }

    /// Expects `Way` to sort n keys by the bits of `range`. The keys have few different digits, so some are equal.
    /// Their values are their indices. Returns false if the card cannot sort that way.
    template <typename Way, typename Bits, typename Value>
    static bool expectSorted(std::size_t n, std::uint64_t seed, DigitRange range, bool consumesInput = false,
                             TileOrder order = TileOrder::BlockIndex) {
        return expectSorted<Way, Bits, Value>(
            hostArray(n, [seed](std::size_t i) { return static_cast<Bits>(randomBits(seed, i) & 0xE3E3E3E3E3E3E3E3); }),
            range, consumesInput, order);
    }

    /// The same with these keys.
    template <typename Way, typename Bits, typename Value>
    static bool expectSorted(const std::vector<Bits>& keys, DigitRange range, bool consumesInput = false,
                             TileOrder order = TileOrder::BlockIndex) {
        const std::size_t n = keys.size();
        std::vector<std::uint32_t> places(n);
        std::iota(places.begin(), places.end(), 0U);
        std::vector<std::uint32_t> sorted = places;
        const Bits mask = static_cast<Bits>(~std::uint64_t{0} >> (64 - range.end));
        std::ranges::stable_sort(sorted, {},
                                 [&](std::uint32_t i) { return static_cast<Bits>((keys[i] & mask) >> range.begin); });

        DeviceBuffer<Bits> keysIn{std::span<const Bits>(keys)};
        DeviceBuffer<std::uint32_t> valuesIn{std::span<const std::uint32_t>(places)};
        GuardedArray<Bits> keysOut(n);
        GuardedArray<std::uint32_t> valuesOut(n);
        const std::size_t bytes = Way::template scratchBytes<Bits, Value>(n, consumesInput);
        auto scratch = usedScratch(bytes);
        Radix::SortCall<Bits, Value> call{{keysIn.data(), nullptr},
                                          {keysOut.data(), nullptr},
                                          n,
                                          range,
                                          KeyCoding<Bits>::template of<Bits>(false),
                                          order,
                                          {},
                                          ScratchArena(scratch.bytes(), bytes),
                                          nullptr};
        if constexpr (Radix::hasValues<Value>) {
            call.in.values = Radix::isOwnIndex<Value> ? nullptr : reinterpret_cast<const Value*>(valuesIn.data());
            call.out.values = reinterpret_cast<Value*>(valuesOut.data());
        }
        if (consumesInput) {
            call.consumed = {keysIn.data(), const_cast<Value*>(call.in.values)};
        }
        if (!Radix::WayTable<Way>::launch(call)) {
            return false;
        }
        scratchAfter.resize(bytes);
        Common::checkCUDAError(cudaMemcpy(scratchAfter.data(), scratch.data(), bytes, cudaMemcpyDeviceToHost),
                               "cudaMemcpy");
        std::vector<Bits> expected;
        for (const std::uint32_t place : sorted) {
            expected.push_back(keys[place]);
        }
        EXPECT_TRUE(sameBits(keysOut.read(n), expected)) << "keys, n = " << n;
        if constexpr (Radix::hasValues<Value>) {
            EXPECT_TRUE(sameBits(valuesOut.read(n), sorted)) << "values, n = " << n;
        }
        return true;
    }

  private:
    template <typename T>
    [[nodiscard]] static T firstInScratch() {
        T first{};
        std::memcpy(&first, scratchAfter.data() + scratchAlignment - 1, sizeof(T));  // usedScratch() has no alignment
        return first;
    }
};

using BlockWay = Radix::ByBlock<Tile>;
using ClusterWay = Radix::ByCluster<Tile>;
using GridWay = Radix::ByGrid<Tile, 128>;
using BucketsWay = Radix::BucketsByGrid<Tile, 64>;
using ClusterBucketsWay = Radix::BucketsByCluster<Tile, Radix::InLargeGroups>;
using GroupBucketsWay = Radix::BucketsByGrid<Tile, 64, Radix::InGroups>;
using PassesWay = Radix::InPasses<Tile>;
using Attempt = Radix::BucketAttempt<Tile, 2, 64>;
using AttemptWay = Radix::InBuckets<Attempt, PassesWay>;
using LargeTilesWay = Radix::InBuckets<Radix::BucketAttempt<SortShape<256, 12>, 2, 64>, PassesWay>;
using SpansWay = Radix::InSpans<PassesWay, SortShape<256, 2>, 512, Attempt>;

TEST_F(SeededRadixTest, ByBlock) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSorted<BlockWay, std::uint16_t, std::uint32_t>(Tile::elements - seed % 40, seed, {0, 16});
    });
}

TEST_F(SeededRadixTest, ByCluster) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const bool isDone = expectSorted<ClusterWay, std::uint32_t, NoValue>(1300 + seed % 40, seed, {0, 16});
        EXPECT_EQ(isDone, Simulator::card().hasClusters());
    });
}

TEST_F(SeededRadixTest, ByGrid) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSorted<GridWay, std::uint32_t, std::uint32_t>(1300 + seed % 40, seed, {0, 24});
    });
}

/// The places past the end count as keys with the greatest digit. So these are as many as there are keys.
TEST_F(SeededRadixTest, ByGridIfPlacesPastTheEndMakeUpForOtherKeys) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t) {
        constexpr std::size_t n = 1300;
        constexpr std::size_t pastTheEnd = 3 * Tile::elements - n;
        const auto keys =
            hostArray(n, [](std::size_t i) -> std::uint32_t { return i < n - pastTheEnd ? ~0u : 0xFFFFFF00u; });
        expectSorted<GridWay, std::uint32_t, std::uint32_t>(keys, {0, 32});
    });
}

TEST_F(SeededRadixTest, ByBuckets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSorted<BucketsWay, std::uint32_t, std::uint32_t>(1300 + seed % 40, seed,
                                                               seed % 2 == 0 ? DigitRange{0, 32} : DigitRange{5, 24});
        const bool isDone = expectSorted<ClusterBucketsWay, std::uint32_t, NoValue>(1300 + seed % 40, seed, {0, 32});
        EXPECT_EQ(isDone, Simulator::card().hasClusters());
        const auto keys = hostArray(1300 + seed % 40, AnyBits<std::uint32_t>{seed});
        EXPECT_TRUE((expectSorted<GroupBucketsWay, std::uint32_t, NoValue>(keys, {0, 32})));
    });
}

/// Two buckets per block, of which the second block's tiles are not full. In some inputs there are few different keys,
/// they differ in few bits, or half of them share a bucket, which is then too large.
TEST_F(SeededRadixTest, BySeveralBucketsPerBlock) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const auto keys = hostArray(1700 + seed % 40, [seed](std::size_t i) {
            const auto bits = static_cast<std::uint32_t>(randomBits(seed, i));
            return seed % 4 == 1                 ? bits & 0xC1000000u
                   : seed % 4 == 2 && i % 2 == 0 ? bits >> 2
                   : seed % 4 == 3               ? bits % 1000
                                                 : bits;
        });
        if (seed % 4 == 1) {  // the counters of the groups reach into the keys of a sort by digits
            EXPECT_TRUE((expectSorted<LargeTilesWay, std::uint32_t, NoValue>(keys, {0, 32})));
        } else {
            EXPECT_TRUE((expectSorted<AttemptWay, std::uint32_t, NoValue>(keys, {0, 32})));
        }
        EXPECT_EQ(neededNoPasses(), seed % 4 != 2);
    });
}

TEST_F(SeededRadixTest, ByNetwork) {
    using Way = Radix::ByNetwork<SortShape<128, 4>>;
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        EXPECT_TRUE((expectSorted<Way, std::uint32_t, NoValue>(512 - seed % 40, seed, {0, 32})));
        EXPECT_TRUE((expectSorted<Way, std::uint64_t, NoValue>(512 - seed % 40, seed, {0, 64})));
    });
}

/// The keys differ in few low bits, evenly or not, or few of them have high bits.
TEST_F(SeededRadixTest, ByBucketsThatAreUneven) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const auto keys = hostArray(1300 + seed % 40, [seed](std::size_t i) {
            const std::uint64_t bits = randomBits(seed, i);
            return static_cast<std::uint32_t>(seed % 3 == 0   ? bits % 1000
                                              : seed % 3 == 1 ? bits % 90
                                                              : bits >> bits % 31);
        });
        expectSorted<BucketsWay, std::uint32_t, Radix::OwnIndex<std::uint32_t>>(keys, {0, 32});
    });
}

TEST_F(SeededRadixTest, ByCounting) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSorted<Radix::ByCounting<1>, std::uint8_t, NoValue>(33000 + seed % 40, seed, {0, 8});
    });
}

TEST_F(SeededRadixTest, InPasses) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        if (seed % 2 == 0) {
            expectSorted<PassesWay, std::uint32_t, NoValue>(2300 + seed % 40, seed, {0, 24});
        } else {
            expectSorted<PassesWay, std::uint32_t, std::uint32_t>(1800 + seed % 40, seed, {0, 16}, seed % 4 == 1);
        }
    });
}

TEST_F(SeededRadixTest, InPassesByTickets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSorted<PassesWay, std::uint32_t, std::uint32_t>(1800 + seed % 40, seed, {0, 16}, false,
                                                              TileOrder::Ticket);
    });
}

/// With values there are more spans, so that it takes longer.
TEST_F(SeededRadixTest, InSpans) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        if (seed % 4 == 1) {
            const auto keys = hostArray(2000 + seed % 40, AnyBits<std::uint64_t>{seed});
            EXPECT_TRUE((expectSorted<SpansWay, std::uint64_t, std::uint32_t>(keys, {0, 64})));
        } else {
            const auto keys = hostArray(4000 + seed % 40, AnyBits<std::uint32_t>{seed});
            EXPECT_TRUE((expectSorted<SpansWay, std::uint32_t, NoValue>(keys, {0, 32})));
        }
        EXPECT_TRUE(spanState().mayEnd && spanState().failed == 0);
    });
}

/// Spans of few different keys are sorted by digits. If half of the spans are empty, the sample shows it, unless spans
/// have much room: with values there are more of them. Many keys share their highest digit.
TEST_F(SeededRadixTest, InSpansThatAreUneven) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        const bool hasIndices = seed % 4 == 1;
        const auto keys = hostArray(2000 + seed % 40, [seed](std::size_t i) {
            const auto bits = static_cast<std::uint32_t>(randomBits(seed, i));
            return seed % 3 == 0   ? bits & 0xFF010103u
                   : seed % 3 == 1 ? bits >> 1
                                   : bits & static_cast<std::uint32_t>(randomBits(seed + 1, i));
        });
        if (hasIndices) {
            EXPECT_TRUE((expectSorted<SpansWay, std::uint32_t, Radix::OwnIndex<std::uint32_t>>(keys, {0, 32})));
        } else {
            EXPECT_TRUE((expectSorted<SpansWay, std::uint32_t, NoValue>(keys, {0, 32})));
        }
        EXPECT_EQ(spanState().mayEnd, seed % 3 == 0 || (seed % 3 == 1 && hasIndices));
        EXPECT_EQ(spanState().failed, 0);
    });
}

/// One span is too large for a block, but the sample does not show it, because there are many keys.
TEST_F(SeededRadixTest, InSpansOneOfWhichIsTooLarge) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        const auto keysOf = [seed](std::size_t n, std::size_t distance) {
            return hostArray(n, [=](std::size_t i) {
                return i % distance == 0 ? 0x12345678u : static_cast<std::uint32_t>(randomBits(seed, i));
            });
        };
        if (seed % 8 == 4) {
            EXPECT_TRUE((expectSorted<SpansWay, std::uint32_t, NoValue>(keysOf(12000, 66), {0, 32})));
            EXPECT_TRUE(spanState().mayEnd && spanState().failed == 1);
        } else if (seed % 8 == 0) {
            const auto keys = keysOf(24000, 40);
            EXPECT_TRUE((expectSorted<SpansWay, std::uint32_t, Radix::OwnIndex<std::uint32_t>>(keys, {0, 32})));
            EXPECT_TRUE(spanState().mayEnd && spanState().failed == 1);
        }
    });
}

template <typename T>
__global__ void kernCopy(std::size_t n, T* to, const T* from) {
    if (const std::size_t i = Common::globalThreadIndex(); i < n) {
        to[i] = from[i];
    }
}

/// Expects spans to be found and sorted. Their sizes are those around windows and around what a block holds. One span
/// has three different codes. Codes of the last span are the greatest possible one, which also stands behind the end of
/// a span.
template <typename Bits, typename Value>
void expectSpansSorted(std::uint64_t seed) {
    using Spans = Radix::SpanSort<SortShape<256, 2>, Bits, Value>;
    constexpr int most = Spans::mostElements;
    const Radix::SpanBits bits{Radix::hasValues<Value> ? 9 : 4, 3, 4};
    const std::vector<std::size_t> sizes{most, 0, 1, 2, 3, 4, 5, most - 1, 257, 100, most - 2, 31, 33};
    std::vector<Bits> keys;
    std::vector<std::size_t> begins{0};
    for (std::size_t span = 0; span < bits.spans(); ++span) {
        const std::size_t index = span + sizes.size() - bits.spans();  // the last spans have keys
        const std::size_t size = index < sizes.size() ? sizes[index] : 0;
        for (std::size_t i = 0; i < size; ++i) {
            const auto random = static_cast<Bits>(randomBits(seed, keys.size()));
            const Bits low = span + 1 == bits.spans() ? ~Bits{0} : size == 257 ? random % 3 << bits.bits : random;
            keys.push_back(static_cast<Bits>(span << (8 * sizeof(Bits) - bits.bits)) |
                           static_cast<Bits>(low >> bits.bits));
        }
        begins.push_back(keys.size());
    }
    std::vector<std::uint32_t> places(keys.size());
    std::iota(places.begin(), places.end(), 0U);
    const DeviceBuffer<Bits> in{std::span<const Bits>(keys)};
    const DeviceBuffer<std::uint32_t> valuesIn{std::span<const std::uint32_t>(places)};
    GuardedArray<Bits> out(keys.size());
    GuardedArray<std::uint32_t> valuesOut(keys.size());
    GuardedArray<std::size_t> found(begins.size());
    Radix::SpanState even{};
    even.mayEnd = true;
    even.n = keys.size();
    even.bits = bits;
    even.endSpan = static_cast<unsigned>(bits.spans());
    const std::vector<Radix::SpanState> states(2, even);
    DeviceBuffer<Radix::SpanState> state{std::span<const Radix::SpanState>(states)};
    std::vector<Radix::Plan> plans(2);
    for (Radix::Plan& plan : plans) {
        plan.passes[1].isNeeded = true;
    }
    DeviceBuffer<Radix::Plan> plan{std::span<const Radix::Plan>(plans)};
    constexpr int threads = 64;
    for (const int missing : {0, 1}) {  // the second time one element of the largest span has no room
        launch<Radix::kernFindSpans<Bits>>({Common::divideRoundUp(begins.size(), std::size_t{62}), threads}, nullptr,
                                           found.data(), state.data() + missing, plan.data() + missing, in.data(),
                                           most - missing);
    }
    std::vector<Radix::SpanState> after(2);
    state.copyTo(after);
    plan.copyTo(plans);
    for (const int missing : {0, 1}) {
        EXPECT_EQ(after[missing].failed, missing);
        EXPECT_EQ(plans[missing].passes[1].isNeeded, missing == 1);
        EXPECT_EQ(plans[missing].passes[1].order, 1) << "one pass came before the spans";
    }
    EXPECT_TRUE(sameBits(found.read(begins.size()), begins));

    // In place, by few blocks, as soon as an earlier kernel has written the elements.
    const unsigned blocks = Common::blocksFor(keys.size(), threads);
    Radix::Elements<Bits, Value> array{out.data(), nullptr};
    if constexpr (Radix::hasValues<Value>) {
        array.values = valuesOut.data();
        launch<kernCopy<Value>>({blocks, threads}, nullptr, keys.size(), array.values, valuesIn.data());
    }
    launch<kernCopy<Bits>>({blocks, threads}, nullptr, keys.size(), array.keys, in.data());
    launch<Radix::kernSortSpans<Spans, CountInDeviceMemory>>(
        {3, Spans::threads, sizeof(typename Spans::Storage), Begin::Programmatic}, nullptr, array,
        typename Spans::ConstArray{array.keys, array.values}, static_cast<const std::size_t*>(found.data()),
        state.data(), bits.bits, KeyCoding<Bits>::template of<Bits>(false));
    std::ranges::stable_sort(places, {}, [&](std::uint32_t i) { return keys[i]; });
    std::vector<Bits> expected;
    std::ranges::transform(places, std::back_inserter(expected), [&](std::uint32_t i) { return keys[i]; });
    EXPECT_TRUE(sameBits(out.read(keys.size()), expected));
    if constexpr (Radix::hasValues<Value>) {
        EXPECT_TRUE(sameBits(valuesOut.read(keys.size()), places));
    }
}

TEST_F(SeededRadixTest, SpansOfEverySize) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        if (seed % 4 == 1) {
            expectSpansSorted<std::uint64_t, std::uint32_t>(seed);
        } else {
            expectSpansSorted<std::uint32_t, NoValue>(seed);
        }
    });
}

/// The values are the indices of the elements. Bits 2 to 4 are equal in all keys, so only the last pass runs if the
/// range is these bits.
TEST_F(SeededRadixTest, Indices) {
    using Index = Radix::OwnIndex<std::uint32_t>;
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        const std::size_t n = 1100 + seed % 40;
        const DigitRange range = seed % 2 == 0 ? DigitRange{0, 16} : DigitRange{2, 5};
        expectSorted<BlockWay, std::uint16_t, Index>(Tile::elements - seed % 40, seed, range);
        expectSorted<ClusterWay, std::uint32_t, Index>(n, seed, range);
        expectSorted<GridWay, std::uint32_t, Index>(n, seed, range);
        expectSorted<PassesWay, std::uint32_t, Index>(n, seed, range);
    });
}

/// One of 13 parts, the last of which also gets what would be in a 14th and a 15th.
struct PartByRemainder {
    static constexpr std::uint32_t parts = 13;

    __host__ __device__ std::uint32_t operator()(std::uint32_t x) const { return x % (parts + 2); }
};

/// Expects elements and their indices to be partitioned in the given way. Returns false if the card cannot do that.
template <typename Way>
bool expectPartitioned(std::size_t n, std::uint64_t seed, TileOrder order = TileOrder::BlockIndex) {
    using Word = std::uint32_t;
    using Digit = Radix::PartDigit<Word, Word, PartByRemainder>;
    constexpr std::uint32_t parts = PartByRemainder::parts;
    const auto keys = hostArray(n, AnyBits<Word>{seed});
    std::vector<Word> places(n);
    std::iota(places.begin(), places.end(), 0U);
    const DeviceBuffer<Word> keysIn{std::span<const Word>(keys)};
    const DeviceBuffer<Word> valuesIn{std::span<const Word>(places)};
    GuardedArray<Word> keysOut(n);
    GuardedArray<Word> valuesOut(n);
    GuardedArray<std::size_t> begins(parts + 1);
    const std::size_t bytes = Way::template scratchBytes<Word, Word>(n, false);
    auto scratch = usedScratch(bytes);
    const Radix::PartitionCall<Word, Word, Digit> call{{keysIn.data(), valuesIn.data()},
                                                       {keysOut.data(), valuesOut.data()},
                                                       begins.data(),
                                                       n,
                                                       parts,
                                                       Digit{{}, parts - 1},
                                                       order,
                                                       ScratchArena(scratch.bytes(), bytes),
                                                       nullptr};
    if (!Radix::WayTable<Way>::launch(call)) {
        return false;
    }
    const auto part = [&](Word i) { return std::min(PartByRemainder{}(keys[i]), parts - 1); };
    std::ranges::stable_sort(places, {}, part);
    std::vector<Word> expected;
    std::ranges::transform(places, std::back_inserter(expected), [&](Word i) { return keys[i]; });
    std::vector<std::size_t> expectedBegins;
    for (Word p = 0; p <= parts; ++p) {
        expectedBegins.push_back(
            static_cast<std::size_t>(std::ranges::lower_bound(places, p, {}, part) - places.begin()));
    }
    EXPECT_TRUE(sameBits(keysOut.read(n), expected));
    EXPECT_TRUE(sameBits(valuesOut.read(n), places));
    EXPECT_TRUE(sameBits(begins.read(parts + 1), expectedBegins));
    return true;
}

TEST_F(SeededRadixTest, PartitionByCluster) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const bool isDone = expectPartitioned<Radix::InOneLaunch<Radix::Cluster, Tile, 16>>(1300 + seed % 40, seed);
        EXPECT_EQ(isDone, Simulator::card().hasClusters());
    });
}

TEST_F(SeededRadixTest, PartitionByGrid) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        EXPECT_TRUE((expectPartitioned<Radix::InOneLaunch<Radix::Grid, Tile, 128>>(1300 + seed % 40, seed)));
    });
}

TEST_F(SeededRadixTest, Partition) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        EXPECT_TRUE(expectPartitioned<Radix::InOnePass<Tile>>(2300 + seed % 40, seed));
    });
}

TEST_F(SeededRadixTest, PartitionByTickets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        EXPECT_TRUE(expectPartitioned<Radix::InOnePass<Tile>>(2300 + seed % 40, seed, TileOrder::Ticket));
    });
}

/// Several blocks count the digits. The last one to finish plans the passes.
TEST_F(SeededRadixTest, PlannedByTheLastBlock) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        using Bits = std::uint16_t;
        using Shape = TileShape<256, 1, vectorLength<Bits>>;
        constexpr int replicas = 2;
        constexpr std::size_t sharedBytes = sizeof(Bits) * digitValues * replicas * sizeof(std::uint32_t);
        constexpr std::size_t blocks = 2;
        const std::size_t n = blocks * Shape::elements - seed % 9;
        const auto keys = hostArray(n, AnyBits<Bits>{seed});
        const DigitRange range{0, 16};

        const DeviceBuffer<Bits> deviceKeys{std::span<const Bits>(keys)};
        const Radix::Counters zero{};
        DeviceBuffer<Radix::Counters> counters{std::span(&zero, 1)};
        DeviceBuffer<Radix::Plan> devicePlan(1);
        launch<Radix::kernCountDigits<Shape, replicas, Bits, std::size_t>>(
            {blocks, Shape::threads, sharedBytes}, nullptr, n, devicePlan.data(), counters.data(), deviceKeys.data(),
            range, KeyCoding<Bits>::template of<Bits>(false), false);
        std::vector<Radix::Plan> plan(1);
        devicePlan.copyTo(plan);

        for (int digit = 0; digit < range.count(); ++digit) {
            std::vector<std::uint64_t> counts(digitValues);
            for (const Bits key : keys) {
                ++counts[key >> digit * digitBits & (digitValues - 1)];
            }
            std::vector<std::uint64_t> starts(digitValues);
            std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), std::uint64_t{0});
            const auto& planned = plan[0].starts[digit];
            ASSERT_TRUE(sameBits({std::begin(planned), std::end(planned)}, starts)) << "digit " << digit;
        }
    });
}

}  // namespace
}  // namespace StreamCompaction::Testing
