#pragma once

#include <cstdint>

#include "stream_compaction/utf8/word_bytes.h"

/// Finds the units in 32 bytes of text at once. The text is transposed into *bit planes*, so that one logic instruction
/// tests all 32 bytes.
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

/// 32 bytes of text in eight words: bit i of `bits[k]` is bit k of byte i (Cameron, "A Case Study in SIMD Text
/// Processing with Parallel Bit Streams", 2008).
struct BitPlanes {
    std::uint32_t bits[8];  // NOLINT(modernize-avoid-c-arrays): plain data in registers
};

/// Exchanges the bits of `high` under `mask` with the bits of `low` that lie `shift` places higher.
__host__ __device__ constexpr void exchangeBits(std::uint32_t& low, std::uint32_t& high, int shift,
                                                std::uint32_t mask) {
    const std::uint32_t upper = choose(mask, low >> shift, high);
    low = choose(mask, low, high << shift);
    high = upper;
}

/// The planes of eight words. With `halvesExchanged` the last four words are the first 16 bytes.
// NOLINTNEXTLINE(modernize-avoid-c-arrays)
[[nodiscard]] __host__ __device__ constexpr BitPlanes bitPlanes(const std::uint32_t (&words)[8],
                                                                std::uint32_t order = inOrder) {
    // Bring bytes i, i + 8, i + 16 and i + 24 into word i: two transpositions of 4 x 4 bytes.
    BitPlanes planes{};
    auto& bits = planes.bits;
    for (int half = 0; half < 2; ++half) {
        const auto bytes = planesOf({words[half], words[2 + half], words[4 + half], words[6 + half]}, order);
        for (int i = 0; i < 4; ++i) {
            bits[4 * half + i] = bytes[static_cast<std::size_t>(i)];
        }
    }
    // Transpose the 8 x 8 bits in each of the four columns of bytes, in three steps.
    for (int i = 0; i < 4; ++i) {
        exchangeBits(bits[i], bits[i + 4], 4, 0x0F0F0F0F);
    }
    for (int i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) {
        exchangeBits(bits[i], bits[i + 2], 2, 0x33333333);
    }
    for (int i = 0; i < 8; i += 2) {
        exchangeBits(bits[i], bits[i + 1], 1, 0x55555555);
    }
    return planes;
}

/// The units that begin in 32 bytes of text: one bit per byte.
struct UnitMasks {
    std::uint32_t second;      ///< leads whose unit has a second byte
    std::uint32_t third;       ///< leads whose unit has a third byte
    std::uint32_t fourth;      ///< leads whose unit has a fourth byte: complete sequences of four
    std::uint32_t wellFormed;  ///< first bytes of well-formed units

    /// First bytes of units, well-formed or not. The bytes of `inside` belong to a unit that begins before the 32.
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t starts(std::uint32_t inside) const {
        return ~(second << 1 | third << 2 | fourth << 3 | inside);
    }
    /// The bytes behind the 32 that belong to a unit that begins in the 32.
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t insideBehind() const {
        return second >> 31 | third >> 30 | fourth >> 29;
    }
};

/// Finds the units in 32 bytes. `behind` holds the four bytes that follow.
///
/// The Unicode Standard, table 3-7, well-formed sequences:
///
///     lead       second    third     fourth
///     00..7F
///     C2..DF     80..BF
///     E0         A0..BF    80..BF              80..9F would be overlong
///     E1..EC     80..BF    80..BF
///     ED         80..9F    80..BF              A0..BF would be surrogates
///     EE..EF     80..BF    80..BF
///     F0         90..BF    80..BF    80..BF    80..8F would be overlong
///     F1..F3     80..BF    80..BF    80..BF
///     F4         80..8F    80..BF    80..BF    90..BF would be above U+10FFFF
///
/// So a lead is C2 to F4, and four leads do not allow all continuations as their second byte. A lead has the bits
/// 11xxxxxx; bit 5 says that a sequence has three bytes or more, bit 4 that it has four.
[[nodiscard]] __host__ __device__ constexpr UnitMasks findUnits(const BitPlanes& planes, std::uint32_t behind) {
    const auto& [b0, b1, b2, b3, b4, b5, b6, b7] = planes.bits;
    const std::uint32_t continuation = b7 & ~b6;
    const std::uint32_t lead = b7 & b6;

    // Continuations among the bytes behind, one bit per byte. The multiplication gathers their highest bits.
    const std::uint32_t continuationBehind = (behind & ~(behind << 1) & 0x80808080) * 0x00204081 >> 28;
    // Bit i of the result is bit i + by of the mask, which continues in `maskBehind`.
    const auto ahead = [](std::uint32_t mask, std::uint32_t maskBehind, int by) {
        return static_cast<std::uint32_t>((std::uint64_t{maskBehind} << 32 | mask) >> by);
    };
    const std::uint32_t next5 = ahead(b5, behind >> 5, 1);
    const std::uint32_t next4 = ahead(b4, behind >> 4, 1);

    // The rows of the table, given that the byte is a lead and the next byte a continuation, 80..BF. The last three
    // masks are for leads with bit 5 only.
    const std::uint32_t tooSmall = ~(b5 | b4 | b3 | b2 | b1);                                  // C0, C1
    const std::uint32_t tooLarge = b4 & (b3 | (b2 & (b1 | b0)));                               // F5..FF
    const std::uint32_t refusedBelow = ~(b3 | b2 | b1 | b0) & ~next5 & ~(b4 & next4);          // E0, F0
    const std::uint32_t refusedAbove = b2 & choose(b4, next5 | next4, b3 & ~b1 & b0 & next5);  // F4, ED
    UnitMasks units{};
    units.second = lead & ahead(continuation, continuationBehind, 1) & ~tooSmall &
                   ~(b5 & (tooLarge | refusedBelow | refusedAbove));
    units.third = units.second & b5 & ahead(continuation, continuationBehind, 2);
    units.fourth = units.third & b4 & ahead(continuation, continuationBehind, 3);
    units.wellFormed = ~b7 | (units.second & (~b5 | (units.third & (~b4 | units.fourth))));
    return units;
}

/// The leads of sequences for code points above U+00FF: C4 to FF.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t leadsAboveLatin1(const BitPlanes& planes) {
    const auto& bits = planes.bits;
    return bits[7] & bits[6] & (bits[5] | bits[4] | bits[3] | bits[2]);
}

/// Bit i of the result is the parity of bits 0 to i of the mask.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t parityUpTo(std::uint32_t mask) {
    for (int shift = 1; shift < 32; shift *= 2) {
        mask ^= mask << shift;
    }
    return mask;
}

/// Numbers the set bits of a mask from the lowest on, beginning with `before`, and keeps those whose number is a
/// multiple of `step`, a power of two.
template <int step>
[[nodiscard]] __host__ __device__ constexpr std::uint32_t everyNth(std::uint32_t mask, std::uint32_t before) {
    // A bit's number is a multiple of `step` if its lowest binary digits are all 0. The lowest digit is the parity of
    // the bits below. The next digit changes with every second bit: it is the parity of those bits below whose lowest
    // digit is 1, and so on.
    const auto parity = [before](std::uint32_t counted, int digit) {
        return parityUpTo(counted) ^ (0 - (before / digit & 1));
    };
    const std::uint32_t isEven = parity(mask, 1);
    std::uint32_t nth = mask & isEven;
    std::uint32_t counted = mask & ~isEven;
    for (int digit = 2; digit < step; digit *= 2) {
        const std::uint32_t isOdd = parity(counted, digit);
        nth &= ~isOdd;
        counted &= ~isOdd;
    }
    return nth;
}
static_assert(everyNth<4>(0b1101'1101, 2) == 0b0000'1000);  // their numbers are 7 and 6, 5 and 4, 3, 2

}  // namespace StreamCompaction::Utf8
