#pragma once

#include <cstddef>

/// What cards and kernels are like. Each host thread asks CUDA once and remembers the answers by device, so that any
/// number of threads may ask at the same time. A cudaDeviceReset makes what is remembered wrong.
namespace StreamCompaction {

struct DeviceProperties {
    unsigned multiprocessors;
    std::size_t l2Bytes;              ///< of the second-level cache
    std::size_t sharedBytesPerBlock;  ///< the most shared memory that a block can have
    bool hasClusters;
};

/// Of the current device.
[[nodiscard]] DeviceProperties currentDevice();

/// What a card makes of a kernel whose blocks have a certain shape.
struct KernelProperties {
    bool waitsForEarlier = false;     ///< whether its code for this card contains `waitForEarlierKernels`
    int blocksPerMultiprocessor = 0;  ///< 0 where a block needs more shared memory than the card has
    unsigned clusterBlocks = 0;       ///< of the largest cluster; 0 where the card has none
    unsigned residentBlocks = 0;      ///< that the card holds at once
};

/// On the current device, for blocks of `threads` threads and `sharedBytes` bytes of dynamic shared memory. `kernel` is
/// the host's address of a __global__ function. The kernel may use as much shared memory as the card has from then on,
/// and clusters of any size: permissions, which change no launch that works without them.
[[nodiscard]] KernelProperties propertiesOnCurrentDevice(const void* kernel, int threads, std::size_t sharedBytes);

}  // namespace StreamCompaction
