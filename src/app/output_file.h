#pragma once

#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

namespace Bench {

/// Throws std::runtime_error, which names the destination, if not everything could be written.
void flush(std::ostream& out, std::string_view name);

/// An output file, or standard output if its name is `-`. It is written when everything is known. A regular file takes
/// its name only then: the text goes to a file beside it first.
class OutputFile {
  public:
    /// What this option writes begins with `begin`. Throws UsageError, which names the option, if the file cannot be
    /// written or has something else.
    OutputFile(std::string_view option, const std::filesystem::path& path, std::string_view begin, std::ostream& out);
    /// Leaves the file as it was unless finish() was called.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Takes the text.
    [[nodiscard]] std::ostream& stream() { return text_; }
    /// To be called once, when the text is complete. Throws std::runtime_error if it could not be written.
    void finish();

  private:
    std::string name_;
    std::filesystem::path path_;
    std::filesystem::path unfinished_;  ///< the file beside it; empty if the output is written directly
    std::ostringstream text_;
    std::ofstream file_;
    std::ostream& out_;
};

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
