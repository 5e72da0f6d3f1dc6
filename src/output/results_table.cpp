#include "output/results_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace Bench {
namespace {

/// Escapes the characters that would end the cell.
[[nodiscard]] std::string markdownCell(std::string_view text) {
    std::string cell;
    for (const char c : text) {
        cell += c == '|' ? "\\|" : std::string(1, c);
    }
    return cell;
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    std::vector<std::string> titles;
    for (const Column& column : columns_) {
        titles.emplace_back(column.title);
    }
    addRow(std::move(titles));
}

std::vector<std::string> Table::lines() const {
    const std::vector<std::size_t> widths = this->widths();
    std::vector<std::string> lines;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string_view gap = i == 0 ? "" : "  ";
            line += columns_[i].align == Align::Left ? fmt::format("{}{:<{}}", gap, row[i], widths[i])
                                                     : fmt::format("{}{:>{}}", gap, row[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<std::string> Table::markdownLines() const {
    std::vector<std::string> lines;
    for (const auto& row : rows_) {
        std::string line = "|";
        for (const std::string& cell : row) {
            line += fmt::format(" {} |", markdownCell(cell));
        }
        lines.push_back(std::move(line));
    }
    std::string rule = "|";
    for (const Column& column : columns_) {
        rule += column.align == Align::Left ? " --- |" : " ---: |";
    }
    lines.insert(lines.begin() + 1, std::move(rule));
    return lines;
}

std::vector<std::size_t> Table::widths() const {
    std::vector<std::size_t> widths(columns_.size());
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    return widths;
}

namespace {

using Status = Outcome::Status;
using enum Table::Align;

/// What a ratio compares with: the fastest of these.
constexpr std::array serialCpu{serialCpuVariant};
constexpr std::array thrusts{thrustVariant, std::string_view("thrust-latest")};
constexpr std::array cubs{std::string_view("cub"), std::string_view("cub-latest")};

/// Whether the two were timed in the same mode. CPU variants have only one and match any.
[[nodiscard]] bool sameMode(const Outcome& a, const Outcome& b) {
    return a.mode == b.mode || a.variant.hardware == Hardware::Cpu || b.variant.hardware == Hardware::Cpu;
}

/// Median time of the same operation on the same input by the fastest of these variants. Inexact ones do not count.
[[nodiscard]] std::optional<double> medianUsOf(std::span<const std::string_view> variants, const Outcome& like,
                                               std::span<const Outcome> outcomes) {
    std::optional<double> fastest;
    for (const Outcome& other : outcomes) {
        const bool isPeer = std::ranges::find(variants, other.variant.name) != variants.end();
        if (isPeer && other.variant.operation == like.variant.operation && other.variant.type == like.variant.type &&
            other.n == like.n && other.shape == like.shape && other.input == like.input && sameMode(other, like) &&
            other.isTimed() && other.status == Status::Passed) {
            fastest = std::min(other.time.us.median, fastest.value_or(other.time.us.median));
        }
    }
    return fastest;
}

[[nodiscard]] std::string speedup(std::optional<double> baselineUs, double us) {
    if (!baselineUs) {
        return std::string(nothing);
    }
    const double times = *baselineUs / us;
    return times < 0.1 ? fmt::format("{:.1g}", times) : fmt::format("{:.2f}", times);
}

[[nodiscard]] std::string blockSizeOf(const Outcome& outcome) {
    return outcome.variant.blockSizes.empty() ? std::string(nothing) : std::to_string(outcome.variant.defaultBlockSize);
}

[[nodiscard]] std::string modeOf(const Outcome& outcome) { return std::string(name(outcome.mode)); }

[[nodiscard]] std::string gpusOf(const Outcome& outcome) {
    return outcome.variant.hardware == Hardware::Gpu ? std::to_string(outcome.gpus) : std::string(nothing);
}

[[nodiscard]] std::string trialsCell(const Outcome& outcome) { return trialsOf(outcome.time); }

[[nodiscard]] std::string throttledCell(const Outcome& outcome) {
    return outcome.throttled.empty() ? std::string(nothing) : outcome.throttled;
}

[[nodiscard]] std::string variantCell(const Outcome& outcome) {
    return fmt::format("{}{}", outcome.variant.name, outcome.status == Status::Inexact ? " (inexact)" : "");
}

struct OptionalColumn {
    Table::Column column;
    std::string (*cell)(const Outcome& outcome);
};

/// Whether some variant was run with several values of this column.
[[nodiscard]] bool varies(const OptionalColumn& column, std::span<const Outcome> outcomes) {
    std::map<std::tuple<Operation, ElementType, std::string_view>, std::string> first;
    return std::ranges::any_of(outcomes, [&](const Outcome& outcome) {
        const Variant& variant = outcome.variant;
        const std::string cell = column.cell(outcome);
        return first.try_emplace({variant.operation, variant.type, variant.name}, cell).first->second != cell;
    });
}

constexpr std::array<std::string_view, 9> figureTitles{"median us", "noise %",      "enqueue us", "Gelements/s", "GB/s",
                                                       "% of copy", "x serial CPU", "x Thrust",   "x CUB"};

[[nodiscard]] std::vector<std::string> figureCells(const Outcome& outcome, std::span<const Outcome> all) {
    if (outcome.status == Status::Failed) {
        std::vector<std::string> cells(figureTitles.size(), std::string(nothing));
        cells.front() = "FAILED";
        return cells;
    }
    const double us = outcome.time.us.median;
    const auto percent = outcome.percentOfCopy();
    return {fmt::format("{:.2f}", us),
            noiseOf(outcome.time),
            enqueueOf(outcome.time),
            fmt::format("{:.3f}", outcome.gigaelementsPerSecond()),
            fmt::format("{:.2f}", outcome.gigabytesPerSecond()),
            percent ? fmt::format("{:.1f}", *percent) : std::string(nothing),
            speedup(medianUsOf(serialCpu, outcome, all), us),
            speedup(medianUsOf(thrusts, outcome, all), us),
            speedup(medianUsOf(cubs, outcome, all), us)};
}

}  // namespace

std::string ofType(Operation operation, ElementType type) {
    return type == ElementType::Int32 ? "" : " of " + typeName(operation, type);
}

std::string sizeOf(std::size_t n, std::optional<Shape> shape) { return shape ? toString(*shape) : std::to_string(n); }

std::string trialsOf(const Timing& time) {
    return time.isCutShort() ? fmt::format("{} of {}", time.trials, time.wanted) : std::to_string(time.trials);
}

std::string noiseOf(const Timing& time) {
    return std::isfinite(time.us.noise) ? fmt::format("{:.1f}", 100 * time.us.noise) : std::string(nothing);
}

std::string enqueueOf(const Timing& time) {
    return time.enqueueUs ? fmt::format("{:.2f}", *time.enqueueUs) : std::string(nothing);
}

bool isInTable(const Outcome& outcome) { return outcome.isTimed() || outcome.status == Status::Failed; }

Table resultsTable(std::span<const Outcome> outcomes) {
    std::vector<OptionalColumn> optional{{{"input", Left}, [](const Outcome& outcome) { return outcome.input; }},
                                         {{"block", Right}, blockSizeOf},
                                         {{"mode", Left}, modeOf}};
    std::erase_if(optional, [outcomes](const OptionalColumn& column) { return !varies(column, outcomes); });
    if (std::ranges::any_of(outcomes, [](const Outcome& outcome) { return outcome.gpus > 1; })) {
        optional.push_back({{"gpus", Right}, gpusOf});
    }
    if (std::ranges::any_of(outcomes, &Timing::isCutShort, &Outcome::time)) {
        optional.push_back({{"trials", Right}, trialsCell});
    }
    if (std::ranges::any_of(outcomes, [](const Outcome& outcome) { return !outcome.throttled.empty(); })) {
        optional.push_back({{"throttled", Left}, throttledCell});
    }

    std::vector<Table::Column> columns{{"operation", Left}, {"variant", Left}, {"n", Right}};
    for (const OptionalColumn& column : optional) {
        columns.push_back(column.column);
    }
    for (const std::string_view title : figureTitles) {
        columns.push_back({title, Right});
    }
    Table table(std::move(columns));
    for (const Outcome& outcome : outcomes) {
        if (!isInTable(outcome)) {
            continue;
        }
        const Variant& variant = outcome.variant;
        std::vector<std::string> cells{
            fmt::format("{}{}", name(variant.operation), ofType(variant.operation, variant.type)), variantCell(outcome),
            sizeOf(outcome.n, outcome.shape)};
        for (const OptionalColumn& column : optional) {
            cells.push_back(column.cell(outcome));
        }
        std::ranges::move(figureCells(outcome, outcomes), std::back_inserter(cells));
        table.addRow(std::move(cells));
    }
    return table;
}

void writeMarkdown(std::ostream& out, const RunContext& context, std::span<const Outcome> outcomes) {
    for (const auto& [label, text] : describe(context)) {
        out << fmt::format("- {}: {}\n", label, text);
    }
    out << '\n';
    for (const std::string& line : resultsTable(outcomes).markdownLines()) {
        out << line << '\n';
    }
}

}  // namespace Bench
