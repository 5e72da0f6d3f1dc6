#pragma once

#include <algorithm>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/target.cuh"
#include "stream_compaction/runtime/chevrons.h"
#include "stream_compaction/shared_mem.h"

/// Work-efficient scan in shared memory (Harris, Sengupta and Owens, GPU Gems 3, ch. 39.2.3 to 39.2.5).
///
/// The array is cut into tiles that fit into a block's shared memory. In a block, each thread adds up a few consecutive
/// elements; Blelloch's upsweep and downsweep scan these sums; the block writes the scan of its tile and its total. The
/// same code scans the totals, recursively for any n. A last kernel adds to each tile the sum of all tiles before it.
///
/// In the tree, the threads of a warp access shared memory with strides that are powers of two. So do threads that each
/// read consecutive elements. Up to 32 threads then want the same bank. One unused element after every 32 spreads
/// 4-byte elements over all banks.
///
/// Work O(n), steps O(log tile) in shared memory and three launches for up to a tile of tiles. 16 bytes per int through
/// DRAM: the tile scan reads and writes each element, and the addition does so again. DRAM bandwidth is the limit.
namespace StreamCompaction::SharedMem {

/// The place of element i in a shared-memory array.
template <bool avoidBankConflicts>
__host__ __device__ constexpr unsigned padded(unsigned i) {
    constexpr unsigned banks = 32;
    return avoidBankConflicts ? i + i / banks : i;
}

/// Elements per thread: 8, but at most 32 bytes, so that a block of 1024 threads has enough registers and fits into the
/// 48 KiB of shared memory that every card has.
template <typename T>
inline constexpr unsigned elementsPerThread = std::min<std::size_t>(8, 32 / sizeof(T));

/// Exclusive scan of one value per thread by upsweep and downsweep. The number of threads is a power of two. `sums` is
/// a padded array with one place per thread. Returns this thread's prefix, and the total of the block in `total`.
template <bool avoidBankConflicts, typename T>
__device__ T scanThreadSums(T* sums, T sum, T& total) {
    const unsigned thread = threadIdx.x;
    const auto at = [sums](unsigned i) -> T& { return sums[padded<avoidBankConflicts>(i)]; };
    at(thread) = sum;

    // Upsweep: thread k adds the left child of node k into the right one.
    for (unsigned half = 1; half < blockDim.x; half *= 2) {
        __syncthreads();
        const unsigned end = 2 * half * (thread + 1);
        if (end <= blockDim.x) {
            at(end - 1) = Common::wrappingAdd(at(end - half - 1), at(end - 1));
        }
    }
    __syncthreads();
    total = at(blockDim.x - 1);
    __syncthreads();
    if (thread == 0) {
        at(blockDim.x - 1) = T{};
    }

    // Downsweep: the left child gets its parent's prefix, the right child that prefix plus the left child's sum.
    for (unsigned half = blockDim.x / 2; half >= 1; half /= 2) {
        __syncthreads();
        const unsigned end = 2 * half * (thread + 1);
        if (end <= blockDim.x) {
            const T leftSum = at(end - half - 1);
            at(end - half - 1) = at(end - 1);
            at(end - 1) = Common::wrappingAdd(at(end - 1), leftSum);
        }
    }
    __syncthreads();
    return at(thread);
}

/// Scans each tile by itself and writes the tiles' totals. Work O(n), steps O(log tile). Reads 4 bytes and writes 4
/// bytes per int.
template <bool avoidBankConflicts, typename In, typename T>
__global__ void kernScanTiles(std::size_t n, T* odata, T* totals, const In* idata) {
    constexpr unsigned perThread = elementsPerThread<T>;
    const unsigned tileSize = perThread * blockDim.x;
    T* tile = &dynamicShared<T>();
    T* sums = tile + padded<avoidBankConflicts>(tileSize);
    const auto at = [tile](unsigned i) -> T& { return tile[padded<avoidBankConflicts>(i)]; };
    const std::size_t tileStart = std::size_t{blockIdx.x} * tileSize;

    // Load: neighbouring threads take neighbouring elements.
    for (unsigned k = 0; k < perThread; ++k) {
        const unsigned i = k * blockDim.x + threadIdx.x;
        at(i) = tileStart + i < n ? static_cast<T>(idata[tileStart + i]) : T{};
    }
    __syncthreads();

    // Reduce: each thread adds up consecutive elements of its own.
    T elements[perThread];
    T sum{};
    for (unsigned k = 0; k < perThread; ++k) {
        elements[k] = at(threadIdx.x * perThread + k);
        sum = Common::wrappingAdd(sum, elements[k]);
    }

    // Scan the threads' sums. Each thread then scans its elements from its prefix on.
    T total;
    T prefix = scanThreadSums<avoidBankConflicts>(sums, sum, total);
    for (unsigned k = 0; k < perThread; ++k) {
        at(threadIdx.x * perThread + k) = prefix;
        prefix = Common::wrappingAdd(prefix, elements[k]);
    }
    __syncthreads();

    // Store, in the order of the load.
    for (unsigned k = 0; k < perThread; ++k) {
        const unsigned i = k * blockDim.x + threadIdx.x;
        if (tileStart + i < n) {
            odata[tileStart + i] = at(i);
        }
    }
    if (threadIdx.x == 0) {
        totals[blockIdx.x] = total;
    }
}

/// Adds to every element the sum of all tiles before its own, in place. Work O(n), steps O(1). Reads 4 bytes and writes
/// 4 bytes per int.
template <typename T>
__global__ void kernAddTilePrefixes(std::size_t n, T* odata, const T* prefixes) {
    const std::size_t tileStart = std::size_t{blockIdx.x} * elementsPerThread<T> * blockDim.x;
    const T prefix = prefixes[blockIdx.x];
    for (unsigned k = 0; k < elementsPerThread<T>; ++k) {
        const std::size_t i = tileStart + k * blockDim.x + threadIdx.x;
        if (i < n) {
            odata[i] = Common::wrappingAdd(prefix, odata[i]);
        }
    }
}

/// Device layer. `out` may be `in`. Sums have at most 8 bytes. Scratch: one total per tile, one total per tile of these
/// totals, and so on.
struct Scan {
    static constexpr bool mayRunInPlace = true;  ///< whether the output may be the input

    int blockSize = defaultBlockSize;  ///< threads per block
    bool avoidBankConflicts = true;    ///< pad the arrays in shared memory

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename T>
    [[nodiscard]] std::size_t scratchBytes(const In* /*in*/, T* /*out*/, std::size_t n) const {
        static_assert(sizeof(T) <= 8,
                      "larger sums of 1024 threads take more shared memory than the 48 KiB that every card has");
        requireBlockSize(blockSize);
        Arguments::requireSize<T, In>(n);
        std::size_t bytes = 0;
        for (unsigned tiles = tileCount<T>(n); tiles > 0; tiles = tiles > 1 ? tileCount<T>(tiles) : 0) {
            bytes += scratchBytesFor<T>(tiles);
        }
        return bytes;
    }

    /// Scans n elements.
    template <typename In, typename T>
    void operator()(const In* in, T* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        ScratchArena arena(scratch, scratchBytes(in, out, n));
        if (n == 0) {
            return;
        }
        const unsigned tiles = tileCount<T>(n);
        T* totals = arena.take<T>(tiles);

        const auto scanTiles = avoidBankConflicts ? kernScanTiles<true, In, T> : kernScanTiles<false, In, T>;
        scanTiles<<<tiles, blockSize, sharedBytes<T>(), stream>>>(n, out, totals, in);
        Common::checkLaunch("kernScanTiles");
        if (tiles > 1) {
            (*this)(totals, totals, tiles, arena.rest(), stream);
            kernAddTilePrefixes<<<tiles, blockSize, 0, stream>>>(n, out, totals);
            Common::checkLaunch("kernAddTilePrefixes");
        }
    }

  private:
    template <typename T>
    [[nodiscard]] unsigned tileCount(std::size_t n) const {
        return Common::blocksFor(n, std::size_t{elementsPerThread<T>} * blockSize);
    }

    template <typename T>
    [[nodiscard]] std::size_t sharedBytes() const {
        const auto words = [this](unsigned n) { return avoidBankConflicts ? padded<true>(n) : padded<false>(n); };
        return (words(elementsPerThread<T> * blockSize) + words(blockSize)) * sizeof(T);
    }
};

}  // namespace StreamCompaction::SharedMem
