#include "operation_under_test.cuh"
#include "stream_compaction/thrust.cuh"

namespace StreamCompaction::Testing {

std::vector<AnyOperation> thrustOperations() {
    return joined(withEveryType<Thrust::Scan>("thrust_scan", Kind::Scan, {.capturable = false}),
                  withEveryType<Thrust::Compact>("thrust_compact", Kind::Compact, {.capturable = false}),
                  withEveryType<Thrust::Sort>("thrust_sort", Kind::Sort, {.capturable = false}));
}

namespace {

class ThrustScanTest : public DeviceTest {};

TEST_F(ThrustScanTest, AccumulatesBytesInWiderTypes) { expectBytesAccumulateWider(Thrust::Scan{}); }

}  // namespace
}  // namespace StreamCompaction::Testing
