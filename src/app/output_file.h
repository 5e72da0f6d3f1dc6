#pragma once

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>

namespace Bench {

/// Throws std::runtime_error, which names the destination, if not everything could be written.
void flush(std::ostream& out, std::string_view name);

/// A file, or standard output if its name is `-`, to which lines are appended one by one.
class LineFile {
  public:
    /// A line that this option writes begins with `begin`. Throws UsageError, which names the option, if the file
    /// cannot be written or has something else.
    LineFile(std::string_view option, const std::filesystem::path& path, std::string_view begin, std::ostream& out);

    /// Throws std::runtime_error if the line cannot be written.
    void append(std::string_view line);

  private:
    std::string name_;
    std::ofstream file_;
    std::ostream& stream_;
};

}  // namespace Bench
