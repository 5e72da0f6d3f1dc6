#pragma once

#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "variants/run_context.h"
#include "variants/tester.h"

namespace Bench {

/// Aligns columns: each cell is padded to the widest cell of its column.
class Table {
  public:
    enum class Align { Left, Right };

    struct Column {
        std::string_view title;
        Align align;
    };

    explicit Table(std::vector<Column> columns);

    /// One cell per column.
    void addRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    /// The lines, the titles first.
    [[nodiscard]] std::vector<std::string> lines() const;
    /// The same as a Markdown table.
    [[nodiscard]] std::vector<std::string> markdownLines() const;

  private:
    /// Width of the widest cell of each column.
    [[nodiscard]] std::vector<std::size_t> widths() const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// A cell without a figure.
inline constexpr std::string_view nothing = "-";

/// ` of int64`; empty for the default type.
[[nodiscard]] std::string ofType(Operation operation, ElementType type);

/// The number of elements, or the shape of a matrix.
[[nodiscard]] std::string sizeOf(std::size_t n, std::optional<Shape> shape);

/// The number of trials; `2 of 15` if the time ran out.
[[nodiscard]] std::string trialsOf(const Timing& time);

/// Half the width of the median's 95 % interval, in percent; `-` if there were too few trials.
[[nodiscard]] std::string noiseOf(const Timing& time);

/// The host's microseconds to enqueue the work; `-` if it was not all enqueued before it began.
[[nodiscard]] std::string enqueueOf(const Timing& time);

/// Whether the table has a row for it: timed and failed measurements have one.
[[nodiscard]] bool isInTable(const Outcome& outcome);

/// The outcomes that have a row, in their order, with columns for inputs, block sizes and modes if these vary, for
/// GPUs if there are several, and for trials if the time ran out.
[[nodiscard]] Table resultsTable(std::span<const Outcome> outcomes);

/// How the text of writeMarkdown() begins.
inline constexpr std::string_view markdownBegin = "- GPU: ";

/// The machine as a list, and the closing table.
void writeMarkdown(std::ostream& out, const RunContext& context, std::span<const Outcome> outcomes);

}  // namespace Bench
