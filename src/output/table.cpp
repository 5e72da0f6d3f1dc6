#include "output/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace Bench {
namespace {

/// With the characters escaped that would end the cell.
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

}  // namespace Bench
