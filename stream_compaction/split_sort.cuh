#pragma once

#include <stdexcept>
#include <string>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/key_coding.cuh"
#include "stream_compaction/runtime/chevrons.h"

namespace StreamCompaction {

/// Whether bit `bit` of a key, in its order-preserving form, is zero.
template <typename T>
struct BitIsZero {
    int bit;
    __host__ __device__ bool operator()(const T& key) const { return ((orderedBits(key) >> bit) & 1) == 0; }
};

/// Keys whose bit is zero go to the front, the others behind them, both in order. `zerosBefore` is the exclusive scan
/// of `isZero`. Work O(n), steps O(1).
template <typename T, typename Bool, typename Index>
__global__ void kernSplit(std::size_t n, T* odata, const T* idata, const Bool* isZero, const Index* zerosBefore) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < n) {
        const std::size_t zeros = std::size_t{zerosBefore[n - 1]} + isZero[n - 1];
        const std::size_t onesBefore = i - zerosBefore[i];
        odata[isZero[i] ? std::size_t{zerosBefore[i]} : zeros + onesBefore] = idata[i];
    }
}

/// Least-significant-digit radix sort, one bit per pass, over any scan (GPU Gems 3, ch. 39.3.3). Each pass splits the
/// keys by one bit, lowest first. Passes are stable, so the order by the lower bits survives among keys that share the
/// higher ones. Work O(n) and steps O(1) per pass, plus those of the scan.
///
/// Device layer: sorts integers and floating-point numbers in ascending order (-0 before +0, NaNs last); stable. It
/// sorts by the lowest `bits` bits, one pass per bit; by default by all bits, and by none it copies. For non-negative
/// integers below 2^bits, `bits` passes suffice. Throws std::invalid_argument if T has fewer bits. `out` may be `in`.
/// Scratch per element: a key, a byte and an index, plus that of the scan. Bytes moved per pass and 4-byte key: 5 in
/// the map, 13 in the split, plus those of the scan.
template <ScanOperation Scan>
struct SplitSort {
    static constexpr bool mayRunInPlace = true;  ///< whether the output may be the input

    Scan scan{};         ///< the scan that it is made of
    int bits = allBits;  ///< as above

    /// The bytes of scratch that a call with these arguments needs.
    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(const T* /*in*/, T* /*out*/, std::size_t n) const {
        Arguments::requireSize<T>(n);
        return scratchBytesFor<T>(n) + Common::flagScratchBytes(scan, n);
    }

    /// Sorts keys.
    template <typename T>
    void operator()(const T* in, T* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        constexpr int keyBits = 8 * sizeof(T);
        const int passes = bits == allBits ? keyBits : bits;
        if (passes < 0 || passes > keyBits) {
            throw std::invalid_argument("bits: expected 0 to " + std::to_string(keyBits) + ", got " +
                                        std::to_string(bits));
        }
        ScratchArena arena(scratch, scratchBytes(in, out, n));
        if (n == 0) {
            return;
        }
        const int blockSize = Common::blockSizeOf(scan);
        const unsigned blocks = Common::blocksFor(n, blockSize);
        T* spare = arena.take<T>(n);
        auto* isZero = arena.take<std::uint8_t>(n);
        withIndexType(n, [&]<typename Index>(Index) {
            auto* zerosBefore = arena.take<Index>(n);
            // Keys alternate between two arrays so that the last pass writes to `out`. If the first pass writes to
            // `out`, too, it cannot read from there. Without a pass, a copy writes to `out`.
            const T* from = in;
            if (passes == 0 ? in != out : in == out && passes % 2 == 1) {
                T* const copy = passes == 0 ? out : spare;
                Common::checkCUDAError(cudaMemcpyAsync(copy, in, n * sizeof(T), cudaMemcpyDeviceToDevice, stream),
                                       "cudaMemcpyAsync of the keys");
                from = copy;
            }
            for (int bit = 0; bit < passes; ++bit) {
                T* to = (passes - bit) % 2 == 1 ? out : spare;
                Common::kernMapToBoolean<<<blocks, blockSize, 0, stream>>>(n, isZero, from, BitIsZero<T>{bit});
                Common::checkLaunch("kernMapToBoolean");
                scan(isZero, zerosBefore, n, arena.rest(), stream);
                kernSplit<<<blocks, blockSize, 0, stream>>>(n, to, from, isZero, zerosBefore);
                Common::checkLaunch("kernSplit");
                from = to;
            }
        });
    }
};

}  // namespace StreamCompaction
