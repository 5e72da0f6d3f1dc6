#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cli/shapes.h"
#include "problems/operations.h"
#include "problems/problem.h"

namespace Bench {

/// The operation on the first elements of one array, a problem for each of the sizes; row sums of a nearly square
/// matrix of so many. For each of AllTypes.
template <typename T>
[[nodiscard]] std::vector<std::unique_ptr<Problem>> problemsOn(Operation operation, Array<T> input,
                                                               std::span<const std::size_t> sizes);

/// The same on an array of that pattern with as many elements as the largest size has.
[[nodiscard]] std::vector<std::unique_ptr<Problem>> makeProblems(Operation operation, ElementType type,
                                                                 InputPattern pattern,
                                                                 std::span<const std::size_t> sizes,
                                                                 std::uint64_t seed);

/// Row sums of matrices of these shapes, all at the beginning of one array of that pattern.
[[nodiscard]] std::vector<std::unique_ptr<Problem>> makeRowSumProblems(ElementType type, InputPattern pattern,
                                                                       std::span<const Shape> shapes,
                                                                       std::uint64_t seed);

}  // namespace Bench
