#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

/// The number of blocks that are to fit on a multiprocessor, which is the second argument of `__launch_bounds__`. From
/// it the compiler derives how many registers a thread may have. `multiprocessor` lists the cards.
namespace StreamCompaction {

/// The resources of a multiprocessor.
struct Multiprocessor {
    std::size_t threads;
    std::size_t registers = std::size_t{64} << 10;
    std::size_t sharedBytes = std::size_t{227} << 10;  ///< of capability 9.0, used for all cards
};

/// The multiprocessor of the compute capability for which this code is compiled.
[[nodiscard]] constexpr Multiprocessor multiprocessor() {
#if !defined(__CUDA_ARCH__)
    constexpr int capability = 900;
#else
    constexpr int capability = __CUDA_ARCH__;
#endif
    switch (capability) {
        case 800:
        case 900:
        case 1000:
        case 1030:
            return {.threads = 2048};
        default:
            return {.threads = capability < 800 ? 1024u : 1536u};
    }
}

/// `blocks`, or the number of blocks that a multiprocessor has threads for, if that is smaller.
[[nodiscard]] constexpr int blocksThatFit(std::size_t threads, std::size_t blocks) {
    return static_cast<int>(std::min(blocks, multiprocessor().threads / threads));
}

/// Blocks per multiprocessor, limited by shared memory, registers and threads. Besides its tile, a block takes about
/// 1.5 KiB of shared memory.
[[nodiscard]] constexpr int blocksPerMultiprocessor(std::size_t threads, std::size_t tileBytes,
                                                    std::size_t registersPerThread) {
    const Multiprocessor card = multiprocessor();
    const std::size_t byMemory = card.sharedBytes / (tileBytes + 1536);
    const std::size_t byRegisters = card.registers / (threads * registersPerThread);
    return blocksThatFit(threads, std::min(byMemory, byRegisters));
}

}  // namespace StreamCompaction
