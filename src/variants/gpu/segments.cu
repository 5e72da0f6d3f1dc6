#include <stream_compaction/segments.cuh>

#include "variants/gpu/memory.cuh"
#include "variants/implementation.h"

namespace Bench {

Implementations gpuSegments() {
    using namespace StreamCompaction;
    return joined({
        implementEach<ScanByFlagsMemory>(Integers{}, Operation::SegmentedScan, "single-pass", fixed<SegmentedScan>),
        implementEach<ScanByOffsetsMemory>(Integers{}, Operation::SegmentedScan, "single-pass-offsets",
                                           fixed<SegmentedScan>),
        implementEach<SegmentedSortMemory>(Integers{}, Operation::SegmentedSort, "adaptive", fixed<SegmentedSort>),
    });
}

}  // namespace Bench
