#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "stream_compaction/out_of_core/codes.cuh"
#include "stream_compaction/out_of_core/pipeline.h"
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

/// The same for runs in device memory: block b cuts them behind the elements of b runs, so that each part is as large
/// as a run. What it takes of run r goes to taken[b * runs + r]. A warp per block, a lane per run.
///
/// Work O(parts runs bits log n), steps O(runs / 32 bits log n). The latency of the loads is the limit.
template <typename K>
__global__ void kernCutRuns(Plan runs, RunStarts at, Codes<K> codes, std::size_t* taken) {
    const auto countUpTo = [&](std::uint64_t code, std::size_t run) {
        return behind(code, 0, runs.chunk(run).size, codes.of(at.starts[run]));
    };
    const auto countInAll = [&](std::uint64_t code) {
        std::size_t count = 0;
        for (std::size_t run = threadIdx.x; run < runs.count; run += Warp::lanes) {
            count += countUpTo(code, run);
        }
        return Warp::reduce(count, Sum{});
    };

    const std::size_t rank = blockIdx.x < runs.count ? runs.chunk(blockIdx.x).begin : runs.n;
    std::uint64_t low = 0;
    std::uint64_t high = codes.most();
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (countInAll(middle) >= rank) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }

    // Elements with this code are taken from earlier runs first.
    std::size_t missing = rank - (low == 0 ? 0 : countInAll(low - 1));
    for (std::size_t base = 0; base < runs.count; base += Warp::lanes) {
        const std::size_t run = base + threadIdx.x;
        const bool isRun = run < runs.count;
        const std::size_t below = isRun && low > 0 ? countUpTo(low - 1, run) : 0;
        const std::size_t equal = isRun ? countUpTo(low, run) - below : 0;
        const std::size_t upToHere = Warp::inclusiveScan(equal, Sum{});
        const std::size_t before = upToHere - equal;
        if (isRun) {
            const std::size_t equalTaken = missing > before ? std::min(equal, missing - before) : 0;
            taken[blockIdx.x * runs.count + run] = below + equalTaken;
        }
        missing -= std::min(missing, Warp::broadcast(upToHere, Warp::lanes - 1));
    }
}

}  // namespace StreamCompaction::OutOfCore
