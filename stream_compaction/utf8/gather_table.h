#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "stream_compaction/utf8/element.h"
#include "stream_compaction/utf8/unit.h"
#include "stream_compaction/utf8/word_bytes.h"

/// Decodes two elements at a time, by a table. The places where units begin say which bytes belong to which element.
/// Seven such bits select an entry of the table. The entry says, for each of two neighbouring elements, how to gather
/// its bytes in a word. The sum that turns the word into an element is the same for all. (Lemire and Mula, "Transcoding
/// Billions of Unicode Characters per Second with SIMD Instructions", 2022, decode more elements at once in this way,
/// in wider registers.)
///
/// The bytes of two elements lie among eight bytes of text, numbered from 0 to 7:
///
///     UTF-32: byte 0 is the first byte of the first element.
///     UTF-16: byte 1 is the first byte of the first element, byte 0 the one before it, because a second surrogate
///             is read from the last two bytes of its sequence and stands at the last one.
///
///     number         0    1    2    3    4    5    6    7
///     text           C3   BC   E4   B8   AD   61            "ü中a" in UTF-32
///     begins         1    0    1    0    0    1
///     first, ü       BC C3 and twice the sign of C3, to 64 * (C3 - C0) + (BC - 80)
///     second, 中     AD B8 E4 and the sign of E4
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

/// The first byte of an ill-formed unit of more than one byte is replaced by this mark. Its highest bit is set, as in
/// an ill-formed single byte, so that the unit decodes to a negative number.
inline constexpr std::uint32_t illFormedMark = 0x80;

/// The sum of a word of gathered bytes, as signed numbers, and an addend. The element's last byte is the lowest one of
/// the word; each byte weighs 64 times as much as the one after it in the text. In UTF-16 an element has at most three
/// bytes, and byte 1 of the word does not count.
template <typename To>
[[nodiscard]] __host__ __device__ constexpr int sumOfSixBits(std::uint32_t word, int addend) {
    constexpr bool hasFour = !isUtf16<To>;
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) {
        constexpr int weights = 1 | 64 << 16;
        const auto bytes = static_cast<int>(word);
        return hasFour ? __dp2a_lo(weights, bytes, addend) + 4096 * __dp2a_hi(weights, bytes, 0)
                       : __dp2a_hi(64 | 4096 << 16, bytes, __dp2a_lo(1, bytes, addend));
    }
#endif
    return hasFour ? weightedSum(word, 0x4001, addend) + 4096 * weightedSum(word, 0x40010000, 0)
                   : weightedSum(word, 0x400001, addend) + 4096 * weightedSum(word, 0x01000000, 0);
}

/// A rule for one element as a table holds it.
struct PackedRule {
    std::uint32_t bits;

    /// For selectBytes(), which looks at the lower 16 bits only.
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t selector() const { return bits; }
    /// The number of the element's last byte. In UTF-16 it is all of the lowest byte of `bits`, so that it needs no
    /// mask: dot products add a byte, and shifts look at the lowest five bits.
    template <typename To>
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t lastByte() const {
        return bits & (isUtf16<To> ? 0x1F : 0xF);
    }
    [[nodiscard]] __host__ __device__ constexpr int addend() const {
#ifdef __CUDA_ARCH__
        return static_cast<int>(__dp2a_lo(bits, 128u << 8, 0u));
#else
        return static_cast<int>((bits >> 16) * 128);
#endif
    }
};

/// How one element is made of eight bytes.
struct ElementRule {
    std::uint32_t selector;  ///< brings the bytes into a word: digit 0 is the number of the last byte
    int addend;              ///< for sumOfSixBits(): removes the bits that mark leads and continuations

    /// Bits 0 to 15: the selector; bits 16 to 31: the addend in units of 128.
    [[nodiscard]] constexpr PackedRule pack() const {
        return {selector | static_cast<std::uint32_t>(addend / 128) << 16};
    }
};

/// The rule for an element of `length` bytes, of which byte `last` is the last. `marks` are the bits that mark its lead
/// and continuations, in the order of gathered bytes. Places in the word that the element has no byte for hold the sign
/// of its first byte: 0 for ASCII, else -1.
template <typename To>
[[nodiscard]] constexpr ElementRule elementRule(int last, int length, std::uint32_t marks, int addend) {
    std::uint32_t selector = 0;
    for (int k = 0; k < 4; ++k) {
        selector |= static_cast<std::uint32_t>(k < length ? last - k : (last - length + 1) | 8) << 4 * k;
    }
    if constexpr (isUtf16<To>) {
        // Leave out byte 1 of the word. Digit 1 is 0 then, as PackedRule::lastByte() wants it.
        selector = (selector & 0xFF0) << 4 | (selector & 0xF);
        marks = (marks & 0xFFFF00) << 8 | (marks & 0xFF);
    }
    return {selector, addend - sumOfSixBits<To>(marks, 0)};
}

/// The rule for a unit of `length` bytes, of which byte `begin` is the first.
template <typename To>
[[nodiscard]] constexpr ElementRule unitRule(int begin, int length) {
    constexpr Array<std::uint32_t, 4> marks{0, 0xFFFFC080, 0xFFE08080, 0xF0808080};
    return elementRule<To>(begin + length - 1, length, marks[static_cast<std::size_t>(length - 1)], 0);
}
/// The rule for the first surrogate of a sequence whose first byte is byte `begin`. The sum is 16 times the surrogate
/// and four bits of the second one.
[[nodiscard]] constexpr ElementRule firstSurrogateRule(int begin) {
    return elementRule<char16_t>(begin + 2, 3, 0xFFF08080, 16 * (0xD800 - (0x10000 >> 10)));
}
/// The rule for the second surrogate of a sequence whose last byte is byte `last`. The sum is the surrogate without its
/// mark, and two bits of the first one where the mark has ones.
[[nodiscard]] constexpr ElementRule secondSurrogateRule(int last) {
    return elementRule<char16_t>(last, 2, 0xFFFF8080, 0);
}

// "ü" in bytes 0 and 1: the word is 00 00 C3 BC with signs in place of zeros, and 64 * -64 - 128 is taken away, as well
// as what the signs weigh.
static_assert(unitRule<char32_t>(0, 2).selector == 0x8801);
static_assert(unitRule<char32_t>(0, 2).addend == 64 * 64 + 128 + 4096 * (64 + 1));
static_assert(sumOfSixBits<char32_t>(0xFFFFC3BC, unitRule<char32_t>(0, 2).addend) == U'\u00FC');
static_assert(unitRule<char32_t>(0, 2).pack().lastByte<char32_t>() == 1);
// The same in bytes 1 and 2, for UTF-16.
static_assert(unitRule<char16_t>(1, 2).selector == 0x9102);
static_assert(unitRule<char16_t>(1, 2).pack().lastByte<char16_t>() == 2);
// F0 9F 98 80, U+1F600, is D83D DE00 in UTF-16.
static_assert(sumOfSixBits<char16_t>(0xF09F0098, firstSurrogateRule(1).addend) == 0xD83D8);
static_assert((0xDC00 | sumOfSixBits<char16_t>(0xFF980080, secondSurrogateRule(4).addend)) == 0xDE00);

/// How two neighbouring elements are made of eight bytes. Aligned, so that one access reads both.
struct alignas(2 * sizeof(std::uint32_t)) GatherEntry {
    PackedRule first;
    PackedRule second;
};

/// The distance from a byte to the next unit, but at most 4.
[[nodiscard]] constexpr int distanceToNext(std::uint32_t begins, int byte) {
    return std::min(std::countr_zero(begins >> (byte + 1)) + 1, 4);
}

/// The entry for two elements. Bit i of `begins` says whether a unit begins i bytes behind the first byte of the first
/// element. In UTF-16 a complete sequence of four bytes makes two elements; the second surrogate is read from any byte
/// but the sequence's first.
template <typename To>
[[nodiscard]] constexpr GatherEntry gatherEntry(std::uint32_t begins) {
    const int first = distanceToNext(begins, 0);
    if constexpr (!isUtf16<To>) {
        return {unitRule<To>(0, first).pack(), unitRule<To>(first, distanceToNext(begins, first)).pack()};
    }
    const bool isUnit = (begins & 1) != 0;
    if (isUnit && first == 4) {
        return {firstSurrogateRule(1).pack(), secondSurrogateRule(4).pack()};
    }
    const int second = distanceToNext(begins, first);
    return {(isUnit ? unitRule<To>(1, first) : secondSurrogateRule(first)).pack(),
            (second == 4 ? firstSurrogateRule(1 + first) : unitRule<To>(1 + first, second)).pack()};
}

/// The number of bits of `begins` that select an entry.
inline constexpr int gatherBits = 7;

/// The lowest bit that selects. In UTF-32 bit 0 is always set. In UTF-16 it tells units from second surrogates, which
/// begin where no unit does.
template <typename To>
inline constexpr int firstGatherBit = isUtf16<To> ? 0 : 1;

/// The number of bytes before the first element among the eight.
template <typename To>
inline constexpr int bytesBefore = isUtf16<To> ? 1 : 0;

template <typename To>
[[nodiscard]] constexpr Array<GatherEntry, 1 << gatherBits> gatherTable() {
    Array<GatherEntry, 1 << gatherBits> table{};
    for (std::uint32_t index = 0; index < 1u << gatherBits; ++index) {
        table[index] = gatherEntry<To>(index << firstGatherBit<To>);
    }
    return table;
}

/// Advances a position in the text by two elements, and shifts the bits that say where units begin accordingly. The new
/// position is behind the last byte of the second element in UTF-32, and at that byte in UTF-16.
template <typename To>
__host__ __device__ constexpr void moveOn(const GatherEntry& entry, std::uint32_t& position, std::uint32_t& begins) {
    if constexpr (isUtf16<To>) {
        position = addByte(entry.second.bits, 0, position);
        begins >>= entry.second.lastByte<To>();
    } else {
        const std::uint32_t length = entry.second.lastByte<To>() + 1;
        position += length;
        begins >>= length;
    }
}

/// The sums of two elements from eight bytes of text: code points, negative numbers for marked units, or what the rules
/// for surrogates say.
template <typename To>
[[nodiscard]] __host__ __device__ constexpr Array<int, 2> sumsOfTwo(const Array<std::uint32_t, 2>& text,
                                                                    const GatherEntry& entry) {
    const auto sum = [&](const PackedRule& rule) {
        return sumOfSixBits<To>(selectBytes(text[0], text[1], rule.selector()), rule.addend());
    };
    return {sum(entry.first), sum(entry.second)};
}

/// The substitute in place of the sum of a marked unit, in as many bits as the element has.
template <typename To>
[[nodiscard]] __host__ __device__ constexpr int replaceMarked(int sum) {
    if constexpr (isUtf16<To>) {
        // The sums of marked units are smaller than this number, those of others are not negative.
        constexpr int smallest = int{replacementCharacter} - 0x10000;
        return sum < smallest ? smallest : sum;
    }
    return sum >= 0 ? sum : int{substitute<To>};
}

/// The mark of the second of two surrogates.
inline constexpr std::uint32_t secondSurrogate = 0xDC00;

/// Turns a sum into an element of UTF-16. If that is the first of two surrogates, the next sum gets the second one's
/// mark.
__host__ __device__ constexpr void finishSurrogate(std::uint32_t& sum, std::uint32_t& next) {
#ifdef __CUDA_ARCH__
    // A branch would take more instructions.
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
