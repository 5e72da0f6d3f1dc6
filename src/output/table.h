#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace Bench
