#include <numeric>

#include "seeds.cuh"
#include "stream_compaction/radix_launch.cuh"

namespace StreamCompaction::Testing {
namespace {

using Radix::NoValue;
using Radix::SortShape;
using Tile = SortShape<256, 2>;

class SeededRadixTest : public SeededTest {
  protected:
    /// Expects sort(launcher) to sort n keys of few different digits, so that there are equal ones, with their places
    /// for values, by the bits of `range`. It returns false where the card cannot.
    template <typename Bits, typename Value, typename Sort>
    static void expectSorted(std::size_t n, std::uint64_t seed, DigitRange range, bool mayDestroyInput,
                             const Sort& sort) {
        const auto keys =
            hostArray(n, [seed](std::size_t i) { return static_cast<Bits>(randomBits(seed, i) & 0x0F070F0F0F071F1F); });
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
        const std::size_t bytes =
            std::max(Radix::residentScratchBytes<Bits, Value>(n, Common::divideRoundUp(n, Tile::elements)),
                     Radix::passesScratchBytes<Tile, Bits, Value>(n, mayDestroyInput));
        auto scratch = usedScratch(bytes);
        Radix::Launcher<Bits, Value> launcher{{keysIn.data(), nullptr},
                                              {keysOut.data(), nullptr},
                                              n,
                                              range,
                                              KeyCoding<Bits>::template of<Bits>(false),
                                              mayDestroyInput,
                                              ScratchArena(scratch.bytes(), bytes),
                                              nullptr};
        if constexpr (Radix::hasValues<Value>) {
            launcher.in.values = valuesIn.data();
            launcher.out.values = valuesOut.data();
        }
        if (!sort(launcher)) {
            return;
        }
        std::vector<Bits> expected;
        for (const std::uint32_t place : sorted) {
            expected.push_back(keys[place]);
        }
        ASSERT_TRUE(sameBits(keysOut.read(n), expected)) << "keys, n = " << n;
        if constexpr (Radix::hasValues<Value>) {
            ASSERT_TRUE(sameBits(valuesOut.read(n), sorted)) << "values, n = " << n;
        }
    }
};

TEST_F(SeededRadixTest, ByBlock) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSorted<std::uint16_t, std::uint32_t>(Tile::elements - seed % 40, seed, {0, 16}, false,
                                                   [](const auto& launcher) { return launcher.byBlock(Tile{}); });
    });
}

TEST_F(SeededRadixTest, ByCluster) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSorted<std::uint32_t, NoValue>(1300 + seed % 40, seed, {0, 16}, false, [](const auto& launcher) {
            const bool isDone = launcher.byCluster(Tile{});
            EXPECT_EQ(isDone, Simulator::card().hasClusters());
            return isDone;
        });
    });
}

TEST_F(SeededRadixTest, ByGrid) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSorted<std::uint32_t, std::uint32_t>(1300 + seed % 40, seed, {0, 24}, false,
                                                   [](const auto& launcher) { return launcher.byGrid(Tile{}); });
    });
}

TEST_F(SeededRadixTest, InPasses) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        const auto inPasses = [](const auto& launcher) { return launcher.inPasses(Tile{}, 1); };
        if (seed % 2 == 0) {
            expectSorted<std::uint32_t, NoValue>(2300 + seed % 40, seed, {0, 24}, false, inPasses);
        } else {
            expectSorted<std::uint32_t, std::uint32_t>(1800 + seed % 40, seed, {0, 16}, seed % 4 == 1, inPasses);
        }
    });
}

/// Of so many keys that several blocks count their digits. One of four seeds, because of the time it takes.
TEST_F(SeededRadixTest, CountedBySeveralBlocks) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        if (seed % 4 == 0) {
            expectSorted<std::uint64_t, NoValue>(8300 + seed % 40, seed, {0, 8}, false, [](const auto& launcher) {
                return launcher.inPasses(SortShape<256, 8>{}, 1);
            });
        }
    });
}

}  // namespace
}  // namespace StreamCompaction::Testing
