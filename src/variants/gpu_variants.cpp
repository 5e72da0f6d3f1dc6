#include "variants/implementation.h"

namespace Bench {

Implementations gpuImplementations() {
    return joined({gpuScans(), gpuCompactions(), gpuPartitions(), gpuSorts(), gpuPairSorts(), gpuSelections(),
                   gpuRowSums(), gpuSegments(), gpuRuns(), gpuMultiPartitions(), gpuHistograms(), gpuConversions(),
                   gpuPeers(), gpuLatestPeers(), gpuOutOfCore(), gpuDistributed(), gpuGathered()});
}

#ifndef STREAM_COMPACTION_HAS_LATEST_CCCL
Implementations gpuLatestPeers() { return {}; }
#endif

}  // namespace Bench
