#include <algorithm>
#include <array>
#include <atomic>
#include <cub/device/device_reduce.cuh>
#include <stream_compaction/runtime/launch.cuh>

#include "measure/gpu_noise.h"
#include "measure/gpu_probe.h"

namespace Bench {
namespace {

using StreamCompaction::launch;
using StreamCompaction::plainShape;
using StreamCompaction::Common::checkCUDAError;

[[nodiscard]] __device__ unsigned long long nanoseconds() {
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/// The nanosecond timer advances in steps, of a microsecond on some cards. So the measured interval begins and ends at
/// a step.
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

/// The pointers are to host memory.
__global__ void kernAwait(unsigned time, const volatile unsigned* opened, volatile unsigned* gaveUp) {
    constexpr unsigned long long longest = 20'000'000;
    const unsigned long long begin = nanoseconds();
    while (*opened != time) {
        if (nanoseconds() - begin > longest) {
            *gaveUp = time;
            return;
        }
    }
}

}  // namespace

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

Barrier::Barrier() { std::ranges::fill(shared_.elements(), 0); }

void Barrier::close() { launch<kernAwait>(plainShape(1, 1), nullptr, ++closed_, &opened_, &gaveUp_); }

void Barrier::open() { std::atomic_ref(opened_).store(closed_); }

double ClockProbe::megahertz() {
    launch<kernCountTicks>(plainShape(1, 1), nullptr, ticksAndNanoseconds_.data());
    std::array<unsigned long long, 2> counted{};
    ticksAndNanoseconds_.copyTo(counted);
    return 1000.0 * static_cast<double>(counted[0]) / static_cast<double>(counted[1]);
}

}  // namespace Bench
