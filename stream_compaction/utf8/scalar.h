#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stream_compaction/utf8/element.h"
#include "stream_compaction/utf8/lead_rule.h"
#include "stream_compaction/utf8/unit.h"

/// Reads and writes text of any encoding on the host, one unit after the other.
namespace StreamCompaction::Utf8 {

/// A unit: its code point, U+FFFD if it is ill-formed; its length in elements; its error.
struct SerialUnit {
    char32_t codePoint;
    int length;
    ErrorKind error;
};

/// The unit that begins with element i.
[[nodiscard]] constexpr SerialUnit unitFrom(std::span<const std::uint8_t> text, std::size_t i) {
    const std::uint32_t window = windowAt(text, i);
    const Unit unit = unitAt(window);
    return unit.isWellFormed ? SerialUnit{codePointOf(window), unit.length, ErrorKind::None}
                             : SerialUnit{replacementCharacter, unit.length, errorIn(window)};
}

template <typename From>
requires isUtf16<From>
[[nodiscard]] constexpr SerialUnit unitFrom(std::span<const From> text, std::size_t i) {
    const char16_t x = text[i];
    if (isFirstSurrogate(x) && i + 1 < text.size() && isSecondSurrogate(text[i + 1])) {
        return {codePointOfPair(x, text[i + 1]), 2, ErrorKind::None};
    }
    return isSurrogate(x) ? SerialUnit{replacementCharacter, 1, ErrorKind::Surrogate}
                          : SerialUnit{x, 1, ErrorKind::None};
}

template <typename From>
requires isUtf32<From>
[[nodiscard]] constexpr SerialUnit unitFrom(std::span<const From> text, std::size_t i) {
    const char32_t x = text[i];
    return isScalarValue(x)
               ? SerialUnit{x, 1, ErrorKind::None}
               : SerialUnit{replacementCharacter, 1, isSurrogate(x) ? ErrorKind::Surrogate : ErrorKind::AboveLast};
}

[[nodiscard]] constexpr SerialUnit unitFrom(std::span<const Latin1> text, std::size_t i) {
    return {static_cast<char32_t>(text[i]), 1, ErrorKind::None};
}

/// The same for a conversion to elements of type To. A code point that Latin-1 lacks is an error.
template <typename To, typename From>
[[nodiscard]] constexpr SerialUnit unitFor(std::span<const From> text, std::size_t i) {
    SerialUnit unit = unitFrom(text, i);
    if (isLatin1<To> && unit.error == ErrorKind::None && unit.codePoint > lastOfLatin1) {
        unit.error = ErrorKind::AboveLatin1;
    }
    return unit;
}

/// Writes a code point as up to four elements, and returns their number.
template <typename To>
constexpr std::size_t put(char32_t codePoint, To* out) {
    if (isUtf16<To> && codePoint >= 0x10000) {
        out[0] = static_cast<To>(0xD7C0 + (codePoint >> 10));
        out[1] = static_cast<To>(0xDC00 + (codePoint & 0x3FF));
        return 2;
    }
    out[0] = static_cast<To>(isLatin1<To> && codePoint > lastOfLatin1 ? substitute<To> : codePoint);
    return 1;
}

constexpr std::size_t put(char32_t codePoint, std::uint8_t* out) {
    const Encoded encoded = encodeCodePoint(codePoint);
    for (int i = 0; i < encoded.length; ++i) {
        out[i] = static_cast<std::uint8_t>(encoded.bytes >> 8 * (encoded.length - 1 - i));
    }
    return static_cast<std::size_t>(encoded.length);
}

}  // namespace StreamCompaction::Utf8
