#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.h"
#include "output/csv.h"
#include "output/row.h"
#include "variants/outcome.h"

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

}  // namespace Bench
