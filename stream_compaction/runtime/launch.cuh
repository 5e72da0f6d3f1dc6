#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

#include "stream_compaction/runtime/cuda_check.h"

/// Launches of kernels that want to know how many of their blocks are resident, use much shared memory or begin early.
namespace StreamCompaction {

/// In a kernel that begins early: waits until all before it in the stream is done and visible.
__device__ inline void waitForEarlierKernels() {
#if defined(STREAM_COMPACTION_SIMULATED) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    cudaGridDependencySynchronize();
#endif
}

/// Lets the kernel that comes next in the stream begin, if it is to begin early, as soon as there is room for its
/// blocks.
__device__ inline void letLaterKernelsBegin() {
#if defined(STREAM_COMPACTION_SIMULATED) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// What a card makes of a kernel.
struct KernelOnDevice {
    bool waitsForEarlier = false;     ///< whether its code for this card has `waitForEarlierKernels` in it
    int blocksPerMultiprocessor = 0;  ///< 0 where the card has too little shared memory for one
    unsigned clusterBlocks = 0;       ///< of the largest cluster; 0 where the card has none
    unsigned residentBlocks = 0;      ///< that the card holds at once
};

/// For the current device, with so many threads and bytes of dynamic shared memory a block, which the kernel is allowed
/// from then on; asked once a thread of the host. A cudaDeviceReset makes what is remembered wrong.
template <auto kernel>
[[nodiscard]] KernelOnDevice onCurrentDevice(int threads, std::size_t sharedBytes = 0) {
    int device = 0;
    Common::checkCUDAError(cudaGetDevice(&device), "cudaGetDevice");
    thread_local std::map<std::tuple<int, int, std::size_t>, KernelOnDevice> remembered;
    const std::tuple question(device, threads, sharedBytes);
    if (const auto known = remembered.find(question); known != remembered.end()) {
        return known->second;
    }
    const auto attribute = [device](cudaDeviceAttr which) {
        int value = 0;
        Common::checkCUDAError(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
        return static_cast<unsigned>(value);
    };
    const auto set = [](cudaFuncAttribute which, int value) {
        Common::checkCUDAError(cudaFuncSetAttribute(kernel, which, value), "cudaFuncSetAttribute");
    };

    KernelOnDevice found;
    if (sharedBytes <= attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) {
        cudaFuncAttributes attributes{};
        Common::checkCUDAError(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
        // What the kernel was allowed for another shape of its blocks stays allowed.
        if (const int bytes = static_cast<int>(sharedBytes); bytes > attributes.maxDynamicSharedSizeBytes) {
            set(cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        }
        set(cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);  // tiles wait in it
        int perMultiprocessor = 0;
        Common::checkCUDAError(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, kernel, threads, sharedBytes),
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        found.blocksPerMultiprocessor = perMultiprocessor;
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
            found.clusterBlocks = static_cast<unsigned>(clusterBlocks);
        }
    }
    return remembered[question] = found;
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

/// Throws std::invalid_argument for more blocks than a grid has, 2^31 - 1.
template <auto kernel, typename... Arguments>
void launch(const char* name, const LaunchShape& shape, cudaStream_t stream, Arguments... arguments) {
    constexpr std::size_t mostBlocks = std::numeric_limits<int>::max();
    if (shape.blocks > mostBlocks) {
        throw std::invalid_argument(std::string(name) + ": expected work for at most " + std::to_string(mostBlocks) +
                                    " blocks, got it for " + std::to_string(shape.blocks));
    }
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
