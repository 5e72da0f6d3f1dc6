#include <cstdint>
#include <thread>

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
    const KernelProperties small = onCurrentDevice<kernMarkTheLast>(64);
    const KernelProperties large = onCurrentDevice<kernMarkTheLast>(1024);
    EXPECT_GT(small.blocksPerMultiprocessor, large.blocksPerMultiprocessor);
    EXPECT_GT(small.residentBlocks, large.residentBlocks);
    EXPECT_EQ(onCurrentDevice<kernMarkTheLast>(64).residentBlocks, small.residentBlocks);
    EXPECT_EQ(onCurrentDevice<kernMarkTheLast>(64, std::size_t{1} << 30).residentBlocks, 0U);
}

template <int>
__global__ void kernOfOwn() {}

// CUDA answers for what a kernel is allowed. So it is allowed everything here, after the question.
TEST_F(KernelLaunchTest, AnswersAsCudaDoes) {
    constexpr auto kernel = kernOfOwn<0>;
    const auto* const address = reinterpret_cast<const void*>(kernel);
    const auto most = static_cast<int>(currentDevice().sharedBytesPerBlock);
    std::vector<int> answers;
    const auto forEachShape = [&](auto ask) {
        for (const int threads : {32, 64, 256, 1024}) {
            for (int sharedBytes = 0; sharedBytes <= most; sharedBytes += 200) {
                ask(threads, sharedBytes);
            }
        }
    };
    forEachShape([&](int threads, int sharedBytes) {
        answers.push_back(onCurrentDevice<kernel>(threads, sharedBytes).blocksPerMultiprocessor);
    });
    cudaFuncAttributes attributes{};
    ASSERT_EQ(cudaFuncGetAttributes(&attributes, address), cudaSuccess);
    EXPECT_LE(attributes.maxDynamicSharedSizeBytes, 48 << 10) << "a question has changed the kernel";
    ASSERT_EQ(cudaFuncSetAttribute(address, cudaFuncAttributeMaxDynamicSharedMemorySize, most), cudaSuccess);
    std::size_t i = 0;
    forEachShape([&](int threads, int sharedBytes) {
        int expected = 0;
        ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&expected, address, threads, sharedBytes), cudaSuccess);
        ASSERT_EQ(answers[i++], expected) << threads << " threads, " << sharedBytes << " bytes";
    });
}

TEST_F(KernelLaunchTest, RemembersAsManyAnswersForAnySharedMemory) {
    constexpr auto kernel = kernOfOwn<1>;
    const std::size_t before = rememberedAnswers();
    for (std::size_t sharedBytes = 0; sharedBytes < 1000; ++sharedBytes) {
        EXPECT_GT(onCurrentDevice<kernel>(64, sharedBytes).residentBlocks, 0U);
        launch<kernel>({1, 64, sharedBytes}, nullptr);
    }
    EXPECT_EQ(rememberedAnswers(), before + 1);
}

TEST_F(KernelLaunchTest, ALaunchAllowsItsSharedMemory) {
    constexpr std::size_t sharedBytes = 60 << 10;
    GuardedArray<int> marks(2);
    launch<kernMarkTheLast>({1, 64, 128}, nullptr, marks.data(), 0U);
    launch<kernMarkTheLast>({2, 64, sharedBytes}, nullptr, marks.data(),
                            static_cast<unsigned>(sharedBytes / sizeof(int)));
    EXPECT_EQ(marks.read(2), std::vector<int>(2, 1));
}

/// Each host thread requests a different amount and launches at once. A request must not reduce that of another thread.
TEST_F(KernelLaunchTest, HostThreadsMayAskAndLaunchAtTheSameTime) {
    constexpr int hostThreads = 8;
    std::vector<std::jthread> threads;
    for (int i = 0; i < hostThreads; ++i) {
        threads.emplace_back([i] {
            for (int turn = 0; turn < 20; ++turn) {
                const std::size_t sharedBytes = static_cast<std::size_t>(49 + (i + 3 * turn) % 12) << 10;
                EXPECT_GT(onCurrentDevice<kernMarkTheLast>(64, sharedBytes).residentBlocks, 0U);
                int* const none = nullptr;
                EXPECT_NO_THROW(launch<kernMarkTheLast>({1, 64, sharedBytes}, nullptr, none, 0U));
            }
        });
    }
}

TEST_F(KernelLaunchTest, AFailureNamesTheKernelAndThePlaceOfTheLaunch) {
    int* const none = nullptr;
    constexpr int tooManyThreads = 2048;
    std::uint_least32_t line = 0;
    try {
        line = std::source_location::current().line() + 1;
        launch<kernMarkTheLast>({1, tooManyThreads}, nullptr, none, 0U);
        FAIL();
    } catch (const CudaError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("kernMarkTheLast failed at "), std::string::npos) << message;
        EXPECT_NE(message.find(cudaGetErrorName(static_cast<cudaError_t>(error.code()))), std::string::npos) << message;
        EXPECT_NE(message.find("kernel_launch_test.cu:" + std::to_string(line) + ":"), std::string::npos) << message;
    }
}

TEST(TooLittleSharedMemory, HasACode) {
    try {
        Common::throwTooLittleSharedMemory("sort");
    } catch (const CudaError& error) {
        EXPECT_STREQ(error.what(), "sort: the device has too little shared memory");
        EXPECT_EQ(error.code(), cudaErrorLaunchOutOfResources);
    }
}

TEST(BlocksFor, CountsPastThirtyTwoBits) {
    constexpr std::size_t most = Common::mostBlocks;
    EXPECT_EQ(Common::blocksFor(most * 256, 256), most);
    EXPECT_THROW((void)Common::blocksFor(most * 256 + 1, 256), std::invalid_argument);
    EXPECT_THROW((void)Common::blocksFor((std::size_t{1} << 32) + 1, 1), std::invalid_argument);
    EXPECT_EQ(Common::blocksFor(std::size_t{1} << 60, 1, 128), 128U);
}

template <typename T, int n>
__global__ void kernOfParameters() {}

TEST(KernelName, IsWhatTheSourceCallsIt) {
    EXPECT_EQ(nameOf<kernMarkTheLast>(), "kernMarkTheLast");
    constexpr auto kernel = kernOfParameters<std::vector<int>, 3>;
    EXPECT_EQ(nameOf<kernel>(), "kernOfParameters");
}

TEST_F(KernelLaunchTest, RefusesMoreBlocksThanAGridHas) {
    int* const none = nullptr;
    for (const std::size_t blocks : {std::size_t{1} << 31, (std::size_t{1} << 32) + 1}) {
        EXPECT_THROW(launch<kernMarkTheLast>({blocks, 64}, nullptr, none, 0U), std::invalid_argument);
    }
}

}  // namespace
}  // namespace StreamCompaction::Testing
