#include "output/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace Bench {

namespace {

/// A word in which troff sees no command.
[[nodiscard]] std::string troffWord(std::string_view word) {
    std::string result = word.starts_with('.') ? "\\&" : "";
    for (const char c : word) {
        switch (c) {
            case '\\':
                result += "\\e";
                break;
            case '-':
                result += "\\-";
                break;
            case '^':
                result += "\\(ha";
                break;
            case '~':
                result += "\\(ti";
                break;
            case '`':
                result += "\\(ga";
                break;
            case '\'':
                result += "\\(aq";
                break;
            case '"':
                result += "\\(dq";
                break;
            default:
                result += c;
        }
    }
    return result;
}

/// `text` in lines, each sentence on a new one.
[[nodiscard]] std::string troff(std::string_view text) {
    constexpr std::size_t columns = 72;  // a reader may count a special character as several
    std::string lines;
    std::string sentence;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        sentence += troffWord(word) + ' ';
        if (word.ends_with('.') || word.ends_with(".)")) {
            lines += wrapped(sentence, columns) + '\n';
            sentence.clear();
        }
    }
    return sentence.empty() ? lines : lines + wrapped(sentence, columns) + '\n';
}

[[nodiscard]] std::string optionText(const OptionDescription& option) {
    const std::string placeholder =
        option.placeholder.empty() ? "" : fmt::format(" \" {}\"", troffWord(option.placeholder));
    return fmt::format(".TP\n.{} {}{}\n{}", placeholder.empty() ? "B" : "BI", troffWord(option.name), placeholder,
                       troff(option.description));
}

/// The options with a heading per group, in the order in which the groups begin.
[[nodiscard]] std::string groupedOptions(const CommandDescription& command) {
    std::vector<std::string> groups;
    for (const OptionDescription& option : command.options) {
        if (std::ranges::find(groups, option.group) == groups.end()) {
            groups.push_back(option.group);
        }
    }
    std::string text;
    for (const std::string& group : groups) {
        text += fmt::format(".SS {}\n", group);
        for (const OptionDescription& option : command.options) {
            if (option.group == group) {
                text += optionText(option);
            }
        }
    }
    return text;
}

/// The command line, in one line.
[[nodiscard]] std::string synopsis(const CommandDescription& command) {
    std::string text = fmt::format(R"(\fB{}\fR [\fIoptions\fR])", command.name);
    for (const OptionDescription& argument : command.arguments) {
        text += fmt::format(" \\fI{}\\fR", argument.name);
    }
    return text + '\n';
}

[[nodiscard]] std::string commandText(const CommandDescription& command) {
    std::string text = fmt::format(".TP\n{}{}.RS\n", synopsis(command), troff(command.description));
    for (const OptionDescription& argument : command.arguments) {
        text += optionText(argument);
    }
    for (const OptionDescription& option : command.options) {
        text += optionText(option);
    }
    return text + ".RE\n";
}

}  // namespace

std::string manPage(std::span<const CommandDescription> commands, std::string_view version, std::string_view date) {
    const CommandDescription& program = commands.front();
    std::string synopses = synopsis(program);
    std::string texts;
    for (const CommandDescription& command : commands.subspan(1)) {
        synopses += ".br\n" + synopsis(command);
        texts += commandText(command);
    }
    return fmt::format(R"(.TH {} 1 "{}" "stream_compaction {}" "User Commands"
.SH NAME
{} \- times prefix sums, stream compaction, sorts and more
.SH SYNOPSIS
{}.SH DESCRIPTION
{})",
                       "STREAM_COMPACTION_TEST", date, version, program.name, synopses, troff(program.description)) +
           ".SH OPTIONS\n" + groupedOptions(program) + ".SH COMMANDS\n" + texts +
           fmt::format(R"(.TP
.B {0} completions\fR bash|zsh|fish
Prints the completions of a shell.
.TP
.B {0} man
Prints this page.
.SH EXIT STATUS
.TP
.B 0
Everything that could run has passed.
.TP
.B 1
A result was wrong, a comparison found something slower, or an error occurred.
.TP
.B 2
The request cannot be carried out.
.TP
.B 130
The run was interrupted.
.SH ENVIRONMENT
.TP
.B COLUMNS
The width of the report, instead of the terminal's.
.TP
.B NO_COLOR
If it is set, the report is plain text.
.SH EXAMPLES
.EX
{0} \-\-size 2\(ha24 \-\-op scan
{0} \-\-op all \-\-hardware cpu \-\-samples before.jsonl
{0} compare before.jsonl after.jsonl
.EE
)",
                       program.name);
}

}  // namespace Bench
