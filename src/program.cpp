#include "program.h"

#include <fmt/format.h>
#include <version_info.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "csv.h"
#include "problems.h"
#include "report.h"
#include "sizes.h"
#include "system_info.h"
#include "tester.h"
#include "text.h"
#include "text_problems.h"
#include "usage_error.h"

namespace Bench {
namespace {

constexpr int success = 0;
constexpr int failure = 1;
constexpr int usageFailure = 2;

[[nodiscard]] Setting describe(const GpuAccess& access) {
    Setting setting{.gpu = "none: " + access.unavailableReason,
                    .cuda = std::nullopt,
                    .cpu = cpuDescription(),
                    .compiler = std::string(BuildInfo::compiler),
                    .commit = std::string(BuildInfo::gitCommit)};
    if (access.gpu) {
        const GpuInfo info = access.gpu->info();
        setting.gpu = fmt::format("{}, compute capability {}, {} memory", info.name, info.computeCapability,
                                  formatBytes(info.memoryBytes));
        setting.cuda = fmt::format("driver {}, toolkit {}", info.driver, info.toolkit);
    }
    return setting;
}

void requireMemory(std::string_view where, std::size_t n, std::size_t needed, std::size_t available) {
    if (needed > available) {
        throw UsageError(fmt::format("--size: {} elements need {} of {} memory, {} are free; choose a smaller size", n,
                                     formatBytes(needed), where, formatBytes(available)));
    }
}

/// Before anything is allocated, for variants that share an operation and a type. One that needs more than the least is
/// skipped when its turn comes.
void checkMemory(std::size_t n, std::span<const Variant> variants, const Machine& machine, const Gpu* gpu) {
    const std::size_t bytes = n * bytesPerElement(variants.front().operation, variants.front().type);
    if (machine.hostMemory) {
        // The input and the result, and as much for what a CPU variant allocates.
        requireMemory("host", n, 2 * bytes, *machine.hostMemory);
    }
    const bool onGpu = std::ranges::find(variants, Hardware::Gpu, &Variant::hardware) != variants.end();
    if (gpu != nullptr && onGpu) {
        requireMemory("device", n, bytes, gpu->freeBytes());
    }
}

/// The variants of one operation on elements of one type, which run on the same input.
struct Section {
    Operation operation;
    ElementType type;
    InputPattern input;
    std::vector<Variant> variants;
};

/// Text for the operations on text, numbers for the others, whichever of them was asked for.
[[nodiscard]] InputPattern inputFor(Operation operation, const Options& options) {
    return options.input && isText(*options.input) == isOnText(operation) ? *options.input : defaultInput(operation);
}

/// Throws UsageError for one that could not be run.
[[nodiscard]] std::vector<Section> makeSections(std::span<const Variant> variants, const Options& options) {
    std::vector<Section> sections;
    for (const ElementType type : options.types) {
        for (const Operation operation : options.operations) {
            const InputPattern input = inputFor(operation, options);
            auto ofSection = selectVariants(variants, std::array{operation}, std::array{type}, {});
            if (!ofSection.empty()) {
                requireCheckable(operation, type, input, options.sizes.powerOfTwo);
                sections.push_back({operation, type, input, std::move(ofSection)});
            }
        }
    }
    return sections;
}

[[nodiscard]] bool takesUtf8(Operation operation) {
    return operation == Operation::Utf8ToUtf32 || operation == Operation::Utf8ToUtf16 ||
           operation == Operation::Utf8Validate;
}

using Record = std::function<void(Outcome outcome, std::string_view inputName)>;

/// On both sizes, of the file where one was given, or on the shapes that were asked for.
[[nodiscard]] std::vector<std::unique_ptr<Problem>> problemsOf(const Section& section, const Options& options) {
    if (section.operation == Operation::RowSum && !options.shapes.empty()) {
        return makeRowSumProblems(section.type, section.input, options.shapes, options.seed);
    }
    const std::array sizes{options.sizes.powerOfTwo, options.sizes.nonPowerOfTwo};
    if (options.utf8File && takesUtf8(section.operation)) {
        return textProblemsOn(section.operation, readText(*options.utf8File, options.sizes.powerOfTwo), sizes);
    }
    return makeProblems(section.operation, section.type, section.input, sizes, options.seed);
}

/// Elements of the largest of them.
[[nodiscard]] std::size_t mostElements(const Section& section, const Options& options) {
    if (section.operation == Operation::RowSum && !options.shapes.empty()) {
        return std::ranges::max(options.shapes, {}, &Shape::size).size();
    }
    return options.sizes.powerOfTwo;
}

/// Each variant on each problem.
void run(const Section& section, const Options& options, Tester& tester, Report& report, const Record& record) {
    const bool fromFile = options.utf8File && takesUtf8(section.operation);
    const std::string inputName = fromFile ? "file:" + options.utf8File->filename().string() : toString(section.input);
    const auto problems = problemsOf(section, options);

    report.section(section.operation, section.type, inputName, *problems.front());
    for (const Variant& variant : section.variants) {
        for (const auto& problem : problems) {
            record(tester.test(variant, *problem), inputName);
        }
    }
}

[[nodiscard]] int runTests(const Options& options, const Machine& machine, Console console) {
    std::vector<Variant> variants =
        selectVariants(machine.variants, options.operations, options.types, options.variants);
    if (options.blockSize) {
        chooseBlockSize(variants, *options.blockSize);
    }
    const std::vector<Section> sections = makeSections(variants, options);
    const GpuAccess access = machine.openGpu(options.device);
    for (const Section& section : sections) {
        checkMemory(mostElements(section, options), section.variants, machine, access.gpu.get());
    }

    const CsvContext csvContext{access.gpu ? access.gpu->info() : GpuInfo{}, std::string(BuildInfo::gitCommit)};
    std::optional<CsvFile> csv;
    if (options.csv) {
        csv.emplace(*options.csv);
    }
    Report report(console.out, console.color && options.color);
    std::vector<Outcome> outcomes;
    const Record record = [&](Outcome outcome, std::string_view inputName) {
        report.outcome(outcome);
        if (csv && outcome.status != Outcome::Status::Skipped) {
            csv->append(csvRow(csvContext, timestampNow(), inputName, outcome));
        }
        outcomes.push_back(std::move(outcome));
    };

    Tester tester(access, options.warmup, options.trials);
    report.setting(describe(access));
    for (const Section& section : sections) {
        run(section, options, tester, report, record);
    }
    report.table(outcomes);
    report.summary(outcomes);
    return count(outcomes, Outcome::Status::Failed) == 0 ? success : failure;
}

[[nodiscard]] int runRequest(const Options& options, const Machine& machine, Console console) {
    if (options.information) {
        console.out << *options.information;
        return success;
    }
    if (options.list) {
        Report(console.out, false)
            .list(selectVariants(machine.variants, options.operations, options.types, options.variants));
        return success;
    }
    return runTests(options, machine, console);
}

}  // namespace

Machine thisMachine() { return {allVariants(), openGpu, availableHostMemory()}; }

int runProgram(std::span<const char* const> arguments, Sizes sizes, const Machine& machine, Console console) {
    const auto complain = [&console](std::string_view what) {
        console.err << "stream_compaction_test: " << what << '\n';
    };
    try {
        return runRequest(parseOptions(arguments, sizes), machine, console);
    } catch (const UsageError& error) {
        complain(error.what());
        return usageFailure;
    } catch (const std::bad_alloc&) {
        complain("out of host memory; choose a smaller --size");
        return usageFailure;
    } catch (const std::exception& error) {
        complain(error.what());
        return failure;
    }
}

}  // namespace Bench
