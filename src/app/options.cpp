#include "app/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "cli/command_line.h"
#include "cli/values.h"
#include "cli/version_info.h"

namespace Bench {

namespace {

constexpr int largestCount = 1'000'000;
constexpr int largestBlock = 1024;
constexpr int mostGpus = 64;

/// An option for the name of an output file, or `-`.
void addFileOption(CLI::App& app, const std::string& name, std::optional<std::filesystem::path>& file,
                   const std::string& description) {
    addTextOption(
        app, name, "FILE", [&file](const std::string& path) { file = path; }, description);
}

[[nodiscard]] int parseBlockSize(std::string_view text) { return parseNumber(text, 1, largestBlock); }

/// Empty for all.
[[nodiscard]] std::optional<int> parseGpus(std::string_view text) {
    return text == "all" ? std::nullopt : std::optional(parseNumber(text, 1, mostGpus));
}

/// In the order given, without duplicates.
template <typename Value>
[[nodiscard]] std::vector<Value> parseList(const std::vector<std::string>& texts, Value (*parse)(std::string_view)) {
    std::vector<Value> values;
    for (const std::string& text : texts) {
        const Value value = parse(text);
        if (std::ranges::find(values, value) == values.end()) {
            values.push_back(value);
        }
    }
    return values;
}

/// In the report's order, without duplicates.
template <typename Value>
[[nodiscard]] std::vector<Value> parseEach(const std::vector<std::string>& names, Value (*parse)(std::string_view)) {
    std::vector<Value> values = parseList(names, parse);
    std::ranges::sort(values);
    return values;
}

/// `all` stands for every operation.
[[nodiscard]] std::vector<Operation> parseOperations(const std::vector<std::string>& names) {
    if (std::ranges::find(names, "all") != names.end()) {
        return {allOperations.begin(), allOperations.end()};
    }
    return parseEach(names, parseOperation);
}

/// The first sizes asked for take the place of the default sizes; later ones are added.
void addSizes(Options& options, const std::vector<std::size_t>& sizes) {
    if (!options.asksForSizes) {
        options.sizes.clear();
    }
    options.asksForSizes = true;
    std::ranges::copy_if(sizes, std::back_inserter(options.sizes), [&options](std::size_t n) {
        return std::ranges::find(options.sizes, n) == options.sizes.end();
    });
}

/// Whether both names refer to the same file. The file need not exist.
[[nodiscard]] bool isSameFile(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code ignored;
    return std::filesystem::equivalent(a, b, ignored) || std::filesystem::absolute(a, ignored).lexically_normal() ==
                                                             std::filesystem::absolute(b, ignored).lexically_normal();
}

/// Throws UsageError for options that contradict one another.
void requireConsistent(const Options& options) {
    const std::array files{options.csv, options.samples, options.trace};
    for (const auto& file : files) {
        const auto isSame = [&file](const auto& other) { return other && isSameFile(*other, *file); };
        if (file && isSame(options.utf8File)) {
            throw UsageError(fmt::format("--utf8-file: {} is an input and cannot be written to", file->string()));
        }
        if (file && std::ranges::count_if(files, isSame) > 1) {
            throw UsageError(fmt::format("only one of --csv, --samples and --trace can go to {}",
                                         file == standardOutput ? "standard output" : file->string()));
        }
    }
    if (options.trace && options.trace->string().find(',') != std::string::npos) {
        throw UsageError("--trace: the name has a comma, which separates the simulator's settings");
    }
    // The CSV has the name, one row per line.
    if (options.utf8File && options.utf8File->filename().string().find_first_of("\r\n") != std::string::npos) {
        throw UsageError("--utf8-file: the name has a line break; rename the file");
    }
    if (options.resume && (!options.csv || options.csv == standardOutput)) {
        throw UsageError("--resume: needs --csv FILE, the measurements to skip");
    }
    if (options.device != 0 && options.gpus != 1) {
        throw UsageError("--device: --gpus counts from device 0; CUDA_VISIBLE_DEVICES can choose other ones");
    }
    if (options.list && writesFiles(options)) {
        throw UsageError("--list: measures nothing; leave out --csv and --samples");
    }
    const auto isInLadder = [](Operation operation) { return std::ranges::find(ladder, operation) != ladder.end(); };
    if (options.classic &&
        (!std::ranges::all_of(options.operations, isInLadder) || options.types != std::vector{ElementType::Int32})) {
        throw UsageError("--classic: the course's program has only scans, compactions and sorts of int32");
    }
    if (options.profile && writesFiles(options)) {
        throw UsageError("--profile: times under a profiler are not worth keeping; leave out --csv and --samples");
    }
}

/// The parts of --help. Options that are in none of them are general.
const std::array<std::pair<const char*, std::vector<const char*>>, 4> optionGroups{{
    {"What to run", {"--size", "--sweep", "--shape", "--op", "--type", "--variant", "--hardware", "--list"}},
    {"Input", {"--input", "--utf8-file", "--seed"}},
    {"How to measure",
     {"--mode", "--trials", "--warmup", "--max-noise", "--time-budget", "--block-size", "--device", "--gpus",
      "--gpu-memory", "--card", "--trace", "--profile"}},
    {"Where results go", {"--csv", "--samples", "--resume", "--classic"}},
}};

/// Options of a card that a simulated build refuses, or options of the simulator that other builds refuse.
[[nodiscard]] std::vector<std::string> refusedOptions(bool simulated) {
    return simulated ? std::vector<std::string>{"--mode", "--device", "--profile"}
                     : std::vector<std::string>{"--card", "--trace"};
}

[[nodiscard]] std::string versionText() {
    return fmt::format("stream_compaction_test {} ({}), {}\n", BuildInfo::version, BuildInfo::gitCommit,
                       BuildInfo::compiler);
}

/// The names of operations, in one text.
[[nodiscard]] std::string namesOf(std::span<const Operation> operations, std::string_view separator) {
    std::vector<std::string_view> names;
    std::ranges::transform(operations, std::back_inserter(names), [](Operation operation) { return name(operation); });
    return fmt::format("{}", fmt::join(names, separator));
}

/// What the options of a run are read into.
struct Readings {
    Options options;
    std::vector<std::string> settings;  ///< of the simulator
    bool noColor = false;
    bool version = false;
};

void addRunOptions(CLI::App& app, Readings& readings, bool simulated) {
    Options& options = readings.options;
    std::vector<std::string>& settings = readings.settings;
    bool& noColor = readings.noColor;
    bool& version = readings.version;
    app.name("stream_compaction_test");
    app.description("Runs every implementation of every operation, checks each result and prints how long it took.\n");
    app.footer("`stream_compaction_test compare OLD NEW` compares two runs; see compare --help.");
    const std::string defaults = fmt::format("{}", fmt::join(options.sizes, ","));
    addListOption(
        app, "--size", "N",
        [&options](const std::vector<std::string>& texts) { addSizes(options, parseList(texts, parseSize)); },
        fmt::format("Elements, one or more values: 1000000, 2^24, 1<<24, 16M (M = 2^20)\n[{}]", defaults));
    addListOption(
        app, "--sweep", "SIZES",
        [&options](const std::vector<std::string>& items) { addSizes(options, parseSweep(items)); },
        "More sizes: 2^10:2^28 (doubling), 2^10:2^28:x4 (factor 4), 1M:4M:1M (step 1M), "
        "1000,2000; npot adds N - 3 for each size N");
    addListOption(
        app, "--shape", "SHAPE",
        [&options](const std::vector<std::string>& shapes) {
            options.shapes.clear();
            std::ranges::transform(shapes, std::back_inserter(options.shapes), parseShape);
        },
        "Matrices of row-sum, for example 3000x2048,2^22x128 [nearly square, of each size]");
    addListOption(
        app, "--op", "NAME",
        [&options](const std::vector<std::string>& names) { options.operations = parseOperations(names); },
        fmt::format("Operations, or all: {} [{}]", namesOf(allOperations, ", "), namesOf(ladder, ",")));
    addListOption(
        app, "--type", "NAME",
        [&options](const std::vector<std::string>& names) { options.types = parseEach(names, parseElementType); },
        "Element type, or key type of pairs: int8, int32, int64, float, double. Bytes are "
        "added up in int32; the values of pairs are int32. Operations on text have no "
        "choice of type and run if int32 is chosen [int32]");
    addListOption(
        app, "--variant", "NAME", [&options](const std::vector<std::string>& names) { options.variants = names; },
        "Only these implementations, for example naive,cub; ^NAME excludes one: ^cpu,^thrust");
    addTextOption(
        app, "--hardware", "cpu|gpu", [&options](const std::string& name) { options.hardware = parseHardware(name); },
        "Only implementations that run on the CPU, or only those on the GPU");
    addFlag(app, "--list", options.list, "List the implementations and stop");
    addListOption(
        app, "--mode", "NAME",
        [&options](const std::vector<std::string>& names) { options.modes = parseEach(names, parseMode); },
        "Timing of the GPU: cold (caches emptied before each run), batched (runs back to "
        "back) [cold]");
    addNumberOption(app, "--trials", options.plan.trials, 1, largestCount,
                    "Timed runs or batches; the median is shown. With --max-noise this is the minimum "
                    "[15]");
    addNumberOption(app, "--warmup", options.plan.warmup, 0, largestCount, "Untimed runs before the trials [1]");
    addTextOption(
        app, "--max-noise", "PERCENT",
        [&options](const std::string& text) { options.plan.maxNoise = parsePercentage(text); },
        "Keep adding trials until the median's 95 % interval is within ± this, for example 1%");
    addTextOption(
        app, "--time-budget", "TIME",
        [&options](const std::string& text) { options.plan.budgetUs = parseDuration(text); },
        "Begin no trial after this time, for example 500ms [2s]");
    addNumberOption(app, "--seed", options.seed, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(),
                    simulated ? "Seed of the random inputs [42]; if given and not 0, also of the order in which "
                                "threads run and writes become visible"
                              : "Seed of the random inputs [42]");
    addListOption(
        app, "--input", "PATTERN",
        [&options](const std::vector<std::string>& texts) { options.inputs = parseList(texts, parseInputPattern); },
        "Contents, one or more of: uniform (any value), zeros, ones, ascending, descending, mod:K "
        "(0 to K-1), random-bits (0 or 1), kept:P (nonzero with probability P), and:K "
        "(bitwise and of K uniform values), zipf:K (1 to K, v with a probability of about 1 / v), "
        "runs:K (runs of K equal elements on average), segments:K (random values; the "
        "lowest bit changes where a segment begins, every K elements on average) "
        "[scan, scan-squares and row-sum mod:50, compact and partition mod:4, compact-flagged kept:0.05, "
        "segmented-scan and "
        "segmented-sort segments:100, unique, run-length and reduce-by-key runs:10, "
        "histograms one number per bin, others uniform]. As float or double, scan and row-sum refuse "
        "uniform, and:K and segments:K: their sums overflow and cancel, so no result could be checked. "
        "scan-squares then takes only zeros, ones, random-bits and mod:K up to 2048.\n"
        "Text: ascii, cyrillic, cjk, emoji, mixed (words of all of these), ill-formed:K "
        "(mixed, with K % of the characters ill-formed) [mixed]");
    addTextOption(
        app, "--utf8-file", "FILE", [&options](const std::string& path) { options.utf8File = path; },
        "Text for utf8-to-utf32, utf8-to-utf16, utf8-validate, repeated to --size bytes");
    addListOption(
        app, "--block-size", "N",
        [&options](const std::vector<std::string>& texts) { options.blockSizes = parseList(texts, parseBlockSize); },
        "Threads per block, one or more values, for the variants that have a choice");
    addNumberOption(app, "--device", options.device, 0, largestCount, "Number of the CUDA device [0]");
    addTextOption(
        app, "--gpus", "N|all", [&options](const std::string& text) { options.gpus = parseGpus(text); },
        "GPUs that the variants distributed, gather-to-one and out-of-core run on: the first N, or all [1]. "
        "mpirun -n N runs distributed in N processes with a GPU each");
    addTextOption(
        app, "--gpu-memory", "BYTES", [&options](const std::string& text) { options.deviceBytes = parseBytes(text); },
        "Memory that out-of-core may use on each GPU, for example 2^34 [three quarters of what is free]");
    addTextOption(
        app, "--card", "SETTINGS", [&settings](const std::string& text) { settings.push_back(text); },
        "Settings of the simulated GPU, for example capability=7.5,multiprocessors=2; "
        "with order=any, blocks begin in any order [capability=9.0,multiprocessors=4]");
    addTextOption(
        app, "--trace", "FILE", [&options](const std::string& path) { options.trace = path; },
        "Write each step of the kernels to this file, one line of JSON per step. The ranks of mpirun "
        "write a file each, trace.0.jsonl and so on for trace.jsonl");
    addFileOption(app, "--csv", options.csv, "Append one row per measurement to this file; - is standard output");
    addFileOption(app, "--samples", options.samples,
                  "Append the time of every trial to this file, one line of JSON per measurement; or -.\n"
                  "compare reads it");
    addFlag(app, "--resume", options.resume,
            "Skip measurements already in the CSV (same GPU, processor and commit, no fewer "
            "trials; the seed is ignored)");
    addFlag(app, "--profile", options.profile,
            "For profilers (ncu --profile-from-start off): collect one run of each variant, in "
            "an NVTX range OPERATION/VARIANT/N");
    addFlag(app, "--classic", options.classic,
            "The report of the course's program, byte for byte: two lines and the arrays for "
            "each of its variants, or of those named by --variant");
    addFlag(app, "--no-color", noColor, "Plain text, as with NO_COLOR in the environment");
    addFlag(app, "--version", version, "Print the version and stop");

    for (const auto& [group, names] : optionGroups) {
        for (const char* option : names) {
            app.get_option(option)->group(group);
        }
    }
    for (const std::string& option : refusedOptions(simulated)) {
        app.get_option(option)->group("");  // hides it in --help
    }
}

void addCompareOptions(CLI::App& app, CompareOptions& options) {
    app.name("stream_compaction_test compare");
    app.description(
        "Compares what two runs have measured, by a rank test over their trials. Says faster, slower or cannot tell.\n"
        "The exit status is 1 if something got slower or wrong, 2 if a file is broken or the files have nothing in "
        "common. Files of --samples have all trials; of a CSV only changes of the whole range count.\n");
    app.add_option("OLD", options.before, "What --samples or --csv wrote before")->type_name("")->required();
    app.add_option("NEW", options.after, "And after")->type_name("")->required();
    addTextOption(
        app, "--threshold", "PERCENT",
        [&options](const std::string& text) { options.threshold = parsePercentage(text); },
        "Changes that are smaller do not count [5%]");
}

}  // namespace

bool writesFiles(const Options& options) { return options.csv || options.samples; }

Options parseOptions(std::span<const char* const> arguments, std::vector<std::size_t> defaultSizes, bool simulated) {
    Readings readings;
    readings.options.sizes = std::move(defaultSizes);
    Options& options = readings.options;
    std::vector<std::string>& settings = readings.settings;
    CLI::App app;
    addRunOptions(app, readings, simulated);
    options.information = parseCommandLine(app, arguments);
    if (readings.version) {
        options.information = versionText();
    }
    for (const std::string& option : refusedOptions(simulated)) {
        if (app.count(option) > 0) {
            throw UsageError(fmt::format("{}: {}", option,
                                         simulated ? "needs a card: scripts/run.sh --cuda builds for one"
                                                   : "needs the simulator: scripts/run.sh --simulate runs it"));
        }
    }
    if (options.list && app.count("--op") == 0) {
        options.operations.assign(allOperations.begin(), allOperations.end());
    }
    if (options.trace) {
        settings.push_back("trace=" + options.trace->string());
    }
    if (simulated) {
        options.modes = {Mode::Untimed};
        if (app.count("--gpus") > 0 && options.gpus) {
            settings.push_back(fmt::format("devices={}", *options.gpus));
        }
        if (app.count("--seed") > 0) {
            settings.push_back(fmt::format("seed={}", options.seed));
        }
    }
    options.simulator = fmt::format("{}", fmt::join(settings, ","));
    requireConsistent(options);
    if (options.profile) {
        options.modes = {Mode::Cold};
        options.plan.trials = 1;
        options.plan.maxNoise = std::numeric_limits<double>::infinity();
    }
    options.color = !readings.noColor;
    return options;
}

CompareOptions parseCompareOptions(std::span<const char* const> arguments) {
    CompareOptions options;
    CLI::App app;
    addCompareOptions(app, options);
    options.information = parseCommandLine(app, arguments);
    return options;
}

}  // namespace Bench
