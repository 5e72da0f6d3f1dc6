#pragma once

#include <span>
#include <string>

#include "output/table.h"
#include "variants/outcome.h"

namespace Bench {

/// ` of int64` behind what is not about the classic ints.
[[nodiscard]] std::string ofType(Operation operation, ElementType type);

/// The elements of an array, or the shape of a matrix.
[[nodiscard]] std::string sizeOf(std::size_t n, std::optional<Shape> shape);

/// Whether it has a row in the table: what was timed, and what has failed.
[[nodiscard]] bool isInTable(const Outcome& outcome);

/// Those that have a row, in their order; inputs, block sizes and modes where there are several.
[[nodiscard]] Table resultsTable(std::span<const Outcome> outcomes);

}  // namespace Bench
