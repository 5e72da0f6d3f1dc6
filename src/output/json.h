#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "output/csv.h"

namespace Bench {

/// How the text of jsonLine() begins.
inline constexpr std::string_view jsonLineBegin = "{\"gpu\":";

/// An object with the column names of the CSV and the time of each trial, in one line without its end. Fields that do
/// not apply are null.
[[nodiscard]] std::string jsonLine(const Row& row);

/// The rows of a file of such lines. Throws UsageError, which says what is wrong, if it is something else or has times
/// that nothing can have taken.
[[nodiscard]] std::vector<Row> readJson(std::istream& file, const std::filesystem::path& path);

}  // namespace Bench
