#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstddef>

#include "stream_compaction/primitives/target.cuh"

/// Asynchronous copies of single elements from global to shared memory (cp.async, compute capability 8.0 and later).
/// They use no registers, and a thread waits only when it needs the elements. Unlike in a bulk copy, each element may
/// go to a different place.
namespace StreamCompaction {

/// Whether elements of type T have a size that can be copied.
template <typename T>
inline constexpr bool isElementCopySize = (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) &&
                                          alignof(T) == sizeof(T);

/// Whether the card can copy elements of type T.
template <typename T>
[[nodiscard]] __device__ bool hasElementCopy() {
    return isElementCopySize<T> && isOnCapability(80);
}

/// Starts a copy. Other threads see the element after `awaitElementCopies` and a barrier.
template <typename T>
__device__ void copyElement(T& shared, const T& global) {
    __pipeline_memcpy_async(&shared, &global, sizeof(T));
}

/// Waits for all copies that this thread has started.
__device__ inline void awaitElementCopies() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

}  // namespace StreamCompaction
