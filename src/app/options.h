#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/values.h"
#include "measure/measure.h"
#include "problems/inputs.h"
#include "problems/operations.h"

/// Helpers on top of CLI11 for the options of this program's commands.
namespace Bench {

/// Adds an option. `read` parses its value, or throws UsageError.
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

/// For one value. If it is given more than once, the last one counts.
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

/// `arguments` do not contain the program's name. Returns the text of --help if --help is given. Throws UsageError for
/// invalid arguments.
[[nodiscard]] std::optional<std::string> parseCommandLine(CLI::App& app, std::span<const char* const> arguments);

/// The name of an output file that means standard output.
inline const std::filesystem::path standardOutput = "-";

/// Whether both names refer to the same file. The file need not exist.
[[nodiscard]] bool isSameFile(const std::filesystem::path& a, const std::filesystem::path& b);

struct Options {
    std::vector<std::size_t> sizes;  ///< of the arrays
    bool asksForSizes = false;       ///< whether --size or --sweep was given
    std::vector<Shape> shapes;       ///< of the matrices of row sums; derived from the sizes if empty
    std::vector<Operation> operations{allOperations.begin(), allOperations.end()};
    std::vector<ElementType> types{ElementType::Int32};
    std::vector<std::string> variants;  ///< all if empty
    bool list = false;
    std::vector<Mode> modes{Mode::Cold};
    TrialPlan plan{.budgetUs = 2e6};
    std::uint64_t seed = 42;
    std::vector<InputPattern> inputs;               ///< an operation that takes none of them uses its default
    std::optional<std::filesystem::path> utf8File;  ///< text for the operations on UTF-8, in place of a pattern
    std::vector<int> blockSizes;                    ///< if empty, the default of each variant
    int device = 0;
    std::string simulator;  ///< settings in the syntax of Simulator::configure
    std::optional<std::filesystem::path> csv;
    std::optional<std::filesystem::path> json;
    std::optional<std::filesystem::path> markdown;
    bool resume = false;   ///< skips measurements that the CSV has
    bool profile = false;  ///< for a profiler: one trial, and only it is collected
    bool brief = false;    ///< one line per measurement, because there are many
    bool color = true;

    /// The text of --help or --version, if one of them is given. Nothing is run then.
    std::optional<std::string> information;
};

/// Whether measurements are written to files.
[[nodiscard]] bool writesFiles(const Options& options);

/// `arguments` do not contain the program's name. Throws UsageError for invalid arguments. A simulated build rejects
/// the options of a card; other builds reject the options of the simulator.
[[nodiscard]] Options parseOptions(std::span<const char* const> arguments, std::vector<std::size_t> defaultSizes,
                                   bool simulated);

}  // namespace Bench
