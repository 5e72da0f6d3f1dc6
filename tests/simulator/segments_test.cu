#include <numeric>

#include "../device/segments.h"
#include "../primitives/noncommutative.cuh"
#include "seeds.cuh"
#include "stream_compaction/segmented_scan.cuh"

namespace StreamCompaction::Testing {
namespace {

using Segments::SegmentedOperator;
using Segments::SegmentedSource;
using SinglePass::BlockShape;
using SinglePass::Scan;

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

}  // namespace
}  // namespace StreamCompaction::Testing
