#pragma once

#include <array>
#include <cstdint>

#include "stream_compaction/utf8_units.h"

/// Runs of sequences that all have the same length, as text of one script has: where that is known, nobody has to look
/// up for each sequence how its bytes make an element.
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

/// A run: aligned 16 bytes of the output, which one thread converts, in elements.
template <typename To>
inline constexpr int runLength = static_cast<int>(16 / sizeof(To));

/// Well-formed text that may be a run of sequences of `length` bytes each, 2 to 4; it begins with a sequence.
template <typename To, int length>
class AlikeRun {
  public:
    static constexpr bool isOfPairs = sizeof(To) == sizeof(char16_t) && length == 4;
    static constexpr int elements = isOfPairs ? 2 : 1;  ///< of a sequence
    static constexpr int bytes = runLength<To> / elements * length;
    static constexpr int words = bytes / 4;
    /// The bytes of 32 that emit an element, if a sequence begins with the first.
    static constexpr std::uint32_t emits = isOfPairs     ? 0x33333333
                                           : length == 2 ? 0x55555555
                                           : length == 3 ? 0x49249249
                                                         : 0x11111111;

    explicit constexpr AlikeRun(const std::array<std::uint32_t, words>& text) : text_(text) {}

    /// Whether the text is such a run, given that so many bytes make a run's elements. If no sequence has more bytes,
    /// it is; but a pair of surrogates takes no more bytes than two elements of two bytes each.
    [[nodiscard]] constexpr bool isAlike() const {
        if constexpr (isOfPairs) {
            return (text_[0] & text_[1] & text_[2] & text_[3] & fourByteHalf) == fourByteHalf;
        }
        return true;
    }

    /// The elements of such a run, as they lie in memory.
    [[nodiscard]] constexpr std::array<std::uint32_t, 4> converted() const {
        return {word<0>(), word<1>(), word<2>(), word<3>()};
    }

  private:
    /// The sum of `addend` and two neighbouring bytes, each times its weight; `half` counts halves of words.
    template <int half>
    [[nodiscard]] constexpr std::uint32_t add(std::uint32_t weight0, std::uint32_t weight1,
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

    /// What the marks of a lead and of its continuations come to, with which the sums of bytes are too large.
    [[nodiscard]] static constexpr std::uint32_t marks(std::uint32_t lead, int continuations) {
        for (; continuations > 0; --continuations) {
            lead = 64 * lead + 0x80;
        }
        return lead;
    }

    template <int sequence>
    [[nodiscard]] constexpr std::uint32_t codePoint() const {
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
    [[nodiscard]] constexpr std::uint32_t pair() const {
        constexpr int half = sequence * 2;
        const std::uint32_t firstTimes16 =
            add<half + 1>(1, 0, add<half>(4096, 64, 16 * (0xD800 - (0x10000 >> 10)) - marks(0xF0, 2)));
        const std::uint32_t second = choose(0x3FF, add<half + 1>(64, 1, -0x80u), 0xDC00);
        return firstTimes16 >> 4 | second << 16;
    }

    template <int i>
    [[nodiscard]] constexpr std::uint32_t word() const {
        if constexpr (isOfPairs) {
            return pair<i>();
        } else if constexpr (sizeof(To) == sizeof(char16_t)) {
            return codePoint<2 * i>() + (codePoint<2 * i + 1>() << 16);
        } else {
            return codePoint<i>();
        }
    }

    std::array<std::uint32_t, words> text_;
};

}  // namespace StreamCompaction::Utf8
