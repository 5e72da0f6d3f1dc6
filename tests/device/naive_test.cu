#include "operation_under_test.cuh"
#include "stream_compaction/map_scan_scatter.cuh"
#include "stream_compaction/naive.cuh"
#include "stream_compaction/split_sort.cuh"

namespace StreamCompaction::Testing {

std::vector<AnyOperation> naiveOperations() {
    return joined(withFewTypes<Naive::Scan>("naive_scan", Kind::Scan),
                  withFewTypes<MapScanScatter<Naive::Scan>>("naive_compact", Kind::Compact),
                  withFewTypes<SplitSort<Naive::Scan>>("naive_sort", Kind::Sort));
}

namespace {

class NaiveScanTest : public DeviceTest {};

TEST_F(NaiveScanTest, AccumulatesBytesInWiderTypes) { expectBytesAccumulateWider(Naive::Scan{}); }

TEST_F(NaiveScanTest, WhatIsBuiltOnItRefusesItsBlockSizeBeforehand) {
    expectScanRefusedBeforehand<MapScanScatter<Naive::Scan>>();
    expectScanRefusedBeforehand<SplitSort<Naive::Scan>>();
}

TEST_F(NaiveScanTest, ACompactionByItRefusesFlagsAndCountsThatOverlap) {
    const std::size_t n = 100;
    DeviceBuffer<int> in(n);
    DeviceBuffer<int> out(n);
    DeviceBuffer<int> flags(n);
    DeviceBuffer<std::size_t> count(1);
    const MapScanScatter<Naive::Scan> compact;
    auto scratch = usedScratch(compact.scratchBytes(in.data(), out.data(), count.data(), n));
    const auto expectRefused = [&](const int* stencil, std::size_t* counted) {
        EXPECT_THROW(compact(in.data(), out.data(), counted, n, keepFlagged(stencil), scratch.bytes(), nullptr),
                     std::invalid_argument);
    };
    expectRefused(nullptr, count.data());
    expectRefused(out.data(), count.data());
    for (int* const array : {in.data(), out.data(), flags.data()}) {
        expectRefused(flags.data(), reinterpret_cast<std::size_t*>(array));
    }
}

}  // namespace
}  // namespace StreamCompaction::Testing
