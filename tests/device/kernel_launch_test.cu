#include "device_fixture.cuh"
#include "stream_compaction/primitives/target.cuh"
#include "stream_compaction/runtime/launch.cuh"

namespace StreamCompaction::Testing {
namespace {

class KernelLaunchTest : public DeviceTest {};

__global__ void kernMarkTheLast(int* marks, unsigned words) {
    int* const memory = &dynamicShared<int>();
    if (words > 0) {
        memory[words - 1] = 1;
        marks[blockIdx.x] = memory[words - 1];
    }
}

TEST_F(KernelLaunchTest, AnswersEachShapeOfBlocks) {
    const KernelOnDevice small = onCurrentDevice<kernMarkTheLast>(64);
    const KernelOnDevice large = onCurrentDevice<kernMarkTheLast>(1024);
    EXPECT_GT(small.blocksPerMultiprocessor, large.blocksPerMultiprocessor);
    EXPECT_GT(small.residentBlocks, large.residentBlocks);
    EXPECT_EQ(onCurrentDevice<kernMarkTheLast>(64).residentBlocks, small.residentBlocks);
    EXPECT_EQ(onCurrentDevice<kernMarkTheLast>(64, std::size_t{1} << 30).residentBlocks, 0U);
}

TEST_F(KernelLaunchTest, WhatOneShapeIsAllowedStaysAllowed) {
    constexpr std::size_t sharedBytes = 60 << 10;
    ASSERT_GT(onCurrentDevice<kernMarkTheLast>(64, sharedBytes).residentBlocks, 0U);
    ASSERT_GT(onCurrentDevice<kernMarkTheLast>(64, 128).residentBlocks, 0U);
    GuardedArray<int> marks(2);
    launch<kernMarkTheLast>("kernMarkTheLast", {2, 64, sharedBytes}, nullptr, marks.data(),
                            static_cast<unsigned>(sharedBytes / sizeof(int)));
    EXPECT_EQ(marks.read(2), std::vector<int>(2, 1));
}

TEST_F(KernelLaunchTest, RefusesMoreBlocksThanAGridHas) {
    int* const none = nullptr;
    for (const std::size_t blocks : {std::size_t{1} << 31, (std::size_t{1} << 32) + 1}) {
        EXPECT_THROW(launch<kernMarkTheLast>("kernMarkTheLast", {blocks, 64}, nullptr, none, 0U),
                     std::invalid_argument);
    }
}

}  // namespace
}  // namespace StreamCompaction::Testing
