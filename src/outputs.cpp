#include "outputs.h"

#include <fmt/format.h>

#include <utility>

#include "json.h"
#include "markdown.h"
#include "usage_error.h"

namespace Bench {
namespace {

[[nodiscard]] std::optional<OutputFile> opened(std::string_view option,
                                               const std::optional<std::filesystem::path>& path, std::ostream& out) {
    return path ? std::optional<OutputFile>(std::in_place, option, *path, out) : std::nullopt;
}

}  // namespace

OutputFile::OutputFile(std::string_view option, const std::filesystem::path& path, std::ostream& out) : out_(out) {
    if (path == standardOutput) {
        return;
    }
    file_.open(path);
    if (!file_) {
        throw UsageError(fmt::format("{}: cannot write to {}", option, path.string()));
    }
}

Outputs::Outputs(const Options& options, std::ostream& out)
    : json_(opened("--json", options.json, out)), markdown_(opened("--markdown", options.markdown, out)) {
    if (options.csv == standardOutput) {
        csvStream_ = &out;
        out << csvHeader() << '\n';
    } else if (options.csv) {
        csvFile_.emplace(*options.csv);
    }
}

void Outputs::add(Row row) {
    if (csvFile_) {
        csvFile_->append(csvLine(row));
    } else if (csvStream_ != nullptr) {
        *csvStream_ << csvLine(row) << '\n' << std::flush;
    }
    rows_.push_back(std::move(row));
}

void Outputs::finish(const RunContext& context, std::span<const Outcome> outcomes) {
    if (json_) {
        writeJson(json_->stream(), context, rows_);
    }
    if (markdown_) {
        writeMarkdown(markdown_->stream(), context, outcomes);
    }
}

bool writesToStandardOutput(const Options& options) {
    return options.csv == standardOutput || options.json == standardOutput || options.markdown == standardOutput;
}

}  // namespace Bench
