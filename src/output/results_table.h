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

/// Lines up columns: the texts of a row of cells, padded to the widest of each column.
class Table {
  public:
    enum class Align { Left, Right };

    struct Column {
        std::string_view title;
        Align align;
    };

    explicit Table(std::vector<Column> columns);

    /// A cell for each column.
    void addRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    /// The lines, the titles first.
    [[nodiscard]] std::vector<std::string> lines() const;
    /// The same as Markdown has tables.
    [[nodiscard]] std::vector<std::string> markdownLines() const;

  private:
    /// Of the widest cell of each column.
    [[nodiscard]] std::vector<std::size_t> widths() const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// ` of int64` behind what is not about the classic ints.
[[nodiscard]] std::string ofType(Operation operation, ElementType type);

/// The elements of an array, or the shape of a matrix.
[[nodiscard]] std::string sizeOf(std::size_t n, std::optional<Shape> shape);

/// Whether it has a row in the table: what was timed, and what has failed.
[[nodiscard]] bool isInTable(const Outcome& outcome);

/// Those that have a row, in their order; inputs, block sizes and modes where there are several.
[[nodiscard]] Table resultsTable(std::span<const Outcome> outcomes);

/// Where the run was made, as a list, and the closing table.
void writeMarkdown(std::ostream& out, const RunContext& context, std::span<const Outcome> outcomes);

}  // namespace Bench
