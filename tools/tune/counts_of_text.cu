#include <stream_compaction/utf8.cuh>

#include "tune/counts.cuh"

/// Counts of conversions of text.
namespace Bench::Tune {
namespace {

using Replaced = Utf8::Always<Utf8::Errors::Replace>;

/// Two letters, or a code point of two bytes, equally likely. Each even number of bytes is well-formed.
struct TextByte {
    __device__ std::uint8_t operator()(std::size_t i) const {
        const std::uint64_t bits = randomAt(42, i / 2);
        const bool isLetter = bits % 2 == 0;
        const unsigned base = isLetter ? 0x60 : i % 2 == 0 ? 0xD0 : 0x80;
        return static_cast<std::uint8_t>(base + (bits >> (i % 2 == 0 ? 8 : 16)) % 16);
    }
};

/// A letter or a code point of two bytes, equally likely.
struct TextCodePoint {
    __device__ char32_t operator()(std::size_t i) const { return 0x40 + static_cast<char32_t>(randomAt(42, i) % 0x80); }
};

}  // namespace

void tuneCountsOfText(CountTuner& tuner) {
    auto* const result = tuner.totals<Utf8::Result>();
    {
        const auto text = filled<std::uint8_t>(largestCount, TextByte{});
        const std::uint8_t* const in = text.data();
        constexpr double codePointsPerByte = 0.75;
        tuner.run({"utf8-to-utf32", "utf8->utf32", 1 + codePointsPerByte * sizeof(char32_t)},
                  Utf8::DecodeWith<Replaced>{},
                  [=, out = tuner.out<char32_t>()](auto n, auto use) { return use(in, out, result, n); });
        tuner.run({"utf8-validate", "utf8", 1}, Utf8::ValidateWith<Replaced>{},
                  [=](auto n, auto use) { return use(in, result, n); });
    }
    const auto codePoints = filled<char32_t>(largestCount, TextCodePoint{});
    constexpr double bytesPerCodePoint = 1.5;
    tuner.run({"utf32-to-utf8", "utf32->utf8", sizeof(char32_t) + bytesPerCodePoint}, Utf8::EncodeWith<Replaced>{},
              [=, in = codePoints.data(), out = tuner.out<std::uint8_t>()](auto n, auto use) {
                  return use(in, out, result, n);
              });
}

}  // namespace Bench::Tune
