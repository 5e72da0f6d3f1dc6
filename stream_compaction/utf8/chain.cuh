#pragma once

#include <algorithm>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/chain.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/runtime/clear_words.cuh"
#include "stream_compaction/runtime/early_launch.cuh"
#include "stream_compaction/runtime/launch.cuh"
#include "stream_compaction/utf8/unit.h"

/// How the tiles of a conversion learn how much the tiles before them write, and how they report.
namespace StreamCompaction::Utf8 {

/// The result before anything is known.
struct BeginResult {
    Result* result;
    std::uint64_t count;

    __device__ void operator()() const { *result = {count, Result::noError}; }
};

/// The earliest error that has been reported by now.
[[nodiscard]] __device__ inline std::uint64_t reportedError(Result* result) {
    return LookBack::DevicePlatform::Word(result->firstError).load(cuda::std::memory_order_relaxed);
}

/// In blocks that are all resident: the tiles exchange their counts around a barrier of the grid.
struct Together {
    GridChain<std::uint32_t> chain;
    Result* result;

    __device__ void begin(std::uint64_t count) const {
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            *result = {count, Result::noError};
        }
    }
    /// The earliest error that is known to have been reported.
    [[nodiscard]] __device__ std::uint64_t knownError() const { return Result::noError; }
    /// Returns once the result has been begun.
    __device__ void synchronize() const {
        if (gridDim.x == 1) {
            __syncthreads();
        } else {
            cooperative_groups::this_grid().sync();
        }
    }
    __device__ void publish(std::uint32_t) const {}
    /// By all threads: what the tiles before this one count.
    __device__ std::uint64_t before(std::uint32_t mine) const {
        if (gridDim.x == 1) {
            __syncthreads();
            return 0;
        }
        chain.publish(mine);
        return chain.before(Sum{});
    }
};

/// In any number of blocks, behind clearWords: by decoupled look-back.
struct InTurn {
    LookBackChain<LookBack::Count> chain;
    Result* result;

    __device__ void begin(std::uint64_t) const {}
    [[nodiscard]] __device__ std::uint64_t knownError() const {
        waitForEarlierKernels();
        return reportedError(result);
    }
    __device__ void synchronize() const { waitForEarlierKernels(); }
    /// As soon as the tile's count is known, by one warp, before any calls before().
    __device__ void publish(std::uint32_t mine) const {
        chain.publish(static_cast<int>(blockIdx.x), LookBack::Count{mine});
    }
    __device__ std::uint64_t before(std::uint32_t mine) const {
        __shared__ std::uint64_t shared;
        if (Warp::index() == 0) {
            waitForEarlierKernels();  // another warp may have published
            const auto before =
                chain.before(static_cast<int>(blockIdx.x), LookBack::Count{mine}, LookBack::AddCounts{});
            if (threadIdx.x == 0) {
                shared = before.value;
            }
        }
        __syncthreads();
        return shared;
    }
};

/// So many blocks of so many threads as a multiprocessor is to have registers for; fewer where there are few tiles.
template <typename Chain>
[[nodiscard]] constexpr int blocksThatFit(std::size_t threads, std::size_t blocks) {
    constexpr std::size_t fewBlocks = 4;
    return StreamCompaction::blocksThatFit(threads, std::is_same_v<Chain, Together> ? fewBlocks : blocks);
}

/// How many tiles a text has, either way; those of blocks that are resident together may be smaller.
struct ChainTiles {
    std::size_t together;
    std::size_t inTurn;

    static constexpr std::size_t mostTogether = 128;

    /// Scratch for either. Throws std::invalid_argument for more tiles than a grid has blocks.
    [[nodiscard]] std::size_t scratchBytes() const {
        Arguments::requireAtMost("tiles of the text", inTurn, Common::mostBlocks);
        return std::max(scratchBytesFor<std::uint32_t>(std::min(together, mostTogether)),
                        scratchBytesFor<std::uint64_t>(LookBackChain<LookBack::Count>::wordsFor(inTurn)));
    }
};

/// Calls `launch(chain, tiles, begin)` with what suits so many tiles: one launch of `kernel<Together>` where its blocks
/// are all resident and that pays, else clearWords and one of `kernel<InTurn>`.
template <typename Launch>
void launchChain(ChainTiles tiles, unsigned residentBlocks, Result* result, std::uint64_t count, ScratchArena arena,
                 cudaStream_t stream, Launch&& launch) {
    if (tiles.together <= std::min<std::size_t>(ChainTiles::mostTogether, residentBlocks)) {
        launch(Together{{arena.take<std::uint32_t>(tiles.together)}, result}, tiles.together,
               tiles.together == 1 ? Begin::Normal : Begin::Cooperative);
        return;
    }
    const std::size_t words = LookBackChain<LookBack::Count>::wordsFor(tiles.inTurn);
    const InTurn chain{{arena.take<std::uint64_t>(words), tiles.inTurn}, result};
    clearWords(chain.chain.words, words, stream, BeginResult{result, count});
    launch(chain, tiles.inTurn, Begin::Programmatic);
}

/// The result before anything is known; where there is no input, after that too.
inline void beginResult(Result* result, std::uint64_t count, cudaStream_t stream) {
    clearWords(nullptr, 0, stream, BeginResult{result, count});
}

/// Checks the arrays of a conversion. How much it will write only the device will know; it may not begin inside the
/// input.
template <typename From, typename To>
void requireConversionArrays(const From* in, To* out, Result* result, std::size_t n) {
    Arguments::requireArray("in", in, n);
    Arguments::requireArray("out", out, n);
    Arguments::requireArray("result", result, 1);
    Arguments::requireDisjoint(in, n * sizeof(From), out, n > 0 ? 1 : 0);
}

/// Keeps the earliest of the errors that are reported; what kind this one is, `kindOf()` is asked only if it is. All
/// who report ask for the same word, so that it should be few: one a tile.
template <typename KindOf>
__device__ void reportError(Result* result, std::size_t offset, const KindOf& kindOf) {
    if (Result::errorAt(offset, ErrorKind::None) < reportedError(result)) {
        atomicMin(reinterpret_cast<unsigned long long*>(&result->firstError), Result::errorAt(offset, kindOf()));
    }
}

/// Keeps the smallest of the counts that are reported.
__device__ inline void reportCount(Result* result, std::uint64_t count) {
    atomicMin(reinterpret_cast<unsigned long long*>(&result->count), count);
}

/// By one thread of the last tile: how many elements there are, if no error ends them.
template <Errors errors>
__device__ void reportEnd(Result* result, std::uint64_t count) {
    if constexpr (errors == Errors::Strict) {
        reportCount(result, count);
    } else {
        result->count = count;
    }
}

}  // namespace StreamCompaction::Utf8
