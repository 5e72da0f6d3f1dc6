#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/arguments.h"
#include "stream_compaction/runtime/block_size.h"
#include "stream_compaction/runtime/cuda_check.h"
#include "stream_compaction/runtime/element_count.cuh"
#include "stream_compaction/runtime/requirements.h"
#include "stream_compaction/runtime/scratch.h"

/// What the device layers of all variants share.
///
/// An operation is a small value. Its tuning options are public members. `scratchBytes` returns the bytes of scratch
/// that a call needs. Except for CUB's operations, they are enough for a smaller n, too, if all else is the same.
/// The call operator enqueues the work on a stream. A call neither allocates nor synchronises, so a CUDA graph can
/// capture it. The exceptions are Thrust's operations (thrust.cuh), which do both.
///
/// The arguments of all operations come in one order: inputs, outputs, n, sizes (bins, parts, k, columns), functions
/// (operator, predicate, initial value), scratch, stream. Where values go with the keys of a sort or a selection, each
/// input stands before its output: keysIn, keysOut, valuesIn, valuesOut. `scratchBytes` takes the same without the last
/// two. It reads no array, so `noArray<T>` is enough, and needs no device, except CUB's and Thrust's. `mayRunInPlace`
/// says whether `out` may be `in`.
///
/// Most operations also take a count in device memory as `n` (CountInDeviceMemory). So an operation can follow another
/// whose result only the device knows. The textbook rungs, CUB and Thrust, text that is cut out of a larger one, the
/// course layer, and operations on several GPUs or on host memory take numbers alone.
///
/// Kernels call functions as constants and keep elements in registers. So call operators are const. Elements have a
/// default constructor and are trivially copyable. For other types the compiler prints one error
/// (runtime/requirements.h).
///
/// n == 0 is valid. A bad argument throws std::invalid_argument, before anything is enqueued: scratch that is too
/// small, a null array, arrays that overlap but may not, more elements than memory or a grid has room for, a block size
/// that is not allowed. A failing CUDA call throws CudaError. `scratchBytes` throws for sizes that the call would
/// refuse. An error that the caller has not looked at (cudaGetLastError) is not thrown, except by the textbook rungs,
/// CUB and Thrust. It is not cleared either, except by these, by a call that throws CudaError, where devices are
/// connected or a rank is waited for, and if the card refuses to hold the blocks of a launch at once.
///
/// An output may overlap no input and no other output, unless the operation may run in place. Of some operations only
/// the device knows how much they write. Their outputs are checked for as many elements as can come out: n, or the
/// capacity of a count in device memory, or for text as many as n elements can become. If you know that fewer are
/// written, set the member `maxOut`. Then only so many are checked. If it is 0, `out` may be null. A call that writes
/// more than `maxOut` elements is the caller's error, and nothing tells of it. CUB, Thrust and operations on several
/// GPUs have no such member.
namespace StreamCompaction {

/// Exclusive prefix sum of `in` accumulated in the type of `out`, which may be wider. `scratchBytes` throws for options
/// and sizes that the call would refuse, so that operations built on a scan throw before they enqueue anything.
template <typename Op>
concept ScanOperation = requires(const Op scan, std::size_t n, const std::uint8_t* in, std::uint32_t* out,
                                 Scratch scratch, cudaStream_t stream) {
    { Op::mayRunInPlace } -> std::convertible_to<bool>;
    { scan.scratchBytes(in, out, n) } -> std::same_as<std::size_t>;
    scan(in, out, n, scratch, stream);
};

/// Stable compaction. Writes the number of kept elements to `count` in device memory.
template <typename Op>
concept CompactOperation = requires(const Op compact, std::size_t n, const int* in, int* out, std::size_t* count,
                                    Scratch scratch, cudaStream_t stream) {
    { Op::mayRunInPlace } -> std::convertible_to<bool>;
    { compact.scratchBytes(in, out, count, n) } -> std::same_as<std::size_t>;
    compact(in, out, count, n, scratch, stream);
};

/// Ascending sort that leaves its input intact unless `out` is `in`.
template <typename Op>
concept SortOperation = requires(const Op sort, std::size_t n, const int* in, int* out, Scratch scratch,
                                 cudaStream_t stream) {
    { Op::mayRunInPlace } -> std::convertible_to<bool>;
    { sort.scratchBytes(in, out, n) } -> std::same_as<std::size_t>;
    sort(in, out, n, scratch, stream);
};

/// A value of an operation, such as the initial value of a scan, that an earlier kernel of the stream writes.
template <typename T>
struct InDeviceMemory {
    const T* value;  ///< in memory that the device can read
};

/// The value itself.
template <typename T>
[[nodiscard]] __device__ const T& valueOf(const T& value) {
    return value;
}
/// The value that an earlier kernel has written.
template <typename T>
[[nodiscard]] __device__ const T& valueOf(const InDeviceMemory<T>& value) {
    return *value.value;
}

/// The memory that the device reads for the value `name`.
template <typename T>
[[nodiscard]] Arguments::Region memoryOf(const char* /*name*/, const T& /*value*/) {
    return {};
}
/// That of a value in device memory, which may not be null.
template <typename T>
[[nodiscard]] Arguments::Region memoryOf(const char* name, const InDeviceMemory<T>& value) {
    return Arguments::array(name, value.value, 1);
}

/// The default predicate of compaction.
struct IsNonzero {
    /// Whether x is kept.
    template <typename T>
    __host__ __device__ bool operator()(const T& x) const {
        return x != T{};
    }
};

/// A predicate of the element and its index: `keep(x, i)`. Predicates without this wrapper are called with the element
/// alone, even if they take more parameters.
template <typename Predicate>
struct WithIndex {
    Predicate keep;  ///< called with the element and its index
};

/// Whether a predicate asks for the index.
template <typename Predicate>
inline constexpr bool asksForIndex = false;
/// WithIndex does.
template <typename Predicate>
inline constexpr bool asksForIndex<WithIndex<Predicate>> = true;

/// Keeps the elements whose flag is set; `flags` is an array in device memory, one flag per element.
template <typename Flag>
struct IsFlagged {
    const Flag* flags;  ///< one per element

    /// Whether element i is kept.
    template <typename T>
    __device__ bool operator()(const T&, std::size_t i) const {
        return static_cast<bool>(flags[i]);
    }
};
/// The predicate of an array of flags.
template <typename Flag>
[[nodiscard]] WithIndex<IsFlagged<Flag>> keepFlagged(const Flag* flags) {
    return {{flags}};
}

/// Whether a compaction keeps element i.
template <typename Predicate, typename T>
[[nodiscard]] __device__ bool isKept(const Predicate& keep, const T& x, std::size_t /*i*/) {
    return keep(x);
}
template <typename Predicate, typename T>
[[nodiscard]] __device__ bool isKept(const WithIndex<Predicate>& indexed, const T& x, std::size_t i) {
    return indexed.keep(x, i);
}

/// The memory that a predicate of n elements is known to read.
template <typename Predicate>
[[nodiscard]] Arguments::Region arrayReadBy(const Predicate& /*keep*/, std::size_t /*n*/) {
    return {};
}
/// The flags of `keepFlagged`.
template <typename Flag>
[[nodiscard]] Arguments::Region arrayReadBy(const WithIndex<IsFlagged<Flag>>& flagged, std::size_t n) {
    return Arguments::array("flags", flagged.keep.flags, n);
}

/// Checks the arrays of an operation that may run in place.
template <typename In, typename Out>
void requireSameOrDisjointArrays(const In* in, Out* out, std::size_t n) {
    Arguments::requireArray("in", in, n);
    Arguments::requireArray("out", out, n);
    Arguments::requireSameOrDisjoint(in, n * sizeof(In), out, n * sizeof(Out));
}

/// Checks the arrays of an operation that may not run in place.
template <typename T>
void requireDisjointArrays(const T* in, T* out, std::size_t n) {
    Arguments::requireArray("in", in, n);
    Arguments::requireArray("out", out, n);
    Arguments::requireDisjoint(in, n * sizeof(T), out, n * sizeof(T));
}

/// Checks the arrays of a compaction. It cannot run in place, because a block may overwrite elements that another one
/// has yet to read.
template <typename T, typename Predicate = IsNonzero>
void requireCompactArrays(const T* in, T* out, std::size_t* count, std::size_t n, const Predicate& keep = {},
                          std::size_t maxOut = noLimit) {
    Arguments::requireApart({Arguments::array("in", in, n), arrayReadBy(keep, n)},
                            {Arguments::array("out", out, std::min(n, maxOut)), Arguments::array("count", count, 1)});
}

/// Calls `work` with a zero of the narrowest index type that can count to n: 4 bytes below 2^32 elements, else 8 bytes.
template <typename Work>
void withIndexType(std::size_t n, Work&& work) {
    if (n <= std::numeric_limits<std::uint32_t>::max()) {
        work(std::uint32_t{});
    } else {
        work(std::uint64_t{});
    }
}

namespace Common {

/// Blocks for `n` elements, `blockElements` per block. Throws std::invalid_argument for more than a grid can have.
[[nodiscard]] inline unsigned blocksFor(std::size_t n, std::size_t blockElements) {
    Arguments::requireAtMost("n", n, mostBlocks * blockElements);
    return static_cast<unsigned>(divideRoundUp(n, blockElements));
}

/// The same, but at most `most`: for kernels whose threads loop until all elements are done.
[[nodiscard]] inline unsigned blocksFor(std::size_t n, std::size_t blockElements, unsigned most) {
    return static_cast<unsigned>(std::min<std::size_t>(divideRoundUp(n, blockElements), most));
}

/// Throws std::invalid_argument unless `blockSize` is allowed and a grid of such blocks can have one thread per
/// element.
inline void requireGrid(std::size_t n, int blockSize) {
    requireBlockSize(blockSize);
    (void)blocksFor(n, blockSize);
}

/// Threads per block of the kernels around a scan: those of the scan, or 256 if it chooses its own.
template <typename Scan>
[[nodiscard]] constexpr int blockSizeOf(const Scan& scan) {
    if constexpr (requires { scan.blockSize; }) {
        return scan.blockSize;
    } else {
        return 256;
    }
}

__device__ inline std::size_t globalThreadIndex() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }

/// bools[i] = 1 where `keep` holds for element i, else 0. Work O(n), steps O(1).
template <typename T, typename Bool, typename Predicate = IsNonzero>
__global__ void __launch_bounds__(powerOfTwoBlockSizes.back())
    kernMapToBoolean(std::size_t n, Bool* bools, const T* idata, Predicate keep = {}) {
    const std::size_t i = globalThreadIndex();
    if (i < n) {
        bools[i] = isKept(keep, idata[i], i) ? 1 : 0;
    }
}

/// odata[indices[i]] = idata[i] where bools[i] is set. Work O(n), steps O(1).
template <typename T, typename Bool, typename Index>
__global__ void kernScatter(std::size_t n, T* odata, const T* idata, const Bool* bools, const Index* indices) {
    const std::size_t i = globalThreadIndex();
    if (i < n && bools[i]) {
        odata[indices[i]] = idata[i];
    }
}

/// Scratch of an operation that scans one flag per element: the flags, their prefix sums, and the scratch of the scan.
/// Throws std::invalid_argument for a block size that is not allowed and for more elements than a grid has threads for.
template <ScanOperation Scan>
[[nodiscard]] std::size_t flagScratchBytes(const Scan& scan, std::size_t n) {
    requireGrid(n, blockSizeOf(scan));
    std::size_t bytes = 0;
    withIndexType(n, [&]<typename Index>(Index) {
        bytes = scratchBytesFor<std::uint8_t>(n) + scratchBytesFor<Index>(n) +
                scan.scratchBytes(noArray<std::uint8_t>, noArray<Index>, n);
    });
    return bytes;
}

}  // namespace Common
}  // namespace StreamCompaction
