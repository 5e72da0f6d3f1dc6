#include "app/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "app/compare.h"
#include "app/documentation.h"
#include "app/options.h"
#include "app/output_file.h"
#include "app/plan.h"
#include "app/run.h"
#include "cli/nearest_names.h"
#include "cli/values.h"
#include "measure/gpu.h"
#include "measure/system_info.h"
#include "output/report.h"
#include "variants/run_context.h"

namespace Bench {
namespace {

constexpr int success = 0;
constexpr int failure = 1;
constexpr int usageFailure = 2;
constexpr int interruptedStatus = 130;  // 128 plus the number of SIGINT, as in shells

constexpr std::string_view comparisonCommand = "compare";
constexpr std::array commands{comparisonCommand, completionsCommand, manPageCommand};

void requireMemory(std::string_view where, std::size_t n, std::size_t needed, std::size_t available) {
    if (needed > available) {
        throw UsageError(fmt::format("{} elements need {} of {} memory, {} are free; choose a smaller size", n,
                                     formatBytes(needed), where, formatBytes(available)));
    }
}

/// Runs before anything is allocated. Checks only the minimum that every variant needs. A variant that needs more is
/// skipped later.
void checkMemory(const Section& section, const Machine& machine, const Gpu* gpu) {
    const std::size_t n = std::ranges::max(section.measurements, {}, &Measurement::n).n;
    const std::size_t bytes = n * bytesPerElement(section.operation, section.type);
    if (machine.hostMemory) {
        // The input and the result, and the same again for allocations of a CPU variant.
        requireMemory("host", n, 2 * bytes, *machine.hostMemory);
    }
    const bool onGpu = std::ranges::any_of(section.measurements, [](const Measurement& measurement) {
        return measurement.variant.hardware == Hardware::Gpu;
    });
    const bool anyInParts = std::ranges::any_of(
        section.measurements, [](const Measurement& measurement) { return measurement.variant.gpuUse != GpuUse::One; });
    if (gpu != nullptr && onGpu && !anyInParts) {
        requireMemory("device", n, bytes, gpu->freeBytes());
    }
}

/// The libraries of the peers, without duplicates.
[[nodiscard]] std::vector<std::string> peersOf(std::span<const Section> sections) {
    std::vector<std::string> peers;
    for (const Section& section : sections) {
        for (const Measurement& measurement : section.measurements) {
            const std::string& library = measurement.variant.library;
            if (!library.empty() && std::ranges::find(peers, library) == peers.end()) {
                peers.push_back(library);
            }
        }
    }
    return peers;
}

[[nodiscard]] int runTests(const Options& options, const Machine& machine, Console console) {
    std::vector<Section> sections = makePlan(machine.variants, options);
    const GpuAccess access = machine.openGpu({options.device, options.gpus, options.simulator});
    useGpus(sections, access.gpus, options.deviceBytes);
    RunContext context = describeRun(access);
    context.peers = peersOf(sections);
    if (options.resume) {
        leaveOutMeasured(sections, *options.csv, context, options.plan);
    }
    for (const Section& section : sections) {
        if (!section.measurements.empty()) {
            checkMemory(section, machine, access.gpu.get());
        }
    }
    Run run(options, access, console);
    if (access.gpu && !options.profile) {
        context.ceilings = measureCeilings(*access.gpu);
    }
    switch (run(sections, context)) {
        case Ending::Passed:
            return success;
        case Ending::Failed:
            return failure;
        case Ending::Interrupted:
            break;
    }
    return interruptedStatus;
}

[[nodiscard]] int runRequest(const Options& options, const Machine& machine, Console console) {
    if (options.information) {
        console.out << *options.information;
        return success;
    }
    if (options.list) {
        Report(console.out, false, console.width)
            .list(onHardware(selectVariants(machine.variants, options.operations, options.types, options.variants),
                             options.hardware));
        return success;
    }
    return runTests(options, machine, console);
}

[[nodiscard]] int runCommand(std::span<const char* const> arguments, const std::vector<std::size_t>& defaultSizes,
                             const Machine& machine, Console console) {
    const std::string_view command = arguments.empty() ? "" : arguments.front();
    if (command == comparisonCommand) {
        return runComparison(arguments.subspan(1), console.out);
    }
    if (command == completionsCommand || command == manPageCommand) {
        const auto described = describeProgram(machine.variants, defaultSizes, machine.simulated);
        console.out << (command == manPageCommand ? manPage(described) : completions(arguments.subspan(1), described));
        return success;
    }
    if (!command.empty() && !command.starts_with('-')) {
        throw UsageError(unknownName("command", command, commands));
    }
    return runRequest(parseOptions(arguments, defaultSizes, machine.simulated), machine, console);
}

}  // namespace

Machine thisMachine() { return {allVariants(), openGpu, availableHostMemory(), isSimulated}; }

int runProgram(std::span<const char* const> arguments, const std::vector<std::size_t>& defaultSizes,
               const Machine& machine, Console console) {
    const auto complain = [&console](std::string_view what) {
        console.err << "stream_compaction_test: " << what << '\n';
    };
    try {
        const int status = runCommand(arguments, defaultSizes, machine, console);
        flush(console.out, "standard output");
        return status;
    } catch (const UsageError& error) {
        complain(error.what());
        return usageFailure;
    } catch (const std::bad_alloc&) {
        complain("out of host memory; choose a smaller size");
        return usageFailure;
    } catch (const std::exception& error) {
        complain(error.what());
        return failure;
    }
}

}  // namespace Bench
