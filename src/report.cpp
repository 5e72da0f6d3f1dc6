#include "report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

namespace Bench {
namespace {

using Status = Outcome::Status;

constexpr std::string_view nothing = "-";

[[nodiscard]] std::string_view hardwareName(Hardware hardware) { return hardware == Hardware::Cpu ? "CPU" : "GPU"; }

/// What the array is like, as the course has it, or the shape of a matrix.
[[nodiscard]] std::string sizeClass(const Outcome& outcome) {
    if (outcome.shape) {
        return toString(*outcome.shape);
    }
    return std::has_single_bit(outcome.n) ? "power-of-two" : "non-power-of-two";
}

[[nodiscard]] std::string sizeOf(std::size_t n, std::optional<Shape> shape) {
    return shape ? toString(*shape) : std::to_string(n);
}

/// ` of int64` behind what is not about the classic ints.
[[nodiscard]] std::string ofType(Operation operation, ElementType type) {
    return type == ElementType::Int32 ? "" : " of " + typeName(operation, type);
}

[[nodiscard]] std::string ofType(const Variant& variant) { return ofType(variant.operation, variant.type); }

[[nodiscard]] bool sameSubject(const Variant& a, const Variant& b) {
    return a.operation == b.operation && a.type == b.type;
}

/// Lines up columns: the texts of a row of cells, padded to the widest of each column.
class Table {
  public:
    enum class Align { Left, Right };

    struct Column {
        std::string_view title;
        Align align;
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {
        std::vector<std::string> titles;
        for (const Column& column : columns_) {
            titles.emplace_back(column.title);
        }
        addRow(std::move(titles));
    }

    void addRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    /// The lines, the titles first.
    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        for (const auto& row : rows_) {
            std::string line;
            for (std::size_t i = 0; i < row.size(); ++i) {
                const std::string_view gap = i == 0 ? "" : "  ";
                line += columns_[i].align == Align::Left ? fmt::format("{}{:<{}}", gap, row[i], width(i))
                                                         : fmt::format("{}{:>{}}", gap, row[i], width(i));
            }
            line.erase(line.find_last_not_of(' ') + 1);
            lines.push_back(std::move(line));
        }
        return lines;
    }

  private:
    [[nodiscard]] std::size_t width(std::size_t column) const {
        std::size_t widest = 0;
        for (const auto& row : rows_) {
            widest = std::max(widest, row[column].size());
        }
        return widest;
    }

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Median time of the same operation on as many elements of the same type by another variant.
[[nodiscard]] std::optional<double> medianUsOf(std::string_view variant, const Outcome& like,
                                               std::span<const Outcome> outcomes) {
    const auto found = std::ranges::find_if(outcomes, [&](const Outcome& other) {
        return sameSubject(other.variant, like.variant) && other.variant.name == variant && other.n == like.n &&
               other.shape == like.shape && other.status == Status::Passed;
    });
    return found != outcomes.end() ? std::optional(found->time.us.median) : std::nullopt;
}

[[nodiscard]] std::string speedup(std::optional<double> baselineUs, double us) {
    if (!baselineUs) {
        return std::string(nothing);
    }
    const double times = *baselineUs / us;
    return times < 0.1 ? fmt::format("{:.1g}", times) : fmt::format("{:.2f}", times);
}

[[nodiscard]] std::vector<std::string> tableRow(const Outcome& outcome, std::span<const Outcome> all) {
    std::vector<std::string> cells{fmt::format("{}{}", name(outcome.variant.operation), ofType(outcome.variant)),
                                   std::string(outcome.variant.name), sizeOf(outcome.n, outcome.shape)};
    if (outcome.status == Status::Failed) {
        cells.emplace_back("FAILED");
        cells.resize(9, std::string(nothing));
        return cells;
    }
    const double us = outcome.time.us.median;
    const auto percent = outcome.percentOfCopy();
    cells.push_back(us < 10 ? fmt::format("{:.3g}", us) : fmt::format("{:.1f}", us));
    cells.push_back(fmt::format("{:.3f}", outcome.gigaelementsPerSecond()));
    cells.push_back(fmt::format("{:.2f}", outcome.gigabytesPerSecond()));
    cells.push_back(percent ? fmt::format("{:.1f}", *percent) : std::string(nothing));
    cells.push_back(speedup(medianUsOf(serialCpuVariant, outcome, all), us));
    cells.push_back(speedup(medianUsOf(thrustVariant, outcome, all), us));
    return cells;
}

}  // namespace

void Report::setting(const Setting& setting) {
    const auto line = [this](std::string_view label, std::string_view text) {
        out_ << fmt::format("{:<10}{}\n", label, text);
    };
    line("GPU", setting.gpu);
    if (setting.cuda) {
        line("CUDA", *setting.cuda);
    }
    line("CPU", setting.cpu);
    line("Compiler", setting.compiler);
    line("Commit", setting.commit);
}

void Report::section(Operation operation, ElementType type, std::string_view inputName, const Problem& problem) {
    const std::string stars(heading(operation).size() + 6, '*');
    out_ << fmt::format("\n{}\n", paint(Color::Bold, fmt::format("{0}\n** {1} **\n{0}", stars, heading(operation))));
    out_ << fmt::format("    {} elements{}, {}\n    {}\n", sizeOf(problem.size(), problem.shape()),
                        ofType(operation, type), inputName, problem.abridgedInput())
         << std::flush;
}

void Report::outcome(const Outcome& outcome) {
    const Variant& variant = outcome.variant;
    out_ << paint(Color::Bold, fmt::format("==== {}{}, {} ====", variant.title, ofType(variant), sizeClass(outcome)))
         << '\n';
    switch (outcome.status) {
        case Status::Passed:
            out_ << fmt::format("   elapsed time: {:.6f}ms    ({} Measured)\n", outcome.time.us.median / 1000,
                                variant.hardware == Hardware::Cpu ? "std::chrono" : "CUDA");
            out_ << fmt::format("    {}\n", paint(Color::Green, "passed"));
            break;
        case Status::Failed:
            out_ << fmt::format("    {}\n", paint(Color::Red, "FAILED: " + outcome.reason));
            break;
        case Status::Skipped:
            out_ << fmt::format("    {}\n", paint(Color::Yellow, "skipped: " + outcome.reason));
            break;
    }
    out_ << std::flush;
}

void Report::table(std::span<const Outcome> outcomes) {
    using enum Table::Align;
    Table table({{"operation", Left},
                 {"variant", Left},
                 {"n", Right},
                 {"median us", Right},
                 {"Gelements/s", Right},
                 {"GB/s", Right},
                 {"% of copy", Right},
                 {"x serial CPU", Right},
                 {"x Thrust", Right}});
    std::vector<const Outcome*> shown;
    for (const Outcome& outcome : outcomes) {
        if (outcome.status != Status::Skipped) {
            table.addRow(tableRow(outcome, outcomes));
            shown.push_back(&outcome);
        }
    }
    if (shown.empty()) {
        return;
    }
    const auto lines = table.lines();
    out_ << '\n' << paint(Color::Bold, lines.front()) << '\n';
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (i > 0 && !sameSubject(shown[i]->variant, shown[i - 1]->variant)) {
            out_ << '\n';
        }
        const bool failed = shown[i]->status == Status::Failed;
        out_ << (failed ? paint(Color::Red, lines[i + 1]) : lines[i + 1]) << '\n';
    }
}

void Report::summary(std::span<const Outcome> outcomes) {
    const std::size_t failed = count(outcomes, Status::Failed);
    const std::string text = fmt::format("{} passed, {} failed, {} skipped", count(outcomes, Status::Passed), failed,
                                         count(outcomes, Status::Skipped));
    out_ << '\n' << paint(failed > 0 ? Color::Red : Color::Green, text) << '\n';
}

void Report::list(std::span<const Variant> variants) {
    using enum Table::Align;
    Table table({{"operation", Left}, {"variant", Left}, {"runs on", Left}, {"what", Left}, {"block sizes", Left}});
    for (const Variant& variant : variants) {
        table.addRow({fmt::format("{}{}", name(variant.operation), ofType(variant)), std::string(variant.name),
                      std::string(hardwareName(variant.hardware)), std::string(variant.title),
                      variant.blockSizes.empty() ? std::string(nothing)
                                                 : fmt::format("{}", fmt::join(variant.blockSizes, " "))});
    }
    for (const std::string& line : table.lines()) {
        out_ << line << '\n';
    }
}

std::string Report::paint(Color color, std::string text) const {
    if (!color_) {
        return text;
    }
    const auto code = [color] {
        switch (color) {
            case Color::Bold:
                return 1;
            case Color::Red:
                return 31;
            case Color::Green:
                return 32;
            case Color::Yellow:
                return 33;
        }
        return 0;
    }();
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::size_t count(std::span<const Outcome> outcomes, Outcome::Status status) {
    return static_cast<std::size_t>(std::ranges::count(outcomes, status, &Outcome::status));
}

}  // namespace Bench
