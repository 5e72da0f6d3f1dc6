#include "program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <new>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "compare.h"
#include "csv.h"
#include "interrupt.h"
#include "options.h"
#include "outputs.h"
#include "plan.h"
#include "progress.h"
#include "report.h"
#include "run_context.h"
#include "sizes.h"
#include "system_info.h"
#include "tester.h"
#include "usage_error.h"

namespace Bench {
namespace {

constexpr int success = 0;
constexpr int failure = 1;
constexpr int usageFailure = 2;
constexpr int interruptedStatus = 130;  // as shells have it: 128 and the number of SIGINT

constexpr std::string_view comparisonCommand = "compare";

void requireMemory(std::string_view where, std::size_t n, std::size_t needed, std::size_t available) {
    if (needed > available) {
        throw UsageError(fmt::format("--size: {} elements need {} of {} memory, {} are free; choose a smaller size", n,
                                     formatBytes(needed), where, formatBytes(available)));
    }
}

/// Before anything is allocated. A variant that needs more than the least is skipped when its turn comes.
void checkMemory(const Section& section, const Machine& machine, const Gpu* gpu) {
    const std::size_t n = std::ranges::max(section.measurements, {}, &Measurement::n).n;
    const std::size_t bytes = n * bytesPerElement(section.operation, section.type);
    if (machine.hostMemory) {
        // The input and the result, and as much for what a CPU variant allocates.
        requireMemory("host", n, 2 * bytes, *machine.hostMemory);
    }
    const bool onGpu = std::ranges::any_of(section.measurements, [](const Measurement& measurement) {
        return measurement.variant.hardware == Hardware::Gpu;
    });
    if (gpu != nullptr && onGpu) {
        requireMemory("device", n, bytes, gpu->freeBytes());
    }
}

[[nodiscard]] std::size_t countMeasurements(std::span<const Section> sections) {
    return std::transform_reduce(sections.begin(), sections.end(), std::size_t{0}, std::plus<>{},
                                 [](const Section& section) { return section.measurements.size(); });
}

/// Takes away what a file has of this card and commit, and is right. Returns how many that were.
std::size_t leaveOutMeasured(std::vector<Section>& sections, const std::filesystem::path& csv,
                             const RunContext& context) {
    if (!std::filesystem::exists(csv)) {
        return 0;
    }
    const CsvContents contents = readCsv(csv);
    std::set<decltype(contents.rows[0].subject())> measured;
    for (const Row& row : contents.rows) {
        if (row.commit == context.commit && row.verified) {
            measured.insert(row.subject());
        }
    }
    const std::size_t before = countMeasurements(sections);
    for (Section& section : sections) {
        std::erase_if(section.measurements, [&](const Measurement& measurement) {
            const Row row = rowOf(context, measurement);
            return measured.contains(row.subject());
        });
    }
    std::erase_if(sections, [](const Section& section) { return section.measurements.empty(); });
    return before - countMeasurements(sections);
}

/// What a measurement is expected to take, in elements: some of it whatever the size.
[[nodiscard]] double workOf(const Measurement& measurement) {
    constexpr double overhead = 1 << 22;
    return overhead + static_cast<double>(measurement.n);
}

[[nodiscard]] double workOf(std::span<const Section> sections) {
    double work = 0;
    for (const Section& section : sections) {
        for (const Measurement& measurement : section.measurements) {
            work += workOf(measurement);
        }
    }
    return work;
}

/// A run of the program, from the first measurement to the last or to Ctrl-C.
class Run {
  public:
    Run(const Options& options, const GpuAccess& access, const RunContext& context, Console console)
        : options_(options),
          context_(context),
          outputs_(options, console.out),
          report_(writesToStandardOutput(options) ? console.err : console.out,
                  console.color && options.color && !writesToStandardOutput(options)),
          progressStream_(console.progress ? &console.err : nullptr),
          tester_(access, options.plan, options.profile) {}

    /// Returns the program's exit status.
    [[nodiscard]] int operator()(std::span<const Section> sections, std::size_t found) {
        report_.context(context_);
        if (options_.resume) {
            report_.note(fmt::format("{} measurements are in {} and not made again", found, options_.csv->string()));
        }
        if (options_.brief) {
            report_.gap();
        }
        const std::size_t count = countMeasurements(sections);
        Progress progress(progressStream_, count, workOf(sections));
        for (const Section& section : sections) {
            if (!interrupt_.interrupted()) {
                measure(section, progress);
            }
        }
        report_.table(outcomes_);
        report_.notes(outcomes_, context_);
        if (interrupt_.interrupted()) {
            report_.note(fmt::format("interrupted after {} of {} measurements", outcomes_.size(), count));
        }
        report_.summary(outcomes_);
        outputs_.finish(context_, outcomes_);
        if (interrupt_.interrupted()) {
            return interruptedStatus;
        }
        return Bench::count(outcomes_, Outcome::Status::Failed) == 0 ? success : failure;
    }

  private:
    void measure(const Section& section, Progress& progress) {
        const auto problems = problemsOf(section, options_);
        if (!options_.brief) {
            const std::string& input = section.measurements.front().input;
            report_.section(section.operation, section.type, input, *problems.front());
        }
        for (const Measurement& measurement : section.measurements) {
            if (interrupt_.interrupted()) {
                return;
            }
            progress.begin(fmt::format("{} {} {}", name(section.operation), measurement.variant.name, measurement.n));
            Outcome outcome = tester_.test(measurement, problemFor(measurement, problems));
            progress.end(workOf(measurement));
            progress.clear();
            record(std::move(outcome));
        }
    }

    void record(Outcome outcome) {
        if (options_.brief) {
            report_.line(outcome);
        } else {
            report_.outcome(outcome);
        }
        if (outcome.status != Outcome::Status::Skipped) {
            outputs_.add(rowOf(context_, timestampNow(), outcome));
        }
        outcomes_.push_back(std::move(outcome));
    }

    const Options& options_;
    const RunContext& context_;
    Outputs outputs_;
    Report report_;
    std::ostream* progressStream_;
    Tester tester_;
    InterruptGuard interrupt_;
    std::vector<Outcome> outcomes_;
};

[[nodiscard]] int runTests(const Options& options, const Machine& machine, Console console) {
    std::vector<Section> sections = makePlan(machine.variants, options);
    const GpuAccess access = machine.openGpu(options.device);
    RunContext context = describeRun(access);
    const std::size_t found = options.resume ? leaveOutMeasured(sections, *options.csv, context) : 0;
    for (const Section& section : sections) {
        checkMemory(section, machine, access.gpu.get());
    }
    Run run(options, access, context, console);
    if (access.gpu && !options.profile) {
        context.ceilings = measureCeilings(*access.gpu);
    }
    return run(sections, found);
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

int runProgram(std::span<const char* const> arguments, const std::vector<std::size_t>& defaultSizes,
               const Machine& machine, Console console) {
    const auto complain = [&console](std::string_view what) {
        console.err << "stream_compaction_test: " << what << '\n';
    };
    try {
        if (!arguments.empty() && arguments.front() == comparisonCommand) {
            return runComparison(arguments.subspan(1), console.out);
        }
        return runRequest(parseOptions(arguments, defaultSizes), machine, console);
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
