#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace Bench {

/// Microseconds since an arbitrary moment; tests replace it.
using Clock = std::function<double()>;

[[nodiscard]] double steadyMicroseconds();

struct Summary {
    double median = 0;
    double min = 0;
    double max = 0;
    /// Half the width of the median's 95 % confidence interval, as a fraction of the median. Infinite for fewer than
    /// the six samples that the interval needs.
    double noise = 0;
};

/// Measured times.
class Samples {
  public:
    void add(double sample);
    [[nodiscard]] std::size_t size() const { return measured_.size(); }
    /// In the order in which they were measured.
    [[nodiscard]] const std::vector<double>& measured() const { return measured_; }
    /// Throws std::logic_error if there are none.
    [[nodiscard]] Summary summary() const;

  private:
    [[nodiscard]] double noise(double median) const;

    std::vector<double> measured_;
    std::vector<double> sorted_;
};

using Work = std::function<void()>;

/// How a trial begins, and what it consists of.
enum class Mode {
    Cold,     ///< one run after the caches have been emptied
    Batched,  ///< runs back to back; each finds the caches as the previous run left them
    Warm,     ///< one run on the CPU, with the caches as the previous trial left them
    Untimed,  ///< one run in the simulator, which has no times
};

/// The modes of the GPU with times.
inline constexpr std::array timedModes{Mode::Cold, Mode::Batched};

/// The name in the report and the CSV.
[[nodiscard]] std::string_view name(Mode mode);
/// A mode of the GPU with times, by its name in `--mode`. Throws UsageError, with the nearest names, for other names.
[[nodiscard]] Mode parseMode(std::string_view text);

/// What one run of some work took, in microseconds.
struct Trial {
    double us = 0;
    /// The host's time to enqueue work for the GPU, if it only does that.
    std::optional<double> enqueueUs{};
};

/// Times one run of some work on the CPU or the GPU.
class Stopwatch {
  public:
    virtual ~Stopwatch() = default;

    [[nodiscard]] virtual Trial time(const Work& work) = 0;
};

/// Times calls of the library's host functions by the library's own timer, which leaves out allocations. The caches are
/// as the previous trial left them.
class CpuStopwatch final : public Stopwatch {
  public:
    [[nodiscard]] Trial time(const Work& work) override;
};

struct TrialPlan {
    int warmup = 1;
    /// The minimum number of trials. More follow until the noise is low enough.
    int trials = 15;
    double maxNoise = std::numeric_limits<double>::infinity();
    /// No trial starts once the earlier ones have taken this long, including the untimed work between them.
    double budgetUs = std::numeric_limits<double>::infinity();
    Clock now = steadyMicroseconds;
};

struct Timing {
    Summary us;
    int trials = 0;
    std::vector<double> samples{};      ///< the time of each trial, in their order
    std::optional<double> enqueueUs{};  ///< the median
    /// Whether the time ran out before the noise fell to the plan's limit.
    bool noisy = false;
    /// The minimum number of trials, unless the time ran out.
    int wanted = 0;

    [[nodiscard]] bool isCutShort() const { return trials < wanted; }
};

/// Runs `work` untimed to warm up, then times it. `reset` runs untimed before every trial.
[[nodiscard]] Timing measure(Stopwatch& stopwatch, const TrialPlan& plan, const Work& reset, const Work& work);

}  // namespace Bench
