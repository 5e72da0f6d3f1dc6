#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stream_compaction/utf8/element.h"
#include "stream_compaction/utf8/types.h"
#include "stream_compaction/utf8/word_bytes.h"

/// Divides text into units, one at a time, and tells which of them are well-formed.
///
/// A *unit* of UTF-8 is a well-formed sequence (The Unicode Standard, table 3-7) or a maximal subpart of an ill-formed
/// one (chapter 3, "U+FFFD Substitution of Maximal Subparts"; the WHATWG Encoding Standard; Python's errors="replace").
/// A maximal subpart is the longest prefix of some well-formed sequence, or else a single byte. Every byte belongs to
/// exactly one unit. The three bytes before it and the three behind it decide to which.
///
/// A *window* is a word with four bytes of text, the first in its lowest byte. Zeros stand for bytes behind the end of
/// the text.
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

inline constexpr char32_t replacementCharacter = 0xFFFD;
inline constexpr char32_t lastCodePoint = 0x10FFFF;
inline constexpr char32_t byteOrderMark = 0xFEFF;
inline constexpr std::uint32_t firstLeadAboveLatin1 = 0xC4;

/// Whether a window begins with a byte order mark.
[[nodiscard]] __host__ __device__ constexpr bool beginsWithMark(std::uint32_t window) {
    return (window & 0xFFFFFF) == 0xBFBBEF;
}

[[nodiscard]] __host__ __device__ constexpr bool isContinuation(std::uint32_t byte) { return (byte & 0xC0) == 0x80; }

/// What takes the place of units that cannot be converted to elements of type To.
template <typename To>
inline constexpr char32_t substitute = isLatin1<To> ? U'?' : replacementCharacter;

struct Unit {
    int length;
    bool isWellFormed;
};

/// Whether `second` may follow `lead` (table 3-7, see bit_planes.h). False for bytes that cannot lead a sequence.
[[nodiscard]] __host__ __device__ constexpr bool isSecond(std::uint32_t lead, std::uint32_t second) {
    const std::uint32_t least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const std::uint32_t most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return lead >= 0xC2 && lead <= 0xF4 && second >= least && second <= most;
}

/// The unit at the beginning of a window.
[[nodiscard]] __host__ __device__ constexpr Unit unitAt(std::uint32_t window) {
    const std::uint32_t lead = byteOf(window, 0);
    if (lead < 0x80) {
        return {1, true};
    }
    if (!isSecond(lead, byteOf(window, 1))) {
        return {1, false};
    }
    if (lead < 0xE0) {
        return {2, true};
    }
    if (!isContinuation(byteOf(window, 2))) {
        return {2, false};
    }
    if (lead < 0xF0) {
        return {3, true};
    }
    return isContinuation(byteOf(window, 3)) ? Unit{4, true} : Unit{3, false};
}

/// One bit per byte of the window: whether it belongs to a unit that begins in the four bytes `before` the window.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t insideOf(std::uint32_t before, std::uint32_t window) {
    if (!isContinuation(byteOf(window, 0))) {
        return 0;
    }
    // Only the unit of the nearest byte that is no continuation can reach into the window.
    const std::uint32_t notContinuations = (before & 0xC0C0C0C0) ^ 0x80808080;
    const int distance = leadingZeros(notContinuations | 1) / 8 + 1;
    const auto around = static_cast<std::uint32_t>((std::uint64_t{window} << 32 | before) >> 8 * (4 - distance));
    const int length = unitAt(around).length;
    return (1u << (length > distance ? length - distance : 0)) - 1;
}

/// Why the unit at the beginning of a window is ill-formed.
[[nodiscard]] __host__ __device__ constexpr ErrorKind errorIn(std::uint32_t window) {
    const std::uint32_t lead = byteOf(window, 0);
    const std::uint32_t second = byteOf(window, 1);
    if (isContinuation(lead)) {
        return ErrorKind::UnexpectedContinuation;
    }
    if (lead < 0xC2) {
        return ErrorKind::Overlong;
    }
    if (lead > 0xF4) {
        return ErrorKind::AboveLast;
    }
    if (!isContinuation(second) || isSecond(lead, second)) {
        return ErrorKind::Truncated;
    }
    return lead == 0xED ? ErrorKind::Surrogate : lead == 0xF4 ? ErrorKind::AboveLast : ErrorKind::Overlong;
}

/// Why a conversion to elements of type To cannot convert the unit at the beginning of a window.
template <typename To>
[[nodiscard]] __host__ __device__ constexpr ErrorKind errorFor(std::uint32_t window) {
    return isLatin1<To> && unitAt(window).isWellFormed ? ErrorKind::AboveLatin1 : errorIn(window);
}

/// The window at byte `at` of a text.
[[nodiscard]] constexpr std::uint32_t windowAt(std::span<const std::uint8_t> text, std::size_t at) {
    std::uint32_t window = 0;
    for (std::size_t i = 0; i < 4 && at + i < text.size(); ++i) {
        window |= std::uint32_t{text[at + i]} << 8 * i;
    }
    return window;
}

/// The number of bytes of a piece of text that can be decoded before the next piece is known: all but a sequence that
/// is cut off at the end.
[[nodiscard]] constexpr std::size_t completeBytes(std::span<const std::uint8_t> piece) {
    for (std::size_t length = 1; length <= 3 && length <= piece.size(); ++length) {
        const std::size_t at = piece.size() - length;
        if (!isContinuation(piece[at])) {
            const std::uint32_t window = windowAt(piece, at);
            const Unit unit = unitAt(window);
            const bool goesOn = !unit.isWellFormed && errorIn(window) == ErrorKind::Truncated &&
                                static_cast<std::size_t>(unit.length) == length;
            return goesOn ? at : piece.size();
        }
    }
    return piece.size();
}

/// A code point in UTF-8. Its last byte is the lowest byte of `bytes`.
struct Encoded {
    std::uint32_t bytes;
    int length;
};

[[nodiscard]] __host__ __device__ constexpr bool isSurrogate(char32_t codePoint) {
    return (codePoint & 0xFFFFF800) == 0xD800;
}

[[nodiscard]] __host__ __device__ constexpr bool isFirstSurrogate(char32_t element) {
    return (element & 0xFFFFFC00) == 0xD800;
}
[[nodiscard]] __host__ __device__ constexpr bool isSecondSurrogate(char32_t element) {
    return (element & 0xFFFFFC00) == 0xDC00;
}

/// The code point that a pair of surrogates stands for.
[[nodiscard]] __host__ __device__ constexpr char32_t codePointOfPair(char32_t first, char32_t second) {
    return 0x10000 + ((first & 0x3FF) << 10 | (second & 0x3FF));
}

/// Whether UTF-32 may hold the code point.
[[nodiscard]] __host__ __device__ constexpr bool isScalarValue(char32_t codePoint) {
    return codePoint <= lastCodePoint && !isSurrogate(codePoint);
}

/// The UTF-8 of a scalar value.
[[nodiscard]] __host__ __device__ constexpr Encoded encodeCodePoint(char32_t codePoint) {
    if (codePoint < 0x80) {
        return {codePoint, 1};
    }
    // Spread to six bits per byte. Adding three times the upper part multiplies it by four, which moves it up by
    // two bits.
    std::uint32_t sixes = codePoint + 3 * (codePoint & ~0x3Fu);
    sixes += 3 * (sixes & ~0x3FFFu);
    sixes += 3 * (sixes & ~0x3FFFFFu);
    return codePoint < 0x800     ? Encoded{sixes | 0xC080, 2}
           : codePoint < 0x10000 ? Encoded{sixes | 0xE08080, 3}
                                 : Encoded{sixes | 0xF0808080, 4};
}

}  // namespace StreamCompaction::Utf8