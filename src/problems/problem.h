#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/values.h"
#include "problems/elements.h"
#include "problems/share.h"
#include "world/world.h"

namespace Bench {

/// How far an element of a result is from the exact one.
struct RoundingError {
    std::size_t index = 0;
    double error = 0;
    double bound = 0;          ///< that a right result keeps
    double anyOrderBound = 0;  ///< that rounding keeps in any order of the additions

    /// Infinite for what is no number, or for any error where there is no rounding.
    [[nodiscard]] double timesBound() const {
        if (error == 0) {
            return 0;
        }
        return std::isnan(error) ? std::numeric_limits<double>::infinity() : error / bound;
    }
};

/// What this rank has of an array.
struct Part {
    std::size_t total;            ///< elements of all ranks
    Share share{0, total};        ///< of this rank
    const World* world = &alone;  ///< the ranks
};

/// The even share of this rank.
[[nodiscard]] inline Part partOf(std::size_t total, const World& world) {
    return {total, shareOf(total, world.size(), world.rank()), &world};
}

/// One operation on one input, and the check of its result. If the input is spread over ranks, each has its part of the
/// input and of the result, and all check together.
class Problem {
  public:
    virtual ~Problem() = default;

    /// Elements of the input on this rank.
    [[nodiscard]] virtual std::size_t size() const = 0;
    /// Elements of the input on all ranks.
    [[nodiscard]] virtual std::size_t total() const = 0;
    /// Elements that the result must have room for.
    [[nodiscard]] virtual std::size_t resultSize() const { return size(); }
    /// Rows and columns, if the input is a matrix.
    [[nodiscard]] virtual std::optional<Shape> shape() const { return std::nullopt; }
    /// Bytes that any implementation must move on all ranks: each input element is read once, each element of the
    /// result is written once.
    [[nodiscard]] virtual std::size_t bytesMoved() const = 0;
    /// The first error in the result of the last run, such as `first mismatch at index 3: expected 6, got 7`; empty if
    /// there is none. All ranks must call it. An error that only one of them can see is found by that one.
    [[nodiscard]] virtual std::optional<std::string> mismatch() const = 0;
    /// Of the errors in the result, the one that is most times its bound. Empty if the operation does not round, or if
    /// the result has a wrong length.
    [[nodiscard]] virtual std::optional<RoundingError> roundingError() const { return std::nullopt; }
};

/// A problem with its input and its result, as the variants use it.
template <typename In, typename Out>
class ProblemOn : public Problem {
  public:
    /// Shared by problems that differ only in size, because the first access to new memory takes longer than the
    /// checks.
    struct Memory {
        Array<In> input;
        Out result{};
    };

    ProblemOn(std::shared_ptr<Memory> memory, Part part) : memory_(std::move(memory)), part_(part) {}
    /// Of a whole array.
    ProblemOn(std::shared_ptr<Memory> memory, std::size_t size) : ProblemOn(std::move(memory), Part{size}) {}

    [[nodiscard]] std::size_t size() const override { return part_.share.size; }
    [[nodiscard]] std::size_t total() const override { return part_.total; }
    [[nodiscard]] std::span<const In> input() const { return std::span(memory_->input).first(size()); }

    /// A run stores its result here; the problem checks it.
    [[nodiscard]] Out& result() { return memory_->result; }
    [[nodiscard]] const Out& result() const { return memory_->result; }

  protected:
    /// The index of the first element of this rank.
    [[nodiscard]] std::size_t begin() const { return part_.share.begin; }
    [[nodiscard]] const World& world() const { return *part_.world; }

  private:
    std::shared_ptr<Memory> memory_;
    Part part_;
};

/// Problems on the first elements of one array, one per size or shape.
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

/// Problems of these sizes, on the rank's shares of arrays. `inputOf(share)` makes a share of the largest array, and
/// `problemsOn(input, parts)` makes the problems on the first elements of one.
template <typename InputOf, typename ProblemsOn>
[[nodiscard]] std::vector<std::unique_ptr<Problem>> problemsOfSizes(std::span<const std::size_t> sizes,
                                                                    const World& world, const InputOf& inputOf,
                                                                    const ProblemsOn& problemsOn) {
    std::vector<Part> parts;
    std::ranges::transform(sizes, std::back_inserter(parts), [&world](std::size_t n) { return partOf(n, world); });
    if (world.isAlone()) {
        return problemsOn(inputOf(Share{0, std::ranges::max(sizes)}), std::span<const Part>(parts));
    }
    // A rank's shares of different sizes begin at different elements.
    std::vector<std::unique_ptr<Problem>> problems;
    problems.reserve(parts.size());
    for (const Part& part : parts) {
        problems.push_back(std::move(problemsOn(inputOf(part.share), std::span(&part, 1)).front()));
    }
    return problems;
}

/// The two results of a partition.
template <typename T>
struct Parts {
    Array<T> kept;
    Array<T> rejected;
};

/// The value of a key: its index before a sort or a reduction by key, whose sums wrap, or the length of a run.
using PairValue = std::int32_t;

template <typename K>
struct Pairs {
    Array<K> keys;
    Array<PairValue> values;
};

/// An element of a compaction by flags, and its flag, which says whether the input's element is not zero.
struct alignas(16) Record {
    std::uint64_t index;
    std::uint64_t complement;

    bool operator==(const Record&) const = default;
};
using Flag = std::uint8_t;

/// Element i.
[[nodiscard]] constexpr Record recordAt(std::uint64_t i) { return {i, ~i}; }

/// The number of elements in a bin of a histogram.
using BinCount = std::uint32_t;

/// The number in the first bin of a histogram of elements of type T: the lowest byte, or zero.
template <typename T>
inline constexpr std::int32_t firstBin = sizeof(T) == 1 ? std::numeric_limits<T>::lowest() : 0;

template <typename T>
using ScanProblem = ProblemOn<T, Array<SumOf<T>>>;
template <typename T>
using CompactProblem = ProblemOn<T, Array<T>>;
template <typename T>
using CompactFlaggedProblem = ProblemOn<T, Array<Record>>;
template <typename T>
using PartitionProblem = ProblemOn<T, Parts<T>>;
/// A stable partition by the lowest byte.
template <typename T>
using MultiPartitionProblem = ProblemOn<T, Array<T>>;
template <typename T>
using SortProblem = ProblemOn<T, Array<T>>;
template <typename K>
using SortPairsProblem = ProblemOn<K, Pairs<K>>;
/// A scan of each segment.
template <typename T>
using SegmentedScanProblem = ProblemOn<T, Array<SumOf<T>>>;
/// A sort of each segment.
template <typename T>
using SegmentedSortProblem = ProblemOn<T, Array<T>>;
template <typename T>
using UniqueProblem = ProblemOn<T, Array<T>>;
template <typename K>
using RunsProblem = ProblemOn<K, Pairs<K>>;

/// Elements in no bin are not counted.
template <typename T, std::size_t bins>
class HistogramProblem : public ProblemOn<T, Array<BinCount>> {
  public:
    using ProblemOn<T, Array<BinCount>>::ProblemOn;

    [[nodiscard]] std::size_t resultSize() const override { return bins; }
};
template <typename T>
using NarrowHistogramProblem = HistogramProblem<T, std::size_t{1} << 8>;
template <typename T>
using WideHistogramProblem = HistogramProblem<T, std::size_t{1} << 16>;

/// The smallest elements of n, one of 1024, in any order.
template <typename T>
class TopKProblem : public ProblemOn<T, Array<T>> {
  public:
    using ProblemOn<T, Array<T>>::ProblemOn;

    [[nodiscard]] static constexpr std::size_t firstOf(std::size_t n) { return n / 1024 + (n % 1024 != 0 ? 1 : 0); }
    [[nodiscard]] std::size_t resultSize() const override { return firstOf(this->size()); }
};

/// A matrix without gaps between its rows.
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
