#pragma once

#include <stdexcept>
#include <string>

#include "stream_compaction/common.cuh"

/// What the device layers of all row sums share.
namespace StreamCompaction::RowSum {

/// Adds elements up as they are.
struct Unchanged {
    template <typename T>
    [[nodiscard]] __device__ T operator()(const T& x) const {
        return x;
    }
};

/// A row-major matrix in device memory: row r begins at `elements + r * pitch`. The sum of a row is that of
/// `function(x)` for each element x.
template <typename In, typename Function = Unchanged, typename Rows = std::size_t>
struct Matrix {
    const In* elements;
    Rows rows;  ///< a number, or a count in device memory (runtime/element_count.cuh)
    std::size_t cols;
    std::size_t pitch;
    Function function{};

    [[nodiscard]] std::size_t mostRows() const { return capacityOf(rows); }
};

/// The number of elements from the first to the last, including the gaps between rows.
template <typename SomeMatrix>
[[nodiscard]] std::size_t extentOf(const SomeMatrix& matrix) {
    const std::size_t rows = matrix.mostRows();
    return rows == 0 || matrix.cols == 0 ? 0 : (rows - 1) * matrix.pitch + matrix.cols;
}

/// Throws std::invalid_argument unless `pitch` >= `cols`, and the matrix and one sum per row fit into memory.
template <typename Acc, typename In, typename Function, typename Rows>
void requireMatrixSize(const Matrix<In, Function, Rows>& matrix) {
    const std::size_t rows = matrix.mostRows();
    if (matrix.pitch < matrix.cols) {
        throw std::invalid_argument("pitch: expected at least " + std::to_string(matrix.cols) + " elements, got " +
                                    std::to_string(matrix.pitch));
    }
    Arguments::requireAtMost("rows", rows, Arguments::mostElements<Acc>);
    if (rows > 0 && matrix.cols > 0) {
        constexpr std::size_t most = Arguments::mostElements<In>;
        Arguments::requireAtMost("cols", matrix.cols, most);
        Arguments::requireAtMost("rows", rows, (most - matrix.cols) / matrix.pitch + 1);
    }
}

/// The same, and throws unless `in` and `out` are arrays that share no memory.
template <typename In, typename Function, typename Rows, typename Acc>
void requireMatrix(const Matrix<In, Function, Rows>& matrix, Acc* out) {
    requireMatrixSize<Acc>(matrix);
    const std::size_t n = extentOf(matrix);
    requireApart(matrix.rows, {Arguments::array("in", matrix.elements, n)},
                 {Arguments::array("out", out, matrix.mostRows())});
}

/// Writes a zero per row.
template <typename Rows, typename Acc>
__global__ void kernSumNothing(Rows rows, Acc* out) {
    const std::size_t count = numberOf(rows);
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t row = Common::globalThreadIndex(); row < count; row += threads) {
        out[row] = Acc{};
    }
}

/// Writes a zero for each row if the matrix has no columns. Returns whether nothing is left to do.
template <typename In, typename Function, typename Rows, typename Acc>
[[nodiscard]] bool isDoneWithoutColumns(const Matrix<In, Function, Rows>& matrix, Acc* out, cudaStream_t stream) {
    const std::size_t rows = matrix.mostRows();
    if (rows > 0 && matrix.cols > 0) {
        return false;
    }
    if (rows == 0) {
        tellExceeded(matrix.rows, stream);
    } else if constexpr (isOnDevice<Rows>) {
        constexpr int threads = 256;
        constexpr unsigned mostBlocks = 2048;
        launch<kernSumNothing<Rows, Acc>>(plainShape(Common::blocksFor(rows, threads, mostBlocks), threads), stream,
                                          matrix.rows, out);
    } else {
        Common::checkCUDAError(cudaMemsetAsync(out, 0, rows * sizeof(Acc), stream), "cudaMemsetAsync");
    }
    return true;
}

}  // namespace StreamCompaction::RowSum
