#pragma once

#include <utility>

#include "stream_compaction/common.cuh"
#include "stream_compaction/naive.h"
#include "stream_compaction/runtime/chevrons.h"

/// Naive parallel scan (Hillis and Steele, "Data Parallel Algorithms", CACM 29(12), 1986; GPU Gems 3, ch. 39.2.1).
///
/// Step d adds to each element the one 2^(d-1) places before it. After ceil(log2 n) steps each element holds the sum of
/// all elements up to it. In place, a thread would overwrite an element that another has yet to read. So each step
/// reads one buffer and writes another ("ping-pong"). The input is shifted right by one place first, which makes the
/// scan exclusive.
///
/// Work O(n log n), steps O(log n). Every step moves at least 8 bytes per int through DRAM, 8 log2(n) in all, where a
/// single pass needs 8. DRAM bandwidth limits each step, and the number of steps limits the whole.
namespace StreamCompaction::Naive {

/// odata[0] = 0, odata[i] = idata[i - 1]. Work O(n), steps O(1). Reads 4 bytes and writes 4 bytes per int.
template <typename In, typename T>
__global__ void kernShiftRight(std::size_t n, T* odata, const In* idata) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < n) {
        odata[i] = i == 0 ? T{} : static_cast<T>(idata[i - 1]);
    }
}

/// One step: adds to every sum the sum that ends `distance` places before it. Work O(n), steps O(1).
template <typename T>
__global__ void kernAddFromDistance(std::size_t n, std::size_t distance, T* odata, const T* idata) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < n) {
        odata[i] = i < distance ? idata[i] : Common::wrappingAdd(idata[i - distance], idata[i]);
    }
}

/// Device layer; `out` may be `in`. Scratch: two arrays of n elements.
struct Scan {
    static constexpr bool mayRunInPlace = true;  ///< whether the output may be the input

    int blockSize = defaultBlockSize;  ///< threads per block

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename T>
    [[nodiscard]] std::size_t scratchBytes(const In* /*in*/, T* /*out*/, std::size_t n) const {
        Arguments::requireSize<T, In>(n);
        Common::requireGrid(n, blockSize);
        return 2 * scratchBytesFor<T>(n);
    }

    /// Scans n elements.
    template <typename In, typename T>
    void operator()(const In* in, T* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        ScratchArena arena(scratch, scratchBytes(in, out, n));
        if (n == 0) {
            return;
        }
        const unsigned blocks = Common::blocksFor(n, blockSize);
        T* from = arena.take<T>(n);
        T* to = arena.take<T>(n);

        kernShiftRight<<<blocks, blockSize, 0, stream>>>(n, n == 1 ? out : from, in);
        Common::checkLaunch("kernShiftRight");
        for (std::size_t distance = 1; distance < n; distance *= 2) {
            const bool last = 2 * distance >= n;
            kernAddFromDistance<<<blocks, blockSize, 0, stream>>>(n, distance, last ? out : to, from);
            Common::checkLaunch("kernAddFromDistance");
            std::swap(from, to);
        }
    }
};

}  // namespace StreamCompaction::Naive
