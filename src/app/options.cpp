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

using Texts = std::vector<std::string>;

/// Adds options to a part of --help.
struct Adder {
    CLI::App& app;
    std::string part = "Options";

    /// For one value. If it is given more than once, the last one counts.
    template <typename Read>
    void text(const std::string& name, const std::string& placeholder, const std::string& description, Read read) {
        addOption<std::string>(app, name, placeholder, description, read)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
            ->group(part);
    }
    /// For values separated by commas.
    template <typename Read>
    void list(const std::string& name, const std::string& placeholder, const std::string& description, Read read) {
        addOption<Texts>(app, name, placeholder, description, read)
            ->delimiter(',')
            ->allow_extra_args(false)
            ->group(part);
    }
    /// For a whole number from `least` to `most`.
    template <typename Integer>
    void number(const std::string& name, Integer least, Integer most, const std::string& description, Integer& value) {
        text(name, "N", description,
             [&value, least, most](const std::string& text) { value = parseNumber(text, least, most); });
    }
    /// For the name of an output file, or `-`.
    void file(const std::string& name, const std::string& description, std::optional<std::filesystem::path>& file) {
        text(name, "FILE", description, [&file](const std::string& path) { file = path; });
    }
    /// For no value.
    void flag(const std::string& name, const std::string& description, bool& value) {
        app.add_flag(name, value, wrapped(description, descriptionColumns))->group(part);
    }
};

void addSetting(Options& options, const std::string& setting) {
    options.simulator += (options.simulator.empty() ? "" : ",") + setting;
}

void addRunOptions(CLI::App& app, Options& options, bool simulated) {
    app.name("stream_compaction_test");
    app.description("Runs every implementation of every operation, checks each result and prints how long it took.\n");
    app.footer("`stream_compaction_test compare OLD NEW` compares two runs; see compare --help.");
    Adder add{app, "What to run"};
    add.list("--size", "N",
             fmt::format("Elements, one or more values: 1000000, 2^24, 1<<24, 16M (M = 2^20)\n[{}]",
                         fmt::join(options.sizes, ",")),
             [&](const Texts& texts) { addSizes(options, parseList(texts, parseSize)); });
    add.list(
        "--sweep", "SIZES",
        "More sizes: 2^10:2^28 (doubling), 2^10:2^28:x4 (factor 4), 1M:4M:1M (step 1M), 1000,2000; npot adds N - 3 "
        "for each size N",
        [&](const Texts& items) { addSizes(options, parseSweep(items)); });
    add.list("--shape", "SHAPE", "Matrices of row-sum, for example 3000x2048,2^22x128 [nearly square, of each size]",
             [&](const Texts& shapes) {
                 options.shapes.clear();
                 std::ranges::transform(shapes, std::back_inserter(options.shapes), parseShape);
             });
    add.list("--op", "NAME",
             fmt::format("Operations, or all: {} [{}]", namesOf(allOperations, ", "), namesOf(ladder, ",")),
             [&](const Texts& names) { options.operations = parseOperations(names); });
    add.list("--type", "NAME",
             "Element type, or key type of pairs: int8, int32, int64, float, double. Bytes are added up in int32; the "
             "values of pairs are int32. Operations on text have no choice of type and run if int32 is chosen [int32]",
             [&](const Texts& names) { options.types = parseEach(names, parseElementType); });
    add.list("--variant", "NAME", "Only these implementations, for example naive,cub; ^NAME excludes one: ^cpu,^thrust",
             [&](const Texts& names) { options.variants = names; });
    add.text("--hardware", "cpu|gpu", "Only implementations that run on the CPU, or only those on the GPU",
             [&](const std::string& name) { options.hardware = parseHardware(name); });
    add.flag("--list", "List the implementations and stop", options.list);

    add.part = "How to measure";
    add.list("--mode", "NAME",
             "Timing of the GPU: cold (caches emptied before each run), batched (runs back to back) [cold]",
             [&](const Texts& names) { options.modes = parseEach(names, parseMode); });
    add.number("--trials", 1, largestCount,
               "Timed runs or batches; the median is shown. With --max-noise this is the minimum [15]",
               options.plan.trials);
    add.number("--warmup", 0, largestCount, "Untimed runs before the trials [1]", options.plan.warmup);
    add.text("--max-noise", "PERCENT",
             "Keep adding trials until the median's 95 % interval is within ± this, for example 1%",
             [&](const std::string& text) { options.plan.maxNoise = parsePercentage(text); });
    add.text("--time-budget", "TIME", "Begin no trial after this time, for example 500ms [2s]",
             [&](const std::string& text) { options.plan.budgetUs = parseDuration(text); });

    add.part = "Input";
    add.number(
        "--seed", std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(),
        std::string("Seed of the random inputs [42]") +
            (simulated ? "; if given and not 0, also of the order in which threads run and writes become visible" : ""),
        options.seed);
    add.list("--input", "PATTERN",
             "Contents, one or more of: uniform (any value), zeros, ones, ascending, descending, mod:K (0 to K-1), "
             "random-bits (0 or 1), kept:P (nonzero with probability P), and:K (bitwise and of K uniform values), "
             "zipf:K (1 to K, v with a probability of about 1 / v), runs:K (runs of K equal elements on average), "
             "segments:K (random values; the lowest bit changes where a segment begins, every K elements on average) "
             "[scan, scan-squares and row-sum mod:50, compact and partition mod:4, compact-flagged kept:0.05, "
             "segmented-scan and segmented-sort segments:100, unique, run-length and reduce-by-key runs:10, histograms "
             "one number per bin, others uniform]. As float or double, scan and row-sum refuse uniform, and:K and "
             "segments:K: their sums overflow and cancel, so no result could be checked. scan-squares then takes only "
             "zeros, ones, random-bits and mod:K up to 2048.\n"
             "Text: ascii, cyrillic, cjk, emoji, mixed (words of all of these), ill-formed:K (mixed, with K % of the "
             "characters ill-formed) [mixed]",
             [&](const Texts& texts) { options.inputs = parseList(texts, parseInputPattern); });
    add.file("--utf8-file", "Text for utf8-to-utf32, utf8-to-utf16, utf8-validate, repeated to --size bytes",
             options.utf8File);

    add.part = "How to measure";
    add.list("--block-size", "N", "Threads per block, one or more values, for the variants that have a choice",
             [&](const Texts& texts) { options.blockSizes = parseList(texts, parseBlockSize); });
    add.number("--device", 0, largestCount, "Number of the CUDA device [0]", options.device);
    add.text(
        "--gpus", "N|all",
        "GPUs that the variants distributed, gather-to-one and out-of-core run on: the first N, or all [1]. mpirun "
        "-n N runs distributed in N processes with a GPU each",
        [&](const std::string& text) { options.gpus = parseGpus(text); });
    add.text("--gpu-memory", "BYTES",
             "Memory that out-of-core may use on each GPU, for example 2^34 [three quarters of what is free]",
             [&](const std::string& text) { options.deviceBytes = parseBytes(text); });
    add.text(
        "--card", "SETTINGS",
        "Settings of the simulated GPU, for example capability=7.5,multiprocessors=2; with order=any, blocks begin "
        "in any order [capability=9.0,multiprocessors=4]",
        [&](const std::string& text) { addSetting(options, text); });
    add.file("--trace",
             "Write each step of the kernels to this file, one line of JSON per step. The ranks of mpirun write a file "
             "each, trace.0.jsonl and so on for trace.jsonl",
             options.trace);
    add.flag("--profile",
             "For profilers (ncu --profile-from-start off): collect one run of each variant, in an NVTX range "
             "OPERATION/VARIANT/N",
             options.profile);

    add.part = "Where results go";
    add.file("--csv", "Append one row per measurement to this file; - is standard output", options.csv);
    add.file("--samples",
             "Append the time of every trial to this file, one line of JSON per measurement; or -.\ncompare reads it",
             options.samples);
    add.flag("--resume",
             "Skip measurements already in the CSV (same GPU, processor and commit, no fewer trials; the seed is "
             "ignored)",
             options.resume);
    add.flag("--classic",
             "The report of the course's program, byte for byte: two lines and the arrays for each of its variants, or "
             "of those named by --variant",
             options.classic);

    app.add_flag_callback(
        "--no-color", [&] { options.color = false; }, "Plain text, as with NO_COLOR in the environment");
    app.add_flag_callback(
        "--version", [&] { options.information = versionText(); }, "Print the version and stop");
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
    Adder{app}.text("--threshold", "PERCENT", "Changes that are smaller do not count [5%]",
                    [&](const std::string& text) { options.threshold = parsePercentage(text); });
}

}  // namespace

bool writesFiles(const Options& options) { return options.csv || options.samples; }

Options parseOptions(std::span<const char* const> arguments, std::vector<std::size_t> defaultSizes, bool simulated) {
    Options options;
    options.sizes = std::move(defaultSizes);
    CLI::App app;
    addRunOptions(app, options, simulated);
    if (auto help = parseCommandLine(app, arguments)) {
        options.information = std::move(help);
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
        addSetting(options, "trace=" + options.trace->string());
    }
    if (simulated) {
        options.modes = {Mode::Untimed};
        if (app.count("--gpus") > 0 && options.gpus) {
            addSetting(options, fmt::format("devices={}", *options.gpus));
        }
        if (app.count("--seed") > 0) {
            addSetting(options, fmt::format("seed={}", options.seed));
        }
    }
    requireConsistent(options);
    if (options.profile) {
        options.modes = {Mode::Cold};
        options.plan.trials = 1;
        options.plan.maxNoise = std::numeric_limits<double>::infinity();
    }
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
