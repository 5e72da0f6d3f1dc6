#pragma once

#include <array>
#include <cstdint>

#include "stream_compaction/utf8/unit.h"
#include "stream_compaction/utf8/word_bytes.h"

/// Encoding into UTF-8 four elements at a time: a *plane* is a word with one byte of each of the four, so that one
/// instruction does the same to all of them. What is known of an element is the highest bit of its byte.
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

/// The same byte four times.
[[nodiscard]] constexpr std::uint32_t fourTimes(std::uint32_t byte) { return byte * 0x01010101; }

inline constexpr std::uint32_t highBits = fourTimes(0x80);

/// In which bytes of a plane there is at least so much; 0 < least <= 0x80.
[[nodiscard]] constexpr std::uint32_t atLeast(std::uint32_t plane, std::uint32_t least) {
    return (((plane & ~highBits) + fourTimes(0x80 - least)) | plane) & highBits;
}

/// All bits of the bytes whose highest bit is set, of a word of highest bits.
[[nodiscard]] constexpr std::uint32_t wholeBytes(std::uint32_t flags) { return selectBytes(flags, 0, 0xBA98); }

/// Where the elements are surrogates, of the plane of their high bytes.
[[nodiscard]] constexpr std::uint32_t surrogatesIn(std::uint32_t high) {
    return ~(((high & ~highBits) ^ fourTimes(0x58)) + fourTimes(0x78)) & high & highBits;
}

/// Code points of a quad.
struct CodePointQuad {
    std::uint32_t low = 0;    ///< bits 0 to 7
    std::uint32_t high = 0;   ///< bits 8 to 15
    std::uint32_t above = 0;  ///< bits 16 to 20

    /// Puts U+FFFD in the place of those that are flagged.
    constexpr void replace(std::uint32_t flags) {
        const std::uint32_t mask = wholeBytes(flags);
        low = choose(mask, fourTimes(replacementCharacter & 0xFF), low);
        high |= mask & fourTimes(replacementCharacter >> 8);
        above &= ~mask;
    }
};

/// A quad in UTF-8. Of the planes the first has the last bytes, the second those before them where there are any, and
/// so on; what else is in them is not of the text.
struct EncodedQuad {
    std::array<std::uint32_t, 4> planes;
    std::uint32_t lengths;
};

/// Encodes a quad. `most` says how long a sequence can be.
template <int most>
[[nodiscard]] constexpr EncodedQuad encodeQuad(const CodePointQuad& in) {
    if constexpr (most == 1) {
        return {{in.low, 0, 0, 0}, fourTimes(1)};
    }
    const std::uint32_t four = most > 3 ? atLeast(in.above, 1) : 0;
    const std::uint32_t three = most > 2 ? atLeast(in.high, 8) | four : 0;
    const std::uint32_t two = atLeast(in.high, 1) | (in.low & highBits) | three;
    // Six bits a byte, as they lie across planes.
    const std::uint32_t last = in.low;
    const std::uint32_t beforeLast = choose(fourTimes(0x03), in.low >> 6, in.high << 2);
    const std::uint32_t third = choose(fourTimes(0x0F), in.high >> 4, in.above << 4);
    return {{(last | two) & ~(two >> 1), choose(fourTimes(0xC0), fourTimes(0xC0) - (three >> 1), beforeLast),
             most > 3 ? (third & fourTimes(0x3F)) | (fourTimes(0xE0) - 3 * (four >> 2))
                      : choose(fourTimes(0xF0), fourTimes(0xE0), in.high >> 4),
             in.above >> 2 | fourTimes(0xF0)},
            fourTimes(1) + (two >> 7) + (three >> 7) + (four >> 7)};
}

/// Elements of UTF-16, of which some are surrogates.
struct Utf16Quad {
    std::uint32_t low;
    std::uint32_t high;
    std::uint32_t first;  ///< which are the first or second surrogates of pairs
    std::uint32_t second;

    constexpr Utf16Quad(std::uint32_t lowBytes, std::uint32_t highBytes)
        : low(lowBytes), high(highBytes), first(surrogatesIn(highBytes)), second(first & highBytes << 5) {
        first ^= second;
    }

    /// Puts U+FFFD in the place of surrogates that are flagged.
    constexpr void replace(std::uint32_t flags) {
        CodePointQuad quad{low, high};
        quad.replace(flags);
        low = quad.low;
        high = quad.high;
        first &= ~flags;
        second &= ~flags;
    }
};

/// Encodes a quad of UTF-16: either surrogate of a pair becomes two bytes of the four. For second ones the low bytes of
/// the elements before them are asked for, moved up by four bits.
[[nodiscard]] constexpr EncodedQuad encodeQuad(const Utf16Quad& in, std::uint32_t lowBefore) {
    const std::uint32_t first = wholeBytes(in.first);
    const std::uint32_t three = atLeast(in.high, 8);
    const std::uint32_t two = atLeast(in.high, 1) | (in.low & highBits);
    // Six bits of the first surrogate; 0x10 more is the 0x10000 that pairs leave out, and may carry into the two above.
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
