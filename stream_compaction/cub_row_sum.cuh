#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_reduce.cuh>

#include "stream_compaction/cub.cuh"
#include "stream_compaction/row_sum/matrix.cuh"

namespace StreamCompaction::Cub {

/// The index at which a row begins or, if `offset` is the number of columns, ends. CUB is faster with 32-bit offsets.
struct RowOffset {
    int pitch;
    int offset;
    __host__ __device__ int operator()(int row) const { return row * pitch + offset; }
};

/// cub::DeviceSegmentedReduce, one segment per row. May not run in place.
struct RowSum {
    static constexpr bool mayRunInPlace = false;
    /// The gaps between the rows count, too.
    template <typename In>
    static constexpr std::size_t mostElements = mostInAnInt;

    template <typename In, typename T>
    [[nodiscard]] std::size_t scratchBytes(const In* in, T* out, std::size_t rows, std::size_t cols,
                                           std::size_t pitch) const {
        const Matrix<In> matrix{in, rows, cols, pitch};
        requireMatrixSize<T>(matrix);
        Arguments::requireAtMost("elements", extentOf(matrix), mostElements<In>);
        return queryScratchBytes(call(matrix, out, nullptr));
    }

    template <typename In, typename T>
    void operator()(const In* in, T* out, std::size_t rows, std::size_t cols, std::size_t pitch, Scratch scratch,
                    cudaStream_t stream) const {
        const Matrix<In> matrix{in, rows, cols, pitch};
        requireMatrix(matrix, out);
        if (!isDoneWithoutColumns(matrix, out, stream)) {
            runOnScratch("cub::DeviceSegmentedReduce", scratch, scratchBytes(in, out, rows, cols, pitch),
                         call(matrix, out, stream));
        }
    }

  private:
    template <typename In>
    using Matrix = StreamCompaction::RowSum::Matrix<In>;

    template <typename In, typename T>
    [[nodiscard]] static auto call(const Matrix<In>& matrix, T* out, cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            const auto offsets = [&](std::size_t offset) {
                return thrust::make_transform_iterator(
                    thrust::counting_iterator<int>(0),
                    RowOffset{static_cast<int>(matrix.pitch), static_cast<int>(offset)});
            };
            return cub::DeviceSegmentedReduce::Reduce(storage, bytes, matrix.elements, out,
                                                      static_cast<std::int64_t>(matrix.rows), offsets(0),
                                                      offsets(matrix.cols), cuda::std::plus<>{}, T{}, stream);
        };
    }
};

}  // namespace StreamCompaction::Cub
