// In a build without a CUDA compiler this file stands in for gpu.cpp and gpu_variants.cu.
#include <stream_compaction/common.h>

#include "gpu.h"
#include "gpu_variants.h"

namespace Bench {

GpuAccess openGpu(int /*device*/) { return {nullptr, StreamCompaction::Common::cudaUnavailableReason().value()}; }

std::vector<GpuImplementation> gpuImplementations() { return {}; }

}  // namespace Bench
