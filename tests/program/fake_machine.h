#pragma once

#include <stream_compaction/cpu.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu_variants.h"
#include "program.h"

namespace Bench {

/// Every run takes 10 microseconds.
class FakeStopwatch final : public Stopwatch {
  public:
    [[nodiscard]] double microseconds(const Work& work) override {
        work();
        return 10;
    }
    [[nodiscard]] const char* mode() const override { return "cold"; }
};

/// A card with a given amount of free memory, on which a copy takes 5 microseconds.
class FakeGpu final : public Gpu {
  public:
    explicit FakeGpu(std::size_t freeBytes) : freeBytes_(freeBytes) {}

    [[nodiscard]] GpuInfo info() const override { return {"Fake Card", "9.0", std::size_t{1} << 30, "13.0", "13.0"}; }
    [[nodiscard]] std::size_t freeBytes() const override { return freeBytes_; }
    [[nodiscard]] Stopwatch& stopwatch() override { return stopwatch_; }
    [[nodiscard]] Timing measureCopy(std::size_t /*bytes*/, const TrialPlan& plan) override {
        return {{5, 5, 5}, plan.trials};
    }

  private:
    std::size_t freeBytes_;
    FakeStopwatch stopwatch_;
};

/// A host function in the place of a variant; `deviceBytes` an element when it plays a GPU variant.
template <typename Function>
[[nodiscard]] Variant fakeVariant(Operation operation, Hardware hardware, std::string_view name, std::string_view title,
                                  Function* function, std::size_t deviceBytes = 8) {
    Variant variant;
    variant.operation = operation;
    variant.hardware = hardware;
    variant.name = name;
    variant.title = title;
    variant.deviceBytes = [deviceBytes](const Problem& problem, int) { return deviceBytes * problem.size(); };
    variant.prepare = cpuImplementation(operation, name, function).prepare;
    return variant;
}

[[nodiscard]] inline Machine machineWithGpu(std::vector<Variant> variants,
                                            std::size_t freeBytes = std::size_t{1} << 30) {
    return {std::move(variants),
            [freeBytes](int) {
                return GpuAccess{std::make_unique<FakeGpu>(freeBytes), {}};
            },
            std::nullopt};
}

[[nodiscard]] inline Machine machineWithoutGpu(std::vector<Variant> variants) {
    return {std::move(variants), [](int) { return GpuAccess{nullptr, "no CUDA device is visible"}; }, std::nullopt};
}

}  // namespace Bench
