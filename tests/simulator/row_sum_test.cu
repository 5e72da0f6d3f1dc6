#include <numeric>

#include "seeds.cuh"
#include "stream_compaction/row_sum.cuh"

namespace StreamCompaction::Testing {
namespace {

using RowSum::Mapping;
using RowSum::Plan;

class SeededRowSumTest : public SeededTest {
  protected:
    static void expectSums(const Plan& plan, std::size_t rows, std::size_t cols, std::uint64_t seed) {
        const auto in = hostArray(rows * cols, Summand<std::uint32_t>{seed});
        std::vector<std::uint32_t> expected;
        for (std::size_t row = 0; row < rows; ++row) {
            expected.push_back(std::accumulate(in.begin() + row * cols, in.begin() + (row + 1) * cols, 0U));
        }
        const DeviceBuffer<std::uint32_t> deviceIn{std::span<const std::uint32_t>(in)};
        GuardedArray<std::uint32_t> out(rows);
        const std::size_t bytes = scratchBytesFor<std::uint32_t>(rows * plan.parts);
        auto scratch = usedScratch(bytes);
        RowSum::Adaptive{}.sumBy(plan, RowSum::Matrix<std::uint32_t>{deviceIn.data(), rows, cols, cols}, out.data(),
                                 ScratchArena(scratch.bytes(), bytes), nullptr);
        ASSERT_TRUE(sameBits(out.read(rows), expected)) << rows << " x " << cols;
    }
};

TEST_F(SeededRowSumTest, ByThreads) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) { expectSums({Mapping::Thread}, 300, 1 + seed % 9, seed); });
}

TEST_F(SeededRowSumTest, ByBlocks) {
    underEverySeed(BlockOrder::Any,
                   [](std::uint64_t seed) { expectSums({Mapping::SmallBlock}, 3, 900 + seed % 9, seed); });
}

TEST_F(SeededRowSumTest, BySeveralBlocksPerRow) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSums({.mapping = Mapping::Blocks, .parts = 3, .partVectors = 512}, 2, 5000 + seed % 9, seed);
    });
}

}  // namespace
}  // namespace StreamCompaction::Testing
