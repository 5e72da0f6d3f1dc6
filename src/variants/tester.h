#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "measure/gpu.h"
#include "problems/problem.h"
#include "variants/outcome.h"

namespace Bench {

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
