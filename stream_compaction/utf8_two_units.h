#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/utf8_units.h"

/// Decoding two units at a time. Where units begin says all about which bytes are whose, so that a table can tell for
/// any two that stand side by side how to gather them; what they say is then the same sum of bytes for all. (Lemire and
/// Mula, "Transcoding Billions of Unicode Characters per Second with SIMD Instructions", 2022, do so for more of them
/// at once, in wider registers.)
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

/// How two units side by side are decoded. Of either, in the lower half, which of eight bytes it has, the last one
/// first, as selectBytes() takes it; in the upper half what its sum of bytes lacks, in 128ths.
struct TwoUnitsRule {
    std::uint32_t first;
    std::uint32_t second;

    /// The bytes of both.
    [[nodiscard]] constexpr int length() const { return static_cast<int>(second & 0xF) + 1; }
};

/// What an ill-formed unit of more than one byte is made to begin with. Like an ill-formed single byte, which has its
/// highest bit set, it then decodes to something negative.
inline constexpr std::uint32_t illFormedMark = 0x80;

/// The sum of a word's bytes, taken for signed numbers, each counting 64 times as much as the one before it, and an
/// addend.
[[nodiscard]] constexpr int sumOfSixBits(std::uint32_t word, int addend) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
        constexpr int weights = 1 | 64 << 16;
        const auto bytes = static_cast<int>(word);
        return __dp2a_lo(weights, bytes, addend) + 4096 * __dp2a_hi(weights, bytes, 0);
    }
#endif
    return weightedSum(word, 0x4001, addend) + 4096 * weightedSum(word, 0x40010000, 0);
}

/// How many of the bytes behind the first tell what two units are.
inline constexpr int twoUnitsAhead = 7;

/// What tells a unit's lead and continuations from the bits that they hold, as they are gathered.
[[nodiscard]] constexpr std::uint32_t marksOf(int length) {
    // In place of bytes that there are not stands the sign of the first: 0 for ASCII, else -1.
    return length == 1 ? 0 : length == 2 ? 0xFFFFC080 : length == 3 ? 0xFFE08080 : 0xF0808080;
}

/// The rule for a unit of so many bytes, the first of which is number `begin` of the eight.
[[nodiscard]] constexpr std::uint32_t unitRule(int begin, int length) {
    std::uint32_t selector = 0;
    for (int k = 0; k < 4; ++k) {
        selector |= static_cast<std::uint32_t>(k < length ? begin + length - 1 - k : begin | 8) << 4 * k;
    }
    return selector | static_cast<std::uint32_t>(-sumOfSixBits(marksOf(length), 0) / 128) << 16;
}

/// The rule for two units, where of the bytes behind the first those begin units whose bits are set.
[[nodiscard]] constexpr TwoUnitsRule twoUnitsRule(std::uint32_t begins) {
    const int first = std::min(std::countr_zero(begins) + 1, 4);
    const int second = std::min(std::countr_zero(begins >> first) + 1, 4);
    return {unitRule(0, first), unitRule(first, second)};
}

/// The rules for all that can be asked.
[[nodiscard]] constexpr std::array<TwoUnitsRule, 1 << twoUnitsAhead> twoUnitsRules() {
    std::array<TwoUnitsRule, 1 << twoUnitsAhead> rules{};
    for (std::uint32_t begins = 0; begins < rules.size(); ++begins) {
        rules[begins] = twoUnitsRule(begins);
    }
    return rules;
}

/// The code points of two units from their text; negative numbers for marked ones.
[[nodiscard]] constexpr std::array<int, 2> decodeTwo(const std::array<std::uint32_t, 2>& text,
                                                     const TwoUnitsRule& rule) {
    const auto decode = [&](std::uint32_t unit) {
#ifdef __CUDA_ARCH__
        const auto addend = static_cast<int>(__dp2a_lo(unit, 128u << 8, 0u));
#else
        const auto addend = static_cast<int>((unit >> 16) * 128);
#endif
        return sumOfSixBits(selectBytes(text[0], text[1], unit), addend);
    };
    return {decode(rule.first), decode(rule.second)};
}

}  // namespace StreamCompaction::Utf8
