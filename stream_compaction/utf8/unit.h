#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

/// What UTF-8, UTF-16 and UTF-32 are made of: how text falls into units, which of them are well-formed, what they say.
///
/// A *unit* of UTF-8 is a well-formed sequence (The Unicode Standard, table 3-7) or a maximal subpart of an ill-formed
/// one (chapter 3, "U+FFFD Substitution of Maximal Subparts"; the WHATWG Encoding Standard; Python's errors="replace"):
/// the longest prefix that some well-formed sequence begins with, or else a single byte. Every byte belongs to exactly
/// one unit, and to which it does depends on no more than three bytes before and three behind it.
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

inline constexpr char32_t replacementCharacter = 0xFFFD;
inline constexpr char32_t lastCodePoint = 0x10FFFF;
inline constexpr char32_t byteOrderMark = 0xFEFF;

/// What becomes of ill-formed input.
enum class Errors {
    Replace,  ///< U+FFFD takes the place of each ill-formed unit
    Skip,     ///< ill-formed units are dropped
    Strict,   ///< nothing behind the first ill-formed unit counts
};

/// Whether a byte order mark at the very beginning is text.
enum class Bom { Keep, Drop };

enum class ErrorKind {
    None,
    UnexpectedContinuation,  ///< a continuation byte that continues nothing
    Truncated,               ///< a sequence that ends before its length, or with the input
    Overlong,                ///< a longer sequence than the code point takes, C0 and C1 included
    Surrogate,               ///< a code point from U+D800 to U+DFFF; in UTF-16, one that is not of a pair
    AboveLast,               ///< a code point above U+10FFFF; the bytes F5 to FF, which could only begin such a one
};

/// What a conversion or a validation came to.
struct Result {
    static constexpr std::uint64_t noError = ~std::uint64_t{0};

    std::uint64_t count;       ///< elements written, or that a conversion would write
    std::uint64_t firstError;  ///< see below; `noError` where all input is well-formed

    [[nodiscard]] constexpr bool isWellFormed() const { return firstError == noError; }
    /// Where the first ill-formed unit begins, in elements of the input.
    [[nodiscard]] constexpr std::size_t errorOffset() const { return static_cast<std::size_t>(firstError >> kindBits); }
    [[nodiscard]] constexpr ErrorKind errorKind() const {
        return isWellFormed() ? ErrorKind::None : static_cast<ErrorKind>(firstError & ((1u << kindBits) - 1));
    }

    /// In an order in which the earlier error is the smaller.
    [[nodiscard]] static constexpr std::uint64_t errorAt(std::uint64_t offset, ErrorKind kind) {
        return offset << kindBits | static_cast<std::uint64_t>(kind);
    }

  private:
    static constexpr int kindBits = 3;
};

/// For a message: `an overlong form`.
[[nodiscard]] constexpr std::string_view describe(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::None:
            break;
        case ErrorKind::UnexpectedContinuation:
            return "an unexpected continuation byte";
        case ErrorKind::Truncated:
            return "a truncated sequence";
        case ErrorKind::Overlong:
            return "an overlong form";
        case ErrorKind::Surrogate:
            return "a surrogate";
        case ErrorKind::AboveLast:
            return "a code point above U+10FFFF";
    }
    return "no error";
}

// ---- One unit at a time, in a window of four bytes
// -------------------------------------------------------------------

/// The byte at `index` of a window: four bytes of text in a word, the first in its lowest byte; zeros stand for what
/// lies behind the end of the text.
[[nodiscard]] constexpr std::uint32_t byteOf(std::uint32_t window, int index) { return window >> 8 * index & 0xFF; }

/// Whether a window begins with a byte order mark.
[[nodiscard]] constexpr bool beginsWithMark(std::uint32_t window) { return (window & 0xFFFFFF) == 0xBFBBEF; }

[[nodiscard]] constexpr bool isContinuation(std::uint32_t byte) { return (byte & 0xC0) == 0x80; }

struct Unit {
    int length;
    bool isWellFormed;
};

/// Whether `second` may follow `lead`, by table 3-7; false for what cannot lead a sequence.
[[nodiscard]] constexpr bool isSecond(std::uint32_t lead, std::uint32_t second) {
    const std::uint32_t least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const std::uint32_t most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return lead >= 0xC2 && lead <= 0xF4 && second >= least && second <= most;
}

/// The unit at the beginning of a window.
[[nodiscard]] constexpr Unit unitAt(std::uint32_t window) {
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

/// How many bits stand above the highest one that is set, of which there is one.
[[nodiscard]] constexpr int leadingZeros(std::uint32_t x) {
#ifdef __CUDA_ARCH__
    return __clz(static_cast<int>(x));
#else
    return std::countl_zero(x);
#endif
}

/// Which bytes of the window, a bit each, belong to a unit that begins in the four bytes `before` it.
[[nodiscard]] constexpr std::uint32_t insideOf(std::uint32_t before, std::uint32_t window) {
    if (!isContinuation(byteOf(window, 0))) {
        return 0;
    }
    // Only the nearest byte before that continues nothing can reach here.
    const std::uint32_t notContinuations = (before & 0xC0C0C0C0) ^ 0x80808080;
    const int distance = leadingZeros(notContinuations | 1) / 8 + 1;
    const auto around = static_cast<std::uint32_t>((std::uint64_t{window} << 32 | before) >> 8 * (4 - distance));
    const int length = unitAt(around).length;
    return (1u << (length > distance ? length - distance : 0)) - 1;
}

/// Why the unit at the beginning of a window is ill-formed.
[[nodiscard]] constexpr ErrorKind errorIn(std::uint32_t window) {
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

/// The window at a place in text.
[[nodiscard]] constexpr std::uint32_t windowAt(std::span<const std::uint8_t> text, std::size_t at) {
    std::uint32_t window = 0;
    for (std::size_t i = 0; i < 4 && at + i < text.size(); ++i) {
        window |= std::uint32_t{text[at + i]} << 8 * i;
    }
    return window;
}

/// How much of a piece of text can be decoded before the next piece is known: all but a sequence that it breaks off in.
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

/// Bytes of a word in any order: byte k of the result is byte `selector >> 4 k & 7` of the eight of low and high; or,
/// if `selector >> 4 k & 8` is set, eight times its highest bit.
[[nodiscard]] constexpr std::uint32_t selectBytes(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
#ifdef __CUDA_ARCH__
    std::uint32_t result;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(selector));
    return result;
#else
    const std::uint64_t both = std::uint64_t{high} << 32 | low;
    std::uint32_t result = 0;
    for (int k = 0; k < 4; ++k) {
        const auto byte = static_cast<std::uint32_t>(both >> 8 * (selector >> 4 * k & 7) & 0xFF);
        const bool isSign = (selector >> 4 * k & 8) != 0;
        result |= (isSign ? (byte >> 7) * 0xFF : byte) << 8 * k;
    }
    return result;
#endif
}

/// How planesOf() orders bytes: as the words come, or with those of the last two words first.
inline constexpr std::uint32_t inOrder = 0x5410;
inline constexpr std::uint32_t halvesExchanged = 0x1054;

/// Bytes of four words: plane k has byte k of each.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> planesOf(const std::array<std::uint32_t, 4>& words,
                                                              std::uint32_t order = inOrder) {
    const std::uint32_t front01 = selectBytes(words[0], words[1], 0x5140);
    const std::uint32_t back01 = selectBytes(words[0], words[1], 0x7362);
    const std::uint32_t front23 = selectBytes(words[2], words[3], 0x5140);
    const std::uint32_t back23 = selectBytes(words[2], words[3], 0x7362);
    const std::uint32_t upper = order + 0x2222;
    return {selectBytes(front01, front23, order), selectBytes(front01, front23, upper),
            selectBytes(back01, back23, order), selectBytes(back01, back23, upper)};
}

/// The sum of x and of byte k of a word: on a GPU one instruction, past the pipe of shifts and logic, which has the
/// most to do.
[[nodiscard]] constexpr std::uint32_t addByte(std::uint32_t word, int k, std::uint32_t x) {
#ifdef __CUDA_ARCH__
    return __dp4a(word, 1u << 8 * k, x);
#else
    return x + byteOf(word, k);
#endif
}

/// `addend`, and for each byte of the word its product with the weight at the same place, both signed numbers.
[[nodiscard]] constexpr int weightedSum(std::uint32_t word, std::uint32_t weights, int addend) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
        return __dp4a(static_cast<int>(word), static_cast<int>(weights), addend);
    }
#endif
    for (int k = 0; k < 4; ++k) {
        addend += static_cast<std::int8_t>(byteOf(word, k)) * static_cast<std::int8_t>(byteOf(weights, k));
    }
    return addend;
}

/// How a sequence's bytes make an element: by sums of them with weights, as signed numbers. A continuation is 128 less
/// than the six bits that it holds, a lead is 64, 32 or 16 less than its own; the addend makes up for it, so that
/// nothing has to be masked.
struct LeadRule {
    std::uint32_t weights;
    int addend;
    std::uint32_t highWeights;  ///< of a second sum, which counts 4096 times
    int length;                 ///< how many bytes on the next element comes from
};

/// What of a window's first byte says which rule is its own: the upper half, 0x00 to 0xF0.
[[nodiscard]] constexpr std::uint32_t leadHalf(std::uint32_t window) { return window & 0xF0; }

inline constexpr std::uint32_t fourByteHalf = 0xF0;

/// The rule for elements of the output of type To. In UTF-16 a sequence of four bytes makes two surrogates: from its
/// first byte on the one, of which the sum is 16 times as much, and from its second, a continuation, the other.
template <typename To>
[[nodiscard]] constexpr LeadRule leadRule(std::uint32_t half) {
    constexpr int twoContinuations = 64 * 128 + 128;
    if (half < 0x80) {
        return {0x01, 0, 0, 1};
    }
    if (half < 0xC0) {
        // Of the sum the ten lowest bits count, for which 4096 times the highest weight is nothing: its sign tells
        // this rule from the others.
        return {0x014000, twoContinuations, 0x80000000, 3};
    }
    if (half < 0xE0) {
        return {0x0140, 64 * 64 + 128, 0, 2};
    }
    if (half < fourByteHalf) {
        return {0x014000, 4096 * 32 + twoContinuations, 0x01, 3};
    }
    if (sizeof(To) == sizeof(char16_t)) {
        return {0x014000, 4096 * 16 + twoContinuations + 16 * 0xD7C0, 0x01, 1};
    }
    return {0x01400000, 4096 * (64 * 16 + 128) + twoContinuations, 0x0140, 4};
}

/// The bytes of a well-formed unit that begins with a half byte: in UTF-16 those of two surrogates.
[[nodiscard]] constexpr int unitLength(std::uint32_t half, const LeadRule& rule) {
    return half == fourByteHalf ? 4 : rule.length;
}

/// The element that a window begins with, by the rule for it.
template <typename To>
[[nodiscard]] constexpr To elementOf(std::uint32_t window, const LeadRule& rule) {
    int sum = weightedSum(window, rule.weights, rule.addend) + 4096 * weightedSum(window, rule.highWeights, 0);
    if constexpr (sizeof(To) == sizeof(char16_t)) {
        // Selected, not branched to: neighbours differ.
        const int second = (sum & 0x3FF) | 0xDC00;
        sum = leadHalf(window) == fourByteHalf ? sum >> 4 : sum;
        sum = static_cast<int>(rule.highWeights) < 0 ? second : sum;
    }
    return static_cast<To>(sum);
}

/// The code point of the well-formed unit that a window begins with.
[[nodiscard]] constexpr char32_t codePointOf(std::uint32_t window) {
    return elementOf<char32_t>(window, leadRule<char32_t>(leadHalf(window)));
}

// ---- 32 bytes at a time, a bit of each in a word
// ---------------------------------------------------------------------

/// 32 bytes of text in eight words: bit i of `bits[k]` is bit k of byte i (Cameron, "A Case Study in SIMD Text
/// Processing with Parallel Bit Streams", 2008). A question about all of the bytes takes the few instructions that it
/// takes for one.
struct BitPlanes {
    std::uint32_t bits[8];  // NOLINT(modernize-avoid-c-arrays): plain data in registers
};

/// The bits of `a` where the mask is set, of `b` elsewhere. The compiler would make two instructions of it, for it
/// takes the mask and its complement for two constants.
[[nodiscard]] constexpr std::uint32_t choose(std::uint32_t mask, std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
    std::uint32_t result;
    asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(result) : "r"(mask), "r"(a), "r"(b));
    return result;
#else
    return (a & mask) | (b & ~mask);
#endif
}

/// Exchanges the bits of `high` that lie under `mask` with those of `low` that lie `shift` above.
constexpr void exchangeBits(std::uint32_t& low, std::uint32_t& high, int shift, std::uint32_t mask) {
    const std::uint32_t upper = choose(mask, low >> shift, high);
    low = choose(mask, low, high << shift);
    high = upper;
}

/// Of eight words, or of the last four and then the first four.
// NOLINTNEXTLINE(modernize-avoid-c-arrays)
[[nodiscard]] constexpr BitPlanes bitPlanes(const std::uint32_t (&words)[8], std::uint32_t order = inOrder) {
    // Bytes i, i + 8, i + 16 and i + 24 to word i: two transpositions of 4 x 4 bytes.
    BitPlanes planes{};
    auto& bits = planes.bits;
    for (int half = 0; half < 2; ++half) {
        const auto bytes = planesOf({words[half], words[2 + half], words[4 + half], words[6 + half]}, order);
        for (int i = 0; i < 4; ++i) {
            bits[4 * half + i] = bytes[static_cast<std::size_t>(i)];
        }
    }
    // In each of the four columns of bytes, a transposition of 8 x 8 bits in three steps.
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

/// The units that begin in 32 bytes of text, a bit for each byte.
struct UnitMasks {
    std::uint32_t second;      ///< leads whose unit has a second byte
    std::uint32_t third;       ///< a third
    std::uint32_t fourth;      ///< a fourth: complete sequences of four bytes
    std::uint32_t wellFormed;  ///< first bytes of well-formed units

    /// First bytes of units, well-formed or not, where the bytes of `inside` belong to one that begins before.
    [[nodiscard]] constexpr std::uint32_t starts(std::uint32_t inside) const {
        return ~(second << 1 | third << 2 | fourth << 3 | inside);
    }
    /// Of the bytes behind, those that belong to a unit that begins here.
    [[nodiscard]] constexpr std::uint32_t insideBehind() const { return second >> 31 | third >> 30 | fourth >> 29; }
};

/// Finds them, with the four bytes that lie behind.
[[nodiscard]] constexpr UnitMasks findUnits(const BitPlanes& planes, std::uint32_t behind) {
    const auto& [b0, b1, b2, b3, b4, b5, b6, b7] = planes.bits;
    const std::uint32_t continuation = b7 & ~b6;
    const std::uint32_t lead = b7 & b6;

    // What the bytes one, two and three further on are like: the highest bit of each of the bytes behind, side by side,
    // comes out of a multiplication.
    const std::uint32_t continuationBehind = (behind & ~(behind << 1) & 0x80808080) * 0x00204081 >> 28;
    const auto ahead = [](std::uint32_t mask, std::uint32_t maskBehind, int by) {
        return static_cast<std::uint32_t>((std::uint64_t{maskBehind} << 32 | mask) >> by);
    };
    const std::uint32_t next5 = ahead(b5, behind >> 5, 1);
    const std::uint32_t next4 = ahead(b4, behind >> 4, 1);

    // Of leads of two bytes C0 and C1 have no second, of longer ones F5 to FF, nor E0 with 80..9F and F0 with 80..8F,
    // nor ED with A0..BF and F4 with 90..BF.
    const std::uint32_t tooSmall = ~(b5 | b4 | b3 | b2 | b1);
    const std::uint32_t tooLarge = b4 & (b3 | (b2 & (b1 | b0)));
    const std::uint32_t refusedBelow = ~(b3 | b2 | b1 | b0) & ~next5 & ~(b4 & next4);
    const std::uint32_t refusedAbove = b2 & choose(b4, next5 | next4, b3 & ~b1 & b0 & next5);
    UnitMasks units{};
    units.second = lead & ahead(continuation, continuationBehind, 1) & ~tooSmall &
                   ~(b5 & (tooLarge | refusedBelow | refusedAbove));
    units.third = units.second & b5 & ahead(continuation, continuationBehind, 2);
    units.fourth = units.third & b4 & ahead(continuation, continuationBehind, 3);
    units.wellFormed = ~b7 | (units.second & (~b5 | (units.third & (~b4 | units.fourth))));
    return units;
}

/// Of each bit of a mask, the parity of those up to and including it.
[[nodiscard]] constexpr std::uint32_t parityUpTo(std::uint32_t mask) {
    for (int shift = 1; shift < 32; shift *= 2) {
        mask ^= mask << shift;
    }
    return mask;
}

/// Of the bits of a mask those whose number is a multiple of `step`, a power of two, where the lowest is number
/// `before`.
template <int step>
[[nodiscard]] constexpr std::uint32_t everyNth(std::uint32_t mask, std::uint32_t before) {
    // Digit by digit of the numbers: whether a bit's is odd tells the parity of those counted before it, to which the
    // bit, if it counts itself, adds one. For the lowest digit all count, for any other those whose last one was odd.
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

// ---- Encoding
// --------------------------------------------------------------------------------------------------------

/// Bytes of UTF-8, the last in the lowest byte.
struct Encoded {
    std::uint32_t bytes;
    int length;
};

[[nodiscard]] constexpr bool isSurrogate(char32_t codePoint) { return (codePoint & 0xFFFFF800) == 0xD800; }

[[nodiscard]] constexpr bool isFirstSurrogate(char32_t element) { return (element & 0xFFFFFC00) == 0xD800; }
[[nodiscard]] constexpr bool isSecondSurrogate(char32_t element) { return (element & 0xFFFFFC00) == 0xDC00; }

/// What a pair of surrogates stands for.
[[nodiscard]] constexpr char32_t codePointOfPair(char32_t first, char32_t second) {
    return 0x10000 + ((first & 0x3FF) << 10 | (second & 0x3FF));
}

/// Whether UTF-32 may hold it.
[[nodiscard]] constexpr bool isScalarValue(char32_t codePoint) {
    return codePoint <= lastCodePoint && !isSurrogate(codePoint);
}

/// Of a code point that UTF-32 may hold.
[[nodiscard]] constexpr Encoded encode(char32_t codePoint) {
    if (codePoint < 0x80) {
        return {codePoint, 1};
    }
    // Six bits a byte: three times what lies above a byte's six is added, which moves it up by two.
    std::uint32_t sixes = codePoint + 3 * (codePoint & ~0x3Fu);
    sixes += 3 * (sixes & ~0x3FFFu);
    sixes += 3 * (sixes & ~0x3FFFFFu);
    return codePoint < 0x800     ? Encoded{sixes | 0xC080, 2}
           : codePoint < 0x10000 ? Encoded{sixes | 0xE08080, 3}
                                 : Encoded{sixes | 0xF0808080, 4};
}

}  // namespace StreamCompaction::Utf8
