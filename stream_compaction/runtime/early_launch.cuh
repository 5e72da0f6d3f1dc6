#pragma once

#include <cuda_runtime.h>

/// Programmatic launches (compute capability 9.0 and later): a kernel may begin while the one before it in the stream
/// still runs. On older cards both functions do nothing, and each kernel begins when the one before it is done.
namespace StreamCompaction {

/// Waits until all kernels before this one in the stream are done and their writes are visible.
__device__ inline void waitForEarlierKernels() {
#if defined(STREAM_COMPACTION_SIMULATED) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    cudaGridDependencySynchronize();
#endif
}

/// Lets the next kernel in the stream begin, if it is launched to begin early, as soon as its blocks find room.
__device__ inline void letLaterKernelsBegin() {
#if defined(STREAM_COMPACTION_SIMULATED) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

}  // namespace StreamCompaction
