#include "cli/wrapped.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace Bench {

namespace {

/// The characters of a text in UTF-8.
[[nodiscard]] std::size_t columnsOf(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

}  // namespace

std::vector<std::string> wrappedLines(const std::string& text, std::size_t columns) {
    std::istringstream words(text);
    std::vector<std::string> lines(1);
    for (std::string word; words >> word; lines.back() += word) {
        if (!lines.back().empty()) {
            const bool fits = columnsOf(lines.back()) + 1 + columnsOf(word) <= columns;
            if (fits) {
                lines.back() += ' ';
            } else {
                lines.emplace_back();
            }
        }
    }
    return lines;
}

std::string wrapped(const std::string& text, std::size_t columns) {
    return fmt::format("{}", fmt::join(wrappedLines(text, columns), "\n"));
}

}  // namespace Bench
