#include "operation_under_test.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction::Testing {

std::vector<AnyOperation> fastOperations() {
    return joined(withEveryType<SinglePass::Scan>("single_pass_scan", Kind::Scan),
                  withEveryType<SinglePass::Compact>("single_pass_compact", Kind::Compact),
                  withEveryType<Radix::Sort>("radix_sort", Kind::Sort));
}

}  // namespace StreamCompaction::Testing
