#pragma once

#include <stream_compaction/cpu.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/program.h"
#include "variants/implementation.h"

namespace Bench {

/// What was requested of a FakeGpu, and what it answers.
struct GpuLog {
    std::vector<Mode> modes;             ///< of the stopwatches
    std::vector<bool> aheads;            ///< whether they have the work enqueued before it begins
    std::vector<std::string> marked;     ///< names of ranges
    int profiled = 0;                    ///< runs that a profiler would collect
    std::deque<double> clocksMHz{1900};  ///< the readings to come; the last one stays
    double copyUs = 5;
    double runUs = 10;  ///< the time of a run, which may set it
};

/// A run takes 2 microseconds to enqueue.
class FakeStopwatch final : public Stopwatch {
  public:
    explicit FakeStopwatch(const double& runUs) : runUs_(runUs) {}

    [[nodiscard]] Trial time(const Work& work) override {
        work();
        return {runUs_, 2};
    }

  private:
    const double& runUs_;
};

/// A card of at most 2000 MHz with a given amount of free memory.
class FakeGpu final : public Gpu {
  public:
    explicit FakeGpu(std::size_t freeBytes, std::shared_ptr<GpuLog> log = std::make_shared<GpuLog>())
        : freeBytes_(freeBytes), log_(std::move(log)) {}

    [[nodiscard]] GpuInfo info() const override {
        return {"Fake Card", "9.0", std::size_t{1} << 30, "13.0", "13.0", 2000};
    }
    [[nodiscard]] std::size_t freeBytes() const override { return freeBytes_; }
    [[nodiscard]] std::unique_ptr<Stopwatch> stopwatch(Mode mode, bool ahead) override {
        log_->modes.push_back(mode);
        log_->aheads.push_back(ahead);
        return std::make_unique<FakeStopwatch>(log_->runUs);
    }
    [[nodiscard]] Timing measureCopy(std::size_t /*bytes*/, Mode /*mode*/, const TrialPlan& plan) override {
        return {{log_->copyUs, log_->copyUs, log_->copyUs, 0}, plan.trials};
    }
    [[nodiscard]] Timing measureRead(std::size_t /*bytes*/, const TrialPlan& plan) override {
        return {{4, 4, 4, 0}, plan.trials};
    }
    [[nodiscard]] double measureClockMHz() override {
        const double clock = log_->clocksMHz.front();
        if (log_->clocksMHz.size() > 1) {
            log_->clocksMHz.pop_front();
        }
        return clock;
    }
    [[nodiscard]] std::string throttleReason() const override { return "temperature"; }
    void mark(const std::string& range, const Work& work) override {
        log_->marked.push_back(range);
        work();
    }
    void profile(const Work& work) override {
        ++log_->profiled;
        work();
    }

  private:
    std::size_t freeBytes_;
    std::shared_ptr<GpuLog> log_;
};

/// A variant that runs a host function. As a GPU variant it needs `deviceBytes` bytes of device memory per element.
template <typename Function>
[[nodiscard]] Variant fakeVariant(Operation operation, Hardware hardware, std::string_view name, std::string_view title,
                                  Function* function, std::size_t deviceBytes = 8) {
    Variant variant;
    variant.operation = operation;
    variant.hardware = hardware;
    variant.name = name;
    variant.title = title;
    variant.deviceBytes = [deviceBytes](const Problem& problem, const Setting&) {
        return deviceBytes * problem.size();
    };
    variant.prepare = cpuImplementation(operation, name, function).runner.prepare;
    return variant;
}

[[nodiscard]] inline Machine machineWithGpu(std::vector<Variant> variants, std::size_t freeBytes = std::size_t{1} << 30,
                                            std::shared_ptr<GpuLog> log = std::make_shared<GpuLog>()) {
    return {std::move(variants),
            [freeBytes, log](const GpuRequest&) {
                return GpuAccess{std::make_unique<FakeGpu>(freeBytes, log), {}, std::nullopt};
            },
            std::nullopt};
}

[[nodiscard]] inline Machine machineWithoutGpu(std::vector<Variant> variants) {
    return {std::move(variants),
            [](const GpuRequest&) {
                return GpuAccess{nullptr, "no CUDA device is visible", std::nullopt};
            },
            std::nullopt};
}

/// A build whose GPU variants are simulated. `settings` receives the simulator's settings.
[[nodiscard]] inline Machine machineWithSimulator(
    std::vector<Variant> variants, std::shared_ptr<std::string> settings = std::make_shared<std::string>()) {
    return {std::move(variants),
            [settings](const GpuRequest& request) {
                *settings = request.simulator;
                return GpuAccess{nullptr, {}, "compute capability 9.0, 4 multiprocessors"};
            },
            std::nullopt, true};
}

}  // namespace Bench
