#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/runtime/chevrons.h"
#include "stream_compaction/utf8/lead_rule.h"
#include "stream_compaction/utf8/report.cuh"
#include "stream_compaction/utf8/unit.h"

namespace StreamCompaction::Utf8 {

/// The four bytes of text from byte i + first on. Zeros stand for bytes outside the text.
__device__ inline std::uint32_t windowAround(const std::uint8_t* text, std::size_t n, std::size_t i, int first) {
    std::uint32_t window = 0;
    for (int k = 0; k < 4; ++k) {
        const std::size_t at = i + first + k;  // wraps around before the text, and is then no index
        window |= (at < n ? std::uint32_t{text[at]} : 0u) << 8 * k;
    }
    return window;
}

/// emits[i] = 1 where byte i begins a unit that goes to the output, else 0. Finds the first error, too. Work O(n),
/// steps O(1).
template <typename Bool>
__global__ void kernMapToEmits(std::size_t n, Bool* emits, Result* result, const std::uint8_t* text, Errors errors,
                               Bom bom) {
    const std::size_t i = Common::globalThreadIndex();
    if (i >= n) {
        return;
    }
    const std::uint32_t window = windowAround(text, n, i, 0);
    const bool begins = (insideOf(windowAround(text, n, i, -4), window) & 1) == 0;
    const Unit unit = unitAt(window);
    if (begins && !unit.isWellFormed) {
        reportError(result, i, [window] { return errorIn(window); });
    }
    const bool isMark = bom == Bom::Drop && i == 0 && beginsWithMark(window);
    emits[i] = begins && !isMark && (unit.isWellFormed || errors != Errors::Skip) ? 1 : 0;
}

/// odata[indices[i]] = the code point of the unit that begins with byte i. Work O(n), steps O(1).
template <typename Index>
__global__ void kernScatterCodePoints(std::size_t n, char32_t* odata, const std::uint8_t* text,
                                      const std::uint8_t* emits, const Index* indices) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < n && emits[i]) {
        const std::uint32_t window = windowAround(text, n, i, 0);
        odata[indices[i]] = unitAt(window).isWellFormed ? codePointOf(window) : replacementCharacter;
    }
}

/// The count: the place of the last byte, plus one if that byte is emitted itself. In strict mode, the place of the
/// first error if there is one.
template <typename Index>
__global__ void kernCountEmitted(std::size_t n, Result* result, const std::uint8_t* emits, const Index* indices,
                                 Errors errors) {
    const bool stops = errors == Errors::Strict && !result->isWellFormed();
    result->count =
        stops ? std::uint64_t{indices[result->errorOffset()]} : std::uint64_t{indices[n - 1]} + emits[n - 1];
}

/// Decoding as in the textbook, over any scan: map each byte to whether a unit begins there, scan these flags, which
/// gives each unit its place, and scatter the code points. Work O(n), steps O(1), and the scan's.
///
/// Device layer: the same result as Decode for UTF-32. Scratch per byte of text: a byte and a 4-byte index (8-byte from
/// 2^32 bytes on), and the scan's. Bytes moved per byte of text: 1 + 1 in the map (7 more come from the cache), the
/// scan's, and 1 + 1 + 4 in the scatter, and 4 per code point.
template <ScanOperation Scan>
struct TextbookDecode {
    Scan scan{};                      ///< the scan that it is made of
    Errors errors = Errors::Replace;  ///< what becomes of ill-formed units
    Bom bom = Bom::Keep;              ///< whether a byte order mark at the beginning is kept
    std::size_t maxOut = noLimit;     ///< the most code points that are written (common.cuh)

    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// The bytes of scratch that a call with these arguments needs.
    [[nodiscard]] std::size_t scratchBytes(const std::uint8_t*, const char32_t*, const Result*, std::size_t n) const {
        Arguments::requireSize<std::uint8_t>(n);
        return Common::flagScratchBytes(scan, n);
    }

    /// Decodes n bytes.
    void operator()(const std::uint8_t* in, char32_t* out, Result* result, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        requireConversionArrays(in, out, result, n, maxOut);
        ScratchArena arena(scratch, scratchBytes(in, out, result, n));
        beginResult(result, 0, stream);
        if (n == 0) {
            return;
        }
        const int blockSize = Common::blockSizeOf(scan);
        const unsigned blocks = Common::blocksFor(n, blockSize);
        auto* emits = arena.take<std::uint8_t>(n);
        withIndexType(n, [&]<typename Index>(Index) {
            auto* indices = arena.take<Index>(n);
            kernMapToEmits<<<blocks, blockSize, 0, stream>>>(n, emits, result, in, errors, bom);
            Common::checkLaunch("kernMapToEmits");
            scan(emits, indices, n, arena.rest(), stream);
            kernScatterCodePoints<<<blocks, blockSize, 0, stream>>>(n, out, in, emits, indices);
            Common::checkLaunch("kernScatterCodePoints");
            kernCountEmitted<<<1, 1, 0, stream>>>(n, result, emits, indices, errors);
            Common::checkLaunch("kernCountEmitted");
        });
    }
};

}  // namespace StreamCompaction::Utf8
