#pragma once

#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include "stream_compaction/common.cuh"
#include "stream_compaction/thrust.h"

/// The operations as an application would call them from Thrust. Unlike the other device layers these allocate their
/// temporary storage inside the call and wait for the stream, as Thrust does, so a CUDA graph cannot capture them; they
/// use no scratch.
namespace StreamCompaction::Thrust {

/// thrust::exclusive_scan; `out` may be `in`.
struct Scan {
    template <typename T, typename In = T>
    [[nodiscard]] std::size_t scratchBytes(std::size_t /*n*/) const {
        return 0;
    }

    template <typename In, typename T>
    void operator()(const In* in, T* out, std::size_t n, Scratch /*scratch*/, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        thrust::exclusive_scan(thrust::cuda::par.on(stream), in, in + n, out, T{});
    }
};

/// thrust::copy_if. Not in place.
struct Compact {
    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(std::size_t /*n*/) const {
        return 0;
    }

    template <typename T, typename Predicate = IsNonzero>
    void operator()(const T* in, T* out, std::size_t* count, std::size_t n, Scratch /*scratch*/, cudaStream_t stream,
                    Predicate keep = {}) const {
        requireCompactArrays(in, out, count, n);
        const T* const end = thrust::copy_if(thrust::cuda::par.on(stream), in, in + n, out, keep);
        const std::size_t kept = end - out;
        Common::checkCUDAError(cudaMemcpyAsync(count, &kept, sizeof(kept), cudaMemcpyHostToDevice, stream),
                               "cudaMemcpyAsync of the count");
    }
};

/// thrust::sort, which works in place: first the keys are copied where `out` is not `in`.
struct Sort {
    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(std::size_t /*n*/) const {
        return 0;
    }

    template <typename T>
    void operator()(const T* in, T* out, std::size_t n, Scratch /*scratch*/, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        if (in != out) {
            Common::checkCUDAError(cudaMemcpyAsync(out, in, n * sizeof(T), cudaMemcpyDeviceToDevice, stream),
                                   "cudaMemcpyAsync of the keys");
        }
        thrust::sort(thrust::cuda::par.on(stream), out, out + n);
    }
};

}  // namespace StreamCompaction::Thrust
