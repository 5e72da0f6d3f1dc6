#include <numeric>

#include "seeds.cuh"
#include "stream_compaction/efficient.cuh"
#include "stream_compaction/map_scan_scatter.cuh"
#include "stream_compaction/naive.cuh"
#include "stream_compaction/shared_mem.cuh"

namespace StreamCompaction::Testing {
namespace {

class SeededTextbookTest : public SeededTest {
  protected:
    template <typename Scan>
    static void expectScanned(const Scan& scan, std::size_t n, std::uint64_t seed) {
        const auto in = hostArray(n, Summand<std::uint32_t>{seed});
        std::vector<std::uint32_t> expected(n);
        std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0U);
        const DeviceBuffer<std::uint32_t> deviceIn{std::span<const std::uint32_t>(in)};
        GuardedArray<std::uint32_t> out(n);
        auto scratch = usedScratch(scan.scratchBytes(noArray<std::uint32_t>, noArray<std::uint32_t>, n));
        scan(deviceIn.data(), out.data(), n, scratch.bytes(), nullptr);
        ASSERT_TRUE(sameBits(out.read(n), expected)) << "n = " << n;
    }
};

TEST_F(SeededTextbookTest, Naive) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) { expectScanned(Naive::Scan{128}, 300 + seed % 9, seed); });
}

TEST_F(SeededTextbookTest, Efficient) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectScanned(Efficient::TextbookScan{128}, 300 + seed % 9, seed);
        expectScanned(Efficient::OptimizedScan{128}, 500 + seed % 9, seed);
    });
}

TEST_F(SeededTextbookTest, SharedMem) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectScanned(SharedMem::Scan{128, seed % 2 == 0}, 2200 + seed % 9, seed);
    });
}

}  // namespace
}  // namespace StreamCompaction::Testing
