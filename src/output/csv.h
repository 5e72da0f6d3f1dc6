#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "variants/run_context.h"
#include "variants/tester.h"

namespace Bench {

/// A measurement as files have it. What does not apply is empty; so are the times of a wrong result.
struct Row {
    std::string gpu;
    std::string computeCapability;
    std::string driver;
    std::string toolkit;
    std::string commit;
    std::string timestamp;
    std::string operation;
    std::string variant;
    std::string type;
    std::size_t n = 0;
    std::string input;
    std::optional<std::size_t> blockSize;
    std::string mode;
    std::size_t trials = 0;
    std::optional<double> medianUs;
    std::optional<double> minUs;
    std::optional<double> maxUs;
    std::size_t bytes = 0;
    std::optional<double> gbps;
    std::optional<double> percentOfCopy;
    bool verified = false;
    std::string shape;

    /// Whether its result was right and it has times that something can have taken.
    [[nodiscard]] bool isTimed() const;

    /// What was measured, on which card: equal for rows that can be compared.
    [[nodiscard]] auto subject() const {
        return std::tie(operation, variant, type, n, input, blockSize, mode, shape, gpu);
    }
};

/// Refers to the row.
using Subject = decltype(std::declval<const Row&>().subject());

/// A column of the files: its name, and where a row keeps its value.
struct Column {
    std::string_view name;
    std::variant<std::string Row::*, std::size_t Row::*, bool Row::*, std::optional<std::size_t> Row::*,
                 std::optional<double> Row::*>
        member;
};

/// In the order of the files. New ones go to the end.
inline constexpr std::array columns{
    Column{"gpu", &Row::gpu},
    Column{"compute_capability", &Row::computeCapability},
    Column{"driver", &Row::driver},
    Column{"toolkit", &Row::toolkit},
    Column{"commit", &Row::commit},
    Column{"timestamp", &Row::timestamp},
    Column{"operation", &Row::operation},
    Column{"variant", &Row::variant},
    Column{"type", &Row::type},
    Column{"n", &Row::n},
    Column{"input", &Row::input},
    Column{"block_size", &Row::blockSize},
    Column{"mode", &Row::mode},
    Column{"trials", &Row::trials},
    Column{"median_us", &Row::medianUs},
    Column{"min_us", &Row::minUs},
    Column{"max_us", &Row::maxUs},
    Column{"bytes", &Row::bytes},
    Column{"gbps", &Row::gbps},
    Column{"percent_of_copy", &Row::percentOfCopy},
    Column{"verified", &Row::verified},
    Column{"shape", &Row::shape},
};

/// The row of a measurement that is yet to be made.
[[nodiscard]] Row rowOf(const RunContext& context, const Measurement& measurement);
[[nodiscard]] Row rowOf(const RunContext& context, std::string_view timestamp, const Outcome& outcome);

/// Now, as `2026-01-31T23:59:59Z`.
[[nodiscard]] std::string timestampNow();

/// The names of the columns.
[[nodiscard]] std::string csvHeader();

/// One line without its end, its fields quoted where RFC 4180 wants it.
[[nodiscard]] std::string csvLine(std::span<const std::string> fields);
/// The fields of such a line.
[[nodiscard]] std::vector<std::string> csvFields(std::string_view line);

/// A row as such a line.
[[nodiscard]] std::string csvLine(const Row& row);

/// The rows of a file that this program wrote, or an earlier one, which knew fewer columns.
struct CsvContents {
    std::vector<Row> rows;
    std::vector<std::size_t> unreadable;  ///< numbers of the lines that are no rows or have no times, from 1
};

/// Throws UsageError when the file cannot be read or has no column for what tells one measurement from another.
[[nodiscard]] CsvContents readCsv(const std::filesystem::path& path);

/// A file that lines are appended to, each on disk before the next is measured.
class CsvFile {
  public:
    /// Writes the header to a new or empty file. Throws UsageError when the file cannot be opened or has other columns.
    explicit CsvFile(const std::filesystem::path& path, const std::string& header = csvHeader());

    /// Throws std::runtime_error when it cannot be written.
    void append(std::string_view line);

  private:
    std::filesystem::path path_;
    std::ofstream file_;
};

}  // namespace Bench
