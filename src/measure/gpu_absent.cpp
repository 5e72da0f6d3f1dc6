// In a build without a CUDA compiler this file stands in for all the others whose names begin with gpu.
#include <stream_compaction/common.h>

#include "measure/gpu.h"
#include "variants/gpu_variants.h"

namespace Bench {

GpuAccess openGpu(const GpuRequest& /*request*/) {
    return {nullptr, StreamCompaction::Common::cudaUnavailableReason().value(), std::nullopt};
}

Implementations gpuImplementations() { return {}; }

}  // namespace Bench
