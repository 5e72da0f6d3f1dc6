#include "../primitives/noncommutative.cuh"
#include "seeds.cuh"
#include "stream_compaction/runs.cuh"

namespace StreamCompaction::Testing {
namespace {

using Runs::IsEqual;
using Runs::ReduceByKey;

/// Keys in runs, most of them short and some over several tiles.
struct KeyInRuns {
    std::uint64_t seed;
    __host__ __device__ int operator()(std::size_t i) const {
        const bool isLong = randomBits(seed, i / 900) % 3 == 0;
        return isLong ? static_cast<int>(i / 900) : static_cast<int>(i / (1 + seed % 4));
    }
};

class SeededRunsTest : public SeededTest {
  protected:
    /// Expects the runs of n elements to be right, over tiles of `threads` threads of `vectors` vectors each. `Heads`
    /// is the type of the number of runs by look-back, or void for blocks that meet. The values are in an array, or are
    /// made in registers.
    template <int threads, int vectors, typename Heads, typename T, bool areInArray = true, typename Op>
    static void expectReduced(TileOrder order, std::size_t n, std::uint64_t seed, Op op) {
        using Shape = ThreadwiseShape<threads, vectors, vectorLength<int, T>>;
        constexpr bool meets = std::is_void_v<Heads>;
        using Run = OpenRun<T, std::conditional_t<meets, std::uint32_t, Heads>>;
        const std::size_t tiles = n / Shape::elements + 1;
        const auto keys = hostArray(n, KeyInRuns{seed});
        const auto values = hostArray(n, RandomValue<T>{seed});
        std::vector<int> expectedKeys;
        std::vector<T> expectedSums;
        for (std::size_t i = 0; i < n; ++i) {
            if (i > 0 && keys[i] == keys[i - 1]) {
                expectedSums.back() = op(expectedSums.back(), values[i]);
            } else {
                expectedKeys.push_back(keys[i]);
                expectedSums.push_back(values[i]);
            }
        }
        const DeviceBuffer<int> deviceKeys{std::span<const int>(keys)};
        const DeviceBuffer<T> deviceValues{std::span<const T>(values)};
        GuardedArray<int> uniqueKeys(n);
        GuardedArray<T> sums(n);
        DeviceBuffer<std::size_t> count(1);
        const std::size_t bytes =
            meets ? scratchBytesFor<Run>(tiles) : scratchBytesFor<std::uint64_t>(LookBackChain<Run>::wordsFor(tiles));
        auto scratch = usedScratch(bytes);
        const auto reduce = [&](const auto& source) {
            const auto keySource = sourceOf(static_cast<const int*>(deviceKeys.data()));
            const ScratchArena arena(scratch.bytes(), bytes);
            if constexpr (meets) {
                ASSERT_TRUE(ReduceByKey{}.reduceTogether<Shape>(keySource, source, uniqueKeys.data(), sums.data(),
                                                                count.data(), n, op, IsEqual{}, arena, nullptr));
            } else {
                ReduceByKey{order}.reduceByLookBack<Shape, Heads>(keySource, source, uniqueKeys.data(), sums.data(),
                                                                  count.data(), n, op, IsEqual{}, arena, nullptr);
            }
        };
        if constexpr (areInArray) {
            reduce(sourceOf(static_cast<const T*>(deviceValues.data())));
        } else {
            reduce(generated(RandomValue<T>{seed}));
        }

        ASSERT_EQ(firstOf(count), expectedKeys.size()) << "n = " << n;
        ASSERT_TRUE(sameBits(uniqueKeys.read(expectedKeys.size()), expectedKeys)) << "n = " << n;
        ASSERT_TRUE(sameBits(sums.read(expectedKeys.size()), expectedSums)) << "n = " << n;
    }
};

// Each warp reads the element before its own from global memory.
TEST_F(SeededRunsTest, Unique) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        const std::size_t n = 3000 + seed % 300;
        const auto in = hostArray(n, KeyInRuns{seed});
        std::vector<int> expected;
        std::ranges::unique_copy(in, std::back_inserter(expected));
        const DeviceBuffer<int> deviceIn{std::span<const int>(in)};
        GuardedArray<int> out(n);
        DeviceBuffer<std::size_t> count(1);
        const std::size_t bytes = scratchBytesFor<std::uint64_t>(LookBackChain<LookBack::Count>::wordsFor(n));
        auto scratch = usedScratch(bytes);
        SinglePass::CompactLauncher<SinglePass::Rejects::Dropped>{}.compactByLookBack(
            SinglePass::BlockShape<64, 3>{}, sourceOf(static_cast<const int*>(deviceIn.data())), out.data(),
            noArray<int>, count.data(), n, WithPrevious{Runs::BeginsRun<IsEqual>{}},
            ScratchArena(scratch.bytes(), bytes), nullptr);
        ASSERT_EQ(firstOf(count), expected.size());
        ASSERT_TRUE(sameBits(out.read(expected.size()), expected));
    });
}

TEST_F(SeededRunsTest, ByLookBack) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectReduced<64, 1, std::uint32_t, int>(TileOrder::BlockIndex, 4000 + seed % 300, seed, Sum{});
    });
}

// More blocks than a warp has lanes, where the card holds as many.
TEST_F(SeededRunsTest, Together) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const std::size_t ofMaps = (currentDevice().multiprocessors > 2 ? 4500 : 1000) + seed % 300;
        expectReduced<64, 1, void, int>(TileOrder::BlockIndex, 3000 + seed % 300, seed, Sum{});
        expectReduced<64, 1, void, int, false>(TileOrder::BlockIndex, 200 + seed % 60, seed, Sum{});
        expectReduced<64, 1, void, AffineMap>(TileOrder::BlockIndex, ofMaps, seed, Compose{});
    });
}

// The sums take the place of the keys.
TEST_F(SeededRunsTest, GeneratedValues) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectReduced<64, 1, std::uint32_t, int, false>(TileOrder::BlockIndex, 4000 + seed % 300, seed, Sum{});
    });
}

TEST_F(SeededRunsTest, ByTickets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectReduced<32, 3, std::uint64_t, int>(TileOrder::Ticket, 4000 + seed % 300, seed, Sum{});
    });
}

TEST_F(SeededRunsTest, WholeTiles) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectReduced<64, 1, std::uint32_t, int>(TileOrder::BlockIndex, 256 * (1 + seed % 12), seed, Sum{});
    });
}

// Sums of several words, whose order matters.
TEST_F(SeededRunsTest, WideSums) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectReduced<192, 1, std::uint64_t, AffineMap>(TileOrder::BlockIndex, 3500 + seed % 300, seed, Compose{});
        expectReduced<64, 1, std::uint64_t, Matrix>(TileOrder::BlockIndex, 700 + seed % 300, seed, Multiply{});
    });
}

// The number of runs and the sum share words.
TEST(OpenRunTest, IsCodedWithoutLoss) {
    const auto expectKept = []<typename T, typename Heads>(Heads heads, const T& sum) {
        using Run = OpenRun<T, Heads>;
        std::uint64_t payloads[LookBack::Coding<Run>::words];
        LookBack::Coding<Run>::toPayloads({heads, sum}, payloads);
        for (const std::uint64_t payload : payloads) {
            EXPECT_LT(payload, std::uint64_t{1} << 62);
        }
        const Run run = LookBack::Coding<Run>::fromPayloads(payloads);
        EXPECT_EQ(run.heads, heads);
        EXPECT_EQ(run.sum, sum);
    };
    for (const std::uint64_t heads : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{mostNarrowHeads},
                                      (std::uint64_t{1} << 30) + 5, (std::uint64_t{1} << 60) - 1}) {
        expectKept(heads, std::int32_t{-1});
        expectKept(heads, std::int64_t{-2});
        expectKept(heads, std::uint8_t{255});
        expectKept(heads, 0.5);
        if (heads <= mostNarrowHeads) {
            expectKept(static_cast<std::uint32_t>(heads), std::int32_t{-1});
            expectKept(static_cast<std::uint32_t>(heads), std::int64_t{-2});
        }
    }
    EXPECT_EQ((LookBack::Coding<OpenRun<int, std::uint32_t>>::words), 1);
    EXPECT_EQ((LookBack::Coding<OpenRun<int, std::uint64_t>>::words), 2);
    EXPECT_EQ((LookBack::Coding<OpenRun<double, std::uint64_t>>::words), 2);
}

}  // namespace
}  // namespace StreamCompaction::Testing
