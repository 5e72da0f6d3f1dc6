#pragma once

#include "stream_compaction/primitives/aligned_run.cuh"
#include "stream_compaction/primitives/bulk_copy.cuh"
#include "stream_compaction/primitives/target.cuh"
#include "stream_compaction/row_sum/teams.cuh"

namespace StreamCompaction::RowSum {

/// Threads per block. A tile has one row per thread, or a multiple of that while it stays within tileBytes.
inline constexpr int tileThreads = 64;
inline constexpr std::size_t tileBytes = 4096;

/// Loads a run of elements of an array into shared memory, by all threads of the block. The run may begin anywhere. It
/// is loaded in aligned pieces of 16 bytes. The first and the last piece may hold neighbours of the run, but nothing
/// from outside the array. Elements at the ends of the array that no piece covers are loaded one by one.
template <typename In>
class RunLoader {
  public:
    __device__ RunLoader(const In* array, std::size_t n, std::size_t first, unsigned count)
        : run_(
              piecesAround(address(array + first), address(array + first + count), address(array), address(array + n))),
          origin_(run_.begin & -sharedAlignment) {}

    /// The copy engine is fastest between addresses that are equal in their lowest seven bits.
    static constexpr std::uintptr_t sharedAlignment = 128;

    /// Bytes of shared memory for a run of `bytes` bytes.
    [[nodiscard]] static constexpr std::size_t sharedBytes(std::size_t bytes) {
        return sharedAlignment + bytes + BulkCopy::alignment;
    }

    /// Returns the run's first element in shared memory, once the whole run has been loaded. Contains a barrier. The
    /// first thread has initialised `copy`. `parity` is that of PieceCopy::wait.
    [[nodiscard]] __device__ const In* load(std::byte* shared, BulkCopy& copy, unsigned& parity) const {
        const auto place = [&](std::uintptr_t of) { return shared + (of - origin_); };
        const PieceCopy<tileThreads> pieces{place(run_.bulkBegin), reinterpret_cast<const void*>(run_.bulkBegin),
                                            static_cast<unsigned>(run_.bulkBytes())};
        if (threadIdx.x == 0) {
            pieces.start(copy);
        }
        pieces.copyByThreads();
        loadSingly(run_.begin, run_.bulkBegin, place);
        loadSingly(run_.bulkEnd, run_.end, place);
        __syncthreads();
        pieces.wait(copy, parity);
        return reinterpret_cast<const In*>(place(run_.begin));
    }

  private:
    [[nodiscard]] __device__ static std::uintptr_t address(const In* element) {
        return reinterpret_cast<std::uintptr_t>(element);
    }

    /// Loads the elements between two addresses.
    template <typename Place>
    __device__ static void loadSingly(std::uintptr_t begin, std::uintptr_t end, const Place& place) {
        for (std::uintptr_t at = begin + threadIdx.x * sizeof(In); at < end; at += tileThreads * sizeof(In)) {
            copyVector(reinterpret_cast<Vector<In, 1>*>(place(at)), reinterpret_cast<const Vector<In, 1>*>(at));
        }
    }

    AlignedRun<std::uintptr_t> run_;
    std::uintptr_t origin_;  ///< the address that the first byte of shared memory stands for
};

[[nodiscard]] constexpr std::size_t rowsPerTile(std::size_t rowBytes) {
    return tileThreads * std::max<std::size_t>(1, tileBytes / (tileThreads * rowBytes));
}

/// Row sums of short rows without gaps between them. The rows of a block are one run of bytes, which is loaded into
/// shared memory in aligned pieces, whatever the length of a row. Then each thread adds up whole rows.
///
/// Threads of a warp begin at different columns if the same column of their rows lies in the same bank. Each row has
/// four accumulators, which keep the rounding error within the bound of row_sum.h.
///
/// Work O(n), steps O(cols). Reads each element once. DRAM bandwidth is the limit.
template <typename In, typename Function, typename Rows, typename Acc>
__global__ void __launch_bounds__(tileThreads)
    kernSumByTile(Matrix<In, Function, Rows> matrix, unsigned rowsOfTile, Acc* out) {
    constexpr unsigned banks = 32;
    constexpr int accumulators = 4;
    __shared__ BulkCopy copy;
    const auto cols = static_cast<unsigned>(matrix.cols);
    const std::size_t allRows = numberOf(matrix.rows);
    unsigned parity = 0;
    copy.initialize(threadIdx.x == 0);

    forEachTile<Rows>(static_cast<int>((allRows + rowsOfTile - 1) / rowsOfTile), tileByIndex, [&](int block) {
        const std::size_t firstRow = std::size_t{static_cast<unsigned>(block)} * rowsOfTile;
        const auto rows = static_cast<unsigned>(min(std::size_t{rowsOfTile}, allRows - firstRow));
        const RunLoader<In> loader(matrix.elements, allRows * cols, firstRow * cols, rows * cols);
        const In* const tile = loader.load(&dynamicShared<std::byte>(), copy, parity);

        // The largest power of two that divides `cols` is the number of lanes whose rows share their banks.
        const unsigned firstColumn = Warp::lane() * min(cols & -cols, banks) / banks;
        for (unsigned row = threadIdx.x; row < rows; row += tileThreads) {
            Acc sums[accumulators] = {};
            const In* const begin = tile + row * cols;
            const In* element = begin + firstColumn;
            const auto addNext = [&](int accumulator) {
                sums[accumulator] = Common::wrappingAdd(sums[accumulator], static_cast<Acc>(matrix.function(*element)));
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
    });
}

}  // namespace StreamCompaction::RowSum
