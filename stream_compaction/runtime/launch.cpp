#include "stream_compaction/runtime/launch.cuh"

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

bool isRefusal(cudaError_t status, Begin begin) {
    const bool isTogether = begin == Begin::Cooperative || begin == Begin::Cluster;
    return isTogether && (status == cudaErrorCooperativeLaunchTooLarge || status == cudaErrorInvalidClusterSize ||
                          status == cudaErrorLaunchOutOfResources || status == cudaErrorNotSupported);
}

}  // namespace StreamCompaction
