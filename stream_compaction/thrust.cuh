#pragma once

#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/partition.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include "stream_compaction/common.cuh"
#include "stream_compaction/thrust.h"

/// The operations as an application would call them from Thrust. Unlike those of the other device layers, a call
/// allocates its temporary storage and waits for the stream, as Thrust does. So a CUDA graph cannot capture it. It uses
/// no scratch.
namespace StreamCompaction::Thrust {

/// thrust::exclusive_scan; `out` may be `in`.
struct Scan {
    static constexpr bool mayRunInPlace = true;

    template <typename In, typename T>
    [[nodiscard]] std::size_t scratchBytes(const In* /*in*/, T* /*out*/, std::size_t n) const {
        Arguments::requireSize<T, In>(n);
        return 0;
    }

    template <typename In, typename T>
    void operator()(const In* in, T* out, std::size_t n, Scratch /*scratch*/, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        thrust::exclusive_scan(thrust::cuda::par.on(stream), in, in + n, out, T{});
    }
};

/// Writes a number to device memory.
inline void store(std::size_t value, std::size_t* destination, cudaStream_t stream) {
    Common::checkCUDAError(cudaMemcpyAsync(destination, &value, sizeof(value), cudaMemcpyHostToDevice, stream),
                           "cudaMemcpyAsync of the count");
}

/// Copies n elements from `in` to `out`, unless they are the same.
template <typename T>
void copyUnlessSame(const T* in, T* out, std::size_t n, cudaStream_t stream) {
    if (in != out) {
        Common::checkCUDAError(cudaMemcpyAsync(out, in, n * sizeof(T), cudaMemcpyDeviceToDevice, stream),
                               "cudaMemcpyAsync of the input");
    }
}

/// thrust::copy_if. May not run in place.
struct Compact {
    static constexpr bool mayRunInPlace = false;

    template <typename T, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const T* /*in*/, T* /*out*/, std::size_t* /*count*/, std::size_t n,
                                           const Functions&... /*functions*/) const {
        Arguments::requireSize<T>(n);
        return 0;
    }

    template <typename T>
    void operator()(const T* in, T* out, std::size_t* count, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        (*this)(in, out, count, n, IsNonzero{}, scratch, stream);
    }
    template <typename T, typename Predicate>
    void operator()(const T* in, T* out, std::size_t* count, std::size_t n, Predicate keep, Scratch /*scratch*/,
                    cudaStream_t stream) const {
        requireCompactArrays(in, out, count, n);
        const T* const end = thrust::copy_if(thrust::cuda::par.on(stream), in, in + n, out, keep);
        store(end - out, count, stream);
    }
};

/// thrust::stable_partition_copy: the elements for which `keep` holds go to one array, the others to another. May not
/// run in place.
struct Partition {
    static constexpr bool mayRunInPlace = false;

    template <typename T, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const T* /*in*/, T* /*kept*/, T* /*rejected*/, std::size_t* /*count*/,
                                           std::size_t n, const Functions&... /*functions*/) const {
        Arguments::requireSize<T>(n);
        return 0;
    }

    template <typename T>
    void operator()(const T* in, T* kept, T* rejected, std::size_t* count, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        (*this)(in, kept, rejected, count, n, IsNonzero{}, scratch, stream);
    }
    template <typename T, typename Predicate>
    void operator()(const T* in, T* kept, T* rejected, std::size_t* count, std::size_t n, Predicate keep,
                    Scratch /*scratch*/, cudaStream_t stream) const {
        Arguments::requireApart({Arguments::array("in", in, n)},
                                {Arguments::array("kept", kept, n), Arguments::array("rejected", rejected, n),
                                 Arguments::array("count", count, 1)});
        const auto ends = thrust::stable_partition_copy(thrust::cuda::par.on(stream), in, in + n, kept, rejected, keep);
        store(ends.first - kept, count, stream);
    }
};

/// thrust::sort, which works in place. If `out` is not `in`, the keys are copied first.
struct Sort {
    static constexpr bool mayRunInPlace = true;

    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(const T* /*in*/, T* /*out*/, std::size_t n) const {
        Arguments::requireSize<T>(n);
        return 0;
    }

    template <typename T>
    void operator()(const T* in, T* out, std::size_t n, Scratch /*scratch*/, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        copyUnlessSame(in, out, n, stream);
        thrust::sort(thrust::cuda::par.on(stream), out, out + n);
    }
};

/// thrust::stable_sort_by_key, in the same way.
struct SortPairs {
    static constexpr bool mayRunInPlace = true;

    template <typename K, typename V>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, K* /*keysOut*/, const V* /*valuesIn*/, V* /*valuesOut*/,
                                           std::size_t n) const {
        Arguments::requireSize<K, V>(n);
        return 0;
    }

    template <typename K, typename V>
    void operator()(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut, std::size_t n, Scratch /*scratch*/,
                    cudaStream_t stream) const {
        requireSameOrDisjointArrays(keysIn, keysOut, n);
        requireSameOrDisjointArrays(valuesIn, valuesOut, n);
        copyUnlessSame(keysIn, keysOut, n, stream);
        copyUnlessSame(valuesIn, valuesOut, n, stream);
        thrust::stable_sort_by_key(thrust::cuda::par.on(stream), keysOut, keysOut + n, valuesOut);
    }
};

}  // namespace StreamCompaction::Thrust
