#include "seeds.cuh"
#include "stream_compaction/histogram.cuh"

namespace StreamCompaction::Testing {
namespace {

class SeededHistogramTest : public SeededTest {
  protected:
    /// Expects the counts of n elements, of which some are in no bin.
    template <typename T>
    static void expectCounted(std::size_t n, std::uint64_t seed, std::uint32_t bins) {
        const auto elements =
            hostArray(n, [&](std::size_t i) { return static_cast<T>(randomBits(seed, i) % (bins + 3)); });
        const DeviceBuffer<T> in{std::span<const T>(elements)};
        GuardedArray<std::uint32_t> counts(bins);
        counts.poison(bins, nullptr);
        Histogram{}(in.data(), counts.data(), n, bins, {}, nullptr);
        std::vector<std::uint32_t> expected(bins);
        for (const T element : elements) {
            if (element < bins) {
                ++expected[element];
            }
        }
        EXPECT_TRUE(sameBits(counts.read(bins), expected)) << bins << " bins";
    }
};

/// Two blocks or more.
TEST_F(SeededHistogramTest, Ints) {
    underEverySeed(BlockOrder::Any,
                   [](std::uint64_t seed) { expectCounted<std::uint32_t>(16400 + seed % 40, seed, 20); });
}

TEST_F(SeededHistogramTest, Bytes) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) { expectCounted<std::uint8_t>(9000, seed, 250); });
}

/// More bins than a block can count.
TEST_F(SeededHistogramTest, Parts) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) { expectCounted<std::uint32_t>(5000, seed, 60000); });
}

}  // namespace
}  // namespace StreamCompaction::Testing
