#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/values.h"
#include "problems/elements.h"

namespace Bench {

/// One operation on one input: what a variant is given, and how its result is judged.
class Problem {
  public:
    virtual ~Problem() = default;

    /// Elements of the input.
    [[nodiscard]] virtual std::size_t size() const = 0;
    /// Elements of the result that a run needs room for.
    [[nodiscard]] virtual std::size_t resultSize() const { return size(); }
    /// Rows and columns, of a problem on a matrix.
    [[nodiscard]] virtual std::optional<Shape> shape() const { return std::nullopt; }
    /// The input as the report shows it.
    [[nodiscard]] virtual std::string abridgedInput() const = 0;
    /// Bytes that any implementation has to read and write: each input element read once, each result written once.
    [[nodiscard]] virtual std::size_t bytesMoved() const = 0;
    /// What is wrong with the result that a run has left, such as `first mismatch at index 3: expected 6, got 7`, or
    /// nothing.
    [[nodiscard]] virtual std::optional<std::string> mismatch() const = 0;
};

/// A problem as the variants see it that can solve it: an array in, and room for what comes out.
template <typename In, typename Out>
class ProblemOn : public Problem {
  public:
    /// Shared by problems that differ in size only: the first touch of fresh memory takes longer than the checks.
    struct Memory {
        Array<In> input;
        Out result{};
    };

    ProblemOn(std::shared_ptr<Memory> memory, std::size_t size) : memory_(std::move(memory)), size_(size) {}

    [[nodiscard]] std::size_t size() const override { return size_; }
    [[nodiscard]] std::span<const In> input() const { return std::span(memory_->input).first(size_); }

    /// Where a run leaves its result to be checked.
    [[nodiscard]] Out& result() { return memory_->result; }
    [[nodiscard]] const Out& result() const { return memory_->result; }

  private:
    std::shared_ptr<Memory> memory_;
    std::size_t size_;
};

/// Problems on the first elements of one array, one for each of the sizes or shapes.
template <typename SomeProblem, typename T, typename Extent>
[[nodiscard]] std::vector<std::unique_ptr<Problem>> problemsOfKind(Array<T> input, std::span<const Extent> extents) {
    auto memory = std::make_shared<typename SomeProblem::Memory>();
    memory->input = std::move(input);
    std::vector<std::unique_ptr<Problem>> problems;
    for (const Extent extent : extents) {
        problems.push_back(std::make_unique<SomeProblem>(memory, extent));
    }
    return problems;
}

/// The two results of a partition.
template <typename T>
struct Parts {
    Array<T> kept;
    Array<T> rejected;
};

/// The index that a key had before the pairs were sorted.
using PairValue = std::int32_t;

template <typename K>
struct Pairs {
    Array<K> keys;
    Array<PairValue> values;
};

template <typename T>
using ScanProblem = ProblemOn<T, Array<SumOf<T>>>;
template <typename T>
using CompactProblem = ProblemOn<T, Array<T>>;
template <typename T>
using PartitionProblem = ProblemOn<T, Parts<T>>;
template <typename T>
using SortProblem = ProblemOn<T, Array<T>>;
template <typename K>
using SortPairsProblem = ProblemOn<K, Pairs<K>>;

/// A matrix whose rows follow one another without gaps.
template <typename T>
class RowSumProblem : public ProblemOn<T, Array<SumOf<T>>> {
  public:
    using Memory = typename ProblemOn<T, Array<SumOf<T>>>::Memory;

    RowSumProblem(std::shared_ptr<Memory> memory, Shape shape)
        : ProblemOn<T, Array<SumOf<T>>>(std::move(memory), shape.size()), shape_(shape) {}

    [[nodiscard]] std::size_t rows() const { return shape_.rows; }
    [[nodiscard]] std::size_t cols() const { return shape_.cols; }
    [[nodiscard]] std::size_t resultSize() const override { return shape_.rows; }
    [[nodiscard]] std::optional<Shape> shape() const override { return shape_; }

  private:
    Shape shape_;
};

}  // namespace Bench
