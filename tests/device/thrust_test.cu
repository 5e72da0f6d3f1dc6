#include "operation_under_test.cuh"
#include "stream_compaction/thrust.cuh"

namespace StreamCompaction::Testing {

std::vector<AnyOperation> thrustOperations() {
    return joined(withFewTypes<Thrust::Scan>("thrust_scan", Kind::Scan, {.capturable = false}),
                  withFewTypes<Thrust::Compact>("thrust_compact", Kind::Compact, {.capturable = false}),
                  withFewTypes<Thrust::Sort>("thrust_sort", Kind::Sort, {.capturable = false}));
}

namespace {

class ThrustScanTest : public DeviceTest {};

TEST_F(ThrustScanTest, AccumulatesBytesInWiderTypes) { expectBytesAccumulateWider(Thrust::Scan{}); }

class ThrustPartitionTest : public DeviceTest {};

TEST_F(ThrustPartitionTest, RefusesArraysThatOverlap) {
    const std::size_t n = 100;
    DeviceBuffer<int> in(n);
    DeviceBuffer<int> kept(n);
    DeviceBuffer<int> rejected(n);
    DeviceBuffer<std::size_t> count(1);
    const auto expectRefused = [&](int* first, int* second, std::size_t* counted) {
        EXPECT_THROW(Thrust::Partition{}(in.data(), first, second, counted, n, {}, nullptr), std::invalid_argument);
    };
    expectRefused(in.data(), rejected.data(), count.data());
    expectRefused(kept.data(), in.data(), count.data());
    expectRefused(kept.data(), kept.data() + n - 1, count.data());
    expectRefused(kept.data() + n - 1, kept.data(), count.data());
    for (int* const array : {in.data(), kept.data(), rejected.data()}) {
        expectRefused(kept.data(), rejected.data(), reinterpret_cast<std::size_t*>(array));
    }
}

}  // namespace
}  // namespace StreamCompaction::Testing
