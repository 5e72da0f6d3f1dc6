#include "operation_under_test.cuh"
#include "stream_compaction/cub.cuh"

namespace StreamCompaction::Testing {

std::vector<AnyOperation> cubOperations() {
    return joined(withEveryType<Cub::Scan>("cub_scan", Kind::Scan),
                  withEveryType<Cub::Compact>("cub_compact", Kind::Compact),
                  withEveryType<Cub::Sort>("cub_sort", Kind::Sort));
}

namespace {

class CubScanTest : public DeviceTest {};

TEST_F(CubScanTest, AccumulatesBytesInWiderTypes) { expectBytesAccumulateWider(Cub::Scan{}); }

}  // namespace
}  // namespace StreamCompaction::Testing
