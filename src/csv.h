#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu.h"
#include "outcome.h"

namespace Bench {

inline constexpr std::string_view csvHeader =
    "gpu,compute_capability,driver,toolkit,commit,timestamp,operation,variant,type,n,input,block_size,mode,trials,"
    "median_us,min_us,max_us,bytes,gbps,percent_of_copy,verified,shape";

/// What all rows of one run have in common; empty where there is no card.
struct CsvContext {
    GpuInfo gpu;
    std::string commit;
};

/// One line without its end, its fields quoted where RFC 4180 wants it.
[[nodiscard]] std::string csvLine(const std::vector<std::string>& fields);

/// A measurement as such a line. What does not apply is empty; so are the times of a wrong result.
[[nodiscard]] std::string csvRow(const CsvContext& context, std::string_view timestamp, std::string_view input,
                                 const Outcome& outcome);

/// Now, as `2026-01-31T23:59:59Z`.
[[nodiscard]] std::string timestampNow();

/// A file that rows are appended to, each on disk before the next is measured.
class CsvFile {
  public:
    /// Writes the header to a new or empty file. Throws UsageError when the file cannot be opened or has other columns.
    explicit CsvFile(const std::filesystem::path& path, std::string_view header = csvHeader);

    /// Throws std::runtime_error when it cannot be written.
    void append(std::string_view line);

  private:
    std::filesystem::path path_;
    std::ofstream file_;
};

}  // namespace Bench
