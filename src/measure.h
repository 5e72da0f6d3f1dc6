#pragma once

#include <functional>
#include <limits>

#include "statistics.h"

namespace Bench {

using Work = std::function<void()>;

/// Times one run of some work on one kind of hardware.
class Stopwatch {
  public:
    virtual ~Stopwatch() = default;

    [[nodiscard]] virtual double microseconds(const Work& work) = 0;
    /// What its trials start from: `cold` (caches emptied before each) or `batched` (back to back).
    [[nodiscard]] virtual const char* mode() const = 0;
};

/// Calls of the library's host functions, by the library's own timer, which leaves out what they allocate; the caches
/// are as the previous trial left them.
class CpuStopwatch final : public Stopwatch {
  public:
    [[nodiscard]] double microseconds(const Work& work) override;
    [[nodiscard]] const char* mode() const override;
};

struct TrialPlan {
    int warmup = 1;
    int trials = 15;
    /// No trial starts after the earlier ones together have taken this long.
    double budgetUs = std::numeric_limits<double>::infinity();
};

struct Timing {
    Summary us;
    int trials = 0;
};

/// Runs `work` to warm up, then times it; `reset` runs untimed before every trial.
[[nodiscard]] Timing measure(Stopwatch& stopwatch, const TrialPlan& plan, const Work& reset, const Work& work);

}  // namespace Bench
