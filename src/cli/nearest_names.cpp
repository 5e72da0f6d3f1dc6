#include "cli/nearest_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace Bench {
namespace {

/// Levenshtein distance: the minimum number of letters to insert, delete or replace.
[[nodiscard]] std::size_t editDistance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (const char letter : a) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (letter == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

[[nodiscard]] std::size_t distance(std::string_view typed, std::string_view name) {
    constexpr std::size_t shortestPart = 3;
    if (typed.size() >= shortestPart && name.find(typed) != std::string_view::npos) {
        return 1;  // an abbreviation such as "opt" for "efficient-optimized" counts as one error
    }
    return editDistance(typed, name);
}

}  // namespace

std::vector<std::string_view> nearestNames(std::string_view typed, std::span<const std::string_view> known) {
    constexpr std::size_t most = 3;
    const std::size_t farthest = std::max<std::size_t>(2, typed.size() / 3);
    std::vector<std::pair<std::size_t, std::string_view>> near;
    for (const std::string_view name : known) {
        if (const std::size_t away = distance(typed, name); away <= farthest) {
            near.emplace_back(away, name);
        }
    }
    std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
    std::vector<std::string_view> names;
    for (const auto& [away, name] : near) {
        if (names.size() < most) {
            names.push_back(name);
        }
    }
    return names;
}

std::string unknownName(std::string_view kind, std::string_view typed, std::span<const std::string_view> known) {
    const auto near = nearestNames(typed, known);
    if (near.empty()) {
        return fmt::format("unknown {} '{}': expected {}", kind, typed, fmt::join(known, ", "));
    }
    return fmt::format("unknown {} '{}': did you mean {}?", kind, typed, fmt::join(near, " or "));
}

}  // namespace Bench
