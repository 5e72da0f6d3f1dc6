#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "gpu.h"
#include "outcome.h"
#include "problem.h"

namespace Bench {

/// Runs, times and checks variants on this machine.
class Tester {
  public:
    /// The card must outlive the tester.
    Tester(const GpuAccess& access, int warmup, int trials);

    [[nodiscard]] Outcome test(const Variant& variant, Problem& problem);

  private:
    [[nodiscard]] std::optional<std::string> reasonToSkip(const Variant& variant, const Problem& problem) const;
    void run(Outcome& outcome, Problem& problem);
    [[nodiscard]] double copyMedianUs(std::size_t bytes);

    const GpuAccess& access_;
    TrialPlan plan_;
    CpuStopwatch cpuStopwatch_;
    std::map<std::size_t, double> copyMedianUs_;
};

}  // namespace Bench
