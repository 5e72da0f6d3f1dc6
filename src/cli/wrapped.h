#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace Bench {

/// `text` in lines of at most `columns` characters of UTF-8, unless a word is longer. Its own line breaks count as
/// blanks. At least one line.
[[nodiscard]] std::vector<std::string> wrappedLines(const std::string& text, std::size_t columns);

/// The same in one string.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t columns);

}  // namespace Bench
