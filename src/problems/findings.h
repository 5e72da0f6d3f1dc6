#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "problems/chunks.h"
#include "problems/problem.h"

/// Results are checked against the input, in chunks on all cores.
namespace Bench {

using Finding = std::optional<std::string>;

/// The sums of `totalOf(begin, end)` over the chunks before each chunk, and at the end over all chunks.
template <typename Total, typename TotalOf>
[[nodiscard]] std::vector<Total> totalsBefore(std::size_t n, const TotalOf& totalOf) {
    std::vector<Total> totals(chunksOf(n) + 1);
    forEachChunk(n,
                 [&](std::size_t chunk, std::size_t begin, std::size_t end) { totals[chunk] = totalOf(begin, end); });
    std::exclusive_scan(totals.begin(), totals.end(), totals.begin(), Total{});
    return totals;
}

/// The finding of the first chunk in which `find(chunk, begin, end)` finds an error.
template <typename Find>
[[nodiscard]] Finding firstFinding(std::size_t n, const Find& find) {
    std::vector<Finding> findings(chunksOf(n));
    forEachChunk(
        n, [&](std::size_t chunk, std::size_t begin, std::size_t end) { findings[chunk] = find(chunk, begin, end); });
    const auto first = std::ranges::find_if(findings, &Finding::has_value);
    return first != findings.end() ? std::move(*first) : std::nullopt;
}

/// Of the errors that `worstIn(chunk, begin, end)` finds, the one that is most times its bound.
template <typename WorstIn>
[[nodiscard]] RoundingError worstError(std::size_t n, const WorstIn& worstIn) {
    std::vector<RoundingError> errors(chunksOf(n) + 1);
    forEachChunk(
        n, [&](std::size_t chunk, std::size_t begin, std::size_t end) { errors[chunk] = worstIn(chunk, begin, end); });
    return std::ranges::max(errors, {}, &RoundingError::timesBound);
}

template <typename Expected, typename Got>
[[nodiscard]] std::string mismatchAt(std::size_t index, Expected expected, Got got) {
    return fmt::format("first mismatch at index {}: expected {}, got {}", index, expected, got);
}

[[nodiscard]] inline Finding wrongCount(std::size_t expected, std::size_t got) {
    return expected == got ? std::nullopt
                           : Finding(fmt::format("wrong count: expected {} elements, got {}", expected, got));
}

}  // namespace Bench
