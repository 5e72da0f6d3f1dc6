#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>

#include "stream_compaction/runtime/arguments.h"
#include "stream_compaction/runtime/launch.cuh"

/// The number of elements that an operation gets as `n`: a number that the host knows, or a count in device memory.
namespace StreamCompaction {

/// A number of elements that an earlier kernel of the stream writes, such as the count of a compaction. Operations take
/// it in place of `n`. The capacity decides the scratch and the algorithm, and arrays have room for as many elements.
/// The work is that of the actual number, but look-back scans and compactions clear the statuses of all tiles of the
/// capacity, 8 bytes or more per tile. Elements behind the number are neither read nor written. The operation itself
/// may not write to `value`.
///
/// If the number is larger than the capacity, the operation handles `capacity` elements and sets `*exceeded`, if there
/// is such a pointer.
struct CountInDeviceMemory {
    const std::size_t* value;  ///< in memory that the device can read
    std::size_t capacity;      ///< the most elements; a larger count is taken as this
    bool* exceeded = nullptr;  ///< in device memory, or null: the operation writes whether the count was larger
};

/// A number, or a count in device memory.
template <typename N>
concept ElementCount = (std::integral<N> && !std::same_as<N, bool>) || std::same_as<N, CountInDeviceMemory>;

/// Whether only the device knows the number.
template <typename N>
inline constexpr bool isOnDevice = std::same_as<N, CountInDeviceMemory>;

/// How a kernel gets an `n` of type N.
template <ElementCount N>
using CountFor = std::conditional_t<isOnDevice<N>, CountInDeviceMemory, std::size_t>;

/// What a kernel gets. Throws for a negative number.
template <ElementCount N>
[[nodiscard]] CountFor<N> countOf(const N& n) {
    if constexpr (isOnDevice<N>) {
        return n;
    } else {
        Arguments::requireCount(n);
        return static_cast<std::size_t>(n);
    }
}

/// The number of elements for which arrays and scratch have room.
template <ElementCount N>
[[nodiscard]] std::size_t capacityOf(const N& n) {
    if constexpr (isOnDevice<N>) {
        return n.capacity;
    } else {
        return countOf(n);
    }
}

/// The number of elements itself, which the host knows.
[[nodiscard]] __device__ inline std::size_t numberOf(std::size_t n) { return n; }
/// The number of elements in device memory, or the capacity if that is smaller. The first thread of the grid also
/// writes `exceeded`, so no other kernel is needed for that.
[[nodiscard]] __device__ inline std::size_t numberOf(const CountInDeviceMemory& n) {
    const std::size_t value = *n.value;
    if (n.exceeded != nullptr && blockIdx.x == 0 && threadIdx.x == 0) {
        *n.exceeded = value > n.capacity;
    }
    return min(value, n.capacity);
}

/// The number of elements for a kernel that loops over tiles, if the host knows it.
[[nodiscard]] __device__ inline const std::size_t& numberInBlock(const std::size_t& n, std::size_t& /*shared*/) {
    return n;
}
/// The number of elements in device memory, as by numberOf(). It lies in `shared`, in shared memory. In a scan, a
/// register for it would be spilled, and the stores of the tiles evict spilled registers from the first-level cache.
/// Called by all threads of the block. The first thread may read the number at once, the others only behind a barrier.
[[nodiscard]] __device__ inline const std::size_t& numberInBlock(const CountInDeviceMemory& n, std::size_t& shared) {
    if (threadIdx.x == 0) {
        shared = numberOf(n);
    }
    return shared;
}

/// Throws if an output shares memory with an input or with another output. A count in device memory is an input, and
/// `exceeded` is an output.
template <typename Count>
void requireApart(const Count& n, std::initializer_list<Arguments::Region> inputs,
                  std::initializer_list<Arguments::Region> outputs) {
    Arguments::requireApart(inputs, outputs);
    if constexpr (isOnDevice<Count>) {
        const Arguments::Region value = Arguments::array("n", n.value, 1);
        const Arguments::Region exceeded{"n.exceeded", n.exceeded, n.exceeded == nullptr ? 0 : sizeof(*n.exceeded)};
        Arguments::requireApart({value}, outputs);
        Arguments::requireApart(inputs, {exceeded});
        Arguments::requireApart(outputs, {exceeded});
        Arguments::requireDisjoint(value, exceeded);
    }
}

/// Writes whether the count is larger than the capacity, for an operation that has no other kernel to do that. A
/// template, so that only code that calls it compiles it. Work O(1), steps O(1).
template <typename Count>
__global__ void kernTellExceeded(Count n) {
    (void)numberOf(n);
}

/// Enqueues what is to be done about the count of an operation without elements.
template <typename Count>
void tellExceeded(const Count& n, cudaStream_t stream) {
    if constexpr (isOnDevice<Count>) {
        if (n.exceeded != nullptr) {
            launch<kernTellExceeded<Count>>(plainShape(1, 1), stream, n);
        }
    }
}

}  // namespace StreamCompaction
