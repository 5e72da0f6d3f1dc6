#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/common.cuh"

/// Launches of the single-pass kernels, whose blocks wait for one another and must therefore be resident together.
namespace StreamCompaction::SinglePass {

/// What a card makes of a kernel.
struct KernelOnDevice {
    unsigned residentBlocks = 0;    ///< that the card holds at once
    bool waitsForClearing = false;  ///< whether its code for this card has `waitForClearing` in it
};

/// For the current device; asked once a device.
template <auto kernel>
[[nodiscard]] KernelOnDevice onCurrentDevice(int threads) {
    constexpr int rememberedDevices = 64;
    static std::array<std::atomic<KernelOnDevice>, rememberedDevices> remembered{};

    int device = 0;
    Common::checkCUDAError(cudaGetDevice(&device), "cudaGetDevice");
    if (device < rememberedDevices) {
        if (const KernelOnDevice known = remembered[device]; known.residentBlocks > 0) {
            return known;
        }
    }
    int multiprocessors = 0;
    Common::checkCUDAError(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                           "cudaDeviceGetAttribute");
    // As much shared memory as there is: tiles wait in it.
    Common::checkCUDAError(
        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
        "cudaFuncSetAttribute");
    int perMultiprocessor = 0;
    Common::checkCUDAError(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, kernel, threads, 0),
                           "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    cudaFuncAttributes attributes{};
    Common::checkCUDAError(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");

    const KernelOnDevice found{static_cast<unsigned>(perMultiprocessor) * static_cast<unsigned>(multiprocessors),
                               attributes.ptxVersion >= 90};
    if (device < rememberedDevices) {
        remembered[device] = found;
    }
    return found;
}

/// Launches the kernel; with more than one block cooperatively: they begin together, and the grid has a barrier.
template <auto kernel, typename... Arguments>
void launchTogether(const char* name, unsigned blocks, int threads, cudaStream_t stream, Arguments... arguments) {
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = static_cast<unsigned>(threads);
    config.stream = stream;
    config.attrs = &cooperative;
    config.numAttrs = blocks > 1 ? 1 : 0;
    Common::checkCUDAError(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

/// Clears words of scratch; what follows it by programmatic launch may begin at once.
static __global__ void kernClear(std::uint64_t* words, std::size_t n) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = Common::globalThreadIndex(); i < n; i += threads) {
        words[i] = 0;
    }
}

/// Clears words of scratch and launches the kernel, which, where the card can, begins while they are being cleared.
template <auto kernel, typename... Arguments>
void launchAfterClearing(const char* name, std::uint64_t* words, std::size_t n, std::size_t blocks, int threads,
                         cudaStream_t stream, Arguments... arguments) {
    constexpr int clearingThreads = 256;
    constexpr unsigned mostBlocks = 128;
    kernClear<<<std::min(mostBlocks, Common::blocksFor(n, clearingThreads)), clearingThreads, 0, stream>>>(words, n);
    Common::checkCUDAError("kernClear");

    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(blocks);
    config.blockDim = static_cast<unsigned>(threads);
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = onCurrentDevice<kernel>(threads).waitsForClearing ? 1 : 0;
    Common::checkCUDAError(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

/// Threads a block and rows a warp of the kernels that hold a tile a block in registers.
template <int threadCount, int rowCount>
struct BlockShape {
    static constexpr int threads = threadCount;
    static constexpr int rows = rowCount;
    static constexpr std::size_t vectors = std::size_t{threads} * rows;
};

using TinyBlock = BlockShape<256, 1>;
using SmallBlock = BlockShape<256, 4>;
using MediumBlock = BlockShape<512, 4>;
using LargeBlock = BlockShape<256, 8>;

/// The largest grids of such blocks, in 16-byte vectors, that beat what comes next; measured on an H200.
struct ResidentLimits {
    std::size_t tiny;
    std::size_t small;
    std::size_t large;
};

/// Calls `launch(shape)` with the shape that suits so many vectors, one block where they fit. Returns false where there
/// are too many, or when `launch` says that the blocks would not be resident together.
template <typename Launch>
[[nodiscard]] bool launchResident(std::size_t vectors, const ResidentLimits& most, Launch&& launch) {
    if (vectors <= TinyBlock::vectors) {
        return launch(TinyBlock{});
    }
    if (vectors <= SmallBlock::vectors) {
        return launch(SmallBlock{});
    }
    if (vectors <= MediumBlock::vectors) {
        return launch(MediumBlock{});
    }
    if (vectors <= most.tiny) {
        return launch(TinyBlock{});
    }
    if (vectors <= most.small) {
        return launch(SmallBlock{});
    }
    return vectors <= most.large && launch(LargeBlock{});
}

/// Blocks that such a grid has at most, each of which needs a place in scratch.
[[nodiscard]] constexpr std::size_t residentBlocksFor(std::size_t vectors, const ResidentLimits& most) {
    return vectors <= most.tiny    ? Common::divideRoundUp(vectors, TinyBlock::vectors)
           : vectors <= most.small ? Common::divideRoundUp(vectors, SmallBlock::vectors)
           : vectors <= most.large ? Common::divideRoundUp(vectors, LargeBlock::vectors)
                                   : 0;
}

/// Threads that a multiprocessor of the card that is compiled for has room for, at least.
[[nodiscard]] constexpr std::size_t threadsPerMultiprocessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return 1024;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000
    return 1536;
#else
    return 2048;
#endif
}

/// Blocks for which an SM is to have registers: as many as the shared memory of compute capability 9.0 has room for,
/// 227 KiB, of which a block takes some 1.5 KiB beside the tile that waits there, unless 64 Ki registers or the threads
/// that an SM takes allow fewer.
[[nodiscard]] constexpr int blocksPerMultiprocessor(std::size_t threads, std::size_t tileBytes,
                                                    std::size_t registersPerThread) {
    const std::size_t byMemory = (std::size_t{227} << 10) / (tileBytes + 1536);
    const std::size_t byRegisters = (std::size_t{64} << 10) / (threads * registersPerThread);
    return static_cast<int>(std::min({byMemory, byRegisters, threadsPerMultiprocessor() / threads}));
}

}  // namespace StreamCompaction::SinglePass
