#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/usage_error.h"

/// Options as the commands of this program have them, on top of CLI11.
namespace Bench {

/// Adds an option whose value `read` understands or throws UsageError about.
template <typename Value, typename Read>
CLI::Option* addOption(CLI::App& app, const std::string& name, const std::string& placeholder, Read read,
                       const std::string& description) {
    const auto readNamed = [name, read](const Value& value) {
        try {
            read(value);
        } catch (const UsageError& error) {
            throw UsageError(name + ": " + error.what());
        }
    };
    return app.add_option_function<Value>(name, readNamed, description)->type_name(placeholder);
}

/// For one value, the last where it is given again.
template <typename Read>
CLI::Option* addTextOption(CLI::App& app, const std::string& name, const std::string& placeholder, Read read,
                           const std::string& description) {
    return addOption<std::string>(app, name, placeholder, read, description)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

/// For values separated by commas.
template <typename Read>
CLI::Option* addListOption(CLI::App& app, const std::string& name, const std::string& placeholder, Read read,
                           const std::string& description) {
    return addOption<std::vector<std::string>>(app, name, placeholder, read, description)
        ->delimiter(',')
        ->allow_extra_args(false);
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

/// For a whole number from `least` to `most`, kept in `value`.
template <typename Integer>
CLI::Option* addNumberOption(CLI::App& app, const std::string& name, Integer& value, Integer least, Integer most,
                             const std::string& description) {
    return addTextOption(
        app, name, "N", [&value, least, most](const std::string& text) { value = parseNumber(text, least, most); },
        description);
}

/// `arguments` without the program's name; what --help asks to be told, if it is among them. Throws UsageError for what
/// the options do not understand.
[[nodiscard]] std::optional<std::string> parseCommandLine(CLI::App& app, std::span<const char* const> arguments);

}  // namespace Bench
