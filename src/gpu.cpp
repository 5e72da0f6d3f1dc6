#include "gpu.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <stream_compaction/common.h>
#include <stream_compaction/cuda_check.h>
#include <stream_compaction/device_buffer.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "usage_error.h"

namespace Bench {
namespace {

using StreamCompaction::DeviceBuffer;
using StreamCompaction::Common::checkCUDAError;

class CudaEvent {
  public:
    CudaEvent() { checkCUDAError(cudaEventCreate(&event_), "cudaEventCreate"); }
    ~CudaEvent() { cudaEventDestroy(event_); }
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;

    void record() { checkCUDAError(cudaEventRecord(event_), "cudaEventRecord"); }

    /// Waits for both.
    [[nodiscard]] double microsecondsSince(const CudaEvent& earlier) const {
        checkCUDAError(cudaEventSynchronize(event_), "cudaEventSynchronize");
        float milliseconds = 0;
        checkCUDAError(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "cudaEventElapsedTime");
        return 1000.0 * milliseconds;
    }

  private:
    cudaEvent_t event_ = nullptr;
};

class ColdStopwatch final : public Stopwatch {
  public:
    explicit ColdStopwatch(std::size_t evictionBytes) : eviction_(evictionBytes) {}

    [[nodiscard]] double microseconds(const Work& work) override {
        checkCUDAError(cudaMemsetAsync(eviction_.data(), 0, eviction_.byteCount()), "cudaMemsetAsync");
        start_.record();
        work();
        end_.record();
        return end_.microsecondsSince(start_);
    }

    [[nodiscard]] const char* mode() const override { return "cold"; }

  private:
    DeviceBuffer<std::byte> eviction_;
    CudaEvent start_;
    CudaEvent end_;
};

[[nodiscard]] int attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    checkCUDAError(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return value;
}

/// Several times the cache, so that nothing of the input survives.
[[nodiscard]] std::size_t evictionBytes(int device) {
    return 4 * static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize, device));
}

/// `13000` as `13.0`.
[[nodiscard]] std::string cudaVersion(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// Data that is not all alike: memory and buses may be faster on zeros.
void fillWithNoise(DeviceBuffer<std::byte>& buffer) {
    std::vector<std::byte> noise(std::min<std::size_t>(buffer.size(), std::size_t{1} << 20));
    for (std::size_t i = 0; i < noise.size(); ++i) {
        noise[i] = static_cast<std::byte>(i * 0x9E3779B97F4A7C15u >> 56);
    }
    for (std::size_t at = 0; at < buffer.size(); at += noise.size()) {
        const std::size_t bytes = std::min(noise.size(), buffer.size() - at);
        checkCUDAError(cudaMemcpy(buffer.data() + at, noise.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
}

class CudaGpu final : public Gpu {
  public:
    explicit CudaGpu(int device) : device_(device), stopwatch_(evictionBytes(device)) {}

    [[nodiscard]] GpuInfo info() const override {
        cudaDeviceProp properties{};
        checkCUDAError(cudaGetDeviceProperties(&properties, device_), "cudaGetDeviceProperties");
        int driver = 0;
        checkCUDAError(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
        return {properties.name, fmt::format("{}.{}", properties.major, properties.minor), properties.totalGlobalMem,
                cudaVersion(driver), cudaVersion(CUDART_VERSION)};
    }

    [[nodiscard]] std::size_t freeBytes() const override {
        std::size_t free = 0;
        std::size_t total = 0;
        checkCUDAError(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        return free;
    }

    [[nodiscard]] Stopwatch& stopwatch() override { return stopwatch_; }

    [[nodiscard]] Timing measureCopy(std::size_t bytes, const TrialPlan& plan) override {
        // Whole 512-byte rows: the ceiling of a ragged size should not be the copy's own slow path for it.
        constexpr std::size_t row = 512;
        DeviceBuffer<std::byte> from(StreamCompaction::Common::divideRoundUp(bytes / 2, row) * row);
        DeviceBuffer<std::byte> to(from.size());
        fillWithNoise(from);
        return measure(
            stopwatch_, plan, [] {},
            [&] {
                checkCUDAError(cudaMemcpyAsync(to.data(), from.data(), to.byteCount(), cudaMemcpyDeviceToDevice),
                               "cudaMemcpyAsync");
            });
    }

  private:
    int device_;
    ColdStopwatch stopwatch_;
};

/// Everything that follows on this thread runs on this card.
void useDevice(int device) {
    int count = 0;
    checkCUDAError(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    if (device >= count) {
        throw UsageError(fmt::format("--device: expected a number from 0 to {}, got {}", count - 1, device));
    }
    checkCUDAError(cudaSetDevice(device), "cudaSetDevice");
}

}  // namespace

GpuAccess openGpu(int device) {
    if (auto reason = StreamCompaction::Common::cudaUnavailableReason()) {
        return {nullptr, std::move(*reason)};
    }
    useDevice(device);
    return {std::make_unique<CudaGpu>(device), {}};
}

}  // namespace Bench
