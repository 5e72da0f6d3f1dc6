#include "variants/implementation.h"

namespace Bench {

Implementations gpuImplementations() {
    return joined({gpuScans(), gpuCompactions(), gpuPartitions(), gpuSorts(), gpuPairSorts(), gpuRowSums(),
                   gpuConversions(), gpuPeers(), gpuLatestPeers()});
}

#ifndef STREAM_COMPACTION_HAS_LATEST_CCCL
Implementations gpuLatestPeers() { return {}; }
#endif

}  // namespace Bench
