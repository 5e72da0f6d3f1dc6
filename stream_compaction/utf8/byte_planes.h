#pragma once

#include <cstdint>

#include "stream_compaction/utf8/unit.h"
#include "stream_compaction/utf8/word_bytes.h"

/// Encodes four elements at a time, a quad, into UTF-8. A *plane* is a word with one byte of each of the four, so that
/// one instruction serves all of them. A flag of an element is the highest bit of its byte.
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

/// The same byte four times.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t fourTimes(std::uint32_t byte) { return byte * 0x01010101; }

inline constexpr std::uint32_t highBits = fourTimes(0x80);

/// Flags the bytes of a plane that are at least `least`; 0 < least <= 0x80.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t atLeast(std::uint32_t plane, std::uint32_t least) {
    return (((plane & ~highBits) + fourTimes(0x80 - least)) | plane) & highBits;
}

/// Turns flags into masks: all bits of the flagged bytes.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t wholeBytes(std::uint32_t flags) {
    return selectBytes(flags, 0, 0xBA98);
}

/// Flags the elements that are surrogates, given the plane of their high bytes.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t surrogatesIn(std::uint32_t high) {
    return ~(((high & ~highBits) ^ fourTimes(0x58)) + fourTimes(0x78)) & high & highBits;
}

/// The code points of a quad, in planes.
struct CodePointQuad {
    std::uint32_t low = 0;    ///< bits 0 to 7
    std::uint32_t high = 0;   ///< bits 8 to 15
    std::uint32_t above = 0;  ///< bits 16 to 20

    /// Replaces the flagged code points with U+FFFD.
    __host__ __device__ constexpr void replace(std::uint32_t flags) {
        const std::uint32_t mask = wholeBytes(flags);
        low = choose(mask, fourTimes(replacementCharacter & 0xFF), low);
        high |= mask & fourTimes(replacementCharacter >> 8);
        above &= ~mask;
    }
};

/// A quad in UTF-8. The first plane has the last byte of each sequence, the second plane the byte before it, and so on.
/// If a sequence has no such byte, the plane's byte is undefined.
struct EncodedQuad {
    Array<std::uint32_t, 4> planes;
    std::uint32_t lengths;
};

/// Encodes a quad whose sequences have at most `most` bytes.
template <int most>
[[nodiscard]] __host__ __device__ constexpr EncodedQuad encodeQuad(const CodePointQuad& in) {
    if constexpr (most == 1) {
        return {{in.low, 0, 0, 0}, fourTimes(1)};
    }
    const std::uint32_t four = most > 3 ? atLeast(in.above, 1) : 0;
    const std::uint32_t three = most > 2 ? atLeast(in.high, 8) | four : 0;
    const std::uint32_t two = atLeast(in.high, 1) | (in.low & highBits) | three;
    // Six bits per byte, taken from neighbouring planes.
    const std::uint32_t last = in.low;
    const std::uint32_t beforeLast = choose(fourTimes(0x03), in.low >> 6, in.high << 2);
    const std::uint32_t third = choose(fourTimes(0x0F), in.high >> 4, in.above << 4);
    return {{(last | two) & ~(two >> 1), choose(fourTimes(0xC0), fourTimes(0xC0) - (three >> 1), beforeLast),
             most > 3 ? (third & fourTimes(0x3F)) | (fourTimes(0xE0) - 3 * (four >> 2))
                      : choose(fourTimes(0xF0), fourTimes(0xE0), in.high >> 4),
             in.above >> 2 | fourTimes(0xF0)},
            fourTimes(1) + (two >> 7) + (three >> 7) + (four >> 7)};
}

/// A quad of UTF-16, in which some elements are surrogates.
struct Utf16Quad {
    std::uint32_t low;
    std::uint32_t high;
    std::uint32_t first;  ///< flags the first surrogates of pairs; `second` flags the second ones
    std::uint32_t second;

    __host__ __device__ constexpr Utf16Quad(std::uint32_t lowBytes, std::uint32_t highBytes)
        : low(lowBytes), high(highBytes), first(surrogatesIn(highBytes)), second(first & highBytes << 5) {
        first ^= second;
    }

    /// Replaces the flagged surrogates with U+FFFD.
    __host__ __device__ constexpr void replace(std::uint32_t flags) {
        CodePointQuad quad{low, high};
        quad.replace(flags);
        low = quad.low;
        high = quad.high;
        first &= ~flags;
        second &= ~flags;
    }
};

/// Encodes a quad of UTF-16. Each surrogate of a pair becomes two of the pair's four bytes. `lowBefore` has the low
/// byte of the element before each element, shifted left by four bits. Second surrogates need it.
[[nodiscard]] __host__ __device__ constexpr EncodedQuad encodeQuad(const Utf16Quad& in, std::uint32_t lowBefore) {
    const std::uint32_t first = wholeBytes(in.first);
    const std::uint32_t three = atLeast(in.high, 8);
    const std::uint32_t two = atLeast(in.high, 1) | (in.low & highBits);
    // Six bits of the first surrogate. Adding 0x10 adds the 0x10000 that pairs leave out, and may carry into the two
    // bits above.
    const std::uint32_t upper = (in.low >> 2 & fourTimes(0x3F)) + fourTimes(0x10);
    const std::uint32_t lead = choose(fourTimes(0x03), in.high, fourTimes(0xF0)) + (upper >> 6 & fourTimes(0x01));
    const std::uint32_t last = choose(first, upper, in.low);
    const std::uint32_t beforeLast =
        choose(wholeBytes(in.second) & fourTimes(0x30), lowBefore, choose(fourTimes(0x03), in.low >> 6, in.high << 2));
    return {{(last | two) & ~(two >> 1),
             choose(first, lead, choose(fourTimes(0xC0), fourTimes(0xC0) - (three >> 1), beforeLast)),
             choose(fourTimes(0xF0), fourTimes(0xE0), in.high >> 4), 0},
            fourTimes(1) + (two >> 7) + ((three & ~(in.first | in.second)) >> 7)};
}

}  // namespace StreamCompaction::Utf8
