#include "device_fixture.cuh"
#include "stream_compaction/device_buffer.h"

namespace StreamCompaction::Testing {
namespace {

class DeviceBufferTest : public DeviceTest {};

static_assert(!std::is_copy_constructible_v<DeviceBuffer<int>>);
static_assert(std::is_nothrow_move_constructible_v<DeviceBuffer<int>>);

TEST_F(DeviceBufferTest, CopiesToAndFromSpans) {
    const std::vector<int> values{1, 2, 3};
    const DeviceBuffer<int> buffer{std::span<const int>(values)};
    EXPECT_EQ(buffer.size(), 3U);
    EXPECT_EQ(buffer.byteCount(), 12U);
    std::vector<int> back(2);
    buffer.copyTo(back);
    EXPECT_EQ(back, (std::vector<int>{1, 2}));
    std::vector<int> tooLong(4);
    EXPECT_THROW(buffer.copyTo(tooLong), std::invalid_argument);
}

TEST_F(DeviceBufferTest, MovesItsMemory) {
    DeviceBuffer<int> first(10);
    int* const memory = first.data();
    DeviceBuffer<int> second = std::move(first);
    EXPECT_EQ(second.data(), memory);
    DeviceBuffer<int> third;
    third = std::move(second);
    EXPECT_EQ(third.data(), memory);
    EXPECT_EQ(third.size(), 10U);
}

TEST_F(DeviceBufferTest, EmptyOnesAllocateNothing) {
    const DeviceBuffer<double> buffer(0);
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(buffer.size(), 0U);
}

TEST_F(DeviceBufferTest, OutOfMemoryNamesTheBytesAskedForAndFree) {
    try {
        const DeviceBuffer<char> buffer(std::size_t{1} << 50);
        FAIL() << "a pebibyte was allocated";
    } catch (const CudaError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("1125899906842624 bytes"), std::string::npos) << message;
        EXPECT_NE(message.find("bytes are free"), std::string::npos) << message;
        EXPECT_EQ(error.code(), cudaErrorMemoryAllocation);
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the failure must not surface at a later check";
    EXPECT_THROW(DeviceBuffer<double>(static_cast<std::size_t>(-1)), CudaError);
}

TEST_F(DeviceBufferTest, AFailureIsReportedOnce) {
    try {
        Common::checkCUDAError(cudaMemset(nullptr, 0, 1), "cudaMemset of no memory");
        FAIL();
    } catch (const CudaError& error) {
        EXPECT_EQ(error.code(), cudaErrorInvalidValue);
    }
    EXPECT_NO_THROW(Common::checkLaunch("an unrelated call"));
}

}  // namespace
}  // namespace StreamCompaction::Testing
