#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <source_location>
#include <string_view>

#include "stream_compaction/runtime/cuda_check.h"
#include "stream_compaction/runtime/device.h"

/// Launches of kernels. Unlike <<<>>>, these can express that all blocks are resident at once, a cluster, an early
/// beginning and more than 48 KiB of shared memory. They return a status of their own, so an error that the caller has
/// left behind is neither reported nor cleared. The textbook rungs use <<<>>>.
///
/// A kernel in a header is a template, so that a program has one copy of it: nvcc ignores `inline` at kernels.
namespace StreamCompaction {

/// The properties of `kernel` on the current device, for blocks of `threads` threads and `sharedBytes` bytes of dynamic
/// shared memory.
template <auto kernel>
[[nodiscard]] KernelProperties onCurrentDevice(int threads, std::size_t sharedBytes = 0) {
    return propertiesOnCurrentDevice(reinterpret_cast<const void*>(kernel), threads, sharedBytes);
}

/// The blocks of the largest cluster of `kernel` that the current device can launch; 0 if it has no clusters. A launch
/// of a cluster asks this first.
template <auto kernel>
[[nodiscard]] unsigned largestCluster(int threads, std::size_t sharedBytes) {
    return allowClusters(reinterpret_cast<const void*>(kernel), threads, sharedBytes);
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
    std::size_t sharedBytes = 0;  ///< of dynamic shared memory per block
    Begin begin = Begin::Normal;

    /// How a multiprocessor divides its memory between shared memory and the first-level cache during the launch. By
    /// default all of it is shared memory, because that holds the tiles.
    cudaSharedCarveout carveout = cudaSharedmemCarveoutMaxShared;

    /// The place of the launch in error messages.
    std::source_location where = std::source_location::current();
};

/// The shape of a launch as by <<<blocks, threads>>>, for kernels that keep nothing in shared memory.
[[nodiscard]] inline LaunchShape plainShape(std::size_t blocks, int threads,
                                            std::source_location where = std::source_location::current()) {
    return {.blocks = blocks, .threads = threads, .carveout = cudaSharedmemCarveoutDefault, .where = where};
}

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

/// Whether the launch would be captured into a graph that never ends. While a stream is captured, CUDA does not ask
/// whether its green context holds all blocks at once.
[[nodiscard]] bool wouldWaitForEver(const void* kernel, const LaunchShape& shape, cudaStream_t stream);

/// Whether the status of a launch says that the card cannot hold all its blocks at once.
[[nodiscard]] bool isRefusal(cudaError_t status, Begin begin);

/// The status of enqueueing `kernel(arguments...)`.
template <auto kernel, typename... Arguments>
[[nodiscard]] cudaError_t enqueueKernel(const LaunchShape& shape, cudaStream_t stream, Arguments... arguments) {
    const LaunchConfig config(reinterpret_cast<const void*>(kernel), nameOf<kernel>(), shape, stream);
    return cudaLaunchKernelEx(config.get(), kernel, arguments...);
}

/// Enqueues `kernel(arguments...)`; neither allocates nor synchronises. Throws std::invalid_argument for more blocks
/// than a grid has, 2^31 - 1, and CudaError if the launch fails.
template <auto kernel, typename... Arguments>
void launch(const LaunchShape& shape, cudaStream_t stream, Arguments... arguments) {
    Common::checkCUDAError(enqueueKernel<kernel>(shape, stream, arguments...), nameOf<kernel>(), shape.where);
}

/// The same for blocks that are to begin all at once. Returns false if the card refuses that: under MPS and in a green
/// context it has fewer multiprocessors than it says. The caller then takes another way, or fewer blocks. CUDA
/// remembers only the last error, so one that was left behind before is lost in that case.
template <auto kernel, typename... Arguments>
[[nodiscard]] bool tryLaunch(const LaunchShape& shape, cudaStream_t stream, Arguments... arguments) {
    if (wouldWaitForEver(reinterpret_cast<const void*>(kernel), shape, stream)) {
        return false;
    }
    const cudaError_t status = enqueueKernel<kernel>(shape, stream, arguments...);
    if (isRefusal(status, shape.begin)) {
        cudaGetLastError();  // clears the error, because the caller goes on
        return false;
    }
    Common::checkCUDAError(status, nameOf<kernel>(), shape.where);
    return true;
}

/// The same for a kernel whose blocks meet (GridChain). A single block meets nobody, so the card can always hold it.
template <auto kernel, typename... Arguments>
[[nodiscard]] bool launchTogether(LaunchShape shape, cudaStream_t stream, Arguments... arguments) {
    shape.begin = shape.blocks > 1 ? Begin::Cooperative : Begin::Normal;
    return shape.blocks <= onCurrentDevice<kernel>(shape.threads, shape.sharedBytes).residentBlocks &&
           tryLaunch<kernel>(shape, stream, arguments...);
}

/// Calls `launchWith(blocks)` with fewer and fewer blocks, down to `least`, until it returns true. Throws CudaError if
/// it never does.
template <typename Launch>
void launchAtMost(std::size_t blocks, std::size_t least, const Launch& launchWith) {
    while (!launchWith(blocks)) {
        blocks /= 2;
        Common::checkCUDAError(blocks < least ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess,
                               "a launch whose blocks have to be resident together");
    }
}

}  // namespace StreamCompaction
