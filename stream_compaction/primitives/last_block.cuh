#pragma once

#include <cuda_runtime.h>

namespace StreamCompaction::Block {

/// Whether this block is the last one of its kernel to get here. It sees what all others have written before.
/// `finished` counts the blocks, from zero on. Called by all threads of all blocks, once. Contains two barriers.
[[nodiscard]] __device__ inline bool isLastToFinish(unsigned* finished) {
    __threadfence();
    __syncthreads();
    const bool isLast = threadIdx.x == 0 && atomicAdd(finished, 1) + 1 == gridDim.x;
    const bool isInLastBlock = __syncthreads_or(isLast) != 0;
    __threadfence();
    return isInLastBlock;
}

}  // namespace StreamCompaction::Block
