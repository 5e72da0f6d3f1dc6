#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/early_launch.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// Clears scratch for the next kernel.
namespace StreamCompaction {

/// Clears the words and calls `also()` in one thread. Lets the next kernel begin early. Writes 8 bytes per word.
template <typename Also>
__global__ void kernClear(std::uint64_t* words, std::size_t n, Also also) {
    letLaterKernelsBegin();
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (first == 0) {
        also();
    }
    for (std::size_t i = first; i < n; i += std::size_t{gridDim.x} * blockDim.x) {
        words[i] = 0;
    }
}

struct DoNothing {
    __device__ void operator()() const {}
};

/// Clears `n` words and calls `also()` once on the device, before a kernel that begins early. Enqueues its work;
/// neither allocates nor synchronises.
template <typename Also = DoNothing>
void clearWords(std::uint64_t* words, std::size_t n, cudaStream_t stream, Also also = {}) {
    constexpr int threads = 256;
    constexpr std::size_t mostBlocks = 128;
    const std::size_t blocks = std::clamp<std::size_t>(Common::divideRoundUp(n, threads), 1, mostBlocks);
    launch<kernClear<Also>>(plainShape(blocks, threads), stream, words, n, also);
}

}  // namespace StreamCompaction
