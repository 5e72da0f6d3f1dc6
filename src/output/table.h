#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

    /// Writes the lines, the titles first.
    void write(std::ostream& out) const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace Bench
