#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <source_location>
#include <string_view>

#include "stream_compaction/runtime/cuda_check.h"
#include "stream_compaction/runtime/device.h"

/// Launches of kernels that need more than <<<>>> can express: all blocks resident at once, a cluster, an early
/// beginning, more than 48 KiB of shared memory. The textbook rungs use <<<>>>.
namespace StreamCompaction {

/// The properties of `kernel` on the current device, for blocks of `threads` threads and `sharedBytes` bytes of dynamic
/// shared memory.
template <auto kernel>
[[nodiscard]] KernelProperties onCurrentDevice(int threads, std::size_t sharedBytes = 0) {
    return propertiesOnCurrentDevice(reinterpret_cast<const void*>(kernel), threads, sharedBytes);
}

/// How the blocks of a launch begin.
enum class Begin {
    Normal,        ///< when all earlier work of the stream is done
    Cooperative,   ///< the same, and all at once, so that the grid has a barrier
    Cluster,       ///< the same, all at once and near one another
    Programmatic,  ///< if the card can, while the kernel before still runs; the kernel calls `waitForEarlierKernels`
};

struct LaunchShape {
    std::size_t blocks;
    int threads;                  ///< per block
    std::size_t sharedBytes = 0;  ///< of dynamic shared memory per block; above 48 KiB ask `onCurrentDevice` first
    Begin begin = Begin::Normal;

    /// How a multiprocessor divides its memory between shared memory and the first-level cache during the launch. By
    /// default all of it is shared memory, because that holds the tiles.
    cudaSharedCarveout carveout = cudaSharedmemCarveoutMaxShared;

    /// The place of the launch in error messages.
    std::source_location where = std::source_location::current();
};

/// The kernel's name as the compiler prints it, without namespaces and template arguments.
template <auto kernel>
[[nodiscard]] constexpr std::string_view nameOf() {
    constexpr std::string_view before = "kernel = ";
    const std::string_view printed = std::source_location::current().function_name();
    const std::size_t found = printed.find(before);
    if (found == std::string_view::npos) {
        return printed;
    }
    const std::string_view value = printed.substr(found + before.size());
    const std::string_view full = value.substr(0, value.find_first_of("<;]"));
    return full.substr(full.find_last_of(":&") + 1);
}

/// The configuration of a launch, as CUDA takes it.
class LaunchConfig {
  public:
    /// Throws std::invalid_argument for more blocks than a grid has, 2^31 - 1.
    LaunchConfig(const void* kernel, std::string_view name, const LaunchShape& shape, cudaStream_t stream);
    LaunchConfig(const LaunchConfig&) = delete;
    LaunchConfig& operator=(const LaunchConfig&) = delete;

    [[nodiscard]] const cudaLaunchConfig_t* get() const { return &config_; }

  private:
    void add(const cudaLaunchAttribute& attribute) { attributes_[config_.numAttrs++] = attribute; }

    std::array<cudaLaunchAttribute, 2> attributes_{};
    cudaLaunchConfig_t config_{};
};

/// Enqueues `kernel(arguments...)`; neither allocates nor synchronises. Throws std::invalid_argument for more blocks
/// than a grid has, 2^31 - 1, and CudaError if the launch fails.
template <auto kernel, typename... Arguments>
void launch(const LaunchShape& shape, cudaStream_t stream, Arguments... arguments) {
    constexpr std::string_view name = nameOf<kernel>();
    const LaunchConfig config(reinterpret_cast<const void*>(kernel), name, shape, stream);
    Common::checkCUDAError(cudaLaunchKernelEx(config.get(), kernel, arguments...), name, shape.where);
}

}  // namespace StreamCompaction
