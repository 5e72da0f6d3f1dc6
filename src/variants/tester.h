#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/values.h"
#include "measure/gpu.h"
#include "measure/measure.h"
#include "problems/problem.h"
#include "variants/variants.h"

namespace Bench {

/// One variant on one array.
struct Measurement {
    Variant variant;  ///< with the block size that it takes
    std::size_t n = 0;
    std::optional<Shape> shape;  ///< of a matrix
    std::string input;           ///< as `--input` and the CSV call it
    Mode mode = Mode::Cold;
};

/// What came of it.
struct Outcome : Measurement {
    enum class Status { Passed, Failed, Skipped };

    Status status = Status::Skipped;
    std::string reason;  ///< why it was skipped or what is wrong with its result; empty when it passed

    // Only of what has passed and was timed.
    Timing time;
    std::size_t bytes = 0;
    std::optional<double> copyUs;    ///< what a copy of as many bytes takes
    std::optional<double> clockMHz;  ///< of the card, right after it

    [[nodiscard]] bool isTimed() const { return status == Status::Passed && mode != Mode::Untimed; }
    [[nodiscard]] double gigabytesPerSecond() const { return static_cast<double>(bytes) / time.us.median / 1e3; }
    [[nodiscard]] double gigaelementsPerSecond() const { return static_cast<double>(n) / time.us.median / 1e3; }
    [[nodiscard]] std::optional<double> percentOfCopy() const {
        return copyUs ? std::optional(100 * *copyUs / time.us.median) : std::nullopt;
    }
};

/// Runs and times variants on this machine, those in the simulator once and untimed, and checks what the last trial has
/// left.
class Tester {
  public:
    /// What it is given must outlive the tester. With `profile` profilers are told to collect the trials on the card
    /// alone.
    Tester(const GpuAccess& access, TrialPlan plan, bool profile = false);

    /// On the problem that the measurement is of.
    [[nodiscard]] Outcome test(const Measurement& measurement, Problem& problem);

  private:
    [[nodiscard]] std::optional<std::string> reasonToSkip(const Variant& variant, const Problem& problem) const;
    void run(Outcome& outcome, Problem& problem);
    [[nodiscard]] double copyMedianUs(const Outcome& outcome, const Problem& problem);

    const GpuAccess& access_;
    TrialPlan plan_;
    bool profile_;
    CpuStopwatch cpuStopwatch_;
    std::map<std::pair<std::size_t, Mode>, double> copyMedianUs_;
};

}  // namespace Bench
