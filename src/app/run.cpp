#include "app/run.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/values.h"
#include "output/csv.h"
#include "output/json.h"

namespace Bench {

Outputs::Outputs(const Options& options, std::ostream& out) {
    if (options.csv == standardOutput) {
        csvStream_.emplace("--csv", *options.csv, csvHeader(), out).append(csvHeader());
    } else if (options.csv) {
        csvFile_.emplace(*options.csv);
    }
    if (options.samples) {
        samples_.emplace("--samples", *options.samples, jsonLineBegin, out);
    }
}

void Outputs::add(const Row& row) {
    if (csvFile_) {
        csvFile_->append(csvLine(row));
    } else if (csvStream_) {
        csvStream_->append(csvLine(row));
    }
    if (samples_) {
        samples_->append(jsonLine(row));
    }
}

bool writesToStandardOutput(const Options& options) {
    return options.csv == standardOutput || options.samples == standardOutput;
}

namespace {

/// Whether a right result was timed as often as the plan asks for. If the trials took as long as the time budget, there
/// would not be more of them the next time.
[[nodiscard]] bool isTimedEnough(const Row& row, const TrialPlan& plan) {
    return row.isTimed() && (row.trials >= static_cast<std::size_t>(plan.trials) ||
                             static_cast<double>(row.trials) * *row.medianUs >= plan.budgetUs);
}

}  // namespace

std::vector<Row> measuredRows(const std::filesystem::path& csv, const RunContext& context, const TrialPlan& plan) {
    if (std::error_code ignored; !std::filesystem::is_regular_file(csv, ignored) || std::filesystem::is_empty(csv)) {
        return {};
    }
    std::vector<Row> rows = readCsv(csv).rows;
    std::erase_if(rows, [&](const Row& row) { return row.commit != context.commit || !isTimedEnough(row, plan); });
    return rows;
}

void leaveOutMeasured(std::vector<Section>& sections, std::span<const Row> rows, const RunContext& context,
                      const TrialPlan& plan, const World& world) {
    std::map<Subject, const Row*> measured;
    for (const Row& row : rows) {
        measured[row.subject()] = &row;
    }
    for (Section& section : sections) {
        std::vector<Measurement> missing;
        for (Measurement& measurement : section.measurements) {
            const Row row = rowOf(context, measurement);
            const auto found = measured.find(row.subject());
            const bool isMeasured = found != measured.end();
            if (!world.any(isMeasured)) {
                missing.push_back(std::move(measurement));
            } else if (isMeasured) {
                Outcome outcome = outcomeOf(measurement, *found->second);
                outcome.time.wanted = plan.trials;
                section.earlier.push_back(std::move(outcome));
            }
        }
        section.measurements = std::move(missing);
    }
}

namespace {

/// The expected work of a measurement, in elements, including a fixed overhead.
[[nodiscard]] double workOf(const Measurement& measurement) {
    constexpr double overhead = 1 << 22;
    return overhead + static_cast<double>(measurement.n);
}

}  // namespace

Run::Run(const Options& options, const GpuAccess& access, const World& world, Console console)
    : options_(options),
      world_(world),
      outputs_(options, console.out),
      reportStream_(writesToStandardOutput(options) ? console.err : console.out),
      report_(options.classic ? nowhere_ : reportStream_,
              console.color && options.color && !writesToStandardOutput(options),
              writesToStandardOutput(options) ? console.errWidth : console.width),
      classicReport_(reportStream_),
      progressStream_(console.progress ? &console.err : nullptr),
      progressWidth_(console.errWidth),
      tester_(access, options.plan, options.profile, world) {}

Ending Run::operator()(std::span<const Section> sections, const RunContext& context) {
    report_.context(context);
    std::size_t found = 0;
    std::size_t planned = 0;
    double work = 0;
    for (const Section& section : sections) {
        found += section.earlier.size();
        planned += section.measurements.size();
        for (const Measurement& measurement : section.measurements) {
            work += workOf(measurement);
        }
    }
    if (options_.resume && options_.csv) {  // only rank 0 has files
        report_.note(fmt::format("{} measurements are in {} and not made again", found, options_.csv->string()));
    }
    if (context.simulatedCard && writesFiles(options_)) {
        report_.note("simulated runs are no measurements: the files have rows of CPU variants only");
    }
    Progress progress(progressStream_, progressWidth_, planned, work);
    for (const Section& section : sections) {
        shown_.insert(shown_.end(), section.earlier.begin(), section.earlier.end());
        if (!section.measurements.empty() && !interrupted()) {
            measure(section, context, progress);
        }
    }
    report_.verdicts(shown_);
    report_.notes(outcomes_, context);
    if (interrupted()) {  // perhaps in the last measurement
        report_.note(fmt::format("interrupted after {} of {} measurements", outcomes_.size(), planned));
    }
    report_.summary(outcomes_);
    const bool skippedAll = !shown_.empty() && count(shown_, Outcome::Status::Skipped) == shown_.size();
    if (world_.ofFirst(skippedAll ? 1 : 0) == 1 && !interrupted_) {
        throw UsageError("nothing was run: " + shown_.front().reason);
    }
    if (interrupted_) {
        return Ending::Interrupted;
    }
    return count(outcomes_, Outcome::Status::Failed) == 0 ? Ending::Passed : Ending::Failed;
}

void Run::measure(const Section& section, const RunContext& context, Progress& progress) {
    const auto problems = problemsOf(section, options_, world_);
    report_.section(section.measurements);
    if (options_.classic) {
        classicReport_.section(section.operation, *problems.front());
    }
    const std::size_t before = outcomes_.size();
    for (const Measurement& measurement : section.measurements) {
        if (interrupted()) {
            break;
        }
        progress.begin(fmt::format("{} {} {}", name(section.operation), measurement.variant.name, measurement.n));
        Problem& problem = problemFor(measurement, problems);
        Outcome outcome = tester_.test(measurement, problem);
        progress.end(workOf(measurement));
        progress.clear();
        record(std::move(outcome), problem, context);
    }
    report_.skipped(std::span(outcomes_).subspan(before));
}

bool Run::interrupted() {
    interrupted_ = world_.any(interrupted_ || interrupt_.interrupted());
    return interrupted_;
}

void Run::record(Outcome outcome, const Problem& problem, const RunContext& context) {
    const bool isSkipped = outcome.status == Outcome::Status::Skipped;
    if (!isSkipped) {
        report_.outcome(outcome);
    }
    if (options_.classic) {
        classicReport_.outcome(outcome, problem);
    }
    if (!isSkipped && outcome.mode != Mode::Untimed) {
        outputs_.add(rowOf(context, timestampNow(), outcome));
    }
    shown_.push_back(outcome);
    outcomes_.push_back(std::move(outcome));
}

}  // namespace Bench
