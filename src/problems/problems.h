#pragma once

#include <stream_compaction/utf8/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cli/values.h"
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

/// What a conversion leaves: its output, of which the first `result.count` elements count.
template <typename To>
struct Converted {
    Array<To> elements;
    StreamCompaction::Utf8::Result result{};
};

template <typename From, typename To>
using ConversionProblem = ProblemOn<From, Converted<To>>;

/// What a validation leaves.
using ValidationProblem = ProblemOn<std::uint8_t, StreamCompaction::Utf8::Result>;

/// The conversion or validation of the first elements of one text, a problem for each of the sizes.
template <typename From>
[[nodiscard]] std::vector<std::unique_ptr<Problem>> textProblemsOn(Operation operation, Array<From> text,
                                                                   std::span<const std::size_t> sizes);

/// The same on a text of that pattern.
[[nodiscard]] std::vector<std::unique_ptr<Problem>> makeTextProblems(Operation operation, InputPattern pattern,
                                                                     std::span<const std::size_t> sizes,
                                                                     std::uint64_t seed);

}  // namespace Bench
