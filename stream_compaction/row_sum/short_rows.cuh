#pragma once

#include "stream_compaction/primitives/bulk_copy.cuh"
#include "stream_compaction/primitives/target.cuh"
#include "stream_compaction/row_sum/teams.cuh"

namespace StreamCompaction::RowSum {

/// A run of elements of an array on its way into shared memory, by all threads of the block: wherever it begins, in
/// pieces of 16 aligned bytes, of which the first and the last may hold neighbours of the run, but nothing from outside
/// the array. The copy engine takes them where there is one. What such pieces cannot cover at the ends of the array
/// comes element by element.
template <typename In>
class RunLoader {
  public:
    __device__ RunLoader(const In* array, std::size_t n, std::size_t first, unsigned count)
        : begin_(array + first), end_(begin_ + count), origin_(address(begin_) / sharedAlignment * sharedAlignment) {
        const std::uintptr_t roundedBegin = address(begin_) / width * width;
        const std::uintptr_t roundedEnd = (address(end_) + width - 1) / width * width;
        from_ = roundedBegin >= address(array) ? roundedBegin : roundedBegin + width;
        to_ = roundedEnd <= address(array + n) ? roundedEnd : roundedEnd - width;
        if (to_ <= from_) {
            from_ = to_ = address(begin_);
        }
    }

    /// The copy engine is fastest between addresses that are alike in their last seven bits.
    static constexpr std::uintptr_t sharedAlignment = 128;

    /// Bytes of shared memory for a run of so many.
    [[nodiscard]] static constexpr std::size_t sharedBytes(std::size_t bytes) {
        return sharedAlignment + bytes + width;
    }

    /// Returns the run's first element in shared memory, once all is there; with a barrier in it.
    [[nodiscard]] __device__ const In* load(std::byte* shared, BulkCopy& copy) const {
        const auto place = [&](std::uintptr_t of) { return shared + (of - origin_); };
        const auto bytes = static_cast<unsigned>(to_ - from_);
        if (threadIdx.x == 0) {
            copy.initialize();
            if (bytes > 0) {
                copy.start(place(from_), reinterpret_cast<const void*>(from_), bytes);
            }
        }
        if (!BulkCopy::isAvailable()) {
            for (std::uintptr_t at = from_ + threadIdx.x * width; at < to_; at += blockDim.x * width) {
                using Piece = Vector<std::byte, width>;
                copyVector(reinterpret_cast<Piece*>(place(at)), reinterpret_cast<const Piece*>(at));
            }
        }
        copyElements(begin_, reinterpret_cast<const In*>(from_), place);
        copyElements(reinterpret_cast<const In*>(to_), end_, place);
        __syncthreads();
        if (bytes > 0) {
            copy.wait(0);
        }
        return reinterpret_cast<const In*>(place(address(begin_)));
    }

  private:
    static constexpr std::uintptr_t width = BulkCopy::alignment;

    [[nodiscard]] __device__ static std::uintptr_t address(const In* element) {
        return reinterpret_cast<std::uintptr_t>(element);
    }

    template <typename Place>
    __device__ static void copyElements(const In* from, const In* to, const Place& place) {
        for (const In* at = from + threadIdx.x; at < to; at += blockDim.x) {
            *reinterpret_cast<In*>(place(address(at))) = *at;
        }
    }

    const In* begin_;
    const In* end_;
    std::uintptr_t origin_;  ///< of the first byte of shared memory
    std::uintptr_t from_;    ///< of the pieces
    std::uintptr_t to_;
};

/// Threads of a block, and bytes that a tile has at least, where that many rows make whole rounds of them.
inline constexpr int tileThreads = 64;
inline constexpr std::size_t tileBytes = 4096;

[[nodiscard]] constexpr std::size_t rowsATile(std::size_t rowBytes) {
    return tileThreads * std::max<std::size_t>(1, tileBytes / (tileThreads * rowBytes));
}

/// Row sums of short rows that follow one another without gaps: a block's rows are one run of bytes, which comes to
/// shared memory in whole pieces whatever the length of a row; then each thread adds up rows of its own.
///
/// Threads of a warp begin at different columns where the same column would lie in the same bank for several of them.
/// A row has four accumulators, so that its additions are no longer a chain than those of a tree would be by the bound.
///
/// Work O(n), steps O(cols). Reads each element once; DRAM bandwidth limits it.
template <typename In, typename Acc>
__global__ void __launch_bounds__(tileThreads) kernSumByTile(Matrix<In> matrix, unsigned rowsOfTile, Acc* out) {
    constexpr unsigned banks = 32;
    constexpr int accumulators = 4;
    __shared__ BulkCopy copy;
    const auto cols = static_cast<unsigned>(matrix.cols);
    const std::size_t firstRow = std::size_t{blockIdx.x} * rowsOfTile;
    const auto rows = static_cast<unsigned>(min(std::size_t{rowsOfTile}, matrix.rows - firstRow));

    const RunLoader<In> loader(matrix.elements, matrix.rows * cols, firstRow * cols, rows * cols);
    const In* const tile = loader.load(&dynamicShared<std::byte>(), copy);

    // Of the lanes, as many as the largest power of two in `cols` says have the same column in the same bank.
    const unsigned firstColumn = Warp::lane() * min(cols & -cols, banks) / banks;
    for (unsigned row = threadIdx.x; row < rows; row += tileThreads) {
        Acc sums[accumulators] = {};
        const In* const begin = tile + row * cols;
        const In* element = begin + firstColumn;
        const auto addNext = [&](int accumulator) {
            sums[accumulator] = Common::wrappingAdd(sums[accumulator], static_cast<Acc>(*element));
            element = element + 1 == begin + cols ? begin : element + 1;
        };
        unsigned done = 0;
        for (; done + accumulators <= cols; done += accumulators) {
#pragma unroll
            for (int i = 0; i < accumulators; ++i) {
                addNext(i);
            }
        }
#pragma unroll
        for (int i = 0; i < accumulators - 1; ++i) {
            if (done + i < cols) {
                addNext(i);
            }
        }
        out[firstRow + row] = sumAsTree(sums);
    }
}

}  // namespace StreamCompaction::RowSum
