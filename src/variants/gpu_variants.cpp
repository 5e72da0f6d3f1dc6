#include "variants/implementation.h"

namespace Bench {

Implementations gpuImplementations() {
    return joined(
        {gpuScans(), gpuCompactions(), gpuPartitions(), gpuSorts(), gpuPairSorts(), gpuRowSums(), gpuConversions()});
}

}  // namespace Bench
