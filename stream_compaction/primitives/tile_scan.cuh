#pragma once

#include <cuda_runtime.h>

#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/warp.cuh"

/// Scans a warp's part of a tile. Each lane holds one sum per row, that of its vector.
namespace StreamCompaction::TileScan {

/// The sum of a vector's elements, as a T.
template <typename T, typename In, int length, typename Op>
__device__ T sumOf(const Vector<In, length>& vector, const Op& op) {
    T sum = static_cast<T>(vector.items[0]);
#pragma unroll
    for (int i = 1; i < length; ++i) {
        sum = op(sum, static_cast<T>(vector.items[i]));
    }
    return sum;
}

/// Exclusive scan of a row from `carry` on. Adds the row to `carry`. An operator that has a faster way has an overload.
template <typename T, typename Op>
__device__ void scanRow(T& sum, T& carry, const Op& op) {
    const T upTo = Warp::inclusiveScan(sum, op);
    const T before = Warp::shiftUp(upTo, 1);
    sum = Warp::lane() == 0 ? carry : op(carry, before);
    carry = op(carry, Warp::broadcast(upTo, Warp::lanes - 1));
}

/// Exclusive scan of the vectors' sums, over all rows of the warp. Returns the sum of all rows.
template <typename T, int rows, typename Op>
__device__ T scan(T (&sums)[rows], const Op& op) {
    T carry = op.template identity<T>();
#pragma unroll
    for (int row = 0; row < rows; ++row) {
        scanRow(sums[row], carry, op);
    }
    return carry;
}

/// The same in two steps, of which the first returns the sum as early as possible. If the operator commutes, each lane
/// adds up its own vectors for it. Otherwise the first step is the scan.
template <typename T, int rows, typename Op>
__device__ T beginScan(T (&sums)[rows], const Op& op) {
    if constexpr (isCommutative<Op>()) {
        T sum = sums[0];
#pragma unroll
        for (int row = 1; row < rows; ++row) {
            sum = op(sum, sums[row]);
        }
        return Warp::reduce(sum, op);
    } else {
        return scan(sums, op);
    }
}
template <typename T, int rows, typename Op>
__device__ void finishScan(T (&sums)[rows], const Op& op) {
    if constexpr (isCommutative<Op>()) {
        scan(sums, op);
    }
}

/// What a scan writes at the element `x`, given the sums before it and up to it. An operator whose sums are not what
/// the scan writes has an overload.
template <typename Op, typename T>
__device__ T prefixAt(const Op& /*op*/, const T& before, const T& /*x*/, const T& upTo, bool inclusive) {
    return inclusive ? upTo : before;
}

/// Scans a vector from `before` on, the sum of all elements before it.
template <typename In, int length, typename T, typename Op>
__device__ auto scanned(const Vector<In, length>& vector, const T& before, bool inclusive, const Op& op) {
    Vector<decltype(prefixAt(op, before, before, before, inclusive)), length> result;
    T sum = before;
#pragma unroll
    for (int i = 0; i < length; ++i) {
        const T x = static_cast<T>(vector.items[i]);
        const T upTo = op(sum, x);
        result.items[i] = prefixAt(op, sum, x, upTo, inclusive);
        sum = upTo;
    }
    return result;
}

/// Scans and stores the tile, row by row. `vectors(row)` is this lane's vector. The sum of all elements before it is
/// op(before, sums[row]).
template <typename Shape, typename Out, typename T, typename Vectors, typename Op>
__device__ void store(const TileOf<Out>& out, const T (&sums)[Shape::rows], const T& before, bool inclusive,
                      const Op& op, Vectors vectors) {
    const auto storeRow = [&](int row, const T& sum) {
        storeVector(out, Shape::offset(row), scanned(vectors(row), op(before, sum), inclusive, op));
    };
    if (out.isWhole) {
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            storeRow(row, sums[row]);
        }
    } else {
        // Element by element. Not unrolled, because the larger code would cost the path above registers.
#pragma unroll 1
        for (int row = 0; row < Shape::rows; ++row) {
            T sum = sums[0];
#pragma unroll
            for (int i = 1; i < Shape::rows; ++i) {
                sum = i == row ? sums[i] : sum;
            }
            storeRow(row, sum);
        }
    }
}

}  // namespace StreamCompaction::TileScan
