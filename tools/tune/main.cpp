#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "tune/tuner.h"

namespace Bench::Tune {
namespace {

constexpr std::pair<std::string_view, void (*)(Tuner&)> sweeps[] = {
    {"scan", tuneScans}, {"compact", tuneCompactions}, {"sort", tuneSorts}, {"row-sum", tuneRowSums}};

struct Options {
    std::string csv;
    std::string operation;  ///< empty for all
    bool check = false;     ///< whether a miss is a failure
};

/// Returns the text of --help, if that is asked for.
[[nodiscard]] std::optional<std::string> parse(Options& options, std::span<const char* const> arguments) {
    CLI::App app("Measures kernels with many shapes on the card, and what the library chooses.", "tune");
    std::vector<std::string> names;
    for (const auto& [name, tune] : sweeps) {
        names.emplace_back(name);
    }
    app.add_option("FILE", options.csv, "The CSV to write")->required();
    app.add_option("OPERATION", options.operation, "One operation: scan, compact, sort or row-sum [all]")
        ->check(CLI::IsMember(names));
    addFlag(app, "--check", options.check,
            "Exit with status 1 if a choice is slower than the fastest shape by more than 3 %");
    return parseCommandLine(app, arguments);
}

[[nodiscard]] int run(std::span<const char* const> arguments) {
    Options options;
    if (const auto help = parse(options, arguments)) {
        fmt::print("{}", *help);
        return 0;
    }
    const GpuAccess access = openGpu({});
    if (!access.gpu) {
        throw UsageError("no GPU: " + access.unavailableReason);
    }
    Tuner tuner(*access.gpu, options.csv);
    for (const auto& [name, tune] : sweeps) {
        if (options.operation.empty() || options.operation == name) {
            tune(tuner);
        }
    }
    fmt::print("{} choices are slower than the fastest shape by more than 3 %\n", tuner.misses());
    return tuner.allCorrect() && !(options.check && tuner.misses() > 0) ? 0 : 1;
}

}  // namespace
}  // namespace Bench::Tune

int main(int argc, char* argv[]) {
    try {
        return Bench::Tune::run(std::span<const char* const>(argv + 1, argv + argc));
    } catch (const Bench::UsageError& error) {
        fmt::print(stderr, "tune: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "tune: {}\n", error.what());
        return 1;
    }
}
