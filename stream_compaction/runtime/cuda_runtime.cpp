// Errors, the reason why no kernel can run, and the GPU half of the timer. no_cuda.cpp stands in for this file in a
// build without CUDA.
#include <cuda_runtime_api.h>

#include <string>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/chevrons.h"
#include "stream_compaction/runtime/cuda_check.h"
#include "stream_compaction/timer.h"

namespace StreamCompaction::Common {

void checkCUDAError(cudaError_t status, std::string_view call, std::source_location where) {
    if (status == cudaSuccess) {
        return;
    }
    cudaGetLastError();  // clears the error, which the exception reports
    throw CudaError(std::string(call) + " failed at " + where.file_name() + ":" + std::to_string(where.line()) + ": " +
                        cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")",
                    status);
}

void throwTooLittleSharedMemory(std::string_view operation) {
    throw CudaError(std::string(operation) + ": the device has too little shared memory",
                    cudaErrorLaunchOutOfResources);
}

void checkLaunch(std::string_view kernel, std::source_location where) {
    checkCUDAError(cudaGetLastError(), kernel, where);
}

std::optional<std::string> cudaUnavailableReason() {
    int driverVersion = 0;
    if (cudaDriverGetVersion(&driverVersion) == cudaSuccess && driverVersion == 0) {
        return "no NVIDIA driver is installed";
    }
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess) {
        cudaGetLastError();  // clears the error, which the reason reports
        return std::string(cudaGetErrorString(status));
    }
    if (devices == 0) {
        return "no CUDA-capable device is detected";
    }
    return std::nullopt;
}

struct PerformanceTimer::EventPair {
    cudaEvent_t start = nullptr;
    cudaEvent_t end = nullptr;

    EventPair() {
        checkCUDAError(cudaEventCreate(&start), "cudaEventCreate");
        const cudaError_t status = cudaEventCreate(&end);
        if (status != cudaSuccess) {
            cudaEventDestroy(start);
            checkCUDAError(status, "cudaEventCreate");
        }
    }
    ~EventPair() {
        cudaEventDestroy(start);
        cudaEventDestroy(end);
    }
    EventPair(const EventPair&) = delete;
    EventPair& operator=(const EventPair&) = delete;
};

PerformanceTimer::PerformanceTimer() = default;
PerformanceTimer::~PerformanceTimer() = default;

void PerformanceTimer::startGpuTimer() {
    gpu_.requireIdle("GPU");
    gpu_.measured = false;
    events_ = std::make_unique<EventPair>();
    checkCUDAError(cudaEventRecord(events_->start), "cudaEventRecord");
    gpu_.running = true;
}

void PerformanceTimer::endGpuTimer() {
    gpu_.requireRunning("GPU");
    const Abandon onFailure(gpu_.running);
    checkCUDAError(cudaEventRecord(events_->end), "cudaEventRecord");
    checkCUDAError(cudaEventSynchronize(events_->end), "cudaEventSynchronize");
    float milliseconds = 0;
    checkCUDAError(cudaEventElapsedTime(&milliseconds, events_->start, events_->end), "cudaEventElapsedTime");
    gpu_.stop(milliseconds);
}

}  // namespace StreamCompaction::Common
