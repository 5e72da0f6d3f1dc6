#include "app/run.h"

#include <fmt/format.h>

#include <utility>

namespace Bench {
namespace {

/// What a measurement is expected to take, in elements: some of it whatever the size.
[[nodiscard]] double workOf(const Measurement& measurement) {
    constexpr double overhead = 1 << 22;
    return overhead + static_cast<double>(measurement.n);
}

}  // namespace

Run::Run(const Options& options, const GpuAccess& access, Console console)
    : options_(options),
      outputs_(options, console.out),
      report_(writesToStandardOutput(options) ? console.err : console.out,
              console.color && options.color && !writesToStandardOutput(options)),
      progressStream_(console.progress ? &console.err : nullptr),
      tester_(access, options.plan, options.profile) {}

Ending Run::operator()(std::span<const Section> sections, const RunContext& context, std::size_t found) {
    report_.context(context);
    if (options_.resume) {
        report_.note(fmt::format("{} measurements are in {} and not made again", found, options_.csv->string()));
    }
    if (context.simulatedCard && writesFiles(options_)) {
        report_.note("simulated runs are no measurements: the files have rows of CPU variants only");
    }
    if (options_.brief) {
        report_.gap();
    }
    std::size_t planned = 0;
    double work = 0;
    for (const Section& section : sections) {
        planned += section.measurements.size();
        for (const Measurement& measurement : section.measurements) {
            work += workOf(measurement);
        }
    }
    Progress progress(progressStream_, planned, work);
    for (const Section& section : sections) {
        if (!interrupt_.interrupted()) {
            measure(section, context, progress);
        }
    }
    report_.table(outcomes_);
    report_.notes(outcomes_, context);
    if (interrupt_.interrupted()) {
        report_.note(fmt::format("interrupted after {} of {} measurements", outcomes_.size(), planned));
    }
    report_.summary(outcomes_);
    outputs_.finish(context, outcomes_);
    if (interrupt_.interrupted()) {
        return Ending::Interrupted;
    }
    return count(outcomes_, Outcome::Status::Failed) == 0 ? Ending::Passed : Ending::Failed;
}

void Run::measure(const Section& section, const RunContext& context, Progress& progress) {
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
        record(std::move(outcome), context);
    }
}

void Run::record(Outcome outcome, const RunContext& context) {
    if (options_.brief) {
        report_.line(outcome);
    } else {
        report_.outcome(outcome);
    }
    if (outcome.status != Outcome::Status::Skipped && outcome.mode != Mode::Untimed) {
        outputs_.add(rowOf(context, timestampNow(), outcome));
    }
    outcomes_.push_back(std::move(outcome));
}

}  // namespace Bench
