#pragma once

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/row_sum/matrix.cuh"
#include "stream_compaction/runtime/early_launch.cuh"

namespace StreamCompaction::RowSum {

/// The sum of a power of two of values, added as a tree.
template <int count, typename T>
__device__ T sumAsTree(T (&values)[count]) {
#pragma unroll
    for (int distance = 1; distance < count; distance *= 2) {
#pragma unroll
        for (int i = 0; i + distance < count; i += 2 * distance) {
            values[i] = Common::wrappingAdd(values[i], values[i + distance]);
        }
    }
    return values[0];
}

/// A row as vectors of 16 bytes see it: up to the first aligned element, the vectors, and what is left behind them.
template <typename In>
class PeeledRow {
    static_assert(isAccessSize(sizeof(In)) && alignof(In) == sizeof(In),
                  "elements and sums of 1, 2, 4, 8 or 16 bytes, aligned to as many");

  public:
    static constexpr int length = vectorLength<In>;
    static constexpr int mostEdges = 2 * (length - 1);

    __device__ PeeledRow(const In* row, std::size_t cols) : row_(row), cols_(cols) {
        const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(row) / sizeof(In) % length;
        head_ = static_cast<unsigned>(min((length - misaligned) % length, cols));
        vectors_ = (cols - head_) / length;
    }

    [[nodiscard]] __device__ std::size_t vectors() const { return vectors_; }
    [[nodiscard]] __device__ const Vector<In, length>* vector(std::size_t i) const {
        return reinterpret_cast<const Vector<In, length>*>(row_ + head_ + i * length);
    }

    /// Elements outside the vectors.
    [[nodiscard]] __device__ unsigned edges() const { return static_cast<unsigned>(cols_ - vectors_ * length); }
    [[nodiscard]] __device__ In edge(unsigned i) const { return i < head_ ? row_[i] : row_[cols_ - edges() + i]; }

  private:
    const In* row_;
    std::size_t cols_;
    std::size_t vectors_;
    unsigned head_;
};

/// How many threads add up a row together, how many vectors each has under way, and the threads of a block.
template <int teamThreads, int vectorsAThread, int blockThreads>
struct TeamShape {
    static constexpr int team = teamThreads;
    static constexpr int vectors = vectorsAThread;
    static constexpr int threads = blockThreads;
    static constexpr int rowsABlock = threads / team;
};

/// The sum of one value a thread of each team; at least in its first thread.
template <typename Shape, typename T>
__device__ T sumOfTeam(const T& value) {
    if constexpr (Shape::team <= Warp::lanes) {
        return Warp::reduce<Shape::team>(value, Sum{});
    } else {
        static_assert(Shape::team == Shape::threads, "a team of several warps has its block to itself");
        __shared__ SharedArray<T, Shape::team / Warp::lanes> warpSums;
        return Block::reduce<Shape::team / Warp::lanes>(value, warpSums.data(), Sum{});
    }
}

/// Row sums by teams of threads: a quarter of a warp, a warp or a block a row, or a block a part of a row.
///
/// Each thread has several aligned loads of 16 bytes under way before it adds; up to 15 bytes at either end of a row
/// come by loads of single elements. Additions form a tree but for the turns of a thread's loop, and their order
/// depends on the shape and the row's alignment only.
///
/// Work O(n), steps O(log cols) as long as a turn or two are enough. Reads each element once: the DRAM's reading speed
/// limits it, as long as enough bytes are under way.
template <typename Shape, bool readOnce, typename In, typename Acc>
__global__ void __launch_bounds__(Shape::threads)
    kernSumByTeam(Matrix<In> matrix, unsigned parts, std::size_t partVectors, Acc* out) {
    using Row = PeeledRow<In>;
    constexpr int edgesAThread = (Row::mostEdges + Shape::team - 1) / Shape::team;
    static_assert(edgesAThread <= Row::length);
    static_assert(Shape::team <= Warp::lanes || Shape::team == Shape::threads);
    // What adds up the parts of the rows may begin when all blocks that sum parts have; it has to wait for their sums.
    waitForEarlierKernels();
    if (parts > 1) {
        letLaterKernelsBegin();
    }

    // Which row, and which part of it. Teams past the last row repeat it, since whole warps shuffle.
    const std::size_t index = std::size_t{blockIdx.x} * Shape::rowsABlock + threadIdx.x / Shape::team;
    const unsigned rank = threadIdx.x % Shape::team;
    const std::size_t rowIndex = parts > 1 ? blockIdx.x / parts : min(index, matrix.rows - 1);
    const std::size_t part = parts > 1 ? blockIdx.x % parts : 0;
    const Row row(matrix.elements + rowIndex * matrix.pitch, matrix.cols);
    const std::size_t end = parts > 1 ? min((part + 1) * partVectors, row.vectors()) : row.vectors();

    // The ends of the row are on their way while its vectors are added up.
    In edges[std::max(1, edgesAThread)] = {};  // of elements of 16 bytes there are none
#pragma unroll
    for (int i = 0; i < edgesAThread; ++i) {
        if (const unsigned edge = rank + static_cast<unsigned>(i * Shape::team); part == 0 && edge < row.edges()) {
            edges[i] = row.edge(edge);
        }
    }

    // The vectors, an accumulator for each place in one.
    Acc sums[Row::length] = {};
    for (std::size_t first = part * partVectors + rank; first < end; first += Shape::team * Shape::vectors) {
        Vector<In, Row::length> vectors[Shape::vectors] = {};
#pragma unroll
        for (int i = 0; i < Shape::vectors; ++i) {
            if (const std::size_t at = first + i * Shape::team; at < end) {
                if constexpr (readOnce) {
                    const uint4 bits = __ldcs(reinterpret_cast<const uint4*>(row.vector(at)));
                    memcpy(&vectors[i], &bits, sizeof(bits));
                } else {
                    copyVector(&vectors[i], row.vector(at));
                }
            }
        }
#pragma unroll
        for (int place = 0; place < Row::length; ++place) {
            Acc column[Shape::vectors];
#pragma unroll
            for (int i = 0; i < Shape::vectors; ++i) {
                column[i] = static_cast<Acc>(vectors[i].items[place]);
            }
            sums[place] = Common::wrappingAdd(sums[place], sumAsTree(column));
        }
    }

#pragma unroll
    for (int i = 0; i < edgesAThread; ++i) {
        sums[i] = Common::wrappingAdd(sums[i], static_cast<Acc>(edges[i]));
    }
    const Acc sum = sumOfTeam<Shape>(sumAsTree(sums));
    if (rank == 0 && index < matrix.rows * parts) {
        out[index] = sum;
    }
}

}  // namespace StreamCompaction::RowSum
