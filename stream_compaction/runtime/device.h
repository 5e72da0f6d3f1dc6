#pragma once

#include <cstddef>

/// Properties of cards and kernels. Each host thread asks CUDA once and remembers the answers by device, so any number
/// of threads may ask at the same time. After a cudaDeviceReset the remembered answers are wrong. A failing CUDA call
/// throws CudaError.
namespace StreamCompaction {

struct DeviceProperties {
    unsigned multiprocessors;
    std::size_t l2Bytes;              ///< of the second-level cache
    std::size_t sharedBytesPerBlock;  ///< the most shared memory that a block can have
    bool hasClusters;
    double memoryBytesPerSecond;  ///< the nominal bandwidth; 0 if it is not known
};

/// The properties of the current device.
[[nodiscard]] DeviceProperties currentDevice();

/// What a card can do with a kernel, for blocks of one shape.
struct KernelProperties {
    bool waitsForEarlier = false;     ///< whether its code for this card contains `waitForEarlierKernels`
    int blocksPerMultiprocessor = 0;  ///< 0 if a block needs more shared memory than the card has
    unsigned clusterBlocks = 0;       ///< blocks of the largest cluster; 0 if the card has no clusters
    unsigned residentBlocks = 0;      ///< blocks that the card holds at once
};

/// The properties of `kernel` on the current device, for blocks of `threads` threads and `sharedBytes` bytes of dynamic
/// shared memory. `kernel` is the host's address of a __global__ function. From then on the kernel may use all the
/// shared memory that it asks for here, and clusters of any size. Launches that work without these permissions do not
/// change.
[[nodiscard]] KernelProperties propertiesOnCurrentDevice(const void* kernel, int threads, std::size_t sharedBytes);

}  // namespace StreamCompaction
