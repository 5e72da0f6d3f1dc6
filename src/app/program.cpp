#include "app/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "app/compare.h"
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
constexpr std::array commands{comparisonCommand};

void requireMemory(std::string_view where, std::size_t n, std::size_t needed, std::size_t available) {
    if (needed > available) {
        throw UsageError(fmt::format("{} elements need {} of {} memory, {} are free; choose a smaller size", n,
                                     formatBytes(needed), where, formatBytes(available)));
    }
}

/// Runs before anything is allocated. Checks only the minimum that every variant needs. A variant that needs more is
/// skipped later.
void checkMemory(const Section& section, const Machine& machine, const Gpu* gpu, const World& world) {
    const auto ranks = static_cast<std::size_t>(world.size());
    const auto ranksHere = static_cast<std::size_t>(world.onMachine().size);
    const std::size_t n = std::ranges::max(section.measurements, {}, &Measurement::n).n / ranks * ranksHere;
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

/// The variants that run on several ranks. Throws UsageError if there are none, or if an option is for one process.
[[nodiscard]] std::vector<Variant> variantsOnRanks(const std::vector<Variant>& variants, const Options& options) {
    if (options.device != 0 || options.gpus != 1 || options.classic) {
        throw UsageError("mpirun: leave out --device, --gpus and --classic; there is one GPU for each process");
    }
    std::vector<Variant> onRanks;
    std::ranges::copy_if(variants, std::back_inserter(onRanks),
                         [](const Variant& variant) { return variant.gpuUse == GpuUse::Ranks; });
    if (selectVariants(onRanks, options.operations, options.types, {}).empty()) {
        throw UsageError("mpirun: none of the chosen operations and types has a variant for several processes");
    }
    return onRanks;
}

/// The GPUs of this process, or the one that this rank uses.
[[nodiscard]] GpuAccess openGpus(const Options& options, const Machine& machine, const World& world) {
    if (world.isAlone()) {
        return machine.openGpu({options.device, options.gpus, options.simulator});
    }
    const auto [rank, size] = world.onMachine();
    GpuAccess access =
        machine.openGpu({rank, 1, fmt::format("devices={},rank={},{}", size, world.rank(), options.simulator), world});
    if (!access.gpu && !access.simulatedCard) {
        throw UsageError(access.unavailableReason);
    }
    access.devices = world.size();
    access.gpus = world.size();
    return access;
}

/// Calls `work` on each rank. What it throws as UsageError on one of them, this throws on all.
template <typename SomeWork>
void together(const World& world, const SomeWork& work) {
    std::optional<std::string> wrong;
    try {
        work();
    } catch (const UsageError& error) {
        wrong = error.what();
    }
    if (const auto ofFirst = world.firstText(wrong)) {
        throw UsageError(*ofFirst);
    }
}

[[nodiscard]] int runTests(const Options& options, const Machine& machine, const World& world, Console console) {
    std::vector<Section> sections;
    GpuAccess access;
    RunContext context;
    std::vector<Row> measured;
    together(world, [&] {
        sections = makePlan(world.isAlone() ? machine.variants : variantsOnRanks(machine.variants, options), options);
        access = openGpus(options, machine, world);
        useGpus(sections, access.gpus, options.deviceBytes);
        context = describeRun(access);
        context.peers = peersOf(sections);
        if (options.resume && options.csv) {  // only rank 0 has files
            measured = measuredRows(*options.csv, context, options.plan);
        }
    });
    if (options.resume) {
        leaveOutMeasured(sections, measured, context, options.plan, world);
    }
    std::optional<Run> run;
    together(world, [&] {
        for (const Section& section : sections) {
            if (!section.measurements.empty()) {
                checkMemory(section, machine, access.gpu.get(), world);
            }
        }
        run.emplace(options, access, world, console);
    });
    if (access.gpu && !options.profile) {
        context.ceilings = measureCeilings(*access.gpu);
    }
    const Ending ending = (*run)(sections, context);
    access.finish();
    switch (ending) {
        case Ending::Passed:
            return success;
        case Ending::Failed:
            return failure;
        case Ending::Interrupted:
            break;
    }
    return interruptedStatus;
}

[[nodiscard]] int runRequest(const Options& options, const Machine& machine, const World& world, Console console) {
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
    return runTests(options, machine, world, console);
}

[[nodiscard]] int runCommand(std::span<const char* const> arguments, const std::vector<std::size_t>& defaultSizes,
                             const Machine& machine, const World& world, Console console) {
    const std::string_view command = arguments.empty() ? "" : arguments.front();
    if (command == comparisonCommand) {
        return runComparison(arguments.subspan(1), console.out);
    }
    if (!command.empty() && !command.starts_with('-')) {
        throw UsageError(unknownName("command", command, commands));
    }
    Options options = parseOptions(arguments, defaultSizes, machine.simulated);
    if (world.rank() != 0) {
        options.csv = options.samples = std::nullopt;
    }
    return runRequest(options, machine, world, console);
}

}  // namespace

Machine thisMachine() { return {allVariants(), openGpu, availableHostMemory(), isSimulated, openWorld}; }

int runProgram(std::span<const char* const> arguments, const std::vector<std::size_t>& defaultSizes,
               const Machine& machine, Console console) {
    std::ostream nowhere(nullptr);
    auto world = std::make_unique<const World>();
    const auto complain = [&](std::string_view what) {
        const std::string rank = world->rank() == 0 ? "" : fmt::format("rank {}: ", world->rank());
        // In one piece, because mpirun puts other messages between pieces.
        console.err << fmt::format("stream_compaction_test: {}{}\n", rank, what) << std::flush;
    };
    // The other ranks do not know of the error and wait for this one.
    const auto endAll = [&](std::string_view what, int status) {
        complain(what);
        world->end(status);
        return status;
    };
    try {
        world = machine.openWorld();
        const bool isFirst = world->rank() == 0;
        const int status =
            runCommand(arguments, defaultSizes, machine, *world, isFirst ? console : Console{nowhere, nowhere});
        flush(console.out, "standard output");
        return status;
    } catch (const UsageError& error) {  // on all ranks
        if (world->rank() == 0) {
            complain(error.what());
        }
        return usageFailure;
    } catch (const std::bad_alloc&) {
        return endAll("out of host memory; choose a smaller size", usageFailure);
    } catch (const std::exception& error) {
        return endAll(error.what(), failure);
    }
}

}  // namespace Bench
