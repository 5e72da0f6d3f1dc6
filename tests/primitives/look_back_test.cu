#include <cooperative_groups.h>

#include <bit>

#include "../device/device_fixture.cuh"
#include "noncommutative.cuh"
#include "stream_compaction/primitives/look_back.cuh"

namespace StreamCompaction::Testing {
namespace {

struct Chain {
    bool inOrder;           ///< additions in a fixed order
    unsigned delayOfFirst;  ///< nanoseconds by which the first tile is delayed
};

/// The prefixes of `tiles` aggregates, with one warp per block.
template <typename T, typename Op>
__global__ void kernChain(int tiles, T* prefixes, std::uint64_t* words, const T* aggregates, Chain chain, Op op) {
    const std::size_t statusWords = LookBack::Statuses<T>::wordsFor(tiles);
    const LookBack::Statuses<T> statuses(words);
    const LookBack::Statuses<T> groups(words + statusWords);
    for (std::size_t i = Common::globalThreadIndex(); i < 2 * statusWords; i += std::size_t{gridDim.x} * blockDim.x) {
        words[i] = 0;
    }
    cooperative_groups::this_grid().sync();
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
        const T aggregate = aggregates[tile];
        for (unsigned waited = 0; tile == 0 && waited < chain.delayOfFirst; waited += 100000) {
            __nanosleep(100000);
        }
        const auto publish = [&](LookBack::State state, const T& value) {
            if (threadIdx.x == 0) {
                statuses.publish(tile, state, value);
            }
        };
        publish(LookBack::State::Aggregate, aggregate);
        T prefix;
        if (chain.inOrder) {
            prefix = LookBack::lookBackInOrder(statuses, groups, tile, aggregate, op);
        } else {
            prefix = LookBack::lookBack(statuses, tile, op);
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
        DeviceBuffer<std::uint64_t> words(2 * LookBack::Statuses<T>::wordsFor(tiles));
        // Old words that look like publications.
        Common::checkCUDAError(cudaMemset(words.data(), 0x55, words.byteCount()), "cudaMemset");
        constexpr auto kernel = kernChain<T, Op>;
        const std::size_t resident = onCurrentDevice<kernel>(Warp::lanes, 0).residentBlocks;
        launchAtMost(std::min<std::size_t>(tiles, resident), 1, [&](std::size_t blocks) {
            return tryLaunch<kernel>({.blocks = blocks, .threads = Warp::lanes, .begin = Begin::Cooperative}, nullptr,
                                     tiles, out.data(), words.data(), in.data(), chain, op);
        });
        std::vector<T> prefixes(tiles);
        out.copyTo(prefixes);
        return prefixes;
    }

    template <typename T, typename Op, typename Value = RandomValue<T>>
    static void expectRightPrefixes(Op op, Chain chain, Value value = {11}) {
        for (const std::size_t tiles : {1, 2, 31, 32, 33, isSimulated ? 300 : 1000, quick() ? 301 : 40001}) {
            const auto aggregates = hostArray(tiles, value);
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

TEST_F(LookBackTest, AsFarAsNeeded) { expectRightPrefixesOfAllSizes({false, 0}); }

TEST_F(LookBackTest, InOrder) { expectRightPrefixesOfAllSizes({true, 0}); }

// The first tile is late, so all other resident tiles look back to the beginning.
TEST_F(LookBackTest, AcrossTheWholeDistance) {
    expectRightPrefixesOfAllSizes({false, 5000000});
    expectRightPrefixesOfAllSizes({true, 5000000});
}

/// Each value is more extreme than all earlier ones; some later values are NaNs.
template <typename T>
struct RisingToNans {
    T sign;

    T operator()(std::size_t i) const {
        const T nan = std::bit_cast<float>(0x7FFFFFFF);  // the NaN that instructions of the card return
        return i >= 20 && i % 3 == 2 ? nan : sign * static_cast<T>(i);
    }
};

TEST_F(LookBackTest, ExtremesWithNans) {
    for (const unsigned delay : {0, 5000000}) {
        for (const bool inOrder : {false, true}) {
            expectRightPrefixes<double>(Max{}, {inOrder, delay}, RisingToNans<double>{1});
            expectRightPrefixes<float>(Min{}, {inOrder, delay}, RisingToNans<float>{-1});
        }
    }
}

}  // namespace
}  // namespace StreamCompaction::Testing
