#include "output/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace Bench {

namespace {

/// `text` with a backslash before each of the characters.
[[nodiscard]] std::string escaped(std::string_view text, std::string_view characters) {
    std::string result;
    for (const char c : text) {
        if (characters.find(c) != std::string_view::npos) {
            result += '\\';
        }
        result += c;
    }
    return result;
}

/// The word behind the program's name.
[[nodiscard]] std::string_view lastWord(const CommandDescription& command) {
    return std::string_view(command.name).substr(command.name.rfind(' ') + 1);
}

[[nodiscard]] std::vector<std::string_view> optionNames(const CommandDescription& command) {
    std::vector<std::string_view> names;
    std::ranges::transform(command.options, std::back_inserter(names), &OptionDescription::name);
    return names;
}

/// What bash does behind the option.
[[nodiscard]] std::string bashValues(const OptionDescription& option) {
    if (option.takesFile()) {
        return "files=yes";
    }
    if (option.choices.empty()) {
        return "return";
    }
    return fmt::format("{}choices=({})", option.takesList ? "list=yes " : "", fmt::join(option.choices, " "));
}

/// The cases of one command. Where it takes no option's value, `others` are its words and files that do not begin with
/// a dash.
[[nodiscard]] std::string bashCases(const CommandDescription& command, std::string_view others) {
    std::string cases = "        case $option in\n";
    for (const OptionDescription& option : command.options) {
        if (!option.placeholder.empty()) {
            cases += fmt::format("        {}) {} ;;\n", option.name, bashValues(option));
        }
    }
    return cases + fmt::format(R"(        *)
            {}
            [[ $current == -* ]] && choices=({})
            ;;
        esac
)",
                               others, fmt::join(optionNames(command), " "));
}

/// For text between single quotes.
[[nodiscard]] std::string zshQuoted(std::string_view text) {
    std::string result;
    for (const char c : text) {
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return "'" + result + "'";
}

/// The argument of _arguments.
[[nodiscard]] std::string zshOption(const OptionDescription& option) {
    const std::string described = fmt::format("{}[{}]", option.name + (option.placeholder.empty() ? "" : "="),
                                              escaped(firstClause(option.description), "[]\\"));
    if (option.placeholder.empty()) {
        return zshQuoted(described);
    }
    std::string values = " ";
    if (option.takesFile()) {
        values = "_files";
    } else if (!option.choices.empty()) {
        values = fmt::format("_stream_compaction_test_{} {}", option.takesList ? "list" : "choice",
                             escaped(fmt::format("{}", fmt::join(option.choices, " ")), ":^"));
    }
    return zshQuoted(fmt::format("{}{}:{}:{}", option.takesList ? "*" : "", described, option.placeholder, values));
}

[[nodiscard]] std::string zshArguments(const CommandDescription& command, std::string_view others) {
    std::string text = "_arguments";
    for (const OptionDescription& option : command.options) {
        text += fmt::format(" \\\n        {}", zshOption(option));
    }
    return text + fmt::format(" \\\n        {}\n", others);
}

/// Fish understands a backslash before the quote.
[[nodiscard]] std::string fishQuoted(std::string_view text) { return fmt::format("'{}'", escaped(text, "'\\")); }

[[nodiscard]] std::string fishOption(const OptionDescription& option) {
    std::string text = fmt::format(" -l {}", option.name.substr(option.name.find_first_not_of('-')));
    if (option.takesFile()) {
        text += " -r -F";
    } else if (!option.placeholder.empty()) {
        text += " -x";
    }
    if (!option.choices.empty()) {
        const std::string choices = fmt::format("{}", fmt::join(option.choices, " "));
        text += " -a " +
                fishQuoted(option.takesList ? fmt::format("(__stream_compaction_test_list {})", choices) : choices);
    }
    return text + " -d " + fishQuoted(firstClause(option.description));
}

}  // namespace

std::string bashCompletions(std::span<const CommandDescription> commands) {
    const CommandDescription& program = commands.front();
    std::vector<std::string_view> words;
    std::string cases;
    for (const CommandDescription& command : commands.subspan(1)) {
        words.push_back(lastWord(command));
        cases += fmt::format("    {})\n{}        ;;\n", lastWord(command), bashCases(command, "files=yes"));
    }
    cases += fmt::format(
        "    *)\n{}        ;;\n",
        bashCases(program, fmt::format("[[ ${{#words[@]}} -eq 2 ]] && choices=({})", fmt::join(words, " "))));
    return fmt::format(R"(# Completions of {0} in bash.

_{0}() {{
    COMPREPLY=()
    # Bash breaks words at = and :, and this does not.
    local line=${{COMP_LINE:0:COMP_POINT}} words=()
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    local current=${{words[${{#words[@]}} - 1]}} option=${{words[${{#words[@]}} - 2]}} before='' command=''
    if [[ $current == --*=* ]]; then
        option=${{current%%=*}}
        before=$option=
    fi
    [[ ${{#words[@]}} -gt 2 ]] && command=${{words[1]}}

    local choices=() files='' list=''
    case $command in
{1}    esac

    [[ $files ]] && compopt -o default 2>/dev/null
    if [[ $list ]]; then
        compopt -o nospace 2>/dev/null
        local value=${{current#"$before"}}
        before+=${{value%"${{value##*,}}"}}
    fi
    local typed=${{current#"$before"}} breaks=${{COMP_WORDBREAKS//[^:=]/}} replaced=$current choice
    [[ $breaks ]] && replaced=${{current##*[$breaks]}}
    for choice in "${{choices[@]}}"; do
        if [[ $choice == "$typed"* && ($choice != ^* || $typed == ^*) ]]; then
            choice=$before$choice
            COMPREPLY+=("${{choice#"${{current%"$replaced"}}"}}")
        fi
    done
}}
complete -F _{0} {0}
)",
                       program.name, cases);
}

std::string zshCompletions(std::span<const CommandDescription> commands) {
    const CommandDescription& program = commands.front();
    std::string others;
    std::vector<std::string> words;
    for (const CommandDescription& command : commands.subspan(1)) {
        words.push_back(fmt::format(R"({}\:"{}")", lastWord(command), escaped(firstClause(command.description), "\"")));
        others += fmt::format(R"(    if (( CURRENT > 2 )) && [[ $words[2] == {} ]]; then
        shift words
        (( CURRENT-- ))
        {}        return
    fi
)",
                              lastWord(command), zshArguments(command, "'*:FILE:_files'"));
    }
    const std::string first = zshQuoted(fmt::format("1:command:(({}))", fmt::join(words, " ")));
    return fmt::format(R"(#compdef {0}
# Completions of {0} in zsh.

_{0}_choice() {{
    [[ $PREFIX == \^* ]] || argv=("${{(@)argv:#\^*}}")
    compadd "$@"
}}

_{0}_list() {{
    compset -P '*,'
    compset -S ',*'
    _{0}_choice -S '' "$@"
}}

_{0}() {{
{1}    {2}}}

if [[ $funcstack[1] == _{0} ]]; then
    _{0} "$@"
else
    compdef _{0} {0}
fi
)",
                       program.name, others, zshArguments(program, first));
}

std::string fishCompletions(std::span<const CommandDescription> commands) {
    const CommandDescription& program = commands.front();
    std::string lines;
    std::vector<std::string_view> words;
    for (const CommandDescription& command : commands.subspan(1)) {
        const std::string_view word = lastWord(command);
        words.push_back(word);
        lines += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program.name, word,
                             fishQuoted(firstClause(command.description)));
        const std::string begin = fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'", program.name, word);
        lines += begin + " -F\n";
        for (const OptionDescription& option : command.options) {
            lines += begin + fishOption(option) + "\n";
        }
    }
    for (const OptionDescription& option : program.options) {
        lines += fmt::format("complete -c {} -n 'not __fish_seen_subcommand_from {}'{}\n", program.name,
                             fmt::join(words, " "), fishOption(option));
    }
    return fmt::format(R"(# Completions of {0} in fish.

# Each of the arguments, behind what is typed up to the last comma.
function __{0}_list
    set -l token (commandline -ct | string replace -r -- '^--[^=]*=' '')
    set -l given (string replace -r -- '[^,]*$' '' "$token")
    if not string match -q -- '*,^*' ",$token"
        set argv (string match -v -- '^*' $argv)
    end
    printf '%s\n' "$given"$argv
end

complete -c {0} -f
{1})",
                       program.name, lines);
}

}  // namespace Bench
