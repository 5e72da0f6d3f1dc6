#include <cooperative_groups.h>

#include "../device/device_fixture.cuh"
#include "noncommutative.cuh"
#include "stream_compaction/primitives/device_platform.cuh"
#include "stream_compaction/primitives/look_back.cuh"
#include "stream_compaction/primitives/tile_queue.cuh"

namespace StreamCompaction::Testing {
namespace {

struct Chain {
    TileOrder order;
    bool inOrder;           ///< additions in a fixed order
    unsigned delayOfFirst;  ///< nanoseconds by which the first tile is late
};

/// The prefixes of `tiles` aggregates, by a warp a block.
template <typename T, typename Op>
__global__ void kernChain(int tiles, T* prefixes, std::uint64_t* words, const T* aggregates, Chain chain, Op op) {
    using Platform = LookBack::DevicePlatform;
    __shared__ int nextTile;
    const std::size_t statusWords = LookBack::Statuses<T>::wordsFor(tiles);
    const LookBack::Statuses<T> statuses(words + TileQueue::counterWords);
    const LookBack::Statuses<T> groups(words + TileQueue::counterWords + statusWords);
    const TileQueue queue(chain.order, words, nextTile);
    clearTogether(words, TileQueue::counterWords + 2 * statusWords);
    for (int tile = TileQueue::first(); tile < tiles; tile = queue.tell(queue.ask(tile))) {
        const T aggregate = aggregates[tile];
        for (unsigned waited = 0; tile == 0 && waited < chain.delayOfFirst; waited += 100000) {
            __nanosleep(100000);
        }
        const auto publish = [&](LookBack::State state, const T& value) {
            if (threadIdx.x == 0) {
                statuses.publish(Platform{}, tile, state, value);
            }
        };
        publish(LookBack::State::Aggregate, aggregate);
        T prefix;
        if (chain.inOrder) {
            prefix = LookBack::lookBackInOrder(Platform{}, statuses, groups, tile, aggregate, op);
        } else {
            prefix = LookBack::lookBack(Platform{}, statuses, tile, op);
            publish(LookBack::State::Prefix, op(prefix, aggregate));
        }
        if (threadIdx.x == 0) {
            prefixes[tile] = prefix;
        }
    }
}

class LookBackTest : public DeviceTest {
  protected:
    template <typename T, typename Op>
    static std::vector<T> prefixesOf(const std::vector<T>& aggregates, Op op, Chain chain) {
        const int tiles = static_cast<int>(aggregates.size());
        const DeviceBuffer<T> in{std::span<const T>(aggregates)};
        DeviceBuffer<T> out(tiles);
        DeviceBuffer<std::uint64_t> words(TileQueue::counterWords + 2 * LookBack::Statuses<T>::wordsFor(tiles));
        // Stale words that look like publications.
        Common::checkCUDAError(cudaMemset(words.data(), 0x55, words.byteCount()), "cudaMemset");
        int perMultiprocessor = 0;
        int multiprocessors = 0;
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, kernChain<T, Op>, Warp::lanes, 0);
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
        T* outData = out.data();
        std::uint64_t* wordData = words.data();
        const T* inData = in.data();
        int count = tiles;
        void* arguments[] = {&count, &outData, &wordData, &inData, &chain, &op};
        Common::checkCUDAError(
            cudaLaunchCooperativeKernel(kernChain<T, Op>, std::min(tiles, perMultiprocessor * multiprocessors),
                                        Warp::lanes, arguments, 0, nullptr),
            "kernChain");
        std::vector<T> prefixes(tiles);
        out.copyTo(prefixes);
        return prefixes;
    }

    template <typename T, typename Op>
    static void expectRightPrefixes(Op op, Chain chain) {
        for (const std::size_t tiles : {1, 2, 31, 32, 33, 1000, quick() ? 1001 : 40001}) {
            const auto aggregates = hostArray(tiles, RandomValue<T>{11});
            std::vector<T> expected;
            T sum = op.template identity<T>();
            for (const T& aggregate : aggregates) {
                expected.push_back(sum);
                sum = op(sum, aggregate);
            }
            ASSERT_TRUE(sameBits(prefixesOf(aggregates, op, chain), expected)) << tiles << " tiles";
        }
    }

    static void expectRightPrefixesOfAllSizes(Chain chain) {
        expectRightPrefixes<std::uint8_t>(Sum{}, chain);
        expectRightPrefixes<int>(Sum{}, chain);
        expectRightPrefixes<std::int64_t>(Sum{}, chain);
        expectRightPrefixes<double>(Max{}, chain);
        expectRightPrefixes<AffineMap>(Compose{}, chain);
        expectRightPrefixes<Matrix>(Multiply{}, chain);
    }
};

TEST_F(LookBackTest, ByTicket) { expectRightPrefixesOfAllSizes({TileOrder::Ticket, false, 0}); }

TEST_F(LookBackTest, RoundRobin) { expectRightPrefixesOfAllSizes({TileOrder::RoundRobin, false, 0}); }

TEST_F(LookBackTest, InOrder) { expectRightPrefixesOfAllSizes({TileOrder::Ticket, true, 0}); }

// With the first tile late, all others that are resident look back across the whole distance.
TEST_F(LookBackTest, AcrossTheWholeDistance) {
    expectRightPrefixesOfAllSizes({TileOrder::Ticket, false, 5000000});
    expectRightPrefixesOfAllSizes({TileOrder::Ticket, true, 5000000});
}

}  // namespace
}  // namespace StreamCompaction::Testing
