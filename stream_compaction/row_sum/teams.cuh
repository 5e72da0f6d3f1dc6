#pragma once

#include "stream_compaction/primitives/aligned_run.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/tile_order.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/row_sum/matrix.cuh"
#include "stream_compaction/runtime/early_launch.cuh"

namespace StreamCompaction::RowSum {

/// The sum of `count` values, added as a tree.
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

/// A row as aligned vectors of 16 bytes, and edges: the elements before the first vector and after the last.
template <typename In>
class PeeledRow {
    static_assert(isAccessSize(sizeof(In)) && alignof(In) == sizeof(In),
                  "elements and sums have 1, 2, 4, 8 or 16 bytes, and are aligned to their size");

  public:
    static constexpr int length = vectorLength<In>;
    static constexpr int mostEdges = 2 * (length - 1);

    __device__ PeeledRow(const In* row, std::size_t cols) : row_(row), cols_(cols) {
        const auto run =
            piecesInside(reinterpret_cast<std::uintptr_t>(row), reinterpret_cast<std::uintptr_t>(row + cols));
        head_ = static_cast<unsigned>((run.bulkBegin - run.begin) / sizeof(In));
        vectors_ = run.bulkBytes() / run.width;
    }

    [[nodiscard]] __device__ std::size_t vectors() const { return vectors_; }
    [[nodiscard]] __device__ const Vector<In, length>* vector(std::size_t i) const {
        return reinterpret_cast<const Vector<In, length>*>(row_ + head_ + i * length);
    }

    /// The number of elements outside the vectors.
    [[nodiscard]] __device__ unsigned edges() const { return static_cast<unsigned>(cols_ - vectors_ * length); }
    [[nodiscard]] __device__ In edge(unsigned i) const { return i < head_ ? row_[i] : row_[cols_ - edges() + i]; }

  private:
    const In* row_;
    std::size_t cols_;
    std::size_t vectors_;
    unsigned head_;
};

/// `teamThreads` threads add up a row together, each with `vectorsPerThread` vectors in flight.
template <int teamThreads, int vectorsPerThread, int blockThreads>
struct TeamShape {
    static constexpr int team = teamThreads;
    static constexpr int vectors = vectorsPerThread;
    static constexpr int threads = blockThreads;
    static constexpr int rowsPerBlock = threads / team;
};

/// The sum of one value per thread over the team. At least the first thread of the team gets it.
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

/// The index of this thread's team, given the index of its block: the row or, if rows are split, row * parts + part.
template <typename Shape>
[[nodiscard]] __device__ std::size_t teamIndex(unsigned block) {
    return std::size_t{block} * Shape::rowsPerBlock + threadIdx.x / Shape::team;
}

/// The elements that a team adds up: the vectors [firstVector, endVector) of a row and, if `hasEdges`, the row's edges.
template <typename In>
struct Piece {
    PeeledRow<In> row;
    std::size_t firstVector;
    std::size_t endVector;
    bool hasEdges;
};

/// The piece of this thread's team. Rows are split only between teams that are whole blocks. Teams past the last row
/// repeat it, because shuffles need whole warps.
template <typename Shape, typename In, typename Function, typename Rows>
__device__ Piece<In> pieceOfTeam(const Matrix<In, Function, Rows>& matrix, std::size_t rows, unsigned block,
                                 unsigned parts, std::size_t partVectors) {
    const bool isSplit = Shape::rowsPerBlock == 1 && parts > 1;
    const std::size_t rowIndex = isSplit ? block / parts : min(teamIndex<Shape>(block), rows - 1);
    const std::size_t part = isSplit ? block % parts : 0;
    const PeeledRow<In> row(matrix.elements + rowIndex * matrix.pitch, matrix.cols);
    return {row, part * partVectors, min((part + 1) * partVectors, row.vectors()), part == 0};
}

/// What an element adds to a sum. A missing element was loaded as zero and adds nothing.
template <typename Acc, typename Function, typename In>
__device__ Acc summandOf(const Function& function, const In& x, bool isThere) {
    if constexpr (std::is_same_v<Function, Unchanged>) {
        return static_cast<Acc>(x);
    } else {
        return isThere ? static_cast<Acc>(function(x)) : Acc{};
    }
}

/// The edges of a row that one thread of a team adds up. Missing elements are zeros.
template <typename Shape, typename In>
class EdgesOfThread {
    using Row = PeeledRow<In>;
    static constexpr int count = (Row::mostEdges + Shape::team - 1) / Shape::team;
    static_assert(count <= Row::length);

  public:
    /// Starts the loads.
    __device__ EdgesOfThread(const Piece<In>& piece, unsigned rank)
        : first_(rank), end_(piece.hasEdges ? piece.row.edges() : 0) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            if (isThere(i)) {
                edges_[i] = piece.row.edge(index(i));
            }
        }
    }

    template <typename Function, typename Acc>
    __device__ void addTo(Acc (&sums)[Row::length], const Function& function) const {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            sums[i] = Common::wrappingAdd(sums[i], summandOf<Acc>(function, edges_[i], isThere(i)));
        }
    }

  private:
    [[nodiscard]] __device__ unsigned index(int i) const { return first_ + static_cast<unsigned>(i * Shape::team); }
    [[nodiscard]] __device__ bool isThere(int i) const { return index(i) < end_; }

    unsigned first_;
    unsigned end_;
    In edges_[std::max(1, count)] = {};  // elements of 16 bytes have no edges
};

/// Loads a vector. `readOnce` hints to the cache that it is not read again.
template <bool readOnce, typename In, int length>
__device__ void loadVectorOnce(Vector<In, length>* to, const Vector<In, length>* from) {
    if constexpr (readOnce) {
        const uint4 bits = __ldcs(reinterpret_cast<const uint4*>(from));
        memcpy(to, &bits, sizeof(bits));
    } else {
        copyVector(to, from);
    }
}

/// Adds the vectors of one thread of a team to `sums`, one accumulator per place in a vector.
template <typename Shape, bool readOnce, typename In, typename Function, typename Acc>
__device__ void addVectors(const Piece<In>& piece, unsigned rank, const Function& function,
                           Acc (&sums)[PeeledRow<In>::length]) {
    constexpr int length = PeeledRow<In>::length;
    constexpr int turn = Shape::team * Shape::vectors;
    for (std::size_t first = piece.firstVector + rank; first < piece.endVector; first += turn) {
        Vector<In, length> vectors[Shape::vectors] = {};
        const auto isThere = [&](int i) { return first + i * Shape::team < piece.endVector; };
#pragma unroll
        for (int i = 0; i < Shape::vectors; ++i) {
            if (isThere(i)) {
                loadVectorOnce<readOnce>(&vectors[i], piece.row.vector(first + i * Shape::team));
            }
        }
#pragma unroll
        for (int place = 0; place < length; ++place) {
            Acc column[Shape::vectors];
#pragma unroll
            for (int i = 0; i < Shape::vectors; ++i) {
                column[i] = summandOf<Acc>(function, vectors[i].items[place], isThere(i));
            }
            sums[place] = Common::wrappingAdd(sums[place], sumAsTree(column));
        }
    }
}

/// Row sums by teams of threads. A team is a quarter of a warp, a warp or a block per row, or a block per part of a row
/// if `parts` > 1. A part has `partVectors` vectors. The sums of parts go to out[row * parts + part].
///
/// Each thread has several aligned loads of 16 bytes in flight before it adds. Up to 15 bytes at either end of a row
/// are loaded element by element, while the vectors are added up. Additions form a tree, except for the turns of a
/// thread's loop. Their order depends only on the shape and the row's alignment.
///
/// Work O(n); steps O(log cols) if a turn or two are enough. Reads each element once. DRAM bandwidth is the limit if
/// enough bytes are in flight.
template <typename Shape, bool readOnce, typename In, typename Function, typename Rows, typename Acc>
__global__ void __launch_bounds__(Shape::threads)
    kernSumByTeam(Matrix<In, Function, Rows> matrix, unsigned parts, std::size_t partVectors, Acc* out) {
    static_assert(Shape::team <= Warp::lanes || Shape::team == Shape::threads);
    // The launch that adds up the parts may begin once all blocks that sum parts have begun. It waits here.
    waitForEarlierKernels();
    if (parts > 1) {
        letLaterKernelsBegin();
    }

    const unsigned rank = threadIdx.x % Shape::team;
    const std::size_t rows = numberOf(matrix.rows);
    const auto blocks = static_cast<int>((rows * parts + Shape::rowsPerBlock - 1) / Shape::rowsPerBlock);
    forEachTile<Rows>(blocks, tileByIndex, [&](unsigned block) {
        const Piece<In> piece = pieceOfTeam<Shape>(matrix, rows, block, parts, partVectors);
        const EdgesOfThread<Shape, In> edges(piece, rank);
        Acc sums[PeeledRow<In>::length] = {};
        addVectors<Shape, readOnce>(piece, rank, matrix.function, sums);
        edges.addTo(sums, matrix.function);
        const Acc sum = sumOfTeam<Shape>(sumAsTree(sums));
        if (const std::size_t index = teamIndex<Shape>(block); rank == 0 && index < rows * parts) {
            out[index] = sum;
        }
    });
}

}  // namespace StreamCompaction::RowSum
