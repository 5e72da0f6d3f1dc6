#pragma once

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>

namespace Bench {

/// Throws std::runtime_error, which names the destination, if not everything could be written.
void flush(std::ostream& out, std::string_view name);

/// An output file, or standard output if its name is `-`. A regular file keeps what it had until everything is written:
/// the text goes to a file beside it, which takes its name at the end.
class OutputFile {
  public:
    /// Throws UsageError, which names the option, if the file cannot be written.
    OutputFile(std::string_view option, const std::filesystem::path& path, std::ostream& out);
    /// Leaves the file as it was unless finish() was called.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    [[nodiscard]] std::ostream& stream() { return file_.is_open() ? file_ : out_; }
    void flush() { Bench::flush(stream(), name_); }
    /// To be called once, when everything is written. Throws std::runtime_error if it could not be.
    void finish();

  private:
    std::string name_;
    std::filesystem::path path_;
    std::filesystem::path unfinished_;  ///< the file beside it; empty if the output is written directly
    std::ofstream file_;
    std::ostream& out_;
};

/// A file, or standard output if its name is `-`, to which lines are appended one by one.
class LineFile {
  public:
    /// Throws UsageError, which names the option, if the file cannot be written.
    LineFile(std::string_view option, const std::filesystem::path& path, std::ostream& out);

    /// Throws std::runtime_error if the line cannot be written.
    void append(std::string_view line);

  private:
    std::string name_;
    std::ofstream file_;
    std::ostream& stream_;
};

}  // namespace Bench
