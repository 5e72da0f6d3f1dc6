#pragma once

#include <stream_compaction/utf8/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "cli/values.h"
#include "problems/operations.h"
#include "problems/problem.h"

namespace Bench {

/// The problems of an operation on the first elements of one array, one per part. For row sums, each part stands for a
/// nearly square matrix. For each of AllTypes.
template <typename T>
[[nodiscard]] std::vector<std::unique_ptr<Problem>> problemsOn(Operation operation, Array<T> input,
                                                               std::span<const Part> parts);

/// The problems of an operation on the first elements of an array of that pattern, one per size. The array has as many
/// elements as the largest size. With several ranks each has its share of these elements.
[[nodiscard]] std::vector<std::unique_ptr<Problem>> makeProblems(Operation operation, ElementType type,
                                                                 InputPattern pattern,
                                                                 std::span<const std::size_t> sizes, std::uint64_t seed,
                                                                 const World& world = alone);

/// Row sums of matrices of these shapes. All of them begin at the start of one array of that pattern.
[[nodiscard]] std::vector<std::unique_ptr<Problem>> makeRowSumProblems(ElementType type, InputPattern pattern,
                                                                       std::span<const Shape> shapes,
                                                                       std::uint64_t seed);

/// The result of a conversion: its output, of which the first `result.count` elements are valid.
template <typename To>
struct Converted {
    Array<To> elements;
    StreamCompaction::Utf8::Result result{};
};

/// What becomes of ill-formed text in all problems. As a type, so that variants compile kernels for nothing else.
using Replaced = StreamCompaction::Utf8::Always<StreamCompaction::Utf8::Errors::Replace>;

template <typename From, typename To>
using ConversionProblem = ProblemOn<From, Converted<To>>;

/// The result of a validation.
using ValidationProblem = ProblemOn<std::uint8_t, StreamCompaction::Utf8::Result>;

/// The problems of converting or validating the first elements of one text, one per part. What comes from a rank's part
/// stays there, and all ranks get the result of the whole text.
template <typename From>
[[nodiscard]] std::vector<std::unique_ptr<Problem>> textProblemsOn(Operation operation, Array<From> text,
                                                                   std::span<const Part> parts);

/// The same on a text of that pattern, one per size. With several ranks each has its share of each text.
[[nodiscard]] std::vector<std::unique_ptr<Problem>> makeTextProblems(Operation operation, InputPattern pattern,
                                                                     std::span<const std::size_t> sizes,
                                                                     std::uint64_t seed, const World& world = alone);

/// The same on the first bytes of a file.
[[nodiscard]] std::vector<std::unique_ptr<Problem>> makeFileProblems(Operation operation,
                                                                     const std::filesystem::path& file,
                                                                     std::span<const std::size_t> sizes,
                                                                     const World& world = alone);

}  // namespace Bench
