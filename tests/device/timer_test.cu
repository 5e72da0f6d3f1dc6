#include "device_fixture.cuh"
#include "stream_compaction/timer.h"

namespace StreamCompaction::Testing {
namespace {

class TimerTest : public DeviceTest {};

TEST_F(TimerTest, WorksOnOneDeviceAfterAnother) {
    int devices = 0;
    Common::checkCUDAError(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    Common::PerformanceTimer timer;
    for (int device = devices - 1; device >= 0; --device) {
        Common::checkCUDAError(cudaSetDevice(device), "cudaSetDevice");
        EXPECT_NO_THROW(timer.timeGpu([] {})) << "device " << device;
        EXPECT_GE(timer.getGpuElapsedTimeForPreviousOperation(), 0.0f);
    }
}

}  // namespace
}  // namespace StreamCompaction::Testing
