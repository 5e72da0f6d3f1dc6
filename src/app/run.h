#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.h"
#include "app/plan.h"
#include "output/csv.h"
#include "output/report.h"
#include "output/terminal.h"
#include "variants/run_context.h"
#include "variants/tester.h"

namespace Bench {

/// Throws std::runtime_error, which says where to, when not all that was written has arrived.
void flush(std::ostream& out, std::string_view name);

/// A file to write, or standard output where it is called `-`.
class OutputFile {
  public:
    /// Throws UsageError, which names the option, when it cannot be written.
    OutputFile(std::string_view option, const std::filesystem::path& path, std::ostream& out);

    [[nodiscard]] std::ostream& stream() { return file_.is_open() ? file_ : out_; }
    void flush() { Bench::flush(stream(), name_); }

  private:
    std::string name_;
    std::ofstream file_;
    std::ostream& out_;
};

/// What a run leaves behind for other programs: CSV as it goes, JSON and Markdown when it is done.
class Outputs {
  public:
    /// Opens what the options name. Throws UsageError for what cannot be written.
    Outputs(const Options& options, std::ostream& out);

    /// Throws std::runtime_error when it cannot be written; so does the other.
    void add(Row row);
    void finish(const RunContext& context, std::span<const Outcome> outcomes);

  private:
    std::optional<CsvFile> csvFile_;
    std::optional<OutputFile> csvStream_;
    std::optional<OutputFile> json_;
    std::optional<OutputFile> markdown_;
    std::vector<Row> rows_;
};

/// Whether one of the files is standard output, which is then not for people.
[[nodiscard]] bool writesToStandardOutput(const Options& options);

/// Takes the measurements out of the plan that a CSV file has of this card and commit, and that are right. Returns how
/// many that were; none when there is no such file. Throws UsageError when it is something else.
std::size_t leaveOutMeasured(std::vector<Section>& sections, const std::filesystem::path& csv,
                             const RunContext& context);

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
