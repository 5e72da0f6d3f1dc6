#include "output/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace Bench {

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    std::vector<std::string>& titles = rows_.emplace_back();
    for (const Column& column : columns_) {
        titles.emplace_back(column.title);
    }
}

void Table::write(std::ostream& out) const {
    std::vector<std::size_t> widths(columns_.size());
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string_view gap = i == 0 ? "" : "  ";
            line += columns_[i].align == Align::Left ? fmt::format("{}{:<{}}", gap, row[i], widths[i])
                                                     : fmt::format("{}{:>{}}", gap, row[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out << line << '\n';
    }
}

}  // namespace Bench
