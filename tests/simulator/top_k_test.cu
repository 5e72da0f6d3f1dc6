#include <algorithm>

#include "seeds.cuh"
#include "stream_compaction/top_k.cuh"

namespace StreamCompaction::Testing {
namespace {

using Radix::TopK;

class SeededTopKTest : public SeededTest {
  protected:
    /// Expects the first k of n keys of few values, by a filter if it has a rank.
    template <int threads>
    static void expectSelected(std::size_t n, std::size_t k, std::uint64_t rank, std::uint64_t seed) {
        const auto keys = hostArray(n, [&](std::size_t i) {
            return static_cast<std::uint32_t>(randomBits(seed, i) >> 32) & (seed % 2 == 0 ? 0xF00000FFu : ~0u);
        });
        std::vector<std::pair<std::uint32_t, std::size_t>> pairs;
        for (std::size_t i = 0; i < n; ++i) {
            pairs.emplace_back(keys[i], i);
        }
        std::ranges::nth_element(pairs, pairs.begin() + static_cast<std::ptrdiff_t>(k));
        pairs.resize(k);
        std::ranges::sort(pairs, {}, &std::pair<std::uint32_t, std::size_t>::second);
        std::vector<std::uint32_t> expected;
        std::ranges::transform(pairs, std::back_inserter(expected), [](const auto& pair) { return pair.first; });

        const DeviceBuffer<std::uint32_t> in{std::span<const std::uint32_t>(keys)};
        GuardedArray<std::uint32_t> out(k);
        const std::size_t bytes = TopK::scratchFor<std::uint32_t, Radix::NoValue>(n, rank);
        auto scratch = usedScratch(bytes);
        TopK{}.select<std::uint32_t, Radix::NoValue, threads>({in.data(), {}}, {out.data(), nullptr}, n, k, rank,
                                                              KeyCoding<std::uint32_t>::of<std::uint32_t>(),
                                                              ScratchArena(scratch.bytes(), bytes), nullptr);
        EXPECT_TRUE(sameBits(out.read(k), expected)) << "n = " << n << ", k = " << k;
    }
};

TEST_F(SeededTopKTest, OneBlock) {
    underEverySeed(BlockOrder::Any,
                   [](std::uint64_t seed) { expectSelected<512>(3000 + seed % 9, 100 + seed * 7, 0, seed); });
}

// Blocks that meet at barriers of the grid.
TEST_F(SeededTopKTest, Blocks) {
    underEverySeed(BlockOrder::Any,
                   [](std::uint64_t seed) { expectSelected<128>(6500 + seed % 9, 300 + seed * 30, 0, seed); });
}

TEST_F(SeededTopKTest, Filtered) {
    underEverySeed(BlockOrder::Any,
                   [](std::uint64_t seed) { expectSelected<128>(Radix::sampleSize + 100, 60, 150, seed); });
}

// Blocks of as many threads as there may be, without and with a filter.
TEST_F(SeededTopKTest, LargeBlocks) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSelected<Radix::mostSelectThreads>(34000 + seed % 9, 300 + seed * 30, 0, seed);
        expectSelected<Radix::mostSelectThreads>(34000 + seed % 9, 60, 150, seed);
    });
}

}  // namespace
}  // namespace StreamCompaction::Testing
