#pragma once

#include "stream_compaction/row_sum/teams.cuh"

/// A study of a slow row sum: one block per row, improved step by step.
namespace StreamCompaction::RowSum {

enum class Loads {
    Elements,  ///< one element per load; a thread's elements are a block's width apart
    Vectors,   ///< 16 aligned bytes per load; the edges of a row are loaded element by element
};

enum class Finish {
    SharedTree,  ///< a tree in shared memory; each step halves the number of threads, down to one
    Shuffles,    ///< the same, but the last 32 partials are added by shuffles
};

/// What a step of the study changes: the number of accumulators per thread, each with a load in flight; the finish; the
/// loads; the number of columns if it is known at compile time, else 0.
template <int accumulatorCount = 1, Finish finishBy = Finish::SharedTree, Loads loadsOf = Loads::Elements,
          std::size_t colCount = 0>
struct Steps {
    static constexpr int accumulators = accumulatorCount;
    static constexpr Finish finish = finishBy;
    static constexpr Loads loads = loadsOf;
    static constexpr std::size_t cols = colCount;
};

inline constexpr int studyThreads = 256;

/// The sum of a thread's part of a row, in Step::accumulators independent chains of additions.
template <typename Step, typename Acc, typename In>
__device__ Acc sumOfThread(const In* row, std::size_t cols) {
    Acc sums[Step::accumulators] = {};
    if constexpr (Step::loads == Loads::Elements) {
        for (std::size_t first = threadIdx.x; first < cols; first += Step::accumulators * studyThreads) {
#pragma unroll
            for (int i = 0; i < Step::accumulators; ++i) {
                if (const std::size_t at = first + i * studyThreads; i == 0 || at < cols) {
                    sums[i] = Common::wrappingAdd(sums[i], static_cast<Acc>(row[at]));
                }
            }
        }
    } else {
        const PeeledRow<In> peeled(row, cols);
        if (threadIdx.x < peeled.edges()) {
            sums[0] = static_cast<Acc>(peeled.edge(threadIdx.x));
        }
        for (std::size_t first = threadIdx.x; first < peeled.vectors(); first += Step::accumulators * studyThreads) {
#pragma unroll
            for (int i = 0; i < Step::accumulators; ++i) {
                if (const std::size_t at = first + i * studyThreads; i == 0 || at < peeled.vectors()) {
                    Vector<In, PeeledRow<In>::length> vector;
                    copyVector(&vector, peeled.vector(at));
#pragma unroll
                    for (const In x : vector.items) {
                        sums[i] = Common::wrappingAdd(sums[i], static_cast<Acc>(x));
                    }
                }
            }
        }
    }
    Acc sum = sums[0];
#pragma unroll
    for (int i = 1; i < Step::accumulators; ++i) {
        sum = Common::wrappingAdd(sum, sums[i]);
    }
    return sum;
}

/// A block of 256 threads per row. Each thread adds up every 256th element. Then a tree adds up the threads' partials.
///
/// Work O(n), steps O(cols / 256 + log 256). Reads each element once and writes one sum per row. Latency is the limit,
/// not bandwidth: a thread waits for a load before it issues the next, so too few bytes are in flight. More
/// accumulators are more loads in flight.
template <typename Step, typename In, typename Acc>
__global__ void __launch_bounds__(studyThreads) kernSumByBlock(Matrix<In> matrix, Acc* out) {
    __shared__ SharedArray<Acc, studyThreads> memory;
    Acc* const partials = memory.data();
    const std::size_t cols = Step::cols > 0 ? Step::cols : matrix.cols;
    partials[threadIdx.x] = sumOfThread<Step, Acc>(matrix.elements + blockIdx.x * matrix.pitch, cols);
    __syncthreads();

    constexpr unsigned lastInMemory = Step::finish == Finish::Shuffles ? Warp::lanes : 1;
    for (unsigned width = studyThreads / 2; width >= lastInMemory; width /= 2) {
        if (threadIdx.x < width) {
            partials[threadIdx.x] = Common::wrappingAdd(partials[threadIdx.x], partials[threadIdx.x + width]);
        }
        __syncthreads();
    }
    Acc sum = partials[threadIdx.x];
    if constexpr (Step::finish == Finish::Shuffles) {
        sum = Warp::reduce(sum, Sum{});
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum;
    }
}

}  // namespace StreamCompaction::RowSum
