#include "stream_compaction/runtime/device.h"

#include <cuda_runtime_api.h>

#include <map>
#include <tuple>

#include "stream_compaction/runtime/cuda_check.h"
#include "stream_compaction/runtime/device_scope.h"

namespace StreamCompaction {

namespace {

/// The remembered answer. If there is none, remembers what `ask()` returns.
template <typename Question, typename Answer, typename Ask>
[[nodiscard]] Answer remembered(std::map<Question, Answer>& answers, const Question& question, const Ask& ask) {
    const auto known = answers.find(question);
    return known != answers.end() ? known->second : answers.emplace(question, ask()).first->second;
}

DeviceProperties askDevice(int device) {
    const auto attribute = [device](cudaDeviceAttr which) {
        int value = 0;
        Common::checkCUDAError(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
        return static_cast<unsigned>(value);
    };
    constexpr double transfersPerCycle = 2;
    const double memoryCyclesPerSecond = 1e3 * attribute(cudaDevAttrMemoryClockRate);
    return {.multiprocessors = attribute(cudaDevAttrMultiProcessorCount),
            .l2Bytes = attribute(cudaDevAttrL2CacheSize),
            .sharedBytesPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
            .hasClusters = attribute(cudaDevAttrClusterLaunch) != 0,
            .memoryBytesPerSecond =
                transfersPerCycle * memoryCyclesPerSecond * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8};
}

KernelProperties askKernel(const void* kernel, int threads, std::size_t sharedBytes) {
    const auto set = [kernel](cudaFuncAttribute which, std::size_t value) {
        Common::checkCUDAError(cudaFuncSetAttribute(kernel, which, static_cast<int>(value)), "cudaFuncSetAttribute");
    };
    const DeviceProperties device = currentDevice();
    cudaFuncAttributes attributes{};
    Common::checkCUDAError(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    KernelProperties found{.waitsForEarlier = attributes.ptxVersion >= 90};
    if (attributes.sharedSizeBytes + sharedBytes > device.sharedBytesPerBlock) {
        return found;
    }
    // The same value for all shapes of blocks, so that no shape or thread takes back what another one was allowed.
    if (sharedBytes > static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes)) {
        set(cudaFuncAttributeMaxDynamicSharedMemorySize, device.sharedBytesPerBlock - attributes.sharedSizeBytes);
    }
    Common::checkCUDAError(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found.blocksPerMultiprocessor, kernel, threads, sharedBytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    found.residentBlocks = static_cast<unsigned>(found.blocksPerMultiprocessor) * device.multiprocessors;
    if (device.hasClusters && attributes.ptxVersion >= 90 && found.residentBlocks > 0) {
        set(cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        cudaLaunchConfig_t config{};
        config.gridDim = 1;
        config.blockDim = static_cast<unsigned>(threads);
        config.dynamicSmemBytes = sharedBytes;
        int clusterBlocks = 0;
        Common::checkCUDAError(cudaOccupancyMaxPotentialClusterSize(&clusterBlocks, kernel, &config),
                               "cudaOccupancyMaxPotentialClusterSize");
        found.clusterBlocks = static_cast<unsigned>(clusterBlocks);
    }
    return found;
}

}  // namespace

DeviceProperties currentDevice() {
    thread_local std::map<int, DeviceProperties> devices;
    const int device = currentDeviceIndex();
    return remembered(devices, device, [device] { return askDevice(device); });
}

KernelProperties propertiesOnCurrentDevice(const void* kernel, int threads, std::size_t sharedBytes) {
    thread_local std::map<std::tuple<int, const void*, int, std::size_t>, KernelProperties> kernels;
    return remembered(kernels, std::tuple(currentDeviceIndex(), kernel, threads, sharedBytes),
                      [&] { return askKernel(kernel, threads, sharedBytes); });
}

}  // namespace StreamCompaction
