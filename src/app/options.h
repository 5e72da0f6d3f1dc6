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

/// As the name of a file to write.
inline const std::filesystem::path standardOutput = "-";

/// Whether both names are those of one file, which need not be there.
[[nodiscard]] bool isSameFile(const std::filesystem::path& a, const std::filesystem::path& b);

struct Options {
    std::vector<std::size_t> sizes;  ///< of the arrays
    bool asksForSizes = false;       ///< whether --size or --sweep was given
    std::vector<Shape> shapes;       ///< of the matrices of row sums; from the sizes, when empty
    std::vector<Operation> operations{allOperations.begin(), allOperations.end()};
    std::vector<ElementType> types{ElementType::Int32};
    std::vector<std::string> variants;  ///< all, when empty
    bool list = false;
    std::vector<Mode> modes{Mode::Cold};
    TrialPlan plan{.budgetUs = 2e6};
    std::uint64_t seed = 42;
    std::vector<InputPattern> inputs;               ///< each operation's own, when there is none for it
    std::optional<std::filesystem::path> utf8File;  ///< text for the operations on UTF-8, in place of a pattern
    std::vector<int> blockSizes;                    ///< each variant's own, when empty
    int device = 0;
    std::string simulator;  ///< settings, in the words of Simulator::configure
    std::optional<std::filesystem::path> csv;
    std::optional<std::filesystem::path> json;
    std::optional<std::filesystem::path> markdown;
    bool resume = false;   ///< leaves out what the CSV has
    bool profile = false;  ///< for a profiler: one trial, which alone is collected
    bool brief = false;    ///< a line a measurement, since there are many
    bool color = true;

    /// What --help or --version asks to be told, instead of a run.
    std::optional<std::string> information;
};

/// Whether measurements are to be kept.
[[nodiscard]] bool writesFiles(const Options& options);

/// `arguments` without the program's name. Throws UsageError for what it does not understand, and for options of a card
/// where GPU variants are simulated, or of the simulator where they are not.
[[nodiscard]] Options parseOptions(std::span<const char* const> arguments, std::vector<std::size_t> defaultSizes,
                                   bool simulated);

}  // namespace Bench
