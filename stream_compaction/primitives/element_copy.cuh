#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstddef>

#include "stream_compaction/primitives/target.cuh"

/// Copies of single elements from global to shared memory that pass through no register and for which nobody waits
/// until they are needed (cp.async), so that each element of a row can go to a place of its own.
namespace StreamCompaction {

/// Words can be copied that have one of these sizes,
template <typename T>
inline constexpr bool isElementCopySize = (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) &&
                                          alignof(T) == sizeof(T);

/// from compute capability 8.0 on.
template <typename T>
[[nodiscard]] __device__ bool hasElementCopy() {
    return isElementCopySize<T> && isOnCapability(80);
}

/// Begins a copy; other threads see it after `awaitElementCopies` and a barrier.
template <typename T>
__device__ void copyElement(T& shared, const T& global) {
    __pipeline_memcpy_async(&shared, &global, sizeof(T));
}

/// Waits for all copies that this thread has begun.
__device__ inline void awaitElementCopies() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

}  // namespace StreamCompaction
