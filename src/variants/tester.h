#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/values.h"
#include "measure/cpu_probe.h"
#include "measure/gpu.h"
#include "measure/measure.h"
#include "problems/problem.h"
#include "variants/variants.h"
#include "world/world.h"

namespace Bench {

/// One variant on one input.
struct Measurement {
    Variant variant;  ///< its defaultBlockSize is the block size of the measurement
    std::size_t n = 0;
    std::optional<Shape> shape;  ///< of a matrix
    std::string input;           ///< as in `--input` and the CSV
    Mode mode = Mode::Cold;
    int gpus = 1;                 ///< that a GPU variant runs on
    std::size_t deviceBytes = 0;  ///< the limit of an operation on host memory; 0 if there is none

    [[nodiscard]] Setting setting(const World& world) const {
        return {variant.defaultBlockSize, gpus, deviceBytes, world};
    }
};

/// A measurement and its result.
struct Outcome : Measurement {
    enum class Status {
        Passed,
        Inexact,  ///< a peer that rounds more than the problem allows; no failure of this library
        Failed,
        Skipped
    };

    Status status = Status::Skipped;
    std::string reason;  ///< why it did not pass

    // Only if isTimed().
    Timing time;
    std::size_t bytes = 0;
    std::optional<double> copyUs;          ///< the time of a copy that moves `bytes`
    std::optional<double> clockBeforeMHz;  ///< of the card, right before the trials
    std::optional<double> clockAfterMHz;   ///< right after them
    std::optional<double> probeBeforeUs;   ///< CpuProbe right before the trials of a CPU variant
    std::optional<double> probeAfterUs;    ///< right after them
    std::string throttled;                 ///< why the clock stayed low, however often the measurement was repeated

    [[nodiscard]] bool isTimed() const {
        return (status == Status::Passed || status == Status::Inexact) && mode != Mode::Untimed;
    }
    [[nodiscard]] double gigabytesPerSecond() const { return static_cast<double>(bytes) / time.us.median / 1e3; }
    [[nodiscard]] std::optional<double> percentOfCopy() const {
        return copyUs ? std::optional(100 * *copyUs / time.us.median) : std::nullopt;
    }
};

/// Runs and times variants on this machine, and checks the result of the last trial. Simulated variants run once and
/// untimed. If there are several ranks, all of them test the same measurements and come to the same outcomes, except
/// for clocks.
class Tester {
  public:
    /// The arguments must outlive the tester. With `profile`, profilers collect only the trials on the card.
    Tester(const GpuAccess& access, TrialPlan plan, bool profile = false, const World& world = alone);

    /// `problem` is that of the measurement. With several ranks it throws what the variant throws, because the others
    /// may be waiting for this one.
    [[nodiscard]] Outcome test(const Measurement& measurement, Problem& problem);

  private:
    [[nodiscard]] std::optional<std::string> reasonToSkip(const Measurement& measurement, const Problem& problem) const;
    /// Leaves `outcome` skipped if there is a reason to.
    void tryToRun(Outcome& outcome, Problem& problem);
    void run(Outcome& outcome, Problem& problem);
    /// Sets the status by the problem's check of the result.
    void judge(Outcome& outcome, const Problem& problem) const;
    void measureOnCard(Outcome& outcome, PreparedRun& prepared);
    [[nodiscard]] Timing timed(Stopwatch& stopwatch, PreparedRun& prepared) const;
    [[nodiscard]] double copyMedianUs(const Outcome& outcome, const Problem& problem);

    const GpuAccess& access_;
    TrialPlan plan_;
    bool profile_;
    const World& world_;
    CpuStopwatch cpuStopwatch_;
    CpuProbe cpuProbe_;
    std::map<std::pair<std::size_t, Mode>, double> copyMedianUs_;
};

}  // namespace Bench
