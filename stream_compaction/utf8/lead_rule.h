#pragma once

#include <cstdint>

#include "stream_compaction/utf8/element.h"
#include "stream_compaction/utf8/word_bytes.h"

/// Decodes one element from four bytes of text, by two dot products. The upper half of the first byte selects their
/// weights.
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

/// An element is a weighted sum of the bytes of its sequence, taken as signed numbers. As a signed number, a
/// continuation is 128 less than the six bits that it holds. A lead is 64, 32 or 16 less than its own bits. The addend
/// makes up for both, so nothing has to be masked.
struct LeadRule {
    std::uint32_t weights;
    int addend;
    std::uint32_t highWeights;  ///< of a second sum, which counts 4096 times
    int length;                 ///< bytes from here to those of the next element
};

/// The upper half of a window's first byte, 0x00 to 0xF0. It selects the rule.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t leadHalf(std::uint32_t window) { return window & 0xF0; }

inline constexpr std::uint32_t fourByteHalf = 0xF0;

/// The rule for output of type To. In UTF-16 a sequence of four bytes makes two surrogates. The first one is read from
/// the sequence's first byte on; its sum is 16 times the surrogate. The second one is read from the second byte on,
/// which is a continuation.
template <typename To>
[[nodiscard]] __host__ __device__ constexpr LeadRule leadRule(std::uint32_t half) {
    constexpr int twoContinuations = 64 * 128 + 128;
    if (half < 0x80) {
        return {0x01, 0, 0, 1};
    }
    if (half < 0xC0) {
        // Only the ten lowest bits of the sum are used, and 4096 times the high weight does not change them. The sign
        // of the high weight tells this rule from the others.
        return {0x014000, twoContinuations, 0x80000000, 3};
    }
    if (half < 0xE0) {
        return {0x0140, 64 * 64 + 128, 0, 2};
    }
    if (half < fourByteHalf) {
        return {0x014000, 4096 * 32 + twoContinuations, 0x01, 3};
    }
    if (isUtf16<To>) {
        return {0x014000, 4096 * 16 + twoContinuations + 16 * 0xD7C0, 0x01, 1};
    }
    return {0x01400000, 4096 * (64 * 16 + 128) + twoContinuations, 0x0140, 4};
}

/// The length of a well-formed unit whose first byte has this upper half.
[[nodiscard]] __host__ __device__ constexpr int unitLength(std::uint32_t half, const LeadRule& rule) {
    return half == fourByteHalf ? 4 : rule.length;
}

/// The element at the beginning of a window, by the rule of its first byte.
template <typename To>
[[nodiscard]] __host__ __device__ constexpr To elementOf(std::uint32_t window, const LeadRule& rule) {
    int sum = weightedSum(window, rule.weights, rule.addend) + 4096 * weightedSum(window, rule.highWeights, 0);
    if constexpr (isUtf16<To>) {
        // Selected without a branch, because neighbouring lanes differ.
        const int second = (sum & 0x3FF) | 0xDC00;
        sum = leadHalf(window) == fourByteHalf ? sum >> 4 : sum;
        sum = static_cast<int>(rule.highWeights) < 0 ? second : sum;
    }
    return static_cast<To>(sum);
}

/// The code point of the well-formed unit at the beginning of a window.
[[nodiscard]] __host__ __device__ constexpr char32_t codePointOf(std::uint32_t window) {
    return elementOf<char32_t>(window, leadRule<char32_t>(leadHalf(window)));
}

}  // namespace StreamCompaction::Utf8
