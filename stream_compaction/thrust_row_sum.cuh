#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>

#include "stream_compaction/row_sum/matrix.cuh"
#include "stream_compaction/thrust.cuh"

namespace StreamCompaction::Thrust {

/// The row of element i, if elements are counted without the gaps between rows.
struct RowOf {
    std::size_t cols;
    __host__ __device__ std::size_t operator()(std::size_t i) const { return i / cols; }
};

/// Element i, in the type of the sum.
template <typename In, typename T>
struct ElementOf {
    const In* in;
    std::size_t cols;
    std::size_t pitch;
    __host__ __device__ T operator()(std::size_t i) const { return static_cast<T>(in[i / cols * pitch + i % cols]); }
};

/// thrust::reduce_by_key, with the row of each element as its key. May not run in place.
struct RowSum {
    static constexpr bool mayRunInPlace = false;

    template <typename In, typename T>
    [[nodiscard]] std::size_t scratchBytes(const In* in, T* /*out*/, std::size_t rows, std::size_t cols,
                                           std::size_t pitch) const {
        requireMatrixSize<T>(StreamCompaction::RowSum::Matrix<In>{in, rows, cols, pitch});
        return 0;
    }

    template <typename In, typename T>
    void operator()(const In* in, T* out, std::size_t rows, std::size_t cols, std::size_t pitch, Scratch /*scratch*/,
                    cudaStream_t stream) const {
        const StreamCompaction::RowSum::Matrix<In> matrix{in, rows, cols, pitch};
        requireMatrix(matrix, out);
        if (isDoneWithoutColumns(matrix, out, stream)) {
            return;
        }
        const auto indices = thrust::make_counting_iterator(std::size_t{0});
        const auto keys = thrust::make_transform_iterator(indices, RowOf{cols});
        const auto values = thrust::make_transform_iterator(indices, ElementOf<In, T>{in, cols, pitch});
        thrust::reduce_by_key(thrust::cuda::par.on(stream), keys, keys + rows * cols, values,
                              thrust::make_discard_iterator(), out);
    }
};

}  // namespace StreamCompaction::Thrust
