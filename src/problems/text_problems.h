#pragma once

#include <stream_compaction/utf8/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "problems/operations.h"
#include "problems/problem.h"

namespace Bench {

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
