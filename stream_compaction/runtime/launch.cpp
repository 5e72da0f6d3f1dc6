#include "stream_compaction/runtime/launch.cuh"

#if !defined(STREAM_COMPACTION_SIMULATED)
#include <cudaTypedefs.h>
#endif

#include <stdexcept>
#include <string>

#include "stream_compaction/runtime/block_size.h"

namespace StreamCompaction {

LaunchConfig::LaunchConfig(const void* kernel, std::string_view name, const LaunchShape& shape, cudaStream_t stream) {
    if (shape.blocks > Common::mostBlocks) {
        throw std::invalid_argument(std::string(name) + ": expected work for at most " +
                                    std::to_string(Common::mostBlocks) + " blocks, got it for " +
                                    std::to_string(shape.blocks));
    }
    if (shape.sharedBytes > 0) {
        allowSharedMemory(kernel, shape.threads, shape.sharedBytes);
    }
    config_.gridDim = static_cast<unsigned>(shape.blocks);
    config_.blockDim = static_cast<unsigned>(shape.threads);
    config_.dynamicSmemBytes = shape.sharedBytes;
    config_.stream = stream;
    config_.attrs = attributes_.data();

    cudaLaunchAttribute attribute{};
    if (shape.begin == Begin::Cooperative) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
        add(attribute);
    } else if (shape.begin == Begin::Cluster) {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {config_.gridDim.x, 1, 1};
        add(attribute);
    } else if (shape.begin == Begin::Programmatic &&
               propertiesOnCurrentDevice(kernel, shape.threads, shape.sharedBytes).waitsForEarlier) {
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        add(attribute);
    }
    if (shape.carveout != cudaSharedmemCarveoutDefault) {
        attribute = {};
        attribute.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
        attribute.val.sharedMemCarveout = static_cast<unsigned>(shape.carveout);
        add(attribute);
    }
}

namespace {

#if defined(STREAM_COMPACTION_SIMULATED)
unsigned multiprocessorsOf(cudaStream_t) { return static_cast<unsigned>(Simulator::card().available); }
#else
/// A function of the driver since the version; null if the driver is older.
template <typename Function>
Function driverFunction(const char* name, unsigned version) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    Common::checkCUDAError(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found), name);
    return reinterpret_cast<Function>(function);
}

/// The multiprocessors that run the kernels of a stream: in a green context (CUDA 12.4) fewer than the card has.
unsigned multiprocessorsOf(cudaStream_t stream) {
    static const auto contextOf = driverFunction<PFN_cuStreamGetCtx_v9020>("cuStreamGetCtx", 9020);
    static const auto resourceOf = driverFunction<PFN_cuCtxGetDevResource_v12040>("cuCtxGetDevResource", 12040);
    CUcontext context{};
    CUdevResource resource{};
    if (resourceOf == nullptr || contextOf(stream, &context) != CUDA_SUCCESS ||
        resourceOf(context, &resource, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS) {
        return currentDevice().multiprocessors;
    }
    return resource.sm.smCount;
}
#endif

bool beginsTogether(Begin begin) { return begin == Begin::Cooperative || begin == Begin::Cluster; }

}  // namespace

bool wouldWaitForEver(const void* kernel, const LaunchShape& shape, cudaStream_t stream) {
    if (!beginsTogether(shape.begin)) {
        return false;
    }
    cudaStreamCaptureStatus capture{};
    Common::checkCUDAError(cudaStreamIsCapturing(stream, &capture), "cudaStreamIsCapturing", shape.where);
    if (capture != cudaStreamCaptureStatusActive) {
        return false;
    }
    const unsigned available = multiprocessorsOf(stream);
    const KernelProperties properties = propertiesOnCurrentDevice(kernel, shape.threads, shape.sharedBytes);
    return available < currentDevice().multiprocessors &&
           (shape.begin == Begin::Cluster ||
            shape.blocks > std::size_t{available} * static_cast<unsigned>(properties.blocksPerMultiprocessor));
}

bool isRefusal(cudaError_t status, Begin begin) {
    return beginsTogether(begin) &&
           (status == cudaErrorCooperativeLaunchTooLarge || status == cudaErrorInvalidClusterSize ||
            status == cudaErrorLaunchOutOfResources || status == cudaErrorNotSupported);
}

}  // namespace StreamCompaction
