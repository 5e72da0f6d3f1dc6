#pragma once

#include <filesystem>
#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "output/csv.h"

namespace Bench {

/// The whole run as an object. `context` describes the program and the machine. `rows` has one object per measurement,
/// with the column names of the CSV and the time of each trial; fields that do not apply are null.
void writeJson(std::ostream& out, const RunContext& context, std::span<const Row> rows);

/// One of these objects, in one line without its end.
[[nodiscard]] std::string jsonLine(const Row& row);

/// The rows of a file of writeJson(), or of one with lines of jsonLine(). Throws UsageError if it is neither.
[[nodiscard]] std::vector<Row> readJson(const std::filesystem::path& path);
/// The same of a file that has been opened.
[[nodiscard]] std::vector<Row> readJson(std::istream& file, const std::filesystem::path& path);

}  // namespace Bench
