#include "stream_compaction/runtime/device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "stream_compaction/runtime/cuda_check.h"
#include "stream_compaction/runtime/device_scope.h"

namespace StreamCompaction {

namespace {

/// The remembered answer. If there is none, remembers what `ask()` returns.
template <typename Question, typename Answer, typename Ask>
[[nodiscard]] Answer& remembered(std::map<Question, Answer>& answers, const Question& question, const Ask& ask) {
    const auto known = answers.find(question);
    return known != answers.end() ? known->second : answers.emplace(question, ask()).first->second;
}

DeviceProperties askDevice(int device) {
    const auto attribute = [device](cudaDeviceAttr which) {
        int value = 0;
        Common::checkCUDAError(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
        return static_cast<unsigned>(value);
    };
    constexpr unsigned firstWithFineGranularity = 8;  // of compute capability
    constexpr double transfersPerCycle = 2;
    const double memoryCyclesPerSecond = 1e3 * attribute(cudaDevAttrMemoryClockRate);
    return {.multiprocessors = attribute(cudaDevAttrMultiProcessorCount),
            .l2Bytes = attribute(cudaDevAttrL2CacheSize),
            .sharedBytesPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
            .sharedBytesPerMultiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
            .reservedSharedBytes = attribute(cudaDevAttrReservedSharedMemoryPerBlock),
            .sharedGranularity = attribute(cudaDevAttrComputeCapabilityMajor) < firstWithFineGranularity ? 256U : 128U,
            .hasClusters = attribute(cudaDevAttrClusterLaunch) != 0,
            .memoryBytesPerSecond =
                transfersPerCycle * memoryCyclesPerSecond * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8};
}

void set(const void* kernel, cudaFuncAttribute which, std::size_t value) {
    Common::checkCUDAError(cudaFuncSetAttribute(kernel, which, static_cast<int>(value)), "cudaFuncSetAttribute");
}

/// What CUDA says about a kernel, for blocks of some number of threads.
struct KernelOfThreads {
    DeviceProperties device;
    bool waitsForEarlier;
    std::size_t staticBytes;      ///< of shared memory per block
    std::size_t allowedBytes;     ///< of dynamic shared memory per block
    int blocksPerMultiprocessor;  ///< without dynamic shared memory
};

KernelOfThreads askKernel(const void* kernel, int threads) {
    cudaFuncAttributes attributes{};
    Common::checkCUDAError(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    int blocks = 0;
    Common::checkCUDAError(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0),
                           "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return {.device = currentDevice(),
            .waitsForEarlier = attributes.ptxVersion >= 90,
            .staticBytes = attributes.sharedSizeBytes,
            .allowedBytes = static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes),
            .blocksPerMultiprocessor = blocks};
}

// A kernel has few numbers of threads. The shared memory of its blocks may depend on the arguments of a call.
thread_local std::map<std::tuple<int, const void*, int>, KernelOfThreads> kernels;
thread_local std::map<std::tuple<int, const void*, int, std::size_t>, unsigned> clusters;

KernelOfThreads& kernelOfThreads(const void* kernel, int threads) {
    return remembered(kernels, std::tuple(currentDeviceIndex(), kernel, threads),
                      [&] { return askKernel(kernel, threads); });
}

}  // namespace

DeviceProperties currentDevice() {
    thread_local std::map<int, DeviceProperties> devices;
    const int device = currentDeviceIndex();
    return remembered(devices, device, [device] { return askDevice(device); });
}

KernelProperties propertiesOnCurrentDevice(const void* kernel, int threads, std::size_t sharedBytes) {
    const KernelOfThreads& known = kernelOfThreads(kernel, threads);
    const DeviceProperties& device = known.device;
    KernelProperties found{.waitsForEarlier = known.waitsForEarlier};
    if (known.staticBytes + sharedBytes > device.sharedBytesPerBlock) {
        return found;
    }
    // CUDA would answer for `sharedBytes` only after allowing them, which a question should not.
    const std::size_t bytes = known.staticBytes + sharedBytes + device.reservedSharedBytes;
    const std::size_t units = std::max<std::size_t>(Common::divideRoundUp(bytes, device.sharedGranularity), 1);
    const std::size_t fitting = device.sharedBytesPerMultiprocessor / (units * device.sharedGranularity);
    found.blocksPerMultiprocessor = std::min(known.blocksPerMultiprocessor, static_cast<int>(fitting));
    found.residentBlocks = static_cast<unsigned>(found.blocksPerMultiprocessor) * device.multiprocessors;
    return found;
}

void allowSharedMemory(const void* kernel, int threads, std::size_t sharedBytes) {
    KernelOfThreads& known = kernelOfThreads(kernel, threads);
    const std::size_t most = known.device.sharedBytesPerBlock - known.staticBytes;
    if (sharedBytes > known.allowedBytes && sharedBytes <= most) {
        // The same value for all launches, so that none takes back what another thread's launch was allowed.
        set(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
        known.allowedBytes = most;
    }
}

unsigned allowClusters(const void* kernel, int threads, std::size_t sharedBytes) {
    return remembered(clusters, std::tuple(currentDeviceIndex(), kernel, threads, sharedBytes), [&]() -> unsigned {
        const KernelProperties properties = propertiesOnCurrentDevice(kernel, threads, sharedBytes);
        if (!currentDevice().hasClusters || !properties.waitsForEarlier || properties.residentBlocks == 0) {
            return 0;
        }
        // CUDA answers for what is allowed.
        allowSharedMemory(kernel, threads, sharedBytes);
        set(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        cudaLaunchConfig_t config{};
        config.gridDim = 1;
        config.blockDim = static_cast<unsigned>(threads);
        config.dynamicSmemBytes = sharedBytes;
        int blocks = 0;
        Common::checkCUDAError(cudaOccupancyMaxPotentialClusterSize(&blocks, kernel, &config),
                               "cudaOccupancyMaxPotentialClusterSize");
        return static_cast<unsigned>(blocks);
    });
}

std::size_t rememberedAnswers() { return kernels.size() + clusters.size(); }

}  // namespace StreamCompaction
