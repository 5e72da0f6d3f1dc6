#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <vector>

#include "app/options.h"
#include "app/output_file.h"
#include "app/plan.h"
#include "output/classic_report.h"
#include "output/csv.h"
#include "output/report.h"
#include "output/terminal.h"
#include "variants/run_context.h"
#include "variants/tester.h"
#include "world/world.h"

namespace Bench {

/// The files of a run, which get a line for each measurement.
class Outputs {
  public:
    /// Opens the files that the options name. Throws UsageError if one cannot be written.
    Outputs(const Options& options, std::ostream& out);

    /// Throws std::runtime_error if a file cannot be written.
    void add(const Row& row);

  private:
    std::optional<CsvFile> csvFile_;
    std::optional<LineFile> csvStream_;
    std::optional<LineFile> samples_;
};

/// Whether one of the files is standard output. The report then goes to standard error.
[[nodiscard]] bool writesToStandardOutput(const Options& options);

/// The rows of the CSV file for this commit, with a right result and as many trials as `plan` asks for. The file may be
/// missing or empty. Throws UsageError if it is not one of this program's.
[[nodiscard]] std::vector<Row> measuredRows(const std::filesystem::path& csv, const RunContext& context,
                                            const TrialPlan& plan);

/// Moves measurements to the earlier ones that the rows have for this card and processor. Only rank 0 has rows; all
/// ranks leave out the same measurements.
void leaveOutMeasured(std::vector<Section>& sections, std::span<const Row> rows, const RunContext& context,
                      const TrialPlan& plan, const World& world);

enum class Ending { Passed, Failed, Interrupted };

/// Measures and reports until the last measurement or Ctrl-C.
class Run {
  public:
    /// Opens the files. Throws UsageError if one cannot be written. The arguments must outlive the object.
    Run(const Options& options, const GpuAccess& access, const World& world, Console console);

    /// Throws UsageError if nothing could be run and nothing is from earlier runs.
    [[nodiscard]] Ending operator()(std::span<const Section> sections, const RunContext& context);

  private:
    void measure(const Section& section, const RunContext& context, Progress& progress);
    void record(Outcome outcome, const Problem& problem, const RunContext& context);
    /// Whether a rank has got Ctrl-C. All ranks must ask.
    [[nodiscard]] bool interrupted();

    const Options& options_;
    const World& world_;
    Outputs outputs_;
    std::ostream nowhere_{nullptr};
    std::ostream& reportStream_;
    Report report_;  ///< goes nowhere if the classic report takes its place
    ClassicReport classicReport_;
    std::ostream* progressStream_;
    int progressWidth_;
    Tester tester_;
    InterruptGuard interrupt_;
    bool interrupted_ = false;
    std::vector<Outcome> outcomes_;  ///< of this run
    std::vector<Outcome> shown_;     ///< in the table: these and the earlier ones
};

}  // namespace Bench
