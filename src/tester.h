#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "gpu.h"
#include "outcome.h"

namespace Bench {

/// `first mismatch at index 3: expected 6, got 7`, or nothing when the arrays are the same.
[[nodiscard]] std::optional<std::string> findMismatch(std::span<const int> expected, std::span<const int> got);

/// Runs, times and checks variants on this machine.
class Tester {
  public:
    /// The card must outlive the tester.
    Tester(const GpuAccess& access, int warmup, int trials);

    [[nodiscard]] Outcome test(const Variant& variant, std::span<const int> input, std::span<const int> expected);

  private:
    [[nodiscard]] std::optional<std::string> reasonToSkip(const Variant& variant, std::size_t n) const;
    void run(Outcome& outcome, std::span<const int> input, std::span<const int> expected);
    [[nodiscard]] double copyMedianUs(std::size_t bytes);

    const GpuAccess& access_;
    TrialPlan plan_;
    CpuStopwatch cpuStopwatch_;
    std::map<std::size_t, double> copyMedianUs_;
};

}  // namespace Bench
