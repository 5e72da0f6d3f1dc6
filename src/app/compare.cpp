#include "app/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "app/options.h"
#include "app/output_file.h"
#include "cli/values.h"
#include "measure/measure.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/results_table.h"

namespace Bench {
namespace {

/// Combines several runs into one: the median of their medians, the minimum and the maximum of all trials.
[[nodiscard]] Row merged(std::span<const Row* const> runs) {
    Row row = *runs.back();
    Samples medians;
    for (const Row* run : runs) {
        if (!run->isTimed()) {
            return *run;
        }
        medians.add(*run->medianUs);
        row.minUs = std::min(*row.minUs, *run->minUs);
        row.maxUs = std::max(*row.maxUs, *run->maxUs);
    }
    row.medianUs = medians.summary().median;
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

[[nodiscard]] double spread(const Row& row) {
    return std::min(*row.medianUs - *row.minUs, *row.maxUs - *row.medianUs) / *row.medianUs;
}

[[nodiscard]] Verdict judge(double ratio, double margin) {
    if (ratio > 1 + margin) {
        return Verdict::Regression;
    }
    return ratio < 1 / (1 + margin) ? Verdict::Improvement : Verdict::Unchanged;
}

[[nodiscard]] Change changeBetween(const Row& before, const Row& after, double threshold) {
    Change change{before, after, std::nullopt, 0, Verdict::Unchanged};
    if (before.isTimed() && after.isTimed()) {
        change.ratio = *after.medianUs / *before.medianUs;
        change.noise = std::hypot(spread(before), spread(after));
        change.verdict = judge(*change.ratio, std::max(threshold, change.noise));
    } else if (before.verified != after.verified) {
        change.verdict = before.verified ? Verdict::Regression : Verdict::Improvement;
    }
    return change;
}

/// A row of an early file names no processor and may be of any.
[[nodiscard]] bool mayShareProcessor(const Row& a, const Row& b) {
    return a.cpu.empty() || b.cpu.empty() || a.cpu == b.cpu;
}

[[nodiscard]] std::string describe(Verdict verdict) {
    switch (verdict) {
        case Verdict::Improvement:
            return "improvement";
        case Verdict::Regression:
            return "REGRESSION";
        case Verdict::Unchanged:
            break;
    }
    return "";
}

[[nodiscard]] std::vector<std::string> subjectCells(const Row& row) {
    return {row.operation, row.variant,
            row.type,      row.shape.empty() ? std::to_string(row.n) : row.shape,
            row.input,     row.blockSize ? std::to_string(*row.blockSize) : "-",
            row.mode};
}

[[nodiscard]] std::string timeCell(const Row& row) {
    return row.isTimed() ? fmt::format("{:.2f}", *row.medianUs) : "WRONG";
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
             change.ratio ? fmt::format("{:.1f} %", 100 * change.noise) : "-", describe(change.verdict)});
    }
    for (const Row& row : comparison.onlyBefore) {
        add(row, {timeCell(row), "-", "-", "-", "only before"});
    }
    for (const Row& row : comparison.onlyAfter) {
        add(row, {"-", timeCell(row), "-", "-", "only after"});
    }
    return table;
}

/// What --csv, --samples or --json wrote.
[[nodiscard]] std::vector<Row> readRows(const std::filesystem::path& path) {
    if (std::ifstream(path).peek() == '{') {
        return readJson(path);
    }
    CsvContents contents = readCsv(path);
    if (!contents.unreadable.empty()) {
        throw UsageError(fmt::format("{}: line {} is no measurement", path.string(), contents.unreadable.front()));
    }
    return std::move(contents.rows);
}

void write(std::ostream& out, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        out << line << '\n';
    }
}

}  // namespace

std::size_t Comparison::count(Verdict verdict) const {
    return static_cast<std::size_t>(std::ranges::count(changes, verdict, &Change::verdict));
}

Comparison compare(std::span<const Row> before, std::span<const Row> after, double threshold) {
    const std::vector<Row> earlier = mergedRuns(before);
    std::multimap<SubjectOnAnyProcessor, const Row*> unmatched;
    for (const Row& row : earlier) {
        unmatched.emplace(row.subjectOnAnyProcessor(), &row);
    }
    std::set<const Row*> matched;
    Comparison comparison;
    for (const Row& row : mergedRuns(after)) {
        const auto [first, last] = unmatched.equal_range(row.subjectOnAnyProcessor());
        const auto found =
            std::find_if(first, last, [&row](const auto& entry) { return mayShareProcessor(*entry.second, row); });
        if (found == last) {
            comparison.onlyAfter.push_back(row);
        } else {
            comparison.changes.push_back(changeBetween(*found->second, row, threshold));
            matched.insert(found->second);
            unmatched.erase(found);
        }
    }
    std::ranges::copy_if(earlier, std::back_inserter(comparison.onlyBefore),
                         [&matched](const Row& row) { return !matched.contains(&row); });
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
        throw UsageError(
            fmt::format("nothing to compare: no row of {} and {} agrees in operation, variant, type, size, input, "
                        "block size, mode, shape, card and processor",
                        options.before.string(), options.after.string()));
    }
    const Table table = tableOf(comparison);
    if (options.markdown) {
        OutputFile markdown("--markdown", *options.markdown, out);
        write(markdown.stream(), table.markdownLines());
        markdown.finish();
    }
    if (options.markdown != standardOutput) {
        write(out, table.lines());
        out << fmt::format("\n{} compared: {} faster, {} slower; {} only before, {} only after\n",
                           comparison.changes.size(), comparison.count(Verdict::Improvement),
                           comparison.count(Verdict::Regression), comparison.onlyBefore.size(),
                           comparison.onlyAfter.size());
    }
    return comparison.count(Verdict::Regression) > 0 ? 1 : 0;
}

}  // namespace Bench
