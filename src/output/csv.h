#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "output/row.h"

namespace Bench {

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
