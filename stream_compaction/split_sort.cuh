#pragma once

#include <stdexcept>
#include <string>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/key_coding.cuh"

namespace StreamCompaction {

/// Whether a key's bit, in the order-preserving form, is zero.
template <typename T>
struct BitIsZero {
    int bit;
    __host__ __device__ bool operator()(const T& key) const { return ((orderedBits(key) >> bit) & 1) == 0; }
};

/// Keys whose bit is zero go to the front, the others behind them, both in order. `zerosBefore` is the exclusive scan
/// of `isZero`.
template <typename T, typename Bool, typename Index>
__global__ void kernSplit(std::size_t n, T* odata, const T* idata, const Bool* isZero, const Index* zerosBefore) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < n) {
        const std::size_t zeros = std::size_t{zerosBefore[n - 1]} + isZero[n - 1];
        const std::size_t onesBefore = i - zerosBefore[i];
        odata[isZero[i] ? std::size_t{zerosBefore[i]} : zeros + onesBefore] = idata[i];
    }
}

/// Least-significant-digit radix sort, one bit a pass, over any scan (GPU Gems 3, ch. 39.3.3). Each pass splits the
/// keys by one bit, lowest first, stably, so the order of the lower bits survives within the higher ones. Work O(n) a
/// pass, steps O(1), and the scan's.
///
/// Device layer: sorts integers and floating-point numbers ascending (-0 before +0, NaNs last); stable. `bits` passes
/// look at the lowest bits only: all of them by default (0), fewer for non-negative integers below 2^bits. Throws
/// std::invalid_argument when T has not so many. `out` may be `in`. Scratch: a key, a byte and an index an element, and
/// the scan's. A pass over 4-byte keys moves 5 bytes an element in the map, 13 in the split, and the scan's.
template <ScanOperation Scan>
struct SplitSort {
    static constexpr bool mayRunInPlace = true;

    Scan scan{};
    int bits = 0;

    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(const T* /*in*/, T* /*out*/, std::size_t n) const {
        Arguments::requireSize<T>(n);
        Common::requireGrid(n, Common::blockSizeOf(scan));
        std::size_t bytes = 0;
        withIndexType(n, [&]<typename Index>(Index) {
            bytes = scratchBytesFor<T>(n) + scratchBytesFor<std::uint8_t>(n) + scratchBytesFor<Index>(n) +
                    scan.scratchBytes(noArray<std::uint8_t>, noArray<Index>, n);
        });
        return bytes;
    }

    template <typename T>
    void operator()(const T* in, T* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        constexpr int allBits = 8 * sizeof(T);
        if (bits < 0 || bits > allBits) {
            throw std::invalid_argument("bits: expected 1 to " + std::to_string(allBits) + ", or 0 for all, got " +
                                        std::to_string(bits));
        }
        ScratchArena arena(scratch, scratchBytes(in, out, n));
        if (n == 0) {
            return;
        }
        const int passes = bits == 0 ? allBits : bits;
        const int blockSize = Common::blockSizeOf(scan);
        const unsigned blocks = Common::blocksFor(n, blockSize);
        T* spare = arena.take<T>(n);
        auto* isZero = arena.take<std::uint8_t>(n);
        withIndexType(n, [&]<typename Index>(Index) {
            auto* zerosBefore = arena.take<Index>(n);
            // Keys alternate between two arrays so that the last pass writes to `out`; a first pass that would do so
            // too cannot read from there.
            const T* from = in;
            if (in == out && passes % 2 == 1) {
                Common::checkCUDAError(cudaMemcpyAsync(spare, in, n * sizeof(T), cudaMemcpyDeviceToDevice, stream),
                                       "cudaMemcpyAsync of the keys");
                from = spare;
            }
            for (int bit = 0; bit < passes; ++bit) {
                T* to = (passes - bit) % 2 == 1 ? out : spare;
                Common::kernMapToBoolean<<<blocks, blockSize, 0, stream>>>(n, isZero, from, BitIsZero<T>{bit});
                Common::checkCUDAError("kernMapToBoolean");
                scan(isZero, zerosBefore, n, arena.rest(), stream);
                kernSplit<<<blocks, blockSize, 0, stream>>>(n, to, from, isZero, zerosBefore);
                Common::checkCUDAError("kernSplit");
                from = to;
            }
        });
    }
};

}  // namespace StreamCompaction
