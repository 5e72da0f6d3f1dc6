#include "operation_under_test.cuh"
#include "stream_compaction/map_scan_scatter.cuh"
#include "stream_compaction/naive.cuh"
#include "stream_compaction/split_sort.cuh"

namespace StreamCompaction::Testing {

std::vector<AnyOperation> naiveOperations() {
    return joined(withEveryType<Naive::Scan>("naive_scan", Kind::Scan),
                  withEveryType<MapScanScatter<Naive::Scan>>("naive_compact", Kind::Compact),
                  withEveryType<SplitSort<Naive::Scan>>("naive_sort", Kind::Sort));
}

namespace {

class NaiveScanTest : public DeviceTest {};

TEST_F(NaiveScanTest, AccumulatesBytesInWiderTypes) { expectBytesAccumulateWider(Naive::Scan{}); }

TEST_F(NaiveScanTest, WhatIsBuiltOnItRefusesItsBlockSizeBeforehand) {
    expectScanRefusedBeforehand<MapScanScatter<Naive::Scan>>();
    expectScanRefusedBeforehand<SplitSort<Naive::Scan>>();
}

}  // namespace
}  // namespace StreamCompaction::Testing
