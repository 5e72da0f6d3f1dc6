#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/utf8/unit.h"

/// Decoding two elements at a time. Where units begin says all about which bytes are whose, so that a table can tell
/// for any two elements that come from neighbouring places how to gather their bytes; what these say is then the same
/// sum for all. (Lemire and Mula, "Transcoding Billions of Unicode Characters per Second with SIMD Instructions", 2022,
/// do so for more of them at once, in wider registers.)
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

/// How two elements side by side are decoded, units or surrogates. Of either, in the lower half, which of eight bytes
/// it has, the last one first, as selectBytes() takes it; in the upper half what its sum of bytes lacks, in 128ths.
/// Aligned, so that one access reads both.
struct alignas(2 * sizeof(std::uint32_t)) TwoElementsRule {
    std::uint32_t first;
    std::uint32_t second;
};

/// What an ill-formed unit of more than one byte is made to begin with. Like an ill-formed single byte, which has its
/// highest bit set, it then decodes to something negative.
inline constexpr std::uint32_t illFormedMark = 0x80;

/// The sum of an element's bytes, taken for signed numbers, each counting 64 times as much as the one before it, and an
/// addend. In UTF-16 it has three bytes at most: the second of the word does not count.
template <typename To>
[[nodiscard]] constexpr int sumOfSixBits(std::uint32_t word, int addend) {
    constexpr bool hasFour = sizeof(To) == sizeof(char32_t);
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
        constexpr int weights = 1 | 64 << 16;
        const auto bytes = static_cast<int>(word);
        return hasFour ? __dp2a_lo(weights, bytes, addend) + 4096 * __dp2a_hi(weights, bytes, 0)
                       : __dp2a_hi(64 | 4096 << 16, bytes, __dp2a_lo(1, bytes, addend));
    }
#endif
    return hasFour ? weightedSum(word, 0x4001, addend) + 4096 * weightedSum(word, 0x40010000, 0)
                   : weightedSum(word, 0x400001, addend) + 4096 * weightedSum(word, 0x01000000, 0);
}

/// How many bits of where units begin tell what two elements are: in UTF-32 those behind the first one's; in UTF-16
/// that one, too, for a second surrogate begins where no unit does.
inline constexpr int twoElementsBits = 7;

/// How many bytes before the first element the eight begin: a second surrogate has a part in the byte before its last.
template <typename To>
inline constexpr int bytesBefore = sizeof(To) == sizeof(char16_t) ? 1 : 0;

/// The rule for an element of so many bytes, the last of which is number `last` of the eight: what tells lead and
/// continuations from the bits that they hold, the last one first, and in place of those that there are not the sign of
/// the first, 0 for ASCII, else -1; and an addend.
template <typename To>
[[nodiscard]] constexpr std::uint32_t elementRule(int last, int length, std::uint32_t marks, int addend) {
    std::uint32_t selector = 0;
    for (int k = 0; k < 4; ++k) {
        selector |= static_cast<std::uint32_t>(k < length ? last - k : (last - length + 1) | 8) << 4 * k;
    }
    if constexpr (sizeof(To) == sizeof(char16_t)) {
        // Any byte does for the one that does not count; the first leaves the lowest five bits to the last one's
        // number.
        selector = (selector & 0xFF0) << 4 | (selector & 0xF);
        marks = (marks & 0xFFFF00) << 8 | (marks & 0xFF);
    }
    return selector | static_cast<std::uint32_t>((addend - sumOfSixBits<To>(marks, 0)) / 128) << 16;
}

/// The rule for a unit of so many bytes, the first of which is number `begin` of the eight.
template <typename To>
[[nodiscard]] constexpr std::uint32_t unitRule(int begin, int length) {
    constexpr std::array<std::uint32_t, 4> marks{0, 0xFFFFC080, 0xFFE08080, 0xF0808080};
    return elementRule<To>(begin + length - 1, length, marks[static_cast<std::size_t>(length - 1)], 0);
}
/// The rule for the first surrogate of a sequence that begins there: 16 times what it is, and a part of the second.
[[nodiscard]] constexpr std::uint32_t firstSurrogateRule(int begin) {
    return elementRule<char16_t>(begin + 2, 3, 0xFFF08080, 16 * (0xD800 - (0x10000 >> 10)));
}
/// The rule for the second surrogate of a sequence that ends there: what it is without its mark, and a part of the
/// first, which lies where the mark has ones.
[[nodiscard]] constexpr std::uint32_t secondSurrogateRule(int last) {
    return elementRule<char16_t>(last, 2, 0xFFFF8080, 0);
}

/// How far behind a byte the next unit begins, if nearer than four bytes.
[[nodiscard]] constexpr int distanceToNext(std::uint32_t begins, int byte) {
    return std::min(std::countr_zero(begins >> (byte + 1)) + 1, 4);
}

/// The rule for two elements, the first of which comes from the first byte, where units begin whose bits are set. In
/// UTF-16 a complete sequence of four bytes makes two, the second of which comes from any byte behind the first.
template <typename To>
[[nodiscard]] constexpr TwoElementsRule twoElementsRule(std::uint32_t begins) {
    const int first = distanceToNext(begins, 0);
    if constexpr (sizeof(To) == sizeof(char32_t)) {
        return {unitRule<To>(0, first), unitRule<To>(first, distanceToNext(begins, first))};
    }
    const bool isUnit = (begins & 1) != 0;
    if (isUnit && first == 4) {
        return {firstSurrogateRule(1), secondSurrogateRule(4)};
    }
    const int second = distanceToNext(begins, first);
    return {isUnit ? unitRule<To>(1, first) : secondSurrogateRule(first),
            second == 4 ? firstSurrogateRule(1 + first) : unitRule<To>(1 + first, second)};
}

/// How many of the bits from the first byte on are not asked.
template <typename To>
inline constexpr int bitsNotAsked = sizeof(To) == sizeof(char32_t) ? 1 : 0;

/// The rules for all that can be asked.
template <typename To>
[[nodiscard]] constexpr std::array<TwoElementsRule, 1 << twoElementsBits> twoElementsRules() {
    std::array<TwoElementsRule, 1 << twoElementsBits> rules{};
    for (std::uint32_t index = 0; index < rules.size(); ++index) {
        rules[index] = twoElementsRule<To>(index << bitsNotAsked<To>);
    }
    return rules;
}

/// Moves a position, and bits that stand for what is there, on to the next element: behind the last byte of both, or,
/// if the second is the first of two surrogates, to that byte itself.
template <typename To>
constexpr void moveOn(const TwoElementsRule& rule, std::uint32_t& position, std::uint32_t& bits) {
    if constexpr (sizeof(To) == sizeof(char16_t)) {
        position = addByte(rule.second, 0, position);
        bits >>= rule.second & 0x1F;
    } else {
        const std::uint32_t length = (rule.second & 0xF) + 1;
        position += length;
        bits >>= length;
    }
}

/// The sums of two elements from their text: code points, negative numbers for marked units, or what the rules for
/// surrogates say.
template <typename To>
[[nodiscard]] constexpr std::array<int, 2> sumsOfTwo(const std::array<std::uint32_t, 2>& text,
                                                     const TwoElementsRule& rule) {
    const auto sum = [&](std::uint32_t element) {
#ifdef __CUDA_ARCH__
        const auto addend = static_cast<int>(__dp2a_lo(element, 128u << 8, 0u));
#else
        const auto addend = static_cast<int>((element >> 16) * 128);
#endif
        return sumOfSixBits<To>(selectBytes(text[0], text[1], element), addend);
    };
    return {sum(rule.first), sum(rule.second)};
}

/// U+FFFD in place of the sum of a marked unit, in the bits that the element has.
template <typename To>
[[nodiscard]] constexpr int replaceMarked(int sum) {
    if constexpr (sizeof(To) == sizeof(char16_t)) {
        // Such sums are less than that; of the larger ones none is negative.
        return std::max(sum, int{replacementCharacter} - 0x10000);
    }
    return sum >= 0 ? sum : int{replacementCharacter};
}

/// What marks the second of two surrogates.
inline constexpr std::uint32_t secondSurrogate = 0xDC00;

/// Makes an element of UTF-16 of its sum: if it is the first of two surrogates, the second is marked in the next sum.
constexpr void finishSurrogate(std::uint32_t& sum, std::uint32_t& next) {
#ifdef __CUDA_ARCH__
    // Of branches the compiler makes more instructions.
    asm("{\n\t"
        ".reg .pred isFirst;\n\t"
        "setp.gt.s32 isFirst, %0, 0xFFFF;\n\t"
        "@isFirst shr.u32 %0, %0, 4;\n\t"
        "@isFirst or.b32 %1, %1, 0xDC00;\n\t"
        "}"
        : "+r"(sum), "+r"(next));
#else
    if (static_cast<int>(sum) > 0xFFFF) {
        sum >>= 4;
        next |= secondSurrogate;
    }
#endif
}

}  // namespace StreamCompaction::Utf8
