// In a build without a CUDA compiler this file stands in for all the others whose names begin with gpu.
#include <stream_compaction/common.h>

#include "gpu.h"
#include "gpu_variants.h"

namespace Bench {

GpuAccess openGpu(int /*device*/) { return {nullptr, StreamCompaction::Common::cudaUnavailableReason().value()}; }

Implementations gpuImplementations() { return {}; }

}  // namespace Bench
