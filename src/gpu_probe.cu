#include <stream_compaction/cuda_check.h>

#include <algorithm>
#include <array>
#include <cub/device/device_reduce.cuh>
#include <vector>

#include "gpu_probe.h"

namespace Bench {
namespace {

using StreamCompaction::Common::checkCUDAError;

[[nodiscard]] __device__ unsigned long long nanoseconds() {
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/// The nanosecond timer advances in steps, of a microsecond on some cards: both ends are waited for.
__global__ void kernCountTicks(unsigned long long* ticksAndNanoseconds) {
    constexpr unsigned long long duration = 200'000;
    const unsigned long long before = nanoseconds();
    unsigned long long begin = before;
    while (begin == before) {
        begin = nanoseconds();
    }
    const long long beginTicks = clock64();
    unsigned long long end = begin;
    while (end < begin + duration) {
        end = nanoseconds();
    }
    ticksAndNanoseconds[0] = static_cast<unsigned long long>(clock64() - beginTicks);
    ticksAndNanoseconds[1] = end - begin;
}

}  // namespace

void fillWithNoise(std::span<std::byte> memory) {
    std::vector<std::byte> noise(std::min<std::size_t>(memory.size(), std::size_t{1} << 20));
    for (std::size_t i = 0; i < noise.size(); ++i) {
        noise[i] = static_cast<std::byte>(i * 0x9E3779B97F4A7C15u >> 56);
    }
    for (std::size_t at = 0; at < memory.size(); at += noise.size()) {
        const std::size_t bytes = std::min(noise.size(), memory.size() - at);
        checkCUDAError(cudaMemcpy(memory.data() + at, noise.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
}

ReadProbe::ReadProbe(std::size_t bytes) : array_(bytes / sizeof(int)) {
    fillWithNoise(array_.bytes());
    std::size_t scratchBytes = 0;
    checkCUDAError(cub::DeviceReduce::Sum(nullptr, scratchBytes, array_.data(), sum_.data(), array_.size()),
                   "cub::DeviceReduce::Sum");
    scratch_ = StreamCompaction::DeviceBuffer<std::byte>(scratchBytes);
}

void ReadProbe::launch() {
    std::size_t scratchBytes = scratch_.size();
    checkCUDAError(cub::DeviceReduce::Sum(scratch_.data(), scratchBytes, array_.data(), sum_.data(), array_.size()),
                   "cub::DeviceReduce::Sum");
}

double ClockProbe::megahertz() {
    kernCountTicks<<<1, 1>>>(ticksAndNanoseconds_.data());
    checkCUDAError(cudaGetLastError(), "kernCountTicks");
    std::array<unsigned long long, 2> counted{};
    ticksAndNanoseconds_.copyTo(counted);
    return 1000.0 * static_cast<double>(counted[0]) / static_cast<double>(counted[1]);
}

}  // namespace Bench
