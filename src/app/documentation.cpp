#include "app/documentation.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "app/options.h"
#include "cli/nearest_names.h"
#include "cli/values.h"
#include "cli/version_info.h"
#include "measure/measure.h"
#include "output/completions.h"
#include "output/man_page.h"
#include "problems/elements.h"
#include "problems/inputs.h"
#include "problems/operations.h"

namespace Bench {

namespace {

struct Shell {
    std::string_view name;
    std::string (*script)(std::span<const CommandDescription> commands);
};

constexpr std::array shells{Shell{"bash", bashCompletions}, Shell{"zsh", zshCompletions},
                            Shell{"fish", fishCompletions}};

template <typename Values>
[[nodiscard]] std::vector<std::string> namesOf(const Values& values) {
    std::vector<std::string> names;
    std::ranges::transform(values, std::back_inserter(names), [](auto value) { return std::string(name(value)); });
    return names;
}

[[nodiscard]] std::vector<std::string> operationChoices() {
    std::vector<std::string> names = namesOf(allOperations);
    names.emplace_back(everyOperation);
    return names;
}

/// Each name, then each with the ^ that excludes it.
[[nodiscard]] std::vector<std::string> variantChoices(std::span<const Variant> variants) {
    const std::vector<std::string_view> names = distinctNames(variants);
    std::vector<std::string> choices(names.begin(), names.end());
    std::ranges::transform(names, std::back_inserter(choices),
                           [](std::string_view name) { return "^" + std::string(name); });
    return choices;
}

[[nodiscard]] std::vector<std::string> choicesOf(std::string_view option, std::span<const Variant> variants) {
    if (option == "--op") {
        return operationChoices();
    }
    if (option == "--type") {
        return namesOf(allElementTypes);
    }
    if (option == "--variant") {
        return variantChoices(variants);
    }
    if (option == "--hardware") {
        return namesOf(allHardware);
    }
    if (option == "--mode") {
        return namesOf(timedModes);
    }
    if (option == "--gpus") {
        return {std::string(everyGpu)};
    }
    if (option == "--input") {
        const auto names = inputPatternNames();
        return {names.begin(), names.end()};
    }
    return {};
}

}  // namespace

std::vector<CommandDescription> describeProgram(std::span<const Variant> variants,
                                                const std::vector<std::size_t>& defaultSizes, bool simulated) {
    std::vector<CommandDescription> commands{describeRun(defaultSizes, simulated), describeComparison()};
    for (OptionDescription& option : commands.front().options) {
        option.choices = choicesOf(option.name, variants);
    }
    return commands;
}

std::string completions(std::span<const char* const> arguments, std::span<const CommandDescription> commands) {
    const std::string_view wanted = arguments.size() == 1 ? arguments.front() : "";
    const auto shell = std::ranges::find(shells, wanted, &Shell::name);
    if (shell == shells.end()) {
        std::vector<std::string_view> names;
        std::ranges::transform(shells, std::back_inserter(names), &Shell::name);
        throw UsageError(unknownName("shell", wanted, names));
    }
    return shell->script(commands);
}

std::string manPage(std::span<const CommandDescription> commands) {
    return manPage(commands, BuildInfo::version, BuildInfo::commitDate);
}

}  // namespace Bench
