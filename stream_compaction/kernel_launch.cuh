#pragma once

#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/cuda_check.h"

/// Launches of kernels that want to know how many of their blocks are resident, use much shared memory or begin early.
namespace StreamCompaction {

/// In a kernel that begins early: waits until all before it in the stream is done and visible.
__device__ inline void waitForEarlierKernels() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/// Lets the kernel that comes next in the stream begin, if it is to begin early, as soon as there is room for its
/// blocks.
__device__ inline void letLaterKernelsBegin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// What a card makes of a kernel.
struct KernelOnDevice {
    bool isKnown = false;
    bool waitsForEarlier = false;              ///< whether its code for this card has `waitForEarlierKernels` in it
    std::uint8_t blocksPerMultiprocessor = 0;  ///< 0 where the card has too little shared memory for one
    std::uint8_t clusterBlocks = 0;            ///< of the largest cluster; 0 where the card has none
    unsigned residentBlocks = 0;               ///< that the card holds at once
};

/// For the current device, with so many threads and bytes of dynamic shared memory a block, which the kernel is allowed
/// from then on; asked once a device.
template <auto kernel>
[[nodiscard]] KernelOnDevice onCurrentDevice(int threads, std::size_t sharedBytes = 0) {
    constexpr int rememberedDevices = 64;
    static std::array<std::atomic<KernelOnDevice>, rememberedDevices> remembered{};

    int device = 0;
    Common::checkCUDAError(cudaGetDevice(&device), "cudaGetDevice");
    if (device < rememberedDevices) {
        if (const KernelOnDevice known = remembered[device]; known.isKnown) {
            return known;
        }
    }
    const auto attribute = [device](cudaDeviceAttr which) {
        int value = 0;
        Common::checkCUDAError(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
        return static_cast<unsigned>(value);
    };
    const auto set = [](cudaFuncAttribute which, int value) {
        Common::checkCUDAError(cudaFuncSetAttribute(kernel, which, value), "cudaFuncSetAttribute");
    };

    KernelOnDevice found{.isKnown = true};
    if (sharedBytes <= attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) {
        set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sharedBytes));
        set(cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);  // tiles wait in it
        int perMultiprocessor = 0;
        Common::checkCUDAError(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, kernel, threads, sharedBytes),
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        cudaFuncAttributes attributes{};
        Common::checkCUDAError(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
        found.blocksPerMultiprocessor = static_cast<std::uint8_t>(perMultiprocessor);
        found.residentBlocks = static_cast<unsigned>(perMultiprocessor) * attribute(cudaDevAttrMultiProcessorCount);
        found.waitsForEarlier = attributes.ptxVersion >= 90;
        if (attribute(cudaDevAttrClusterLaunch) != 0 && attributes.ptxVersion >= 90 && found.residentBlocks > 0) {
            set(cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
            cudaLaunchConfig_t config{};
            config.gridDim = 1;
            config.blockDim = static_cast<unsigned>(threads);
            config.dynamicSmemBytes = sharedBytes;
            int clusterBlocks = 0;
            Common::checkCUDAError(cudaOccupancyMaxPotentialClusterSize(&clusterBlocks, kernel, &config),
                                   "cudaOccupancyMaxPotentialClusterSize");
            found.clusterBlocks = static_cast<std::uint8_t>(clusterBlocks);
        }
    }
    if (device < rememberedDevices) {
        remembered[device] = found;
    }
    return found;
}

/// How blocks of a launch begin.
enum class Begin {
    InTurn,     ///< after all that the stream has before them
    Together,   ///< the same, and all at once, so that the grid has a barrier
    AsCluster,  ///< the same, near one another
    Early,      ///< where the card can, while the kernel before them still runs; they wait for it themselves
};

struct LaunchShape {
    std::size_t blocks;
    int threads;
    std::size_t sharedBytes = 0;
    Begin begin = Begin::InTurn;
};

template <auto kernel, typename... Arguments>
void launch(const char* name, const LaunchShape& shape, cudaStream_t stream, Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    if (shape.begin == Begin::Together) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
    } else if (shape.begin == Begin::AsCluster) {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {static_cast<unsigned>(shape.blocks), 1, 1};
    } else {
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
    }
    const bool isPlain =
        shape.begin == Begin::InTurn ||
        (shape.begin == Begin::Early && !onCurrentDevice<kernel>(shape.threads, shape.sharedBytes).waitsForEarlier);
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(shape.blocks);
    config.blockDim = static_cast<unsigned>(shape.threads);
    config.dynamicSmemBytes = shape.sharedBytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = isPlain ? 0 : 1;
    Common::checkCUDAError(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

}  // namespace StreamCompaction
