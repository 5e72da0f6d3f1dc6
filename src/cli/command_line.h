#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/nearest_names.h"
#include "cli/values.h"
#include "cli/wrapped.h"

/// Helpers on top of CLI11 for the options of this program's commands.
namespace Bench {

/// The first column of --help, and the lines beside it. Both fit in 80 columns.
inline constexpr std::size_t nameColumns = 22;
inline constexpr std::size_t descriptionColumns = 80 - nameColumns;

/// Adds an option. `read` parses its value, or throws UsageError.
template <typename Value, typename Read>
CLI::Option* addOption(CLI::App& app, const std::string& name, const std::string& placeholder,
                       const std::string& description, Read read) {
    const auto readNamed = [name, read](const Value& value) {
        try {
            read(value);
        } catch (const UsageError& error) {
            throw UsageError(name + ": " + error.what());
        }
    };
    return app.add_option_function<Value>(name, readNamed, wrapped(description, descriptionColumns))
        ->type_name(placeholder);
}

template <typename Integer>
[[nodiscard]] Integer parseNumber(std::string_view text, Integer least, Integer most) {
    Integer number{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end || number < least || number > most) {
        throw UsageError(fmt::format("expected a whole number from {} to {}, got '{}'", least, most, text));
    }
    return number;
}

inline void addHelp(CLI::App& app) { app.set_help_flag("-h,--help", "Print this and stop"); }

/// `did you mean --size? ` if an argument that the app did not take is similar to one of its options; else empty.
[[nodiscard]] inline std::string nearestOption(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        if (std::string name = option->get_name(); name.starts_with("--")) {  // a hidden option has none
            names.push_back(std::move(name));
        }
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    for (const std::string& extra : app.remaining()) {
        const auto near = nearestNames(extra.substr(0, extra.find('=')), known);
        if (extra.starts_with("--") && !near.empty()) {
            return fmt::format("did you mean {}? ", near.front());
        }
    }
    return "";
}

/// `arguments` do not contain the program's name. Returns the text of --help if --help is given. Throws UsageError for
/// invalid arguments.
[[nodiscard]] inline std::optional<std::string> parseCommandLine(CLI::App& app,
                                                                 std::span<const char* const> arguments) {
    app.get_formatter()->column_width(nameColumns);
    app.description(wrapped(app.get_description(), 80) + "\n");
    addHelp(app);
    try {
        // CLI11 expects the arguments in reverse order.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) {
        return app.help();
    } catch (const CLI::ParseError& error) {
        throw UsageError(
            fmt::format("{}; {}{} --help lists the options", error.what(), nearestOption(app), app.get_name()));
    }
    return std::nullopt;
}

}  // namespace Bench
