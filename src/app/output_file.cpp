#include "app/output_file.h"

#include <fmt/format.h>

#include <stdexcept>
#include <system_error>

#include "app/options.h"
#include "cli/values.h"

namespace Bench {
namespace {

[[nodiscard]] std::string nameOf(const std::filesystem::path& path) {
    return path == standardOutput ? "standard output" : path.string();
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

LineFile::LineFile(std::string_view option, const std::filesystem::path& path, std::string_view begin,
                   std::ostream& out)
    : name_(nameOf(path)), stream_(path == standardOutput ? out : file_) {
    if (path != standardOutput) {
        requireOwn(option, path, begin);
        file_.open(path, std::ios::app);
        if (!file_.is_open()) {
            throw UsageError(fmt::format("{}: cannot write to {}", option, path.string()));
        }
    }
}

void LineFile::append(std::string_view line) {
    stream_ << line << '\n';
    flush(stream_, name_);
}

}  // namespace Bench
