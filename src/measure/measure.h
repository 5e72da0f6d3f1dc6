#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace Bench {

/// Microseconds since some moment; tests put in their own.
using Clock = std::function<double()>;

[[nodiscard]] inline double steadyMicroseconds() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Summary {
    double median = 0;
    double min = 0;
    double max = 0;
    /// Half the width of the 95 % confidence interval of the median, as a fraction of the median; infinite for fewer
    /// than the six samples that such an interval takes.
    double noise = 0;
};

/// Measured times, kept in ascending order.
class Samples {
  public:
    void add(double sample);
    [[nodiscard]] std::size_t size() const { return sorted_.size(); }
    /// Throws std::logic_error when there are none.
    [[nodiscard]] Summary summary() const;

  private:
    [[nodiscard]] double noise(double median) const;

    std::vector<double> sorted_;
};

using Work = std::function<void()>;

/// What a trial starts from, and what it is.
enum class Mode {
    Cold,     ///< one run, the caches emptied before it
    Batched,  ///< runs back to back, the caches as the one before left them
    Untimed,  ///< one run in the simulator, which has no times
};

/// As `--mode`, the report and the CSV call it.
[[nodiscard]] std::string_view name(Mode mode);
/// One of those that take times. Throws UsageError, with the nearest names, for an unknown one.
[[nodiscard]] Mode parseMode(std::string_view text);

/// Times one run of some work on one kind of hardware.
class Stopwatch {
  public:
    virtual ~Stopwatch() = default;

    [[nodiscard]] virtual double microseconds(const Work& work) = 0;
};

/// Calls of the library's host functions, by the library's own timer, which leaves out what they allocate; the caches
/// are as the previous trial left them.
class CpuStopwatch final : public Stopwatch {
  public:
    [[nodiscard]] double microseconds(const Work& work) override;
};

struct TrialPlan {
    int warmup = 1;
    /// So many, and more until the noise is low enough.
    int trials = 15;
    double maxNoise = std::numeric_limits<double>::infinity();
    /// No trial starts after the earlier ones, with all that goes on between them, have taken this long.
    double budgetUs = std::numeric_limits<double>::infinity();
    Clock now = steadyMicroseconds;
};

struct Timing {
    Summary us;
    int trials = 0;
    /// Whether the time ran out before the noise was as low as the plan asks for.
    bool noisy = false;
};

/// Runs `work` to warm up, then times it; `reset` runs untimed before every trial.
[[nodiscard]] Timing measure(Stopwatch& stopwatch, const TrialPlan& plan, const Work& reset, const Work& work);

}  // namespace Bench
