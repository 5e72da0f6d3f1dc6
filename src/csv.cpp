#include "csv.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <vector>

#include "usage_error.h"

namespace Bench {
namespace {

/// Quoted where RFC 4180 wants it.
[[nodiscard]] std::string csvField(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string result = "\"";
    for (const char c : text) {
        result += c == '"' ? "\"\"" : std::string(1, c);
    }
    return result + '"';
}

[[nodiscard]] std::string number(double value) { return fmt::format("{:.3f}", value); }

enum class Contents { Empty, WholeLines, BrokenLine };

/// Throws UsageError when the file holds something other than rows under the header.
[[nodiscard]] Contents inspect(const std::filesystem::path& path, std::string_view header) {
    std::ifstream file(path);
    std::string found;
    if (!std::getline(file, found)) {
        return Contents::Empty;
    }
    if (found.ends_with('\r')) {
        found.pop_back();
    }
    if (found != header) {
        throw UsageError(
            fmt::format("--csv: {} has other columns than this program writes; choose another file", path.string()));
    }
    file.clear();
    file.seekg(-1, std::ios::end);
    return file.get() == '\n' ? Contents::WholeLines : Contents::BrokenLine;
}

}  // namespace

std::string csvLine(const std::vector<std::string>& fields) {
    std::vector<std::string> quoted(fields.size());
    std::ranges::transform(fields, quoted.begin(), csvField);
    return fmt::format("{}", fmt::join(quoted, ","));
}

std::string csvRow(const CsvContext& context, std::string_view timestamp, std::string_view input,
                   const Outcome& outcome) {
    const Variant& variant = outcome.variant;
    const bool verified = outcome.status == Outcome::Status::Passed;
    const auto ifVerified = [verified](std::string text) { return verified ? std::move(text) : std::string(); };
    const auto percent = outcome.percentOfCopy();
    return csvLine({
        context.gpu.name,
        context.gpu.computeCapability,
        context.gpu.driver,
        context.gpu.toolkit,
        context.commit,
        std::string(timestamp),
        std::string(name(variant.operation)),
        std::string(variant.name),
        typeName(variant.operation, variant.type),
        std::to_string(outcome.n),
        std::string(input),
        variant.blockSizes.empty() ? "" : std::to_string(variant.defaultBlockSize),
        outcome.mode,
        std::to_string(outcome.time.trials),
        ifVerified(number(outcome.time.us.median)),
        ifVerified(number(outcome.time.us.min)),
        ifVerified(number(outcome.time.us.max)),
        std::to_string(outcome.bytes),
        ifVerified(number(outcome.gigabytesPerSecond())),
        ifVerified(percent ? number(*percent) : ""),
        verified ? "true" : "false",
        outcome.shape ? toString(*outcome.shape) : "",
    });
}

std::string timestampNow() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

CsvFile::CsvFile(const std::filesystem::path& path, std::string_view header) : path_(path) {
    const Contents contents = inspect(path, header);
    file_.open(path, std::ios::app);
    if (!file_) {
        throw UsageError(fmt::format("--csv: cannot write to {}", path.string()));
    }
    if (contents == Contents::BrokenLine) {
        append("");
    } else if (contents == Contents::Empty) {
        append(header);
    }
}

void CsvFile::append(std::string_view line) {
    file_ << line << '\n' << std::flush;
    if (!file_) {
        throw std::runtime_error(fmt::format("cannot write to {}", path_.string()));
    }
}

}  // namespace Bench
