#include "stream_compaction/cpu/row_sum.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "stream_compaction/cpu/vector_sum.h"
#include "stream_compaction/runtime/arguments.h"

namespace StreamCompaction::CPU {

namespace {

/// Pairwise summation: the sum of the sums of two halves, down to pieces of at most `most` elements, which `sumOf` adds
/// up.
template <std::size_t most, typename T, typename SumOf>
[[nodiscard]] T sumPairwise(std::span<const T> elements, const SumOf& sumOf) {
    if (elements.size() <= most) {
        return sumOf(elements);
    }
    // The first half consists of whole pieces.
    const std::size_t half = Common::divideRoundUp(elements.size() / 2, most) * most;
    return Common::wrappingAdd(sumPairwise<most>(elements.first(half), sumOf),
                               sumPairwise<most>(elements.subspan(half), sumOf));
}

template <typename T>
[[nodiscard]] T sumOneByOne(std::span<const T> elements) {
    T sum{};
    for (const T x : elements) {
        sum = Common::wrappingAdd(sum, x);
    }
    return sum;
}

template <typename T>
[[nodiscard]] T sumOnOneCore(std::span<const T> elements) {
    constexpr std::size_t longestChain = 16;  // 15 additions, where the bound allows 2 * 2 log2(16)
    return sumPairwise<longestChain>(elements, sumOneByOne<T>);
}

template <typename T>
[[nodiscard]] T sumByVectors(std::span<const T> elements) {
    return sumPairwise<vectorSumPiece>(elements, [](std::span<const T> piece) { return vectorSum(piece); });
}

/// The number of elements that is worth a task of its own.
constexpr std::size_t taskSize = std::size_t{1} << 16;

/// Tasks halve the row, always at the same places.
template <typename T>
[[nodiscard]] T sumOnAllCores(std::span<const T> elements) {
    using Range = tbb::blocked_range<std::size_t>;
    return tbb::parallel_deterministic_reduce(
        Range(0, elements.size(), taskSize), T{},
        [&](const Range& range, T sum) {
            return Common::wrappingAdd(sum, sumByVectors(elements.subspan(range.begin(), range.size())));
        },
        [](T a, T b) { return Common::wrappingAdd(a, b); });
}

/// A matrix in host memory, and the array for its row sums.
template <typename T>
class HostMatrix {
  public:
    HostMatrix(int rows, int cols, T* out, const T* in)
        : rows_(static_cast<std::size_t>(rows)), cols_(static_cast<std::size_t>(cols)), out_(out), in_(in) {
        Arguments::requireHostMatrix(rows, cols, out, in);
    }

    void sumSerially() const {
        for (std::size_t r = 0; r < rows_; ++r) {
            out_[r] = sumOnOneCore(row(r));
        }
    }

    void sumInParallel() const {
        const std::size_t rowsATask = std::max<std::size_t>(1, taskSize / std::max<std::size_t>(1, cols_));
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rows_, rowsATask), [this](const auto& range) {
            for (std::size_t r = range.begin(); r != range.end(); ++r) {
                out_[r] = cols_ > taskSize ? sumOnAllCores(row(r)) : sumByVectors(row(r));
            }
        });
    }

  private:
    [[nodiscard]] std::span<const T> row(std::size_t r) const { return {in_ + r * cols_, cols_}; }

    std::size_t rows_;
    std::size_t cols_;
    T* out_;
    const T* in_;
};

template <typename T>
void sumRowsOf(int rows, int cols, T* out, const T* in) {
    const HostMatrix<T> matrix(rows, cols, out, in);
    timer().timeCpu([&] { matrix.sumSerially(); });
}

template <typename T>
void parallelSumRowsOf(int rows, int cols, T* out, const T* in) {
    const HostMatrix<T> matrix(rows, cols, out, in);
    timer().timeCpu([&] { matrix.sumInParallel(); });
}

}  // namespace

void sumRows(int rows, int cols, float* out, const float* in) { sumRowsOf(rows, cols, out, in); }
void sumRows(int rows, int cols, double* out, const double* in) { sumRowsOf(rows, cols, out, in); }
void sumRows(int rows, int cols, std::int32_t* out, const std::int32_t* in) { sumRowsOf(rows, cols, out, in); }

void parallelSumRows(int rows, int cols, float* out, const float* in) { parallelSumRowsOf(rows, cols, out, in); }
void parallelSumRows(int rows, int cols, double* out, const double* in) { parallelSumRowsOf(rows, cols, out, in); }
void parallelSumRows(int rows, int cols, std::int32_t* out, const std::int32_t* in) {
    parallelSumRowsOf(rows, cols, out, in);
}

}  // namespace StreamCompaction::CPU
