#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/runtime/chevrons.h"

namespace StreamCompaction {

/// The number of kept elements: the place of the last element, plus one if that element is kept itself.
/// One thread.
template <typename Bool, typename Index>
__global__ void kernCountKept(std::size_t n, std::size_t* count, const Bool* bools, const Index* indices) {
    *count = std::size_t{indices[n - 1]} + bools[n - 1];
}

/// Stream compaction over any scan (Horn, GPU Gems 2, ch. 36; GPU Gems 3, ch. 39.3.1): map each element to whether it
/// is kept, scan these booleans, which gives each kept element its place, and scatter the kept elements. Work O(n) and
/// steps O(1), plus those of the scan.
///
/// Device layer: writes the elements for which `keep` holds to `out`, in order, and their number to `count` in device
/// memory. By default the nonzero elements are kept. Writes nothing past them. May not run in place. Scratch per
/// element: a byte and a 4-byte index (8-byte from 2^32 elements on), plus that of the scan. Bytes moved per 4-byte
/// element: 4 + 1 in the map, 4 + 1 + 4 in the scatter and 4 more for a kept one, plus those of the scan.
template <ScanOperation Scan>
struct MapScanScatter {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    Scan scan{};                   ///< the scan that it is made of
    std::size_t maxOut = noLimit;  ///< the most elements that are kept (common.cuh)

    /// The bytes of scratch that a call with these arguments needs.
    template <typename T, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const T* /*in*/, T* /*out*/, std::size_t* /*count*/, std::size_t n,
                                           const Functions&... /*functions*/) const {
        Arguments::requireSize<T>(n);
        return Common::flagScratchBytes(scan, n);
    }

    /// Keeps the nonzero elements.
    template <typename T>
    void operator()(const T* in, T* out, std::size_t* count, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        (*this)(in, out, count, n, IsNonzero{}, scratch, stream);
    }

    /// Keeps the elements of which `keep` is true.
    template <typename T, typename Predicate>
    void operator()(const T* in, T* out, std::size_t* count, std::size_t n, Predicate keep, Scratch scratch,
                    cudaStream_t stream) const {
        requireCompactArrays(in, out, count, n, keep, maxOut);
        ScratchArena arena(scratch, scratchBytes(in, out, count, n));
        if (n == 0) {
            Common::checkCUDAError(cudaMemsetAsync(count, 0, sizeof(*count), stream), "cudaMemsetAsync of the count");
            return;
        }
        const int blockSize = Common::blockSizeOf(scan);
        const unsigned blocks = Common::blocksFor(n, blockSize);
        auto* bools = arena.take<std::uint8_t>(n);
        withIndexType(n, [&]<typename Index>(Index) {
            auto* indices = arena.take<Index>(n);
            Common::kernMapToBoolean<<<blocks, blockSize, 0, stream>>>(n, bools, in, keep);
            Common::checkLaunch("kernMapToBoolean");
            scan(bools, indices, n, arena.rest(), stream);
            Common::kernScatter<<<blocks, blockSize, 0, stream>>>(n, out, in, bools, indices);
            Common::checkLaunch("kernScatter");
            kernCountKept<<<1, 1, 0, stream>>>(n, count, bools, indices);
            Common::checkLaunch("kernCountKept");
        });
    }
};

}  // namespace StreamCompaction
