#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "stream_compaction/primitives/look_back.cuh"
#include "stream_compaction/primitives/warp.cuh"

namespace StreamCompaction::LookBack {

/// Look-back by a warp through global memory.
///
/// A word is read by an atomic addition of zero. A load would be correct, too. But a word that is written through one
/// part of the second-level cache and polled through another travels between the two. An atomic operation is performed
/// in the part where the word lives.
struct DevicePlatform {
    static constexpr int lanes = Warp::lanes;

    __device__ static int lane() { return Warp::lane(); }
    __device__ static std::uint32_t ballot(bool vote) { return __ballot_sync(Warp::allLanes, vote); }

    template <typename T, typename Op>
    __device__ static T reduce(const T& x, const Op& op) {
        return Warp::reduce(x, op);
    }

    __device__ static std::uint64_t load(std::uint64_t* word) {
        return atomicAdd(reinterpret_cast<unsigned long long*>(word), 0ULL);
    }
    __device__ static void store(std::uint64_t* word, std::uint64_t value) {
        __nv_atomic_store_n(word, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
};

/// Look-back by single threads, each through one column of words. The words that a warp reads at a time lie side by
/// side. A load reads them in one access, while atomic operations would be performed word by word.
struct ColumnPlatform {
    static std::uint64_t __device__ load(std::uint64_t* word) {
        return __nv_atomic_load_n(word, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
    static void __device__ store(std::uint64_t* word, std::uint64_t value) { DevicePlatform::store(word, value); }
};

}  // namespace StreamCompaction::LookBack
