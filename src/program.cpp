#include "program.h"

#include <fmt/format.h>
#include <version_info.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "csv.h"
#include "report.h"
#include "sizes.h"
#include "system_info.h"
#include "tester.h"
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

/// Before anything is allocated. A variant that needs more than the least is skipped when its turn comes.
void checkMemory(std::size_t n, std::span<const Variant> variants, const Machine& machine, const Gpu* gpu) {
    const auto anyOn = [variants](Hardware hardware) {
        return std::ranges::find(variants, hardware, &Variant::hardware) != variants.end();
    };
    const std::size_t arrayBytes = n * sizeof(int);
    if (machine.hostMemory) {
        // The input, the expected results for both sizes and a result, and what compaction with scan allocates.
        const std::size_t arrays = anyOn(Hardware::Cpu) ? 6 : 4;
        requireMemory("host", n, arrays * arrayBytes, *machine.hostMemory);
    }
    if (gpu != nullptr && anyOn(Hardware::Gpu)) {
        // The input and the output.
        requireMemory("device", n, 2 * arrayBytes, gpu->freeBytes());
    }
}

using Record = std::function<void(Outcome outcome, std::string_view inputName)>;

/// All variants of one operation, each on both sizes.
void runSection(Operation operation, std::span<const Variant> variants, const Options& options, Tester& tester,
                Report& report, const Record& record) {
    const InputPattern pattern = options.input.value_or(defaultInput(operation));
    const std::string inputName = toString(pattern);
    const std::vector<int> input = makeInput(pattern, options.sizes.powerOfTwo, options.seed);
    const std::span<const int> shorter = std::span(input).first(options.sizes.nonPowerOfTwo);
    const std::vector<int> expected = referenceResult(operation, input);
    const std::vector<int> expectedShorter = referenceResult(operation, shorter);

    report.section(heading(operation), inputName, input);
    for (const Variant& variant : variants) {
        record(tester.test(variant, input, expected), inputName);
        record(tester.test(variant, shorter, expectedShorter), inputName);
    }
}

[[nodiscard]] int runTests(const Options& options, const Machine& machine, Console console) {
    std::vector<Variant> variants = selectVariants(machine.variants, options.operations, options.variants);
    if (options.blockSize) {
        chooseBlockSize(variants, *options.blockSize);
    }
    const GpuAccess access = machine.openGpu(options.device);
    checkMemory(options.sizes.powerOfTwo, variants, machine, access.gpu.get());

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
    for (const Operation operation : options.operations) {
        const std::vector<Variant> ofOperation = selectVariants(variants, std::array{operation}, {});
        if (!ofOperation.empty()) {
            runSection(operation, ofOperation, options, tester, report, record);
        }
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
        Report(console.out, false).list(selectVariants(machine.variants, options.operations, options.variants));
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
