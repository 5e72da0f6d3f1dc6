#include <stream_compaction/runs.cuh>

#include "variants/gpu/memory.cuh"
#include "variants/implementation.h"

namespace Bench {

Implementations gpuRuns() {
    using namespace StreamCompaction;
    return joined({
        implementEach<CompactMemory>(Integers{}, Operation::Unique, "single-pass", fixed<Runs::Unique>),
        implementEach<RunLengthMemory>(Integers{}, Operation::RunLength, "single-pass", fixed<Runs::Encode>),
        implementEach<ReduceByKeyMemory>(Integers{}, Operation::ReduceByKey, "single-pass", fixed<Runs::ReduceByKey>),
    });
}

}  // namespace Bench
