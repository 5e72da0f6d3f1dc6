#pragma once

#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <cstddef>

#include "stream_compaction/cuda_check.h"

/// Launches of kernels that use much shared memory.
namespace StreamCompaction::Radix {

struct LaunchShape {
    unsigned blocks;
    int threads;
    std::size_t sharedBytes;
    bool cooperative = false;
};

[[nodiscard]] inline int deviceAttribute(cudaDeviceAttr attribute, int device) {
    int value = 0;
    Common::checkCUDAError(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
    return value;
}

/// Allows the kernel so much shared memory and returns how many blocks the current device can hold at once: 0 if not
/// even one. Done once a device.
template <auto kernel>
[[nodiscard]] unsigned residentBlocks(int threads, std::size_t sharedBytes) {
    constexpr int rememberedDevices = 64;
    static std::array<std::atomic<int>, rememberedDevices> remembered{};  // plus one; 0 is not yet asked

    int device = 0;
    Common::checkCUDAError(cudaGetDevice(&device), "cudaGetDevice");
    if (device < rememberedDevices && remembered[device] > 0) {
        return static_cast<unsigned>(remembered[device] - 1);
    }
    int blocks = 0;
    if (sharedBytes <= static_cast<std::size_t>(deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device))) {
        const auto set = [](cudaFuncAttribute attribute, int value) {
            Common::checkCUDAError(cudaFuncSetAttribute(kernel, attribute, value), "cudaFuncSetAttribute");
        };
        set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sharedBytes));
        set(cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
        int perMultiprocessor = 0;
        Common::checkCUDAError(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, kernel, threads, sharedBytes),
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        blocks = perMultiprocessor * deviceAttribute(cudaDevAttrMultiProcessorCount, device);
    }
    if (device < rememberedDevices) {
        remembered[device] = blocks + 1;
    }
    return static_cast<unsigned>(blocks);
}

template <auto kernel, typename... Arguments>
void launch(const char* name, const LaunchShape& shape, cudaStream_t stream, Arguments... arguments) {
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = shape.blocks;
    config.blockDim = static_cast<unsigned>(shape.threads);
    config.dynamicSmemBytes = shape.sharedBytes;
    config.stream = stream;
    config.attrs = &cooperative;
    config.numAttrs = shape.cooperative ? 1 : 0;
    Common::checkCUDAError(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

}  // namespace StreamCompaction::Radix
