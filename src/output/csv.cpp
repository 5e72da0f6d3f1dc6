#include "output/csv.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <istream>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>

#include "cli/values.h"

namespace Bench {

Row rowOf(const RunContext& context, const Measurement& measurement) {
    const Variant& variant = measurement.variant;
    Row row;
    if (context.gpu) {
        row.gpu = context.gpu->name;
        row.computeCapability = context.gpu->computeCapability;
        row.driver = context.gpu->driver;
        row.toolkit = context.gpu->toolkit;
    }
    row.commit = context.commit;
    row.operation = name(variant.operation);
    row.variant = variant.name;
    row.type = typeName(variant.operation, variant.type);
    row.n = measurement.n;
    row.input = measurement.input;
    if (!variant.blockSizes.empty()) {
        row.blockSize = variant.defaultBlockSize;
    }
    row.mode = name(measurement.mode);
    row.shape = measurement.shape ? toString(*measurement.shape) : "";
    row.cpu = variant.hardware == Hardware::Cpu ? context.cpu.model : "";
    row.library = variant.library;
    row.gpus.reset();
    if (variant.hardware == Hardware::Gpu) {
        row.gpus = measurement.gpus;
    }
    if (measurement.deviceBytes > 0) {
        row.gpuMemory = measurement.deviceBytes;
    }
    return row;
}

Row rowOf(const RunContext& context, std::string_view timestamp, const Outcome& outcome) {
    Row row = rowOf(context, outcome);
    row.timestamp = timestamp;
    row.trials = static_cast<std::size_t>(outcome.time.trials);
    row.bytes = outcome.bytes;
    row.verified = outcome.status == Outcome::Status::Passed;
    if (outcome.isTimed()) {
        row.medianUs = outcome.time.us.median;
        row.minUs = outcome.time.us.min;
        row.maxUs = outcome.time.us.max;
        row.gbps = outcome.gigabytesPerSecond();
        row.percentOfCopy = outcome.percentOfCopy();
        if (std::isfinite(outcome.time.us.noise)) {
            row.noisePercent = 100 * outcome.time.us.noise;
        }
        row.enqueueUs = outcome.time.enqueueUs;
        row.clockBeforeMHz = outcome.clockBeforeMHz;
        row.clockAfterMHz = outcome.clockAfterMHz;
        row.probeBeforeUs = outcome.probeBeforeUs;
        row.probeAfterUs = outcome.probeAfterUs;
        row.throttled = outcome.throttled;
        row.samplesUs = outcome.time.samples;
    }
    return row;
}

Outcome outcomeOf(const Measurement& measurement, const Row& row) {
    Outcome outcome;
    static_cast<Measurement&>(outcome) = measurement;
    outcome.status = Outcome::Status::Passed;
    constexpr double unknown = std::numeric_limits<double>::infinity();
    outcome.time.us = {row.medianUs.value(), row.minUs.value(), row.maxUs.value(),
                       row.noisePercent ? *row.noisePercent / 100 : unknown};
    outcome.time.enqueueUs = row.enqueueUs;
    outcome.throttled = row.throttled;
    outcome.time.trials = static_cast<int>(row.trials);
    outcome.bytes = row.bytes;
    if (row.percentOfCopy) {
        outcome.copyUs = *row.percentOfCopy / 100 * outcome.time.us.median;
    }
    return outcome;
}

bool isTime(double us) { return std::isfinite(us) && us > 0; }

bool Row::isTimed() const {
    return verified && std::ranges::all_of(std::array{medianUs, minUs, maxUs},
                                           [](std::optional<double> us) { return us && isTime(*us); });
}

std::string timestampNow() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

namespace {

/// Quoted if RFC 4180 requires it.
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

/// How values of a column are written.
[[nodiscard]] std::string toField(const std::string& text) { return text; }
[[nodiscard]] std::string toField(std::size_t number) { return std::to_string(number); }
[[nodiscard]] std::string toField(bool truth) { return truth ? "true" : "false"; }
[[nodiscard]] std::string toField(double number) { return fmt::format("{:.3f}", number); }
template <typename T>
[[nodiscard]] std::string toField(const std::optional<T>& value) {
    return value ? toField(*value) : "";
}

/// Parses a field into a value; false if the field is not one.
[[nodiscard]] bool fromField(const std::string& field, std::string& text) {
    text = field;
    return true;
}
[[nodiscard]] bool fromField(const std::string& field, bool& truth) {
    truth = field == "true";
    return truth || field == "false";
}
template <typename Number>
[[nodiscard]] bool fromField(const std::string& field, Number& number) {
    const char* end = field.data() + field.size();
    const auto [stop, error] = std::from_chars(field.data(), end, number);
    return error == std::errc() && stop == end;
}
template <typename T>
[[nodiscard]] bool fromField(const std::string& field, std::optional<T>& value) {
    return field.empty() || fromField(field, value.emplace());
}

/// Reads a line with either line ending.
bool readLine(std::istream& in, std::string& line) {
    if (!std::getline(in, line)) {
        return false;
    }
    if (line.ends_with('\r')) {
        line.pop_back();
    }
    return true;
}

/// Reads the first line, without the byte order mark that spreadsheets put there.
bool readHeader(std::istream& in, std::string& line) {
    constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
    if (!readLine(in, line)) {
        return false;
    }
    if (line.starts_with(byteOrderMark)) {
        line.erase(0, byteOrderMark.size());
    }
    return true;
}

/// The number of columns that a file has. Early files lack the last columns.
[[nodiscard]] std::size_t columnCount(const std::filesystem::path& path, std::string_view header) {
    const auto names = csvFields(header);
    if (names.front() != columns.front().name) {
        throw UsageError(fmt::format("{} is no file of measurements", path.string()));
    }
    const bool areTheFirst = std::ranges::mismatch(names, columns, {}, {}, &Column::name).in1 == names.end();
    if (!areTheFirst || names.size() + columnsAddedLater < columns.size()) {
        throw UsageError(fmt::format("{} has other columns than this program writes", path.string()));
    }
    return names.size();
}

/// Empty if the line breaks off or is no measurement. A right result must have times.
[[nodiscard]] std::optional<Row> readRow(std::size_t count, std::string_view line) {
    const auto fields = csvFields(line);
    if (fields.size() != count) {
        return std::nullopt;
    }
    Row row;
    for (std::size_t i = 0; i < count; ++i) {
        const auto read = [&](auto member) { return fromField(fields[i], row.*member); };
        if (!std::visit(read, columns[i].member)) {
            return std::nullopt;
        }
    }
    row.bringUpToDate();
    return row.verified && !row.isTimed() ? std::nullopt : std::optional(std::move(row));
}

/// What a file has before lines are appended.
struct Contents {
    bool hasHeader = false;
    std::size_t bytes = 0;     ///< up to the end of the last line that has all fields
    bool endsInALine = false;  ///< whether that line lacks its end
};

/// Throws UsageError if the file has another header.
[[nodiscard]] Contents inspect(const std::filesystem::path& path, std::string_view header) {
    // A pipe or device is only written to, because reading it could block forever.
    if (std::error_code ignored; !std::filesystem::is_regular_file(path, ignored)) {
        return {};
    }
    std::ifstream file(path, std::ios::binary);
    std::string found;
    if (!readHeader(file, found)) {
        return {};
    }
    if (found != header) {
        throw UsageError(
            fmt::format("--csv: {} has other columns than this program writes; choose another file", path.string()));
    }
    file.clear();
    file.seekg(0);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t lastLine = text.rfind('\n') + 1;  // 0 if there is only one
    const bool isWhole = csvFields(text.substr(lastLine)).size() == csvFields(header).size();
    return {true, isWhole ? text.size() : lastLine, isWhole};
}

}  // namespace

std::string csvHeader() {
    std::vector<std::string> names(columns.size());
    std::ranges::transform(columns, names.begin(), [](const Column& column) { return std::string(column.name); });
    return csvLine(names);
}

std::string csvLine(std::span<const std::string> fields) {
    std::vector<std::string> quoted(fields.size());
    std::ranges::transform(fields, quoted.begin(), csvField);
    return fmt::format("{}", fmt::join(quoted, ","));
}

std::vector<std::string> csvFields(std::string_view line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool doubled = quoted && line.substr(i, 2) == "\"\"";
        if (line[i] == '"' && !doubled) {
            quoted = !quoted;
        } else if (line[i] == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += line[i];
            i += doubled ? 1 : 0;
        }
    }
    return fields;
}

std::string csvLine(const Row& row) {
    std::vector<std::string> fields(columns.size());
    std::ranges::transform(columns, fields.begin(), [&row](const Column& column) {
        return std::visit([&row](auto member) { return toField(row.*member); }, column.member);
    });
    return csvLine(fields);
}

CsvContents readCsv(const std::filesystem::path& path) {
    std::ifstream file(path);
    return readCsv(file, path);
}

CsvContents readCsv(std::istream& file, const std::filesystem::path& path) {
    std::string line;
    if (!readHeader(file, line)) {
        throw UsageError(file.eof() ? fmt::format("{} is empty", path.string())
                                    : fmt::format("cannot read {}", path.string()));
    }
    const std::size_t count = columnCount(path, line);
    CsvContents contents;
    for (std::size_t number = 2; readLine(file, line); ++number) {
        if (auto row = readRow(count, line)) {
            contents.rows.push_back(std::move(*row));
        } else {
            contents.unreadable.push_back(number);
        }
    }
    return contents;
}

CsvFile::CsvFile(const std::filesystem::path& path, const std::string& header) : path_(path) {
    const Contents contents = inspect(path, header);
    file_.open(path, std::ios::app);
    if (!file_) {
        throw UsageError(fmt::format("--csv: cannot write to {}", path.string()));
    }
    if (!contents.hasHeader) {
        append(header);
        return;
    }
    if (contents.bytes < std::filesystem::file_size(path)) {
        std::filesystem::resize_file(path, contents.bytes);
    }
    if (contents.endsInALine) {
        append("");
    }
}

void CsvFile::append(std::string_view line) {
    file_ << line << '\n' << std::flush;
    if (!file_) {
        throw std::runtime_error(fmt::format("cannot write to {}", path_.string()));
    }
}

}  // namespace Bench
