#pragma once

#include <cstddef>
#include <ostream>
#include <span>
#include <vector>

#include "app/options.h"
#include "app/outputs.h"
#include "app/plan.h"
#include "output/console.h"
#include "output/interrupt.h"
#include "output/progress.h"
#include "output/report.h"
#include "variants/tester.h"

namespace Bench {

enum class Ending { Passed, Failed, Interrupted };

/// From the first measurement to the last, or to Ctrl-C: measures, reports, and writes the files.
class Run {
  public:
    /// Opens the files. Throws UsageError for what cannot be written. What it is given must outlive it.
    Run(const Options& options, const GpuAccess& access, Console console);

    /// `found` measurements are in the file already.
    [[nodiscard]] Ending operator()(std::span<const Section> sections, const RunContext& context, std::size_t found);

  private:
    void measure(const Section& section, const RunContext& context, Progress& progress);
    void record(Outcome outcome, const RunContext& context);

    const Options& options_;
    Outputs outputs_;
    Report report_;
    std::ostream* progressStream_;
    Tester tester_;
    InterruptGuard interrupt_;
    std::vector<Outcome> outcomes_;
};

}  // namespace Bench
