#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/block_size.h"
#include "stream_compaction/runtime/cuda_check.h"
#include "stream_compaction/runtime/scratch.h"

/// What the device layers of all variants share.
///
/// An operation is a small value: its tuning options are public members, `scratchBytes` says how much scratch a call
/// needs and the call operator enqueues the work on a stream. A call neither allocates nor synchronises, so it can be
/// captured in a CUDA graph. n == 0 is valid. Scratch that is too small or not aligned, a null array, arrays that
/// overlap where they may not, more elements than memory or a grid has room for, or a block size that is not allowed
/// throws std::invalid_argument before anything is enqueued; a failing CUDA call throws CudaError. `scratchBytes`
/// throws for sizes that the call would refuse.
namespace StreamCompaction {

/// Exclusive prefix sum of `in` accumulated in the type of `out`, which may be wider. `scratchBytes` throws for options
/// and sizes that the call would refuse, so that what is built on a scan finds out before it enqueues anything.
template <typename Op>
concept ScanOperation = requires(const Op scan, std::size_t n, const std::uint8_t* in, std::uint32_t* out,
                                 Scratch scratch, cudaStream_t stream) {
    { scan.template scratchBytes<std::uint32_t, std::uint8_t>(n) } -> std::same_as<std::size_t>;
    scan(in, out, n, scratch, stream);
};

/// Stable compaction; the number of kept elements goes to device memory.
template <typename Op>
concept CompactOperation = requires(const Op compact, std::size_t n, const int* in, int* out, std::size_t* count,
                                    Scratch scratch, cudaStream_t stream) {
    { compact.template scratchBytes<int>(n) } -> std::same_as<std::size_t>;
    compact(in, out, count, n, scratch, stream);
};

/// Ascending sort that leaves its input intact unless `out` is `in`.
template <typename Op>
concept SortOperation = requires(const Op sort, std::size_t n, const int* in, int* out, Scratch scratch,
                                 cudaStream_t stream) {
    { sort.template scratchBytes<int>(n) } -> std::same_as<std::size_t>;
    sort(in, out, n, scratch, stream);
};

/// The default predicate of compaction.
struct IsNonzero {
    template <typename T>
    __host__ __device__ bool operator()(const T& x) const {
        return x != T{};
    }
};

/// Checks the arrays of an operation that may run in place.
template <typename In, typename Out>
void requireSameOrDisjointArrays(const In* in, Out* out, std::size_t n) {
    Arguments::requireArray("in", in, n);
    Arguments::requireArray("out", out, n);
    Arguments::requireSameOrDisjoint(in, n * sizeof(In), out, n * sizeof(Out));
}

/// Checks the arrays of an operation that may not.
template <typename T>
void requireDisjointArrays(const T* in, T* out, std::size_t n) {
    Arguments::requireArray("in", in, n);
    Arguments::requireArray("out", out, n);
    Arguments::requireDisjoint(in, n * sizeof(T), out, n * sizeof(T));
}

/// Checks the arrays of a compaction, which cannot run in place: a block may overwrite what another has yet to read.
template <typename T>
void requireCompactArrays(const T* in, T* out, std::size_t* count, std::size_t n) {
    requireDisjointArrays(in, out, n);
    Arguments::requireArray("count", count, 1);
}

/// Calls `work` with a zero of the narrowest index type that can count to n, so that offsets cost four bytes where
/// four are enough.
template <typename Work>
void withIndexType(std::size_t n, Work&& work) {
    if (n <= std::numeric_limits<std::uint32_t>::max()) {
        work(std::uint32_t{});
    } else {
        work(std::uint64_t{});
    }
}

namespace Common {

/// Blocks that a grid has at most.
inline constexpr std::size_t mostBlocks = std::numeric_limits<int>::max();

/// Blocks of a grid for `n` elements, `blockElements` each. Throws std::invalid_argument for more than a grid has.
[[nodiscard]] inline unsigned blocksFor(std::size_t n, std::size_t blockElements) {
    Arguments::requireAtMost("n", n, mostBlocks * blockElements);
    return static_cast<unsigned>(divideRoundUp(n, blockElements));
}

/// At most `most` blocks, for kernels whose threads go on until all elements are done.
[[nodiscard]] inline unsigned blocksFor(std::size_t n, std::size_t blockElements, unsigned most) {
    return static_cast<unsigned>(std::min<std::size_t>(divideRoundUp(n, blockElements), most));
}

/// Throws std::invalid_argument unless blocks may have `blockSize` threads and a grid of them one for each of n
/// elements.
inline void requireGrid(std::size_t n, int blockSize) {
    requireBlockSize(blockSize);
    (void)blocksFor(n, blockSize);
}

__device__ inline std::size_t globalThreadIndex() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }

/// bools[i] = 1 where `keep(idata[i])`, else 0.
template <typename T, typename Bool, typename Predicate = IsNonzero>
__global__ void __launch_bounds__(powerOfTwoBlockSizes.back())
    kernMapToBoolean(std::size_t n, Bool* bools, const T* idata, Predicate keep = {}) {
    const std::size_t i = globalThreadIndex();
    if (i < n) {
        bools[i] = keep(idata[i]) ? 1 : 0;
    }
}

/// odata[indices[i]] = idata[i] where bools[i] is set.
template <typename T, typename Bool, typename Index>
__global__ void kernScatter(std::size_t n, T* odata, const T* idata, const Bool* bools, const Index* indices) {
    const std::size_t i = globalThreadIndex();
    if (i < n && bools[i]) {
        odata[indices[i]] = idata[i];
    }
}

}  // namespace Common
}  // namespace StreamCompaction
