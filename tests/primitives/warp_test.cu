#include "../device/device_fixture.cuh"
#include "noncommutative.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/warp.cuh"

namespace StreamCompaction::Testing {
namespace {

template <int warps, typename T, typename Op>
__global__ void kernWarpAndBlock(const T* in, T* reduced, T* scanned, T* before, T* all, Op op) {
    __shared__ T slots[warps];
    const T x = in[threadIdx.x];
    reduced[threadIdx.x] = Warp::reduce(x, op);
    scanned[threadIdx.x] = Warp::inclusiveScan(x, op);
    const auto place = Block::scanWarps<warps>(reduced[threadIdx.x], slots, op);
    before[threadIdx.x] = place.before;
    all[threadIdx.x] = place.all;
}

class WarpTest : public DeviceTest {
  protected:
    /// Compares sums over warps, and over blocks of `warps` warps, with serial sums.
    template <int warps, typename T, typename Op>
    static void expectRightSums(const std::vector<T>& in, Op op) {
        const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
        std::array<DeviceBuffer<T>, 4> results;
        for (auto& result : results) {
            result = DeviceBuffer<T>(in.size());
        }
        kernWarpAndBlock<warps><<<1, warps * Warp::lanes>>>(deviceIn.data(), results[0].data(), results[1].data(),
                                                            results[2].data(), results[3].data(), op);
        Common::checkLaunch("kernWarpAndBlock");
        std::array<std::vector<T>, 4> actual;
        for (std::size_t i = 0; i < results.size(); ++i) {
            actual[i].resize(in.size());
            results[i].copyTo(actual[i]);
        }
        const T identity = op.template identity<T>();
        std::vector<T> expected[4];
        T block = identity;
        for (int warp = 0; warp < warps; ++warp) {
            T sum = identity;
            for (int lane = 0; lane < Warp::lanes; ++lane) {
                sum = op(sum, in[warp * Warp::lanes + lane]);
                expected[1].push_back(sum);
            }
            expected[0].insert(expected[0].end(), Warp::lanes, sum);
            expected[2].insert(expected[2].end(), Warp::lanes, block);
            block = op(block, sum);
        }
        expected[3].assign(in.size(), block);
        for (std::size_t i = 0; i < results.size(); ++i) {
            EXPECT_TRUE(sameBits(actual[i], expected[i])) << "result " << i << ", " << warps << " warps";
        }
    }

    template <typename T, typename Op>
    static void expectRightSumsForAllBlocks(Op op) {
        expectRightSums<1>(hostArray(32, RandomValue<T>{1}), op);
        expectRightSums<3>(hostArray(96, RandomValue<T>{2}), op);
        expectRightSums<8>(hostArray(256, RandomValue<T>{3}), op);
        expectRightSums<32>(hostArray(1024, RandomValue<T>{4}), op);
    }
};

TEST_F(WarpTest, SumsOfEverySize) {
    expectRightSumsForAllBlocks<std::int8_t>(Sum{});
    expectRightSumsForAllBlocks<std::uint16_t>(Sum{});
    expectRightSumsForAllBlocks<int>(Sum{});
    expectRightSumsForAllBlocks<unsigned>(Sum{});
    expectRightSumsForAllBlocks<std::int64_t>(Sum{});
    expectRightSumsForAllBlocks<float>(Sum{});
    expectRightSumsForAllBlocks<double>(Sum{});
}

TEST_F(WarpTest, Extremes) {
    expectRightSumsForAllBlocks<std::int8_t>(Max{});
    expectRightSumsForAllBlocks<int>(Min{});
    expectRightSumsForAllBlocks<float>(Max{});
    expectRightSumsForAllBlocks<double>(Min{});
}

TEST_F(WarpTest, OperandsKeepTheirOrder) {
    expectRightSumsForAllBlocks<AffineMap>(Compose{});
    expectRightSumsForAllBlocks<Matrix>(Multiply{});
}

}  // namespace
}  // namespace StreamCompaction::Testing
