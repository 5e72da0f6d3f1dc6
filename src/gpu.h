#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "measure.h"

namespace Bench {

struct GpuInfo {
    std::string name;
    std::string computeCapability;
    std::size_t memoryBytes = 0;
    std::string driver;   ///< newest CUDA version that the installed driver supports
    std::string toolkit;  ///< CUDA version that this program was built with
};

/// The card that variants run on.
class Gpu {
  public:
    virtual ~Gpu() = default;

    [[nodiscard]] virtual GpuInfo info() const = 0;
    [[nodiscard]] virtual std::size_t freeBytes() const = 0;
    /// By CUDA events, each trial with the L2 cache emptied before it.
    [[nodiscard]] virtual Stopwatch& stopwatch() = 0;
    /// A copy within the device that reads and writes `bytes` in all: the ceiling for an operation that moves as many.
    [[nodiscard]] virtual Timing measureCopy(std::size_t bytes, const TrialPlan& plan) = 0;
};

/// The card, or why there is none.
struct GpuAccess {
    std::unique_ptr<Gpu> gpu;
    std::string unavailableReason;
};

/// Throws UsageError when there are cards but none with this number.
[[nodiscard]] GpuAccess openGpu(int device);

}  // namespace Bench
