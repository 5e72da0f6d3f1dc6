// Replaces gpu.cpp in a build without a CUDA compiler.
#include <stream_compaction/common.h>

#include "measure/gpu.h"

namespace Bench {

GpuAccess openGpu(const GpuRequest& /*request*/) {
    return {nullptr, StreamCompaction::Common::cudaUnavailableReason().value(), std::nullopt};
}

}  // namespace Bench
