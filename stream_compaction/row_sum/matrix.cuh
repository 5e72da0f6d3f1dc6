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
template <typename In, typename Function = Unchanged>
struct Matrix {
    const In* elements;
    std::size_t rows;
    std::size_t cols;
    std::size_t pitch;
    Function function{};
};

/// The number of elements from the first to the last, including the gaps between rows.
template <typename In, typename Function>
[[nodiscard]] std::size_t extentOf(const Matrix<In, Function>& matrix) {
    return matrix.rows == 0 || matrix.cols == 0 ? 0 : (matrix.rows - 1) * matrix.pitch + matrix.cols;
}

/// Throws std::invalid_argument unless `pitch` >= `cols`, and the matrix and one sum per row fit into memory.
template <typename Acc, typename In, typename Function>
void requireMatrixSize(const Matrix<In, Function>& matrix) {
    if (matrix.pitch < matrix.cols) {
        throw std::invalid_argument("pitch: expected at least " + std::to_string(matrix.cols) + " elements, got " +
                                    std::to_string(matrix.pitch));
    }
    Arguments::requireAtMost("rows", matrix.rows, Arguments::mostElements<Acc>);
    if (matrix.rows > 0 && matrix.cols > 0) {
        constexpr std::size_t most = Arguments::mostElements<In>;
        Arguments::requireAtMost("cols", matrix.cols, most);
        Arguments::requireAtMost("rows", matrix.rows, (most - matrix.cols) / matrix.pitch + 1);
    }
}

/// The same, and throws unless `in` and `out` are arrays that share no memory.
template <typename In, typename Function, typename Acc>
void requireMatrix(const Matrix<In, Function>& matrix, Acc* out) {
    requireMatrixSize<Acc>(matrix);
    const std::size_t n = extentOf(matrix);
    Arguments::requireArray("in", matrix.elements, n);
    Arguments::requireArray("out", out, matrix.rows);
    Arguments::requireDisjoint(matrix.elements, n * sizeof(In), out, matrix.rows * sizeof(Acc));
}

/// Writes a zero for each row if the matrix has no columns. Returns whether nothing is left to do.
template <typename In, typename Function, typename Acc>
[[nodiscard]] bool isDoneWithoutColumns(const Matrix<In, Function>& matrix, Acc* out, cudaStream_t stream) {
    if (matrix.rows > 0 && matrix.cols == 0) {
        Common::checkCUDAError(cudaMemsetAsync(out, 0, matrix.rows * sizeof(Acc), stream), "cudaMemsetAsync");
    }
    return matrix.rows == 0 || matrix.cols == 0;
}

}  // namespace StreamCompaction::RowSum
