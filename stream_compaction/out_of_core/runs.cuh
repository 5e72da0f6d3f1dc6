#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "stream_compaction/common.cuh"
#include "stream_compaction/out_of_core/codes.cuh"
#include "stream_compaction/out_of_core/pipeline.h"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/warp.cuh"

/// Cutting sorted runs so that what lies before the cuts are the first elements of all runs together (Varman et al.,
/// "Merging Multiple Lists on Hierarchical-Memory Multiprocessors", 1991). Equal elements are taken from earlier runs
/// first, so that stable sorts of the parts make a stable sort of all. The runs are the chunks of an array.
///
/// The code of the last element before the cuts is found by bisection.
namespace StreamCompaction::OutOfCore {

/// The first index in [first, last) whose code is greater than `code`, or `last`.
template <typename K>
[[nodiscard]] __host__ __device__ std::size_t behind(std::uint64_t code, std::size_t first, std::size_t last,
                                                     const Codes<K>& codes) {
    while (first < last) {
        const std::size_t middle = first + (last - first) / 2;
        if (codes(middle) <= code) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}

/// Cuts runs in host memory behind their first `rank` elements. Returns the index of the cut in each.
template <typename K>
[[nodiscard]] std::vector<std::size_t> cutRuns(std::size_t rank, const Plan& runs, const Codes<K>& codes) {
    // In each run the elements before `first` have codes below `low`, and those from `last` on have codes above `high`.
    std::uint64_t low = 0;
    std::uint64_t high = codes.most();
    std::vector<std::size_t> first(runs.count);
    std::vector<std::size_t> last(runs.count);
    for (std::size_t run = 0; run < runs.count; ++run) {
        first[run] = runs.chunk(run).begin;
        last[run] = runs.chunk(run).end();
    }
    std::vector<std::size_t> cuts(runs.count);
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        std::size_t count = 0;
        for (std::size_t run = 0; run < runs.count; ++run) {
            cuts[run] = behind(middle, first[run], last[run], codes);
            count += cuts[run] - runs.chunk(run).begin;
        }
        if (count >= rank) {
            high = middle;
            std::swap(last, cuts);
        } else {
            low = middle + 1;
            std::swap(first, cuts);
        }
    }
    // The elements between have the code of the last element before the cuts.
    std::size_t missing = rank;
    for (std::size_t run = 0; run < runs.count; ++run) {
        missing -= first[run] - runs.chunk(run).begin;
    }
    for (std::size_t run = 0; run < runs.count; ++run) {
        const std::size_t taken = std::min(missing, last[run] - first[run]);
        cuts[run] = first[run] + taken;
        missing -= taken;
    }
    return cuts;
}

/// The first elements of runs in device memory, on one card or several.
struct RunStarts {
    static constexpr std::size_t mostRuns = 2 * Pipeline::mostChunks;

    const std::byte* starts[mostRuns];
};

/// Threads of a block that cuts runs: one per run, in whole warps.
[[nodiscard]] __host__ __device__ constexpr unsigned cutThreads(std::size_t runs) {
    return static_cast<unsigned>(Common::divideRoundUp(runs, Warp::lanes) * Warp::lanes);
}

/// The same for runs in device memory: block b cuts them behind the elements of b runs, so that each part is as large
/// as a run. What it takes of run r goes to taken[b * runs + r].
///
/// Work O(parts runs bits log n), steps O(bits log n). The latency of the loads is the limit.
template <typename K>
__global__ void kernCutRuns(Plan runs, RunStarts at, Codes<K> codes, std::size_t* taken) {
    // The two are used in turn, so one barrier per reduction is enough. Warps that the block does not have count
    // nothing.
    constexpr int warps = cutThreads(RunStarts::mostRuns) / Warp::lanes;
    __shared__ std::size_t slots[2][warps];
    static_assert(2 * warps <= Warp::lanes);
    if (threadIdx.x < 2 * warps) {
        slots[threadIdx.x / warps][threadIdx.x % warps] = 0;
    }
    __syncthreads();

    const std::size_t run = threadIdx.x;
    const bool isRun = run < runs.count;
    const auto keys = codes.of(at.starts[isRun ? run : 0]);
    const std::size_t rank = blockIdx.x < runs.count ? runs.chunk(blockIdx.x).begin : runs.n;

    // In the run the elements before `first` have codes below `low`, and those from `last` on have codes above `high`.
    std::uint64_t low = 0;
    std::uint64_t high = codes.most();
    std::size_t first = 0;
    std::size_t last = isRun ? runs.chunk(run).size : 0;
    unsigned turn = 0;
    for (; low < high; ++turn) {
        const std::uint64_t middle = low + (high - low) / 2;
        const std::size_t cut = behind(middle, first, last, keys);
        if (Block::reduce<warps>(cut, slots[turn % 2], Sum{}) >= rank) {
            high = middle;
            last = cut;
        } else {
            low = middle + 1;
            first = cut;
        }
    }

    // The elements between have the code of the last element before the cuts. They are taken from earlier runs first.
    const std::size_t missing = rank - Block::reduce<warps>(first, slots[turn % 2], Sum{});
    const std::size_t before = Block::exclusiveScan<warps>(last - first, slots[(turn + 1) % 2], Sum{});
    if (isRun) {
        taken[blockIdx.x * runs.count + run] = first + (missing > before ? min(missing - before, last - first) : 0);
    }
}

/// Pieces of arrays in device memory, on one card or several, that are to be put side by side.
template <typename Word>
struct Pieces {
    const Word* from[RunStarts::mostRuns];
    std::size_t begin[RunStarts::mostRuns + 1];  ///< in the result
};

inline constexpr unsigned gatherThreads = 256;
inline constexpr unsigned gatheredAtOnce = 8;  ///< words per thread that are under way together

/// Puts pieces side by side. Each piece has `blocksPerPiece` neighbouring blocks.
///
/// Work O(n), steps O(n / threads). Reads and writes each element once. The link between the cards is the limit.
template <typename Word>
__global__ void __launch_bounds__(gatherThreads)
    kernGatherPieces(Pieces<Word> pieces, unsigned blocksPerPiece, Word* to) {
    const unsigned piece = blockIdx.x / blocksPerPiece;
    const Word* const from = pieces.from[piece];
    const std::size_t begin = pieces.begin[piece];
    const std::size_t size = pieces.begin[piece + 1] - begin;
#pragma unroll gatheredAtOnce
    for (std::size_t i = blockIdx.x % blocksPerPiece * gatherThreads + threadIdx.x; i < size;
         i += std::size_t{blocksPerPiece} * gatherThreads) {
        to[begin + i] = from[i];
    }
}

}  // namespace StreamCompaction::OutOfCore
