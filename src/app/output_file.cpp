#include "app/output_file.h"

#include <fmt/format.h>

#include <stdexcept>
#include <system_error>

#include "app/options.h"
#include "cli/values.h"

namespace Bench {
namespace {

/// Whether another file may take this name. Devices, pipes and links stay and are written to.
[[nodiscard]] bool isReplaceable(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto type = std::filesystem::symlink_status(path, ignored).type();
    if (type == std::filesystem::file_type::regular) {
        return std::ofstream(path, std::ios::app).is_open();  // not if the file is write-protected
    }
    return type == std::filesystem::file_type::not_found;
}

[[nodiscard]] std::string nameOf(const std::filesystem::path& path) {
    return path == standardOutput ? "standard output" : path.string();
}

void requireOpen(const std::ofstream& file, std::string_view option, const std::filesystem::path& path) {
    if (!file.is_open()) {
        throw UsageError(fmt::format("{}: cannot write to {}", option, path.string()));
    }
}

}  // namespace

void flush(std::ostream& out, std::string_view name) {
    if (!out.flush()) {
        throw std::runtime_error(fmt::format("cannot write to {}", name));
    }
}

OutputFile::OutputFile(std::string_view option, const std::filesystem::path& path, std::ostream& out)
    : name_(nameOf(path)), path_(path), out_(out) {
    if (path == standardOutput) {
        return;
    }
    if (isReplaceable(path)) {
        unfinished_ = path;
        unfinished_ += ".unfinished";
        file_.open(unfinished_);
    }
    if (!file_.is_open()) {  // the folder may take no new files
        unfinished_.clear();
        file_.open(path);
    }
    requireOpen(file_, option, path);
}

OutputFile::~OutputFile() {
    if (!unfinished_.empty()) {
        file_.close();
        std::error_code ignored;
        std::filesystem::remove(unfinished_, ignored);
    }
}

void OutputFile::finish() {
    flush();
    if (!unfinished_.empty()) {
        file_.close();
        std::filesystem::rename(unfinished_, path_);
        unfinished_.clear();
    }
}

LineFile::LineFile(std::string_view option, const std::filesystem::path& path, std::ostream& out)
    : name_(nameOf(path)), stream_(path == standardOutput ? out : file_) {
    if (path != standardOutput) {
        file_.open(path, std::ios::app);
        requireOpen(file_, option, path);
    }
}

void LineFile::append(std::string_view line) {
    stream_ << line << '\n';
    Bench::flush(stream_, name_);
}

}  // namespace Bench
