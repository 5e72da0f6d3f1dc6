#include "app/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "app/options.h"
#include "cli/values.h"
#include "measure/measure.h"
#include "measure/rank_test.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/table.h"

namespace Bench {
namespace {

/// Combines several runs into one: all trials, the median of the medians, the widest range of the machine's state.
[[nodiscard]] Row merged(std::span<const Row* const> runs) {
    Row row = *runs.back();
    if (runs.size() == 1) {
        return row;
    }
    Samples medians;
    const bool haveSamples = std::ranges::none_of(runs, [](const Row* run) { return run->samplesUs.empty(); });
    row.samplesUs.clear();
    row.trials = 0;
    for (const Row* run : runs) {
        if (!run->isTimed()) {
            return *run;
        }
        medians.add(*run->medianUs);
        row.trials += run->trials;
        row.minUs = std::min(*row.minUs, *run->minUs);
        row.maxUs = std::max(*row.maxUs, *run->maxUs);
        if (haveSamples) {
            row.samplesUs.insert(row.samplesUs.end(), run->samplesUs.begin(), run->samplesUs.end());
        }
        row.clockBeforeMHz = std::min(row.clockBeforeMHz, run->clockBeforeMHz);
        row.clockAfterMHz = std::max(row.clockAfterMHz, run->clockAfterMHz);
        row.probeBeforeUs = std::min(row.probeBeforeUs, run->probeBeforeUs);
        row.probeAfterUs = std::max(row.probeAfterUs, run->probeAfterUs);
        row.throttled = std::max(row.throttled, run->throttled);
    }
    const Summary ofMedians = medians.summary();
    row.medianUs = ofMedians.median;
    row.noisePercent = std::isfinite(ofMedians.noise) ? std::optional(100 * ofMedians.noise) : row.noisePercent;
    return row;
}

/// One row per subject. If several commits measured a subject, only the runs of the last commit count.
[[nodiscard]] std::vector<Row> mergedRuns(std::span<const Row> rows) {
    std::map<Subject, std::size_t> places;
    std::vector<std::vector<const Row*>> runs;
    for (const Row& row : rows) {
        const auto [place, isNew] = places.try_emplace(row.subject(), runs.size());
        if (isNew) {
            runs.emplace_back();
        }
        auto& sameSubject = runs[place->second];
        if (!sameSubject.empty() && sameSubject.back()->commit != row.commit) {
            sameSubject.clear();
        }
        sameSubject.push_back(&row);
    }
    std::vector<Row> result(runs.size());
    std::ranges::transform(runs, result.begin(), merged);
    return result;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

[[nodiscard]] double noiseOf(const Row& row) { return row.noisePercent ? *row.noisePercent / 100 : infinity; }

/// The chance that trials of the same speed differ as much as these.
[[nodiscard]] double chanceOf(const Row& before, const Row& after) {
    if (!before.samplesUs.empty() && !after.samplesUs.empty()) {
        return rankTest(before.samplesUs, after.samplesUs);
    }
    const bool areDisjoint = *before.maxUs < *after.minUs || *after.maxUs < *before.minUs;
    return areDisjoint ? rankTestOfDisjointSets(before.trials, after.trials) : 1;
}

/// The largest of the known values divided by the smallest; 1 if none is known.
[[nodiscard]] double rangeOf(std::initializer_list<std::optional<double>> values) {
    double least = infinity;
    double most = 0;
    for (const std::optional<double>& value : values) {
        least = std::min(least, value.value_or(least));
        most = std::max(most, value.value_or(most));
    }
    return most > 0 ? most / least : 1;
}

/// Why two runs cannot be told from two states of the machine; empty if they can.
[[nodiscard]] std::string disturbance(const Row& before, const Row& after, std::optional<double> calmProbeUs) {
    constexpr double mostOfClocks = 1.05;
    constexpr double mostOfProbes = 1.1;
    for (const Row* row : {&before, &after}) {
        if (!row->throttled.empty()) {
            return "low clock: " + row->throttled;
        }
    }
    if (rangeOf({before.clockBeforeMHz, before.clockAfterMHz, after.clockBeforeMHz, after.clockAfterMHz}) >
        mostOfClocks) {
        return "different clocks";
    }
    const bool isBusy = rangeOf({before.probeBeforeUs, before.probeAfterUs, after.probeBeforeUs, after.probeAfterUs,
                                 before.probeBeforeUs ? calmProbeUs : std::nullopt}) > mostOfProbes;
    return isBusy ? "busy processor" : "";
}

/// Fills in the verdict on two right results.
void judge(Change& change, double threshold, std::optional<double> calmProbeUs) {
    constexpr double leastChance = 0.001;
    const double fastest = *change.after.minUs / *change.before.minUs;
    const bool isSlower = *change.ratio > 1 + threshold && fastest > 1 + threshold;
    const bool isFaster = *change.ratio < 1 / (1 + threshold) && fastest < 1 / (1 + threshold);
    if (!isSlower && !isFaster) {
        change.reason = fmt::format("within {:.3g} %", 100 * threshold);
    } else if (chanceOf(change.before, change.after) > leastChance) {
        change.reason = "times overlap";
    } else if (std::string reason = disturbance(change.before, change.after, calmProbeUs); !reason.empty()) {
        change.reason = std::move(reason);
    } else {
        change.verdict = isSlower ? Verdict::Slower : Verdict::Faster;
    }
}

[[nodiscard]] Change changeBetween(const Row& before, const Row& after, double threshold,
                                   std::optional<double> calmProbeUs) {
    Change change{before, after, std::nullopt, infinity, Verdict::CannotTell, {}};
    if (before.isTimed() && after.isTimed()) {
        change.ratio = *after.medianUs / *before.medianUs;
        change.noise = std::hypot(noiseOf(before), noiseOf(after));
        judge(change, threshold, calmProbeUs);
    } else if (before.isInexact() || after.isInexact()) {
        change.reason = "inexact";
    } else if (before.verified != after.verified) {
        change.verdict = before.verified ? Verdict::Slower : Verdict::Faster;
        change.reason = before.verified ? "wrong now" : "right now";
    } else {
        change.reason = "wrong";
    }
    return change;
}

/// The fastest probe of a processor at work on nothing else.
[[nodiscard]] std::optional<double> calmProbe(std::span<const Row> before, std::span<const Row> after) {
    std::optional<double> fastest;
    for (const auto rows : {before, after}) {
        for (const Row& row : rows) {
            for (const std::optional<double>& probe : {row.probeBeforeUs, row.probeAfterUs}) {
                if (probe && (!fastest || *probe < *fastest)) {
                    fastest = probe;
                }
            }
        }
    }
    return fastest;
}

/// A row of an early file names no processor and may be of any.
[[nodiscard]] bool mayShareProcessor(const Row& a, const Row& b) {
    return a.cpu.empty() || b.cpu.empty() || a.cpu == b.cpu;
}

/// The columns of the subject in which two rows differ, with the values of the second.
[[nodiscard]] std::vector<std::string> differences(const Row& row, const Row& other) {
    constexpr std::array names{"operation", "variant", "type", "n",   "input", "block_size",
                               "mode",      "shape",   "gpu",  "cpu", "gpus",  "gpu_memory"};
    std::vector<std::string> found;
    const auto fields = csvFields(csvLine(row));
    const auto others = csvFields(csvLine(other));
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (std::ranges::find(names, columns[i].name) != names.end() && fields[i] != others[i]) {
            found.push_back(fmt::format("{} {}", columns[i].name, others[i].empty() ? "-" : others[i]));
        }
    }
    return found;
}

/// Why a row has no partner among these.
[[nodiscard]] std::string reasonWithout(const Row& row, std::span<const Row> others) {
    std::vector<std::string> fewest;
    for (const Row& other : others) {
        auto found = differences(row, other);
        if (fewest.empty() || found.size() < fewest.size()) {
            fewest = std::move(found);
        }
    }
    return fewest.empty() ? "the other file is empty" : fmt::format("the other file has {}", fmt::join(fewest, ", "));
}

[[nodiscard]] std::string describe(const Change& change) {
    switch (change.verdict) {
        case Verdict::Faster:
            return change.reason.empty() ? "faster" : fmt::format("faster: {}", change.reason);
        case Verdict::Slower:
            return change.reason.empty() ? "SLOWER" : fmt::format("SLOWER: {}", change.reason);
        case Verdict::CannotTell:
            break;
    }
    return fmt::format("cannot tell: {}", change.reason);
}

[[nodiscard]] std::vector<std::string> subjectCells(const Row& row) {
    return {
        row.operation, row.gpus.value_or(1) > 1 ? fmt::format("{} on {} GPUs", row.variant, *row.gpus) : row.variant,
        row.type,      row.shape.empty() ? std::to_string(row.n) : row.shape,
        row.input,     row.blockSize ? std::to_string(*row.blockSize) : "-",
        row.mode};
}

[[nodiscard]] std::string timeCell(const Row& row) {
    return row.isTimed() || row.isInexact() ? fmt::format("{:.2f}", *row.medianUs) : "WRONG";
}

[[nodiscard]] Table tableOf(const Comparison& comparison) {
    using enum Table::Align;
    Table table({{"operation", Left},
                 {"variant", Left},
                 {"type", Left},
                 {"n", Right},
                 {"input", Left},
                 {"block", Right},
                 {"mode", Left},
                 {"before us", Right},
                 {"after us", Right},
                 {"ratio", Right},
                 {"noise", Right},
                 {"verdict", Left}});
    const auto add = [&table](const Row& subject, std::vector<std::string> figures) {
        std::vector<std::string> cells = subjectCells(subject);
        std::ranges::move(figures, std::back_inserter(cells));
        table.addRow(std::move(cells));
    };
    for (const Change& change : comparison.changes) {
        add(change.after,
            {timeCell(change.before), timeCell(change.after), change.ratio ? fmt::format("{:.3f}", *change.ratio) : "-",
             std::isfinite(change.noise) ? fmt::format("{:.1f} %", 100 * change.noise) : "-", describe(change)});
    }
    for (const auto& [row, reason] : comparison.onlyBefore) {
        add(row, {timeCell(row), "-", "-", "-", "only before: " + reason});
    }
    for (const auto& [row, reason] : comparison.onlyAfter) {
        add(row, {"-", timeCell(row), "-", "-", "only after: " + reason});
    }
    return table;
}

/// Why the first row without a partner has none.
[[nodiscard]] std::string firstReason(const Comparison& comparison) {
    for (const auto* rows : {&comparison.onlyBefore, &comparison.onlyAfter}) {
        if (!rows->empty()) {
            const auto& [row, reason] = rows->front();
            return fmt::format("; of {} {}, {}", row.operation, row.variant, reason);
        }
    }
    return "";
}

/// What --csv or --samples wrote. Opened once, because a pipe loses what has been read of it.
[[nodiscard]] std::vector<Row> readRows(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (file.peek() == '{') {
        return readJson(file, path);
    }
    CsvContents contents = readCsv(file, path);
    if (!contents.unreadable.empty()) {
        throw UsageError(fmt::format("{}: line {} is no measurement", path.string(), contents.unreadable.front()));
    }
    return std::move(contents.rows);
}

}  // namespace

std::size_t Comparison::count(Verdict verdict) const {
    return static_cast<std::size_t>(std::ranges::count(changes, verdict, &Change::verdict));
}

Comparison compare(std::span<const Row> before, std::span<const Row> after, double threshold) {
    const std::vector<Row> earlier = mergedRuns(before);
    const std::vector<Row> later = mergedRuns(after);
    const std::optional<double> calmProbeUs = calmProbe(before, after);
    std::multimap<SubjectOnAnyProcessor, const Row*> unmatched;
    for (const Row& row : earlier) {
        unmatched.emplace(row.subjectOnAnyProcessor(), &row);
    }
    Comparison comparison;
    for (const Row& row : later) {
        const auto [first, last] = unmatched.equal_range(row.subjectOnAnyProcessor());
        const auto found =
            std::find_if(first, last, [&row](const auto& entry) { return mayShareProcessor(*entry.second, row); });
        if (found == last) {
            comparison.onlyAfter.push_back({row, reasonWithout(row, earlier)});
        } else {
            comparison.changes.push_back(changeBetween(*found->second, row, threshold, calmProbeUs));
            unmatched.erase(found);
        }
    }
    for (const Row& row : earlier) {
        const auto [first, last] = unmatched.equal_range(row.subjectOnAnyProcessor());
        if (std::any_of(first, last, [&row](const auto& entry) { return entry.second == &row; })) {
            comparison.onlyBefore.push_back({row, reasonWithout(row, later)});
        }
    }
    return comparison;
}

int runComparison(std::span<const char* const> arguments, std::ostream& out) {
    const CompareOptions options = parseCompareOptions(arguments);
    if (options.information) {
        out << *options.information;
        return 0;
    }
    const Comparison comparison = compare(readRows(options.before), readRows(options.after), options.threshold);
    if (comparison.changes.empty()) {
        throw UsageError(fmt::format("nothing to compare: {} and {} have no row in common{}", options.before.string(),
                                     options.after.string(), firstReason(comparison)));
    }
    tableOf(comparison).write(out);
    out << fmt::format("\n{} compared: {} faster, {} slower, {} cannot tell; {} only before, {} only after\n",
                       comparison.changes.size(), comparison.count(Verdict::Faster), comparison.count(Verdict::Slower),
                       comparison.count(Verdict::CannotTell), comparison.onlyBefore.size(),
                       comparison.onlyAfter.size());
    return comparison.count(Verdict::Slower) > 0 ? 1 : 0;
}

}  // namespace Bench
