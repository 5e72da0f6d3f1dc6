#include "app/outputs.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "cli/usage_error.h"
#include "output/json.h"
#include "output/markdown.h"

namespace Bench {
namespace {

[[nodiscard]] std::optional<OutputFile> opened(std::string_view option,
                                               const std::optional<std::filesystem::path>& path, std::ostream& out) {
    return path ? std::optional<OutputFile>(std::in_place, option, *path, out) : std::nullopt;
}

}  // namespace

void flush(std::ostream& out, std::string_view name) {
    if (!out.flush()) {
        throw std::runtime_error(fmt::format("cannot write to {}", name));
    }
}

OutputFile::OutputFile(std::string_view option, const std::filesystem::path& path, std::ostream& out)
    : name_(path == standardOutput ? "standard output" : path.string()), out_(out) {
    if (path == standardOutput) {
        return;
    }
    file_.open(path);
    if (!file_) {
        throw UsageError(fmt::format("{}: cannot write to {}", option, path.string()));
    }
}

// The CSV file, which can be the wrong one, comes first: opening the others empties them.
Outputs::Outputs(const Options& options, std::ostream& out)
    : csvFile_(options.csv && options.csv != standardOutput ? std::optional<CsvFile>(*options.csv) : std::nullopt),
      csvStream_(options.csv == standardOutput ? opened("--csv", options.csv, out) : std::nullopt),
      json_(opened("--json", options.json, out)),
      markdown_(opened("--markdown", options.markdown, out)) {
    if (csvStream_) {
        csvStream_->stream() << csvHeader() << '\n';
    }
}

void Outputs::add(Row row) {
    if (csvFile_) {
        csvFile_->append(csvLine(row));
    } else if (csvStream_) {
        csvStream_->stream() << csvLine(row) << '\n';
        csvStream_->flush();
    }
    rows_.push_back(std::move(row));
}

void Outputs::finish(const RunContext& context, std::span<const Outcome> outcomes) {
    if (json_) {
        writeJson(json_->stream(), context, rows_);
        json_->flush();
    }
    if (markdown_) {
        writeMarkdown(markdown_->stream(), context, outcomes);
        markdown_->flush();
    }
}

bool writesToStandardOutput(const Options& options) {
    return options.csv == standardOutput || options.json == standardOutput || options.markdown == standardOutput;
}

}  // namespace Bench
