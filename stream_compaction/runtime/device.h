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
    std::size_t sharedBytesPerMultiprocessor;
    std::size_t reservedSharedBytes;  ///< that the system takes per block
    std::size_t sharedGranularity;    ///< the shared memory of a block is a multiple of this
    bool hasClusters;
    double memoryBytesPerSecond;  ///< the nominal bandwidth; 0 if it is not known
};

/// The properties of the current device.
[[nodiscard]] DeviceProperties currentDevice();

/// What a card can do with a kernel, for blocks of one shape.
struct KernelProperties {
    bool waitsForEarlier = false;     ///< whether its code for this card contains `waitForEarlierKernels`
    int blocksPerMultiprocessor = 0;  ///< 0 if a block needs more shared memory than the card has
    unsigned residentBlocks = 0;      ///< blocks that the card holds at once, if all its multiprocessors are available
};

/// The properties of `kernel` on the current device, for blocks of `threads` threads and `sharedBytes` bytes of dynamic
/// shared memory. `kernel` is the host's address of a __global__ function. Changes nothing. What is remembered does not
/// depend on `sharedBytes`, which may be any number.
[[nodiscard]] KernelProperties propertiesOnCurrentDevice(const void* kernel, int threads, std::size_t sharedBytes);

/// Allows blocks of `threads` threads of `kernel` to have `sharedBytes` bytes of dynamic shared memory on the current
/// device, if the card has as many. Each launch does this. Nothing takes it back.
void allowSharedMemory(const void* kernel, int threads, std::size_t sharedBytes);

/// Allows `kernel` clusters of any size on the current device. Returns the number of blocks of the largest one, with
/// such blocks; 0 if the card has no clusters. Unlike the others, this remembers an answer for each `sharedBytes`.
[[nodiscard]] unsigned allowClusters(const void* kernel, int threads, std::size_t sharedBytes);

/// The number of answers about kernels that this thread remembers.
[[nodiscard]] std::size_t rememberedAnswers();

}  // namespace StreamCompaction
