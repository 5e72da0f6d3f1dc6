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

/// Throws UsageError if the file has something else than what the option writes, which begins with `begin`. A pipe or
/// device is only written to.
void requireOwn(std::string_view option, const std::filesystem::path& path, std::string_view begin) {
    if (std::error_code ignored; !std::filesystem::is_regular_file(path, ignored)) {
        return;
    }
    std::string found(begin.size(), '\0');
    std::ifstream file(path);
    file.read(found.data(), static_cast<std::streamsize>(found.size()));
    found.resize(static_cast<std::size_t>(file.gcount()));
    if (!begin.starts_with(found)) {
        throw UsageError(fmt::format("{}: {} has something else than {} writes; choose another file", option,
                                     path.string(), option));
    }
}

}  // namespace

void flush(std::ostream& out, std::string_view name) {
    if (!out.flush()) {
        throw std::runtime_error(fmt::format("cannot write to {}", name));
    }
}

OutputFile::OutputFile(std::string_view option, const std::filesystem::path& path, std::string_view begin,
                       std::ostream& out)
    : name_(nameOf(path)), path_(path), out_(out) {
    if (path == standardOutput) {
        return;
    }
    requireOwn(option, path, begin);
    if (isReplaceable(path)) {
        unfinished_ = path;
        unfinished_ += ".unfinished";
        if (std::ofstream(unfinished_).is_open()) {
            std::filesystem::remove(unfinished_);
            return;
        }
        unfinished_.clear();  // the folder takes no new files
    }
    file_.open(path, std::ios::app);
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
    if (!unfinished_.empty()) {
        file_.open(unfinished_);
    } else if (std::error_code ignored; file_.is_open() && std::filesystem::is_regular_file(path_, ignored)) {
        std::filesystem::resize_file(path_, 0);
    }
    std::ostream& destination = path_ == standardOutput ? out_ : file_;
    destination << text_.view();
    flush(destination, name_);
    if (!unfinished_.empty()) {
        file_.close();
        std::filesystem::rename(unfinished_, path_);
        unfinished_.clear();
    }
}

LineFile::LineFile(std::string_view option, const std::filesystem::path& path, std::string_view begin,
                   std::ostream& out)
    : name_(nameOf(path)), stream_(path == standardOutput ? out : file_) {
    if (path != standardOutput) {
        requireOwn(option, path, begin);
        file_.open(path, std::ios::app);
        requireOpen(file_, option, path);
    }
}

void LineFile::append(std::string_view line) {
    stream_ << line << '\n';
    flush(stream_, name_);
}

}  // namespace Bench
