#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace Bench {

/// The characters of a text in UTF-8.
[[nodiscard]] std::size_t columnsOf(std::string_view text);

/// `text` in lines of at most `columns` characters, unless a word is longer. Its own line breaks count as blanks. At
/// least one line.
[[nodiscard]] std::vector<std::string> wrappedLines(const std::string& text, std::size_t columns);

/// The same in one string.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t columns);

/// The beginning of `text`, up to its first examples, remark or full stop.
[[nodiscard]] std::string firstClause(const std::string& text);

/// An option or an argument, for a shell's completions and the man page.
struct OptionDescription {
    std::string name;
    std::string placeholder;  ///< of its value; empty if it takes none
    std::string description;
    std::string group;
    std::vector<std::string> choices{};  ///< values, or their beginnings if they end with a colon
    bool takesList = false;              ///< of values separated by commas

    [[nodiscard]] bool takesFile() const { return placeholder == "FILE"; }
};

struct CommandDescription {
    std::string name;  ///< with the program's name before it
    std::string description;
    std::vector<OptionDescription> options{};
    std::vector<OptionDescription> arguments{};  ///< names of files
};

}  // namespace Bench
