#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

/// How many blocks a multiprocessor is to have room for: the second argument of `__launch_bounds__`, from which the
/// compiler tells how many registers a thread may have. A card is a row of `multiprocessor`.
namespace StreamCompaction {

/// What a multiprocessor has room for.
struct Multiprocessor {
    std::size_t threads;
    std::size_t registers = std::size_t{64} << 10;
    std::size_t sharedBytes = std::size_t{227} << 10;  ///< of capability 9.0, whatever the card
};

/// The multiprocessor of the compute capability that is compiled for.
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
            return {.threads = 2048};
        default:
            return {.threads = capability < 800 ? 1024u : 1536u};
    }
}

/// `blocks`, or as many blocks as a multiprocessor has threads for if that is fewer.
[[nodiscard]] constexpr int blocksThatFit(std::size_t threads, std::size_t blocks) {
    return static_cast<int>(std::min(blocks, multiprocessor().threads / threads));
}

/// Blocks that fit into shared memory, registers and threads at once. A block takes some 1.5 KiB of shared memory
/// beside its tile.
[[nodiscard]] constexpr int blocksPerMultiprocessor(std::size_t threads, std::size_t tileBytes,
                                                    std::size_t registersPerThread) {
    const Multiprocessor card = multiprocessor();
    const std::size_t byMemory = card.sharedBytes / (tileBytes + 1536);
    const std::size_t byRegisters = card.registers / (threads * registersPerThread);
    return blocksThatFit(threads, std::min(byMemory, byRegisters));
}

}  // namespace StreamCompaction
