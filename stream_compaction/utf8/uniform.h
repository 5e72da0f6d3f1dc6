#pragma once

#include <cstdint>

#include "stream_compaction/utf8/element.h"
#include "stream_compaction/utf8/unit.h"
#include "stream_compaction/utf8/word_bytes.h"

/// Text whose sequences all have the same length, such as text of one script without spaces. The place of each sequence
/// is then known, and all of them are converted in the same way.
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

// ---- Decoding ----

/// Bits of a word of text that are ones, and bits that are zeros.
struct WordMarks {
    std::uint32_t ones;
    std::uint32_t zeros;

    /// Whether that holds for words whose AND is `all` and whose OR is `any`.
    [[nodiscard]] __host__ __device__ constexpr bool areIn(std::uint32_t all, std::uint32_t any) const {
        return (all & ones) == ones && (any & zeros) == 0;
    }
};

/// The bits that tell leads from continuations in word `word` of consecutive sequences of `length` bytes, 2 to 4. Word
/// 0 begins with a sequence.
template <int length>
[[nodiscard]] __host__ __device__ constexpr WordMarks sequenceMarks(int word) {
    WordMarks marks{};
    for (int i = 0; i < 4; ++i) {
        const bool isLead = (4 * word + i) % length == 0;
        marks.ones |= (isLead ? 0xF00u >> length & 0xF0 : 0x80u) << 8 * i;
        marks.zeros |= (isLead ? 0x80u >> length : 0x40u) << 8 * i;
    }
    return marks;
}

/// Whether 48 bytes are well-formed sequences of `length` bytes each. It is never true for other text, but may be false
/// for such text: sequences of two bytes must have a bit in common that C0 and C1 lack. Sequences of four bytes must be
/// of planes 1 to 15, and have a bit in common that overlong ones lack.
template <int length>
[[nodiscard]] __host__ __device__ constexpr bool areSequences(const Array<std::uint32_t, 12>& words) {
    // Every third word has leads in the same places.
    Array<std::uint32_t, 3> all{~0u, ~0u, ~0u};
    Array<std::uint32_t, 3> any{};
    for (int i = 0; i < 12; ++i) {
        all[i % 3] &= words[i];
        any[i % 3] |= words[i];
    }
    if constexpr (length == 3) {
        // Leads and second bytes of four sequences side by side. E0 80..9F and ED A0..BF are not allowed.
        std::uint32_t allowed = ~0u;
        for (int i = 0; i < 12; i += 3) {
            const std::uint32_t leads = selectBytes(selectBytes(words[i], words[i + 1], 0x0630), words[i + 2], 0x5210);
            const std::uint32_t seconds =
                selectBytes(selectBytes(words[i], words[i + 1], 0x0741), words[i + 2], 0x6210);
            const std::uint32_t isNotE0 = (leads & 0x0F0F0F0F) + 0x0F0F0F0F;  // in bit 4 of each byte
            const std::uint32_t isNotED = ((leads & 0x0F0F0F0F) ^ 0x0D0D0D0D) + 0x0F0F0F0F;
            allowed &= choose(seconds >> 1, isNotED, isNotE0);
        }
        return sequenceMarks<3>(0).areIn(all[0], any[0]) && sequenceMarks<3>(1).areIn(all[1], any[1]) &&
               sequenceMarks<3>(2).areIn(all[2], any[2]) && (allowed & 0x10101010) == 0x10101010;
    } else {
        const std::uint32_t allWords = all[0] & all[1] & all[2];
        const std::uint32_t anyWord = any[0] | any[1] | any[2];
        const bool areAllowed = length == 2 ? (allWords & 0x1E) != 0 && (allWords & 0x1E0000) != 0
                                            : (anyWord & 0x0C) == 0 && (allWords & 0x3000) != 0;
        return sequenceMarks<length>(0).areIn(allWords, anyWord) && areAllowed;
    }
}

/// The text of a run of 16 bytes of output, which consists of sequences of `length` bytes each.
template <typename To, int length>
class UniformRun {
  public:
    static constexpr bool isOfPairs = isUtf16<To> && length == 4;
    static constexpr int elements = isOfPairs ? 2 : 1;  ///< per sequence
    static constexpr int words = elementsPerVector<To> / elements * length / 4;

    __host__ __device__ explicit constexpr UniformRun(const Array<std::uint32_t, words>& text) : text_(text) {}

    /// The elements, as they lie in memory.
    [[nodiscard]] __host__ __device__ constexpr Array<std::uint32_t, 4> converted() const {
        return {word<0>(), word<1>(), word<2>(), word<3>()};
    }

  private:
    /// The sum of `addend` and two neighbouring bytes, each times its weight; `half` counts halves of words.
    template <int half>
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t add(std::uint32_t weight0, std::uint32_t weight1,
                                                                  std::uint32_t addend) const {
        constexpr bool isUpper = half % 2 != 0;
        const std::uint32_t word = text_[half / 2];
#ifdef __CUDA_ARCH__
        const std::uint32_t weights = weight0 | weight1 << 16;
        return isUpper ? __dp2a_hi(weights, word, addend) : __dp2a_lo(weights, word, addend);
#else
        return byteOf(word, isUpper ? 2 : 0) * weight0 + byteOf(word, isUpper ? 3 : 1) * weight1 + addend;
#endif
    }

    /// What the marks of a lead and its continuations add to a sum of bytes, and what has to be subtracted.
    [[nodiscard]] static __host__ __device__ constexpr std::uint32_t marks(std::uint32_t lead, int continuations) {
        for (; continuations > 0; --continuations) {
            lead = 64 * lead + 0x80;
        }
        return lead;
    }

    template <int sequence>
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t codePoint() const {
        constexpr int half = sequence * length / 2;
        if constexpr (length == 2) {
            return add<half>(64, 1, -marks(0xC0, 1));
        } else if constexpr (length == 3) {
            constexpr bool beginsHalf = sequence % 2 == 0;
            const std::uint32_t front = add<half>(beginsHalf ? 4096 : 0, beginsHalf ? 64 : 4096, -marks(0xE0, 2));
            return add<half + 1>(beginsHalf ? 1 : 64, beginsHalf ? 0 : 1, front);
        } else {
            return 4096 * add<half>(64, 1, 0) + add<half + 1>(64, 1, -marks(0xF0, 3));
        }
    }

    /// Two surrogates: the first from the first three bytes, the second from the last two.
    template <int sequence>
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t pair() const {
        constexpr int half = sequence * 2;
        const std::uint32_t firstTimes16 =
            add<half + 1>(1, 0, add<half>(4096, 64, 16 * (0xD800 - (0x10000 >> 10)) - marks(0xF0, 2)));
        const std::uint32_t second = choose(0x3FF, add<half + 1>(64, 1, -0x80u), 0xDC00);
        return firstTimes16 >> 4 | second << 16;
    }

    template <int i>
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t word() const {
        if constexpr (isOfPairs) {
            return pair<i>();
        } else if constexpr (isUtf16<To>) {
            return codePoint<2 * i>() + (codePoint<2 * i + 1>() << 16);
        } else {
            return codePoint<i>();
        }
    }

    Array<std::uint32_t, words> text_;
};

// ---- Encoding ----

/// Bytes per element in UTF-8, if all elements are of sequences of `length` bytes. An element of a pair takes half a
/// sequence.
template <typename From>
[[nodiscard]] __host__ __device__ constexpr int bytesEach(int length) {
    return isUtf16<From> && length == 4 ? 2 : length;
}

/// 16 bytes of elements that all become sequences of `length` bytes. Surrogates come in whole pairs, each of which
/// becomes four bytes.
template <typename From, int length>
class UniformVector {
  public:
    static constexpr int elements = elementsPerVector<From>;
    static constexpr bool isOfPairs = isUtf16<From> && length == 4;
    static constexpr int words = elements * bytesEach<From>(length) / 4;  ///< of UTF-8

    __host__ __device__ explicit constexpr UniformVector(const Array<std::uint32_t, 4>& in) : in_(in) {}

    /// The bytes, as they lie in memory.
    [[nodiscard]] __host__ __device__ constexpr Array<std::uint32_t, words> encoded() const {
        Array<std::uint32_t, words> out{};
        if constexpr (length == 4) {
            for (int i = 0; i < words; ++i) {
                out[i] = fourBytes(isOfPairs ? codePointOfPair(in_[i] & 0xFFFF, in_[i] >> 16) : in_[i]);
            }
        } else if constexpr (length == 2) {
            for (int i = 0; i < words; ++i) {
                out[i] = sixBits(halves(i), 0x001F001F) | 0x80C080C0;
            }
        } else {
            for (int i = 0; i < elements / 4; ++i) {
                const std::uint32_t front = halves(2 * i);
                const std::uint32_t back = halves(2 * i + 1);
                if constexpr (length == 1) {
                    out[i] = selectBytes(front, back, 0x6420);
                } else {
                    const std::uint32_t lasts = sixBits(front, 0x003F003F) | 0x80808080;
                    const std::uint32_t backLasts = sixBits(back, 0x003F003F) | 0x80808080;
                    const std::uint32_t backLeads = leads(back);
                    out[3 * i] = selectBytes(leads(front), lasts, 0x2540);
                    out[3 * i + 1] = selectBytes(selectBytes(lasts, backLeads, 0x0432), backLasts, 0x4210);
                    out[3 * i + 2] = selectBytes(backLasts, backLeads, 0x3261);
                }
            }
        }
        return out;
    }

  private:
    /// Elements 2 i and 2 i + 1, in 16 bits each.
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t halves(int i) const {
        return isUtf16<From> ? in_[i] : selectBytes(in_[2 * i], in_[2 * i + 1], 0x5410);
    }
    /// In the lower byte of each half, the bits from bit 6 on, under the mask; in its upper byte, the six bits below.
    [[nodiscard]] static __host__ __device__ constexpr std::uint32_t sixBits(std::uint32_t halves, std::uint32_t mask) {
        return (halves >> 6 & mask) | (halves << 8 & 0x3F003F00);
    }
    /// In each half, the lead of a sequence of three.
    [[nodiscard]] static __host__ __device__ constexpr std::uint32_t leads(std::uint32_t halves) {
        return (halves >> 12 & 0x000F000F) | 0x00E000E0;
    }
    [[nodiscard]] static __host__ __device__ constexpr std::uint32_t fourBytes(char32_t codePoint) {
        return selectBytes(encodeCodePoint(codePoint).bytes, 0, 0x0123);
    }

    Array<std::uint32_t, 4> in_;
};

}  // namespace StreamCompaction::Utf8
