#include "options.h"

#include <fmt/format.h>
#include <version_info.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <set>

#include "sizes.h"
#include "usage_error.h"

namespace Bench {
namespace {

constexpr int largestCount = 1'000'000;
constexpr int largestBlock = 1024;

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

template <typename Read>
void addTextOption(CLI::App& app, const std::string& name, const std::string& placeholder, Read read,
                   const std::string& description) {
    addOption<std::string>(app, name, placeholder, read, description)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

/// For names separated by commas.
template <typename Read>
void addNamesOption(CLI::App& app, const std::string& name, Read read, const std::string& description) {
    addOption<std::vector<std::string>>(app, name, "NAME", read, description)->delimiter(',')->allow_extra_args(false);
}

/// For a whole number from `least` to `most`, kept in `value`, an integer or an optional one.
template <typename Integer, typename Value>
void addNumberOption(CLI::App& app, const std::string& name, Value& value, Integer least, Integer most,
                     const std::string& description) {
    const auto read = [&value, least, most](const std::string& text) {
        Integer number{};
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc() || stop != end || number < least || number > most) {
            throw UsageError(fmt::format("expected a whole number from {} to {}, got '{}'", least, most, text));
        }
        value = number;
    };
    addTextOption(app, name, "N", read, description);
}

/// The largest array that is no power of two when `n` is one, as the course has it.
[[nodiscard]] std::size_t nonPowerOfTwoBelow(std::size_t n) {
    constexpr std::size_t missing = 3;
    return n > missing ? n - missing : 1;
}

/// In the report's order, each once.
template <typename Value>
[[nodiscard]] std::vector<Value> parseEach(const std::vector<std::string>& names, Value (*parse)(std::string_view)) {
    std::set<Value> chosen;
    for (const std::string& name : names) {
        chosen.insert(parse(name));
    }
    return {chosen.begin(), chosen.end()};
}

[[nodiscard]] std::string versionText() {
    return fmt::format("stream_compaction_test {} ({}), {}\n", BuildInfo::version, BuildInfo::gitCommit,
                       BuildInfo::compiler);
}

}  // namespace

Options parseOptions(std::span<const char* const> arguments, Sizes defaults) {
    Options options;
    options.sizes = defaults;
    bool noColor = false;
    bool version = false;

    CLI::App app(
        "Runs every implementation of prefix sum, stream compaction, sorting, row sums and UTF-8 conversion, checks\n"
        "each result and prints how long it took.\n",
        "stream_compaction_test");
    app.get_formatter()->column_width(22);
    app.set_help_flag("-h,--help", "Print this and stop");
    addTextOption(
        app, "--size", "N",
        [&options](const std::string& text) {
            const std::size_t n = parseSize(text);
            options.sizes = {n, nonPowerOfTwoBelow(n)};
        },
        fmt::format("Elements: 1000000, 2^24, 1<<24, 16M (M = 2^20); N - 3 are run too [{}]", defaults.powerOfTwo));
    addNamesOption(
        app, "--shape",
        [&options](const std::vector<std::string>& shapes) {
            options.shapes.clear();
            std::ranges::transform(shapes, std::back_inserter(options.shapes), parseShape);
        },
        "Matrices of row-sum, for example 3000x2048,2^22x128 [nearly square ones of the sizes]");
    addNamesOption(
        app, "--op",
        [&options](const std::vector<std::string>& names) { options.operations = parseEach(names, parseOperation); },
        "Only these of scan, compact, partition, sort, sort-pairs, row-sum,\n"
        "utf8-to-utf32, utf8-to-utf16, utf8-validate, utf32-to-utf8, utf16-to-utf8");
    addNamesOption(
        app, "--type",
        [&options](const std::vector<std::string>& names) { options.types = parseEach(names, parseElementType); },
        "Elements, or keys of pairs: int8, int32, int64, float, double; bytes are\n"
        "added up in int32, the values of pairs are int32 [int32]");
    addNamesOption(
        app, "--variant", [&options](const std::vector<std::string>& names) { options.variants = names; },
        "Only these implementations, for example naive,cub");
    app.add_flag("--list", options.list, "List the implementations and stop");
    addNumberOption(app, "--trials", options.trials, 1, largestCount,
                    "Timed runs, of which the median is shown; fewer where they take over 2 s [15]");
    addNumberOption(app, "--warmup", options.warmup, 1, largestCount, "Untimed runs before them [1]");
    addNumberOption(app, "--seed", options.seed, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(),
                    "Seed of the random inputs [42]");
    addTextOption(
        app, "--input", "PATTERN", [&options](const std::string& text) { options.input = parseInputPattern(text); },
        "uniform (any value), zeros, ones, ascending, descending, mod:K (0 to K-1),\n"
        "random-bits (0 or 1), kept:P (nonzero with probability P), and:K (the bits K\n"
        "uniform values share) [scan and row-sum mod:50, compact and partition mod:4, sorts uniform];\n"
        "of text: ascii, cyrillic, cjk, emoji, mixed (words of all of these), ill-formed:K\n"
        "(the same, K of a hundred characters ill-formed) [mixed]");
    addTextOption(
        app, "--utf8-file", "FILE", [&options](const std::string& path) { options.utf8File = path; },
        "Text for utf8-to-utf32, utf8-to-utf16, utf8-validate, repeated to --size bytes");
    addNumberOption(app, "--block-size", options.blockSize, 1, largestBlock,
                    "Threads a block, for the variants that have a choice");
    addNumberOption(app, "--device", options.device, 0, largestCount, "Number of the CUDA device [0]");
    addTextOption(
        app, "--csv", "FILE", [&options](const std::string& path) { options.csv = path; },
        "Append a row for each measurement to this file");
    app.add_flag("--no-color", noColor, "Plain text, as with NO_COLOR in the environment");
    app.add_flag("--version", version, "Print the version and stop");

    try {
        // CLI11 takes them last first.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) {
        options.information = app.help();
    } catch (const CLI::ParseError& error) {
        throw UsageError(fmt::format("{}; --help lists the options", error.what()));
    }
    if (version) {
        options.information = versionText();
    }
    options.color = !noColor;
    return options;
}

}  // namespace Bench
