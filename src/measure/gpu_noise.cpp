#include "measure/gpu_noise.h"

#include <cuda_runtime_api.h>
#include <stream_compaction/runtime/cuda_check.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace Bench {

void fillWithNoise(std::span<std::byte> memory) {
    std::vector<std::byte> noise(std::min<std::size_t>(memory.size(), std::size_t{1} << 20));
    for (std::size_t i = 0; i < noise.size(); ++i) {
        noise[i] = static_cast<std::byte>(i * 0x9E3779B97F4A7C15u >> 56);
    }
    for (std::size_t at = 0; at < memory.size(); at += noise.size()) {
        const std::size_t bytes = std::min(noise.size(), memory.size() - at);
        StreamCompaction::Common::checkCUDAError(
            cudaMemcpy(memory.data() + at, noise.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
}

}  // namespace Bench
