#include "measure/gpu.h"

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <stream_compaction/common.h>
#include <stream_compaction/device_buffer.h>
#include <stream_compaction/runtime/cuda_check.h>
#include <stream_compaction/runtime/device_scope.h>

#include <algorithm>
#include <array>
#include <nvtx3/nvtx3.hpp>
#include <span>
#include <utility>
#include <vector>

#include "cli/values.h"
#include "measure/gpu_noise.h"
#include "measure/gpu_probe.h"
#include "measure/nvml.h"

namespace Bench {
namespace {

using StreamCompaction::DeviceBuffer;
using StreamCompaction::DeviceScope;
using StreamCompaction::Common::checkCUDAError;

class CudaEvent {
  public:
    CudaEvent() { checkCUDAError(cudaEventCreate(&event_), "cudaEventCreate"); }
    ~CudaEvent() { cudaEventDestroy(event_); }
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;

    void record() { checkCUDAError(cudaEventRecord(event_), "cudaEventRecord"); }

    /// Waits for both events.
    [[nodiscard]] double microsecondsSince(const CudaEvent& earlier) const {
        checkCUDAError(cudaEventSynchronize(event_), "cudaEventSynchronize");
        float milliseconds = 0;
        checkCUDAError(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "cudaEventElapsedTime");
        return 1000.0 * milliseconds;
    }

  private:
    cudaEvent_t event_ = nullptr;
};

/// Times the work that is enqueued between two events.
class EventTimer {
  public:
    /// Runs `whenEnqueued` before it waits.
    [[nodiscard]] Trial time(
        const Work& work, const Work& whenEnqueued = [] {}) {
        start_.record();
        const double begin = steadyMicroseconds();
        work();
        const double enqueueUs = steadyMicroseconds() - begin;
        end_.record();
        whenEnqueued();
        return {end_.microsecondsSince(start_), enqueueUs};
    }

  private:
    CudaEvent start_;
    CudaEvent end_;
};

[[nodiscard]] int attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    checkCUDAError(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return value;
}

/// Several times the size of the cache, so that nothing of the input stays in it.
[[nodiscard]] std::size_t evictionBytes(int device) {
    return 4 * static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize, device));
}

/// Memory of a card with which its cache is emptied.
class Eviction {
  public:
    explicit Eviction(int device) : device_(device) {
        const DeviceScope here(device);
        memory_ = DeviceBuffer<std::byte>(evictionBytes(device));
    }

    /// Enqueues that on the card's default stream.
    void enqueue() {
        const DeviceScope here(device_);
        checkCUDAError(cudaMemsetAsync(memory_.data(), 0, memory_.byteCount()), "cudaMemsetAsync");
    }
    void wait() const {
        const DeviceScope here(device_);
        checkCUDAError(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    }

  private:
    int device_;
    DeviceBuffer<std::byte> memory_;
};

class ColdStopwatch final : public Stopwatch {
  public:
    /// Empties the caches of these cards. The work begins on the default stream of the first.
    ColdStopwatch(std::span<Eviction> evictions, bool ahead) : evictions_(evictions), ahead_(ahead) {}

    [[nodiscard]] Trial time(const Work& work) override {
        if (ahead_) {
            evict();
            barrier_.close();
            const Trial trial = timer_.time(work, [this] { barrier_.open(); });
            ahead_ = barrier_.held();
            if (ahead_) {
                return trial;
            }
        }
        evict();
        return {timer_.time(work).us};
    }

  private:
    void evict() {
        std::ranges::for_each(evictions_, &Eviction::enqueue);
        std::ranges::for_each(evictions_.subspan(1), &Eviction::wait);
    }

    std::span<Eviction> evictions_;
    EventTimer timer_;
    Barrier barrier_;
    bool ahead_;  ///< until some work proves to wait for the card
};

/// Runs the work back to back for some milliseconds, so that the start and the end of a batch do not matter.
class BatchedStopwatch final : public Stopwatch {
  public:
    [[nodiscard]] Trial time(const Work& work) override {
        constexpr double batchUs = 2000;
        constexpr double mostRuns = 1000;
        const auto runs = static_cast<int>(std::clamp(batchUs / timer_.time(work).us, 1.0, mostRuns));
        const Trial batch = timer_.time([&] {
            for (int i = 0; i < runs; ++i) {
                work();
            }
        });
        return {batch.us / runs};
    }

  private:
    EventTimer timer_;
};

/// The address by which the driver's management library knows the card too.
[[nodiscard]] std::string busId(int device) {
    std::array<char, 32> id{};
    checkCUDAError(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device), "cudaDeviceGetPCIBusId");
    return id.data();
}

/// `13000` as `13.0`.
[[nodiscard]] std::string cudaVersion(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

class CudaGpu final : public Gpu {
  public:
    /// The run uses `gpus` cards, from this one on.
    CudaGpu(int device, int gpus) : device_(device), nvml_(busId(device)) {
        for (int i = 0; i < gpus; ++i) {
            evictions_.emplace_back(device + i);
        }
    }

    [[nodiscard]] GpuInfo info() const override {
        cudaDeviceProp properties{};
        checkCUDAError(cudaGetDeviceProperties(&properties, device_), "cudaGetDeviceProperties");
        int driver = 0;
        checkCUDAError(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
        return {.name = properties.name,
                .computeCapability = fmt::format("{}.{}", properties.major, properties.minor),
                .memoryBytes = properties.totalGlobalMem,
                .driver = cudaVersion(driver),
                .toolkit = cudaVersion(CUDART_VERSION),
                .boostMHz = attribute(cudaDevAttrClockRate, device_) / 1000.0};
    }

    [[nodiscard]] std::size_t freeBytes() const override {
        std::size_t free = 0;
        std::size_t total = 0;
        checkCUDAError(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        return free;
    }

    [[nodiscard]] std::unique_ptr<Stopwatch> stopwatch(Mode mode, bool ahead) override {
        if (mode == Mode::Cold) {
            return std::make_unique<ColdStopwatch>(evictions_, ahead);
        }
        return std::make_unique<BatchedStopwatch>();
    }

    [[nodiscard]] Timing measureCopy(std::size_t bytes, Mode mode, const TrialPlan& plan) override {
        // Whole rows of 512 bytes: copies of other sizes are slower and would not show the ceiling.
        constexpr std::size_t row = 512;
        DeviceBuffer<std::byte> from(StreamCompaction::Common::divideRoundUp(bytes / 2, row) * row);
        DeviceBuffer<std::byte> to(from.size());
        fillWithNoise(from.bytes());
        return measure(
            *stopwatch(mode, true), plan, [] {},
            [&] {
                checkCUDAError(cudaMemcpyAsync(to.data(), from.data(), to.byteCount(), cudaMemcpyDeviceToDevice),
                               "cudaMemcpyAsync");
            });
    }

    [[nodiscard]] Timing measureRead(std::size_t bytes, const TrialPlan& plan) override {
        ReadProbe probe(bytes);
        return measure(
            *stopwatch(Mode::Cold, true), plan, [] {}, [&] { probe.launch(); });
    }

    [[nodiscard]] double measureClockMHz() override { return clockProbe_.megahertz(); }
    [[nodiscard]] std::string throttleReason() const override { return nvml_.throttleReason(); }

    void mark(const std::string& range, const Work& work) override {
        const nvtx3::scoped_range marked(range);
        work();
    }

    void profile(const Work& work) override {
        checkCUDAError(cudaProfilerStart(), "cudaProfilerStart");
        work();
        checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        checkCUDAError(cudaProfilerStop(), "cudaProfilerStop");
    }

  private:
    int device_;
    std::vector<Eviction> evictions_;  ///< of this card first
    ClockProbe clockProbe_;
    Nvml nvml_;
};

[[nodiscard]] int deviceCount() {
    int count = 0;
    checkCUDAError(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    return count;
}

/// All later CUDA calls of this thread use this card.
void useDevice(int device, int count) {
    if (device >= count) {
        throw UsageError(fmt::format("--device: expected a number from 0 to {}, got {}", count - 1, device));
    }
    checkCUDAError(cudaSetDevice(device), "cudaSetDevice");
}

}  // namespace

GpuAccess openGpu(const GpuRequest& request) {
    if (auto reason = StreamCompaction::Common::cudaUnavailableReason()) {
        return {nullptr, std::move(*reason), std::nullopt};
    }
    const int devices = deviceCount();
    const int gpus = request.gpus.value_or(devices);
    useDevice(request.device, devices);
    return {std::make_unique<CudaGpu>(request.device, std::min(gpus, devices)), {}, std::nullopt, devices, gpus};
}

}  // namespace Bench
