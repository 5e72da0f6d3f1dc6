#pragma once

#include "seeds.cuh"
#include "stream_compaction/utf8/chain.cuh"
#include "stream_compaction/utf8/scalar.h"

/// Text for conversions under many orders, and its serial conversion.
namespace StreamCompaction::Testing {

using Utf8::Errors;
using Utf8::Result;

/// Random code points of one to four bytes.
[[nodiscard]] inline char32_t randomCodePoint(std::uint64_t seed, std::uint64_t i) {
    const std::uint64_t bits = randomBits(seed, i);
    const auto codePoint = static_cast<char32_t>(bits >> 8 & ((std::uint64_t{1} << (7 + bits % 15)) - 1));
    return Utf8::isScalarValue(codePoint) ? codePoint : U'?';
}

template <typename To>
struct Converted {
    std::vector<To> elements;
    Result result{0, Result::noError};
};

/// The conversion unit by unit, with U+FFFD for ill-formed units.
template <typename To, typename From>
[[nodiscard]] Converted<To> convertedInTurn(const std::vector<From>& text) {
    Converted<To> converted;
    converted.elements.resize(text.size() * Utf8::mostElements<From, To>);
    for (std::size_t i = 0; i < text.size();) {
        const Utf8::SerialUnit unit = Utf8::unitFrom(std::span<const From>(text), i);
        if (unit.error != Utf8::ErrorKind::None && converted.result.isWellFormed()) {
            converted.result.firstError = Result::errorAt(i, unit.error);
        }
        converted.result.count += Utf8::put(unit.codePoint, converted.elements.data() + converted.result.count);
        i += static_cast<std::size_t>(unit.length);
    }
    converted.elements.resize(converted.result.count);
    return converted;
}

class SeededUtf8Test : public SeededTest {
  protected:
    /// The number of resident blocks. With 0 the tiles look back.
    static constexpr unsigned residentBlocks(bool together) { return together ? 8 : 0; }

    /// Expects enqueue(text, in, out, result, scratch) to convert a text.
    template <typename To, typename From, typename Enqueue>
    static void expectConverted(const std::vector<From>& text, const Enqueue& enqueue) {
        const Converted<To> expected = convertedInTurn<To>(text);
        const DeviceBuffer<From> in{std::span<const From>(text)};
        GuardedArray<To> out(expected.elements.size());
        DeviceBuffer<Result> result(1);
        const std::size_t bytes = Utf8::ChainTiles{8, 8}.scratchBytes();
        auto scratch = usedScratch(bytes);
        enqueue(Utf8::TextInMemory(in.data(), text.size()), out.data(), result.data(),
                ScratchArena(scratch.bytes(), bytes));
        ASSERT_EQ(firstOf(result), expected.result);
        ASSERT_TRUE(sameBits(out.read(expected.elements.size()), expected.elements));
    }
};

}  // namespace StreamCompaction::Testing
