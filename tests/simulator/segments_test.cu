#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>

#include "../device/element_sizes.h"
#include "../device/segments.h"
#include "../primitives/noncommutative.cuh"
#include "seeds.cuh"
#include "stream_compaction/segments.cuh"

namespace StreamCompaction::Testing {
namespace {

using Segments::SegmentedOperator;
using Segments::SegmentedSource;
using SinglePass::BlockShape;
using SinglePass::Scan;

/// The flag of an index.
struct FlagAt {
    const std::uint8_t* flags;
    [[nodiscard]] __device__ bool operator()(std::size_t i) const { return flags[i] != 0; }
};

class SeededSegmentsTest : public SeededTest {
  protected:
    /// Segments of which most are short or empty, and some span several tiles.
    [[nodiscard]] static std::vector<std::size_t> someBorders(std::size_t n, std::uint64_t seed) {
        return segmentBorders(n, [seed](std::size_t segment) {
            const std::uint64_t bits = randomBits(seed, segment);
            return bits % 16 == 0 ? bits / 16 % 1500 : bits / 16 % (2 + seed % 9);
        });
    }

    /// Expects enqueue(source, out, op, initial, scratch) to scan n random values in each segment.
    template <typename T, typename Op, typename HeadsOf, typename Enqueue>
    static void expectSums(std::size_t n, std::uint64_t seed, Op op, const HeadsOf& headsOf, const Enqueue& enqueue) {
        const auto in = hostArray(n, RandomValue<T>{seed});
        const auto borders = someBorders(n, seed);
        const T initial = RandomValue<T>{seed + 1}(0);
        std::vector<T> expected(n);
        forEachSegment(borders, [&](std::size_t begin, std::size_t end) {
            std::exclusive_scan(&in[begin], &in[end], &expected[begin], initial, op);
        });
        std::vector<std::uint8_t> flags(n);
        for (const std::size_t border : borders) {
            if (border < n) {
                flags[border] = 1;
            }
        }
        const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
        const DeviceBuffer<std::uint8_t> deviceFlags{std::span<const std::uint8_t>(flags)};
        const DeviceBuffer<std::size_t> deviceBorders{std::span<const std::size_t>(borders)};
        const auto heads = headsOf(deviceFlags.data(), deviceBorders.data(), borders.size());
        const SegmentedOperator<T, Op> segmented{{op}, initial};
        const SegmentedSource<ArraySource<T>, SourceOf<decltype(heads)>, T, Op> source{
            {deviceIn.data()}, sourceOf(heads), segmented};
        const std::size_t bytes = scratchBytesFor<std::uint64_t>(ReproducibleChain<OpenRun<T, bool>>::wordsFor(n));
        auto scratch = usedScratch(bytes);
        GuardedArray<T> out(n);
        enqueue(source, out.data(), segmented, OpenRun<T, bool>{false, initial}, ScratchArena(scratch.bytes(), bytes));
        ASSERT_TRUE(sameBits(out.read(n), expected)) << "n = " << n;
    }

    static auto byFlags() {
        return [](const std::uint8_t* flags, const std::size_t* /*borders*/, std::size_t /*count*/) { return flags; };
    }
    /// By a function of the index, of which each tile makes bits.
    static auto byFunction() {
        return [](const std::uint8_t* flags, const std::size_t* /*borders*/, std::size_t /*count*/) {
            return generated(FlagAt{flags});
        };
    }
    static auto byOffsets() {
        return [](const std::uint8_t* /*flags*/, const std::size_t* borders, std::size_t count) {
            return segmentsAt(borders, count);
        };
    }

    /// By look-back over tiles of the given shape.
    template <typename Shape, typename T, typename Op, typename HeadsOf>
    static void expectScannedByLookBack(const Scan& scan, std::size_t n, std::uint64_t seed, Op op,
                                        const HeadsOf& headsOf) {
        expectSums<T>(n, seed, op, headsOf, [&](const auto& source, T* out, auto segmented, auto initial, auto arena) {
            scan.scanByLookBack(Shape{}, source, out, n, segmented, initial, arena, nullptr);
        });
    }
};

/// Expects a sort of random keys with values to be right. Many keys are equal. `sort` is called as a SegmentedSort, but
/// without scratch and stream.
template <typename K, typename V, typename Sort>
void expectSortedBy(const Sort& sort, std::size_t n, const std::vector<std::size_t>& begins, std::uint64_t seed) {
    const auto keys = hostArray(n, [seed](std::size_t i) { return static_cast<K>(randomBits(seed, i) % 5000); });
    const auto values = hostArray(n, AnyBytes<V>{seed});
    std::vector<std::size_t> indices(n);
    std::iota(indices.begin(), indices.end(), 0);
    forEachSegment(bordersOf(begins, n), [&](std::size_t begin, std::size_t end) {
        std::ranges::stable_sort(std::span(indices).subspan(begin, end - begin), {},
                                 [&](std::size_t i) { return keys[i]; });
    });
    std::vector<V> expected;
    std::ranges::transform(indices, std::back_inserter(expected), [&](std::size_t i) { return values[i]; });
    const DeviceBuffer<K> keysIn{std::span<const K>(keys)};
    const DeviceBuffer<V> valuesIn{std::span<const V>(values)};
    const DeviceBuffer<std::size_t> deviceBegins{std::span<const std::size_t>(begins)};
    const auto segments = segmentsAt(deviceBegins.data(), begins.size());
    GuardedArray<K> keysOut(n);
    GuardedArray<V> valuesOut(n);
    sort(keysIn.data(), segments, keysOut.data(), valuesIn.data(), valuesOut.data(), n);
    ASSERT_TRUE(sameBits(valuesOut.read(n), expected)) << "n = " << n;
}

template <typename K, typename V>
void expectSorted(std::size_t n, const std::vector<std::size_t>& begins, std::uint64_t seed) {
    const auto sort = [](const auto&... arguments) {
        const SegmentedSort sort;
        auto scratch = usedScratch(sort.scratchBytes(arguments...));
        sort(arguments..., scratch.bytes(), nullptr);
    };
    expectSortedBy<K, V>(sort, n, begins, seed);
}

using TwoWarps = BlockShape<64, 1>;

TEST_F(SeededSegmentsTest, ByLookBack) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectScannedByLookBack<TwoWarps, int>(Scan{}, 3001 + seed % 7, seed, Sum{}, byFlags());
    });
}

TEST_F(SeededSegmentsTest, ByLookBackWithOffsets) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectScannedByLookBack<BlockShape<192, 1>, int>(Scan{}, 6001 + seed % 7, seed, Sum{}, byOffsets());
    });
}

TEST_F(SeededSegmentsTest, ByLookBackWithAFunction) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectScannedByLookBack<BlockShape<192, 1>, int>(Scan{}, 6001 + seed % 7, seed, Sum{}, byFunction());
    });
}

TEST_F(SeededSegmentsTest, ByTickets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectScannedByLookBack<TwoWarps, Matrix>(Scan{.order = TileOrder::Ticket}, 600 + seed % 7, seed, Multiply{},
                                                  byOffsets());
    });
}

TEST_F(SeededSegmentsTest, Reproducible) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectScannedByLookBack<TwoWarps, AffineMap>(Scan{.reproducible = true}, 1500 + seed % 7, seed, Compose{},
                                                     byFlags());
    });
}

TEST_F(SeededSegmentsTest, Together) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const std::size_t n = 1500 + seed % 7;
        expectSums<AffineMap>(
            n, seed, Compose{}, byOffsets(),
            [&](const auto& source, AffineMap* out, auto segmented, auto initial, auto arena) {
                ASSERT_TRUE(Scan{}.scanResident(TwoWarps{}, source, out, n, segmented, initial, arena, nullptr));
            });
    });
}

// Blocks take long segments in any order.
TEST_F(SeededSegmentsTest, Sort) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const std::size_t n = 900 + seed % 7;
        const auto borders = segmentBorders(
            n, [seed](std::size_t segment) { return randomBits(seed, segment) % (segment % 8 == 0 ? 600 : 40); });
        expectSorted<int, std::uint16_t>(n, borders, seed);
    });
}

/// Sorts `n` elements in segments, none of which is too long for a warp, by that many blocks. `number` is n, or where
/// it lies in device memory.
template <typename Count>
void expectSortedByWarps(Count number, std::size_t n, unsigned blocks, std::size_t residentWarps, std::uint64_t seed) {
    const auto borders = segmentBorders(
        n, [seed](std::size_t segment) { return randomBits(seed, segment) % (segment % 3 == 0 ? 20 : 200); });
    const auto sort = [&](const int* keysIn, const auto& segments, int* keysOut, const std::uint16_t* valuesIn,
                          std::uint16_t* valuesOut, std::size_t /*n*/) {
        using Value = Radix::Carried<std::uint16_t>;
        const Radix::Elements<std::uint32_t, Value> out{Radix::bitsOf(keysOut), Radix::carried(valuesOut)};
        const Radix::Elements<const std::uint32_t, const Value> in{Radix::bitsOf(keysIn), Radix::carried(valuesIn)};
        launch<Segments::kernSortShortSegments<std::uint32_t, Value, std::size_t, Count>>(
            {blocks, Segments::shortThreads}, nullptr, number, out, in, segments, residentWarps,
            Segments::LongSegments{}, KeyCoding<std::uint32_t>::of<int>());
    };
    expectSortedBy<int, std::uint16_t>(sort, n, borders, seed);
}

// A warp takes as many segments as it has lanes, as if the card held no other.
TEST_F(SeededSegmentsTest, SortSeveralByWarp) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const std::size_t n = 2500 + seed % 7;
        expectSortedByWarps(n, n, 1, 0, seed);
    });
}

// Only the device knows the number of elements. The warps of a block take segments, each one or several, until none is
// left.
TEST_F(SeededSegmentsTest, SortUntilNoneIsLeft) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const std::size_t n = 5000 + seed % 7;
        const DeviceBuffer<std::size_t> value{std::span<const std::size_t>(&n, 1)};
        const std::size_t residentWarps = seed % 2 == 0 ? 1000 : 10;
        const std::size_t capacity = seed % 3 == 0 ? n : 4 * n;
        expectSortedByWarps(CountInDeviceMemory{value.data(), capacity}, n, 1 + seed % 3, residentWarps, seed);
    });
}

// Segments that do not fit into the memory of a block go back and forth between the output and the scratch.
TEST_F(SeededSegmentsTest, SortInTiles) {
    underEverySeed(BlockOrder::Any,
                   [](std::uint64_t seed) { expectSorted<std::uint16_t, std::uint8_t>(9000 + seed % 7, {}, seed); });
}

// All blocks sort a huge segment. Then each block takes others.
TEST_F(SeededSegmentsTest, SortTogether) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        constexpr std::size_t huge = Segments::leastHuge<std::uint16_t, SixteenBytes>;
        expectSorted<std::uint16_t, SixteenBytes>(huge + 900 + seed % 7, {100, 100 + huge, 700 + huge, 790 + huge},
                                                  seed);
    });
}

}  // namespace
}  // namespace StreamCompaction::Testing
