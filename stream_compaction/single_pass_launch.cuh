#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "stream_compaction/common.cuh"

/// Launches of the single-pass kernels, whose blocks wait for one another and must therefore be resident together.
namespace StreamCompaction::SinglePass {

/// How many blocks of the kernel the current device can hold at once; asked once a device.
template <auto kernel>
[[nodiscard]] unsigned residentBlocks(int threads) {
    constexpr int rememberedDevices = 64;
    static std::array<std::atomic<unsigned>, rememberedDevices> remembered{};

    int device = 0;
    Common::checkCUDAError(cudaGetDevice(&device), "cudaGetDevice");
    if (device < rememberedDevices && remembered[device] > 0) {
        return remembered[device];
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
    const unsigned blocks = static_cast<unsigned>(perMultiprocessor) * static_cast<unsigned>(multiprocessors);
    if (device < rememberedDevices) {
        remembered[device] = blocks;
    }
    return blocks;
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

/// The largest grids of tiny and small blocks that beat what comes next, in 16-byte vectors, measured on an H200.
inline constexpr std::size_t mostVectorsInTinyBlocks = std::size_t{1} << 14;
inline constexpr std::size_t mostVectorsInSmallBlocks = std::size_t{1} << 17;

/// Calls `launch(shape)` with the shape that suits so many vectors, one block where they fit. Returns false where there
/// are too many, or when `launch` says that the blocks would not be resident together.
template <typename Launch>
[[nodiscard]] bool launchResident(std::size_t vectors, Launch&& launch) {
    if (vectors <= TinyBlock::vectors) {
        return launch(TinyBlock{});
    }
    if (vectors <= SmallBlock::vectors) {
        return launch(SmallBlock{});
    }
    if (vectors <= MediumBlock::vectors) {
        return launch(MediumBlock{});
    }
    if (vectors <= mostVectorsInTinyBlocks) {
        return launch(TinyBlock{});
    }
    return vectors <= mostVectorsInSmallBlocks && launch(SmallBlock{});
}

/// Blocks that such a grid has at most, each of which needs a place in scratch.
[[nodiscard]] constexpr std::size_t residentBlocksFor(std::size_t vectors) {
    return vectors <= mostVectorsInTinyBlocks    ? Common::divideRoundUp(vectors, TinyBlock::vectors)
           : vectors <= mostVectorsInSmallBlocks ? Common::divideRoundUp(vectors, SmallBlock::vectors)
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

/// Blocks that an SM of compute capability 9.0 has room for: in its 227 KiB of shared memory, of which a block takes
/// some 1.5 KiB beside its tile, its 64 Ki registers and its threads.
[[nodiscard]] constexpr int blocksPerMultiprocessor(std::size_t threads, std::size_t tileBytes,
                                                    std::size_t registersPerThread) {
    const std::size_t byMemory = (std::size_t{227} << 10) / (tileBytes + 1536);
    const std::size_t byRegisters = (std::size_t{64} << 10) / (threads * registersPerThread);
    return static_cast<int>(std::min({byMemory, byRegisters, threadsPerMultiprocessor() / threads}));
}

}  // namespace StreamCompaction::SinglePass
