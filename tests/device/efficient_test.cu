#include "operation_under_test.cuh"
#include "stream_compaction/efficient.cuh"
#include "stream_compaction/map_scan_scatter.cuh"
#include "stream_compaction/split_sort.cuh"

namespace StreamCompaction::Testing {

std::vector<AnyOperation> efficientOperations() {
    return joined(withFewTypes<Efficient::TextbookScan>("textbook_scan", Kind::Scan),
                  withFewTypes<Efficient::OptimizedScan>("optimized_scan", Kind::Scan),
                  withFewTypes<MapScanScatter<Efficient::TextbookScan>>("textbook_compact", Kind::Compact),
                  withFewTypes<MapScanScatter<Efficient::OptimizedScan>>("optimized_compact", Kind::Compact),
                  withFewTypes<SplitSort<Efficient::OptimizedScan>>("optimized_sort", Kind::Sort));
}

namespace {

class EfficientScanTest : public DeviceTest {};

TEST_F(EfficientScanTest, TextbookAccumulatesBytesInWiderTypes) {
    expectBytesAccumulateWider(Efficient::TextbookScan{});
}

TEST_F(EfficientScanTest, OptimizedAccumulatesBytesInWiderTypes) {
    expectBytesAccumulateWider(Efficient::OptimizedScan{});
}

TEST_F(EfficientScanTest, WhatIsBuiltOnTheTextbooksRefusesItsBlockSizeBeforehand) {
    expectScanRefusedBeforehand<MapScanScatter<Efficient::TextbookScan>>();
    expectScanRefusedBeforehand<SplitSort<Efficient::TextbookScan>>();
}

TEST_F(EfficientScanTest, WhatIsBuiltOnTheOptimizedRefusesItsBlockSizeBeforehand) {
    expectScanRefusedBeforehand<MapScanScatter<Efficient::OptimizedScan>>();
    expectScanRefusedBeforehand<SplitSort<Efficient::OptimizedScan>>();
}

}  // namespace
}  // namespace StreamCompaction::Testing
