#include <algorithm>
#include <array>
#include <iterator>

#include "variants/implementation.h"

namespace Bench {

Implementations gpuImplementations() {
    return joined({gpuScans(), gpuCompactions(), gpuPartitions(), gpuSorts(), gpuPairSorts(), gpuSelections(),
                   gpuRowSums(), gpuSegments(), gpuRuns(), gpuMultiPartitions(), gpuHistograms(), gpuConversions(),
                   gpuPeers(), gpuLatestPeers(), gpuOutOfCore(), gpuDistributed()});
}

#ifndef STREAM_COMPACTION_HAS_LATEST_CCCL
Implementations gpuLatestPeers() { return {}; }
#endif

#ifndef STREAM_COMPACTION_HAS_NCCL
Implementations gpuDistributed() {
    constexpr std::array operations{Operation::Scan,        Operation::Compact,      Operation::Partition,
                                    Operation::Sort,        Operation::SortPairs,    Operation::Utf8ToUtf32,
                                    Operation::Utf8ToUtf16, Operation::Utf8Validate, Operation::Utf32ToUtf8,
                                    Operation::Utf16ToUtf8};
    Implementations implementations;
    std::ranges::transform(operations, std::back_inserter(implementations), [](Operation operation) {
        return absent(operation, ElementType::Int32, "distributed", "this build has no NCCL");
    });
    return implementations;
}
#endif

}  // namespace Bench
