#pragma once

#include <filesystem>
#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "output/csv.h"

namespace Bench {

/// How the texts of writeJson() and jsonLine() begin.
inline constexpr std::string_view jsonBegin = "{\n  \"context\": {\n    \"program\": \"stream_compaction_test\"";
inline constexpr std::string_view jsonLineBegin = "{\"gpu\":";

/// The whole run as an object. `context` describes the program and the machine. `rows` has one object per measurement,
/// with the column names of the CSV and the time of each trial; fields that do not apply are null.
void writeJson(std::ostream& out, const RunContext& context, std::span<const Row> rows);

/// One of these objects, in one line without its end.
[[nodiscard]] std::string jsonLine(const Row& row);

/// The rows of a file of writeJson(), or of one with lines of jsonLine(). Throws UsageError, which says what is wrong,
/// if it is neither or has times that nothing can have taken.
[[nodiscard]] std::vector<Row> readJson(const std::filesystem::path& path);
/// The same of a file that has been opened.
[[nodiscard]] std::vector<Row> readJson(std::istream& file, const std::filesystem::path& path);

}  // namespace Bench
