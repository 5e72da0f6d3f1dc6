#pragma once

#include <cuda_runtime.h>

#include "stream_compaction/primitives/warp.cuh"

/// Scans and reductions by all warps of a block.
namespace StreamCompaction::Block {

template <typename T>
struct WarpPlace {
    T before;  ///< the sum of the warps before this one
    T all;     ///< the sum of all warps
};

/// Exclusive scan of one value per warp, for up to 32 warps. All lanes of a warp pass the same value. Every warp scans
/// the values of all warps, so one barrier is enough. `slots` is shared memory with one element per warp. It may be
/// reused after the next barrier.
template <int warps, typename T, typename Op>
__device__ WarpPlace<T> scanWarps(const T& value, T* slots, const Op& op) {
    static_assert(warps <= Warp::lanes);
    if (Warp::lane() == 0) {
        slots[Warp::index()] = value;
    }
    __syncthreads();
    const T identity = op.template identity<T>();
    if constexpr (warps <= 4) {
        // For so few warps a loop is faster than shuffles.
        WarpPlace<T> place{identity, identity};
#pragma unroll
        for (int warp = 0; warp < warps; ++warp) {
            place.before = warp == Warp::index() ? place.all : place.before;
            place.all = op(place.all, slots[warp]);
        }
        return place;
    }
    const T mine = Warp::lane() < warps ? slots[Warp::lane()] : identity;
    const T upTo = Warp::inclusiveScan<warps>(mine, op);
    const T before = Warp::broadcast(upTo, Warp::index() == 0 ? 0 : Warp::index() - 1);
    return {Warp::index() == 0 ? identity : before, Warp::broadcast(upTo, warps - 1)};
}

/// The sum of one value per thread, in every thread; `slots` as above.
template <int warps, typename T, typename Op>
__device__ T reduce(const T& value, T* slots, const Op& op) {
    static_assert(warps <= Warp::lanes);
    const T sum = Warp::reduce(value, op);
    if (Warp::lane() == 0) {
        slots[Warp::index()] = sum;
    }
    __syncthreads();
    return Warp::reduce(Warp::lane() < warps ? slots[Warp::lane()] : op.template identity<T>(), op);
}

/// Exclusive scan of one value per thread; `slots` as above.
template <int warps, typename T, typename Op>
__device__ T exclusiveScan(const T& value, T* slots, const Op& op) {
    const T upTo = Warp::inclusiveScan(value, op);
    const T before = scanWarps<warps>(Warp::broadcast(upTo, Warp::lanes - 1), slots, op).before;
    const T beforeInWarp = Warp::shiftUp(upTo, 1);
    return Warp::lane() == 0 ? before : op(before, beforeInWarp);
}

}  // namespace StreamCompaction::Block
