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

/// The times of the ranks that take longest.
[[nodiscard]] Trial slowest(const Trial& trial, const World& world) {
    return {world.largest(trial.us), trial.enqueueUs ? std::optional(world.largest(*trial.enqueueUs)) : std::nullopt};
}

class ColdStopwatch final : public Stopwatch {
  public:
    /// Empties the caches of these cards. The work begins on the default stream of the first.
    ColdStopwatch(std::span<Eviction> evictions, bool ahead, const World& world)
        : evictions_(evictions), ahead_(ahead), world_(world) {}

    [[nodiscard]] Trial time(const Work& work) override {
        if (ahead_) {
            evict();
            barrier_.close();
            const Trial trial = timer_.time(work, [this] {
                world_.meet();
                barrier_.open();
            });
            ahead_ = !world_.any(!barrier_.held());
            if (ahead_) {
                return slowest(trial, world_);
            }
        }
        evict();
        world_.meet();
        return slowest({timer_.time(work).us}, world_);
    }

  private:
    void evict() {
        std::ranges::for_each(evictions_, &Eviction::enqueue);
        // The first one is ahead of the work on its stream, but not of the other ranks' work.
        std::ranges::for_each(evictions_.subspan(world_.isAlone() ? 1 : 0), &Eviction::wait);
    }

    std::span<Eviction> evictions_;
    EventTimer timer_;
    Barrier barrier_;
    bool ahead_;  ///< until some work proves to wait for the card
    const World& world_;
};

/// Runs the work back to back for some milliseconds, so that the start and the end of a batch do not matter.
class BatchedStopwatch final : public Stopwatch {
  public:
    explicit BatchedStopwatch(const World& world) : world_(world) {}

    [[nodiscard]] Trial time(const Work& work) override {
        constexpr double batchUs = 2000;
        constexpr double mostRuns = 1000;
        const double us = world_.largest(timer_.time(work).us);  // so that all ranks make as many runs
        const auto runs = static_cast<int>(std::clamp(batchUs / us, 1.0, mostRuns));
        const Trial batch = timer_.time([&] {
            for (int i = 0; i < runs; ++i) {
                work();
            }
        });
        return slowest({batch.us / runs}, world_);
    }

  private:
    EventTimer timer_;
    const World& world_;
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
    CudaGpu(int device, int gpus, const World& world) : device_(device), world_(world), nvml_(busId(device)) {
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
            return std::make_unique<ColdStopwatch>(evictions_, ahead, world_);
        }
        return std::make_unique<BatchedStopwatch>(world_);
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
    const World& world_;
    std::vector<Eviction> evictions_;  ///< of this card first
    ClockProbe clockProbe_;
    Nvml nvml_;
};

[[nodiscard]] int deviceCount() {
    int count = 0;
    checkCUDAError(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    return count;
}

}  // namespace

GpuAccess openGpu(const GpuRequest& request) {
    if (auto reason = StreamCompaction::Common::cudaUnavailableReason()) {
        return {nullptr, std::move(*reason), std::nullopt};
    }
    const int devices = deviceCount();
    const int gpus = request.gpus.value_or(devices);
    requireDevice(request, devices);
    checkCUDAError(cudaSetDevice(request.device), "cudaSetDevice");  // for all later calls of this thread
    return {std::make_unique<CudaGpu>(request.device, std::min(gpus, devices), request.world),
            {},
            std::nullopt,
            devices,
            gpus};
}

}  // namespace Bench
