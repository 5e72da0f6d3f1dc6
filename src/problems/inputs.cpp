#include "problems/inputs.h"

#include <fmt/format.h>
#include <stream_compaction/utf8/scalar.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "cli/nearest_names.h"
#include "cli/values.h"
#include "problems/chunks.h"

namespace Bench {
namespace {

using Kind = InputPattern::Kind;

struct Spelling {
    Kind kind;
    std::string_view text;       ///< before the parameter
    std::string_view parameter;  ///< K, P or empty
    std::uint32_t largestK = 0;
};

constexpr std::array spellings{
    Spelling{Kind::Uniform, "uniform", ""},
    Spelling{Kind::Zeros, "zeros", ""},
    Spelling{Kind::Ones, "ones", ""},
    Spelling{Kind::Ascending, "ascending", ""},
    Spelling{Kind::Descending, "descending", ""},
    Spelling{Kind::RandomBits, "random-bits", ""},
    Spelling{Kind::Modulo, "mod:", "K", std::numeric_limits<std::int32_t>::max()},
    Spelling{Kind::And, "and:", "K", 64},
    Spelling{Kind::Zipf, "zipf:", "K", std::numeric_limits<std::int32_t>::max()},
    Spelling{Kind::Kept, "kept:", "P"},
    Spelling{Kind::Runs, "runs:", "K", std::numeric_limits<std::int32_t>::max()},
    Spelling{Kind::Segments, "segments:", "K", std::numeric_limits<std::int32_t>::max()},
    Spelling{Kind::Ascii, "ascii", ""},
    Spelling{Kind::Cyrillic, "cyrillic", ""},
    Spelling{Kind::Cjk, "cjk", ""},
    Spelling{Kind::Emoji, "emoji", ""},
    Spelling{Kind::Mixed, "mixed", ""},
    Spelling{Kind::IllFormed, "ill-formed:", "K", 100},
};

/// Returns whether the whole text is a number.
template <typename Number>
[[nodiscard]] bool readNumber(std::string_view text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stop == end;
}

[[nodiscard]] InputPattern parseParameter(const Spelling& spelling, std::string_view number) {
    InputPattern pattern{spelling.kind};
    if (spelling.parameter == "K" &&
        (!readNumber(number, pattern.k) || pattern.k == 0 || pattern.k > spelling.largestK)) {
        throw UsageError(
            fmt::format("expected {0}K with K from 1 to {1}, got '{0}{2}'", spelling.text, spelling.largestK, number));
    }
    if (spelling.parameter == "P" && !(readNumber(number, pattern.p) && pattern.p >= 0 && pattern.p <= 1)) {
        throw UsageError(fmt::format("expected {0}P with P from 0 to 1, got '{0}{1}'", spelling.text, number));
    }
    return pattern;
}

/// Random bits as a value of the type. Infinities and NaNs become finite numbers.
template <typename T>
[[nodiscard]] T fromBits(std::uint64_t random) {
    if constexpr (std::integral<T>) {
        return static_cast<T>(random >> (64 - 8 * sizeof(T)));
    } else {
        using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
        constexpr Bits infinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
        constexpr Bits lowestExponentBit = Bits{1} << (std::numeric_limits<T>::digits - 1);
        const Bits bits = static_cast<Bits>(random >> (64 - 8 * sizeof(T)));
        return std::bit_cast<T>((bits & infinity) == infinity ? bits & ~lowestExponentBit : bits);
    }
}

[[nodiscard]] std::uint64_t commonBits(std::uint32_t k, std::uint64_t seed, std::size_t i) {
    std::uint64_t bits = ~std::uint64_t{0};
    for (std::uint32_t j = 0; j < k; ++j) {
        bits &= randomAt(randomAt(seed, j), i);
    }
    return bits;
}

[[nodiscard]] std::uint32_t highBits(std::uint64_t random) { return static_cast<std::uint32_t>(random >> 32); }

/// Zipf's law. The logarithm of a value is uniform.
[[nodiscard]] std::uint32_t zipfValue(std::uint32_t k, std::uint64_t random) {
    const double fraction = std::ldexp(static_cast<double>(highBits(random)), -32);
    return static_cast<std::uint32_t>(std::pow(k + 1.0, fraction));
}

/// Nonzero if the high bits are below p. The value comes from the low bits.
[[nodiscard]] std::uint32_t keptValue(double p, std::uint64_t random) {
    constexpr std::uint32_t values = 127;
    return highBits(random) < std::ldexp(p, 32) ? 1 + static_cast<std::uint32_t>(random) % values : 0;
}

/// The number of the run of element i. A run begins in each of the intervals of k elements, at a random place.
[[nodiscard]] std::size_t runOf(std::uint32_t k, std::uint64_t seed, std::size_t i) {
    const std::size_t interval = i / k;
    const bool hasBegun = i % k >= highBits(randomAt(seed, interval)) % k;
    return hasBegun ? interval + 1 : interval;
}

/// Odd numbers follow even ones, so neighbouring runs differ.
[[nodiscard]] std::uint32_t valueInRuns(std::uint32_t k, std::uint64_t seed, std::size_t i) {
    const std::size_t run = runOf(k, seed, i);
    constexpr std::uint32_t pairs = 64;
    return 2 * (highBits(randomAt(randomAt(seed, 0), run)) % pairs) + run % 2;
}

template <typename T>
[[nodiscard]] T valueInSegments(std::uint32_t k, std::uint64_t seed, std::size_t i) {
    constexpr int bits = 8 * sizeof(T);
    const std::uint64_t odd = std::uint64_t{1} << (64 - bits);
    const std::uint64_t value = randomAt(randomAt(seed, 1), i) & ~odd;
    return fromBits<T>(runOf(k, seed, i) % 2 == 0 ? value : value | odd);
}

template <typename T, typename ValueAt>
[[nodiscard]] Array<T> generate(Share share, ValueAt valueAt) {
    Array<T> values(share.size);
    forEachChunk(share.size, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i != end; ++i) {
            values[i] = static_cast<T>(valueAt(share.begin + i));
        }
    });
    return values;
}

}  // namespace

InputPattern parseInputPattern(std::string_view text) {
    std::vector<std::string> spelt;
    for (const Spelling& spelling : spellings) {
        if (spelling.parameter.empty() ? text == spelling.text : text.starts_with(spelling.text)) {
            return parseParameter(spelling, text.substr(spelling.text.size()));
        }
        spelt.push_back(fmt::format("{}{}", spelling.text, spelling.parameter));
    }
    throw UsageError(unknownName("input", text, std::vector<std::string_view>(spelt.begin(), spelt.end())));
}

std::string toString(InputPattern pattern) {
    const Spelling& spelling = *std::ranges::find(spellings, pattern.kind, &Spelling::kind);
    if (spelling.parameter.empty()) {
        return std::string(spelling.text);
    }
    return spelling.parameter == "K" ? fmt::format("{}{}", spelling.text, pattern.k)
                                     : fmt::format("{}{}", spelling.text, pattern.p);
}

template <typename T>
Array<T> makeInput(InputPattern pattern, std::size_t n, std::uint64_t seed, Share share) {
    switch (pattern.kind) {
        case Kind::Uniform:
            return generate<T>(share, [seed](std::size_t i) { return fromBits<T>(randomAt(seed, i)); });
        case Kind::Zeros:
            return generate<T>(share, [](std::size_t) { return 0; });
        case Kind::Ones:
            return generate<T>(share, [](std::size_t) { return 1; });
        case Kind::Ascending:
            return generate<T>(share, [](std::size_t i) { return i; });
        case Kind::Descending:
            return generate<T>(share, [n](std::size_t i) { return n - 1 - i; });
        case Kind::RandomBits:
            return generate<T>(share, [seed](std::size_t i) { return randomAt(seed, i) >> 63; });
        case Kind::Modulo:
            return generate<T>(share, [seed, k = pattern.k](std::size_t i) { return highBits(randomAt(seed, i)) % k; });
        case Kind::And:
            return generate<T>(share,
                               [seed, k = pattern.k](std::size_t i) { return fromBits<T>(commonBits(k, seed, i)); });
        case Kind::Zipf:
            return generate<T>(share, [seed, k = pattern.k](std::size_t i) { return zipfValue(k, randomAt(seed, i)); });
        case Kind::Kept:
            return generate<T>(share, [seed, p = pattern.p](std::size_t i) { return keptValue(p, randomAt(seed, i)); });
        case Kind::Runs:
            return generate<T>(share, [seed, k = pattern.k](std::size_t i) { return valueInRuns(k, seed, i); });
        case Kind::Segments:
            return generate<T>(share, [seed, k = pattern.k](std::size_t i) { return valueInSegments<T>(k, seed, i); });
        default:
            break;
    }
    throw std::logic_error("makeInput: no such pattern of numbers");
}

template Array<std::int8_t> makeInput(InputPattern, std::size_t, std::uint64_t, Share);
template Array<std::int32_t> makeInput(InputPattern, std::size_t, std::uint64_t, Share);
template Array<std::int64_t> makeInput(InputPattern, std::size_t, std::uint64_t, Share);
template Array<float> makeInput(InputPattern, std::size_t, std::uint64_t, Share);
template Array<double> makeInput(InputPattern, std::size_t, std::uint64_t, Share);

namespace {

namespace Utf8 = StreamCompaction::Utf8;
using Kind = InputPattern::Kind;

/// A range of consecutive code points.
struct Script {
    char32_t first;
    std::uint32_t count;
};

constexpr Script ascii{U'!', 94};
constexpr Script cyrillic{0x410, 64};
constexpr Script cjk{0x4E00, 20902};
constexpr Script emoji{0x1F300, 768};
constexpr std::array scripts{ascii, cyrillic, cjk, emoji};

/// Produces code points one by one.
class Writer {
  public:
    Writer(InputPattern pattern, std::uint64_t seed) : pattern_(pattern), seed_(seed) {}

    [[nodiscard]] char32_t next() {
        switch (pattern_.kind) {
            case Kind::Ascii:
                return letterOf(ascii);
            case Kind::Cyrillic:
                return letterOf(cyrillic);
            case Kind::Cjk:
                return letterOf(cjk);
            case Kind::Emoji:
                return letterOf(emoji);
            case Kind::Mixed:
            case Kind::IllFormed:
                return inWords();
            default:
                throw UsageError(fmt::format("--input: {} is no text", toString(pattern_)));
        }
    }

    /// Whether an ill-formed element replaces the next code point.
    [[nodiscard]] bool failsNext() { return pattern_.kind == Kind::IllFormed && random(100) < pattern_.k; }

    [[nodiscard]] std::uint32_t random(std::uint32_t below) {
        return static_cast<std::uint32_t>((randomAt(seed_, drawn_++) >> 32) * below >> 32);
    }

  private:
    [[nodiscard]] char32_t letterOf(Script script) { return script.first + random(script.count); }

    /// Words of two to eight letters of one script, separated by spaces.
    [[nodiscard]] char32_t inWords() {
        if (left_ == 0) {
            left_ = 2 + random(7);
            script_ = scripts[random(scripts.size())];
            return U' ';
        }
        --left_;
        return letterOf(script_);
    }

    InputPattern pattern_;
    std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
    std::uint32_t left_ = 0;
    Script script_ = ascii;
};

/// An element that is ill-formed, or makes the sequence around it ill-formed.
[[nodiscard]] std::uint8_t badElement(Writer& writer, std::uint8_t) {
    return static_cast<std::uint8_t>(0x80 + writer.random(0x80));
}
[[nodiscard]] char16_t badElement(Writer& writer, char16_t) {
    return static_cast<char16_t>(0xD800 + writer.random(0x800));
}
[[nodiscard]] char32_t badElement(Writer& writer, char32_t) { return 0x110000 + writer.random(0x1000); }

/// Fills the span. If the last character does not fit, spaces take its place.
template <typename Element>
void fill(std::span<Element> text, Writer& writer) {
    std::size_t at = 0;
    while (at < text.size()) {
        if (writer.failsNext()) {
            text[at++] = badElement(writer, Element{});
            continue;
        }
        std::array<Element, 4> elements{};
        const std::size_t count = Utf8::put(writer.next(), elements.data());
        if (at + count > text.size()) {
            std::ranges::fill(text.subspan(at), static_cast<Element>(U' '));
            return;
        }
        std::copy_n(elements.begin(), count, text.begin() + static_cast<std::ptrdiff_t>(at));
        at += count;
    }
}

}  // namespace

template <typename Element>
Array<Element> makeText(InputPattern pattern, std::span<const std::size_t> sizes, std::uint64_t seed, Share share) {
    constexpr std::size_t chunkSize = std::size_t{3} << 16;  // a multiple of every character length
    // Chunks are made as a whole, because each character depends on those before it.
    const std::size_t firstChunk = share.begin / chunkSize;
    const std::size_t first = firstChunk * chunkSize;
    const std::size_t chunks = chunksOf(share.begin + share.size - first, chunkSize);
    Array<Element> text(std::min(chunks * chunkSize, std::ranges::max(sizes) - first));
    const auto fillChunk = [&](std::size_t chunk, std::size_t begin, std::size_t endOfChunk) {
        Writer writer(pattern, randomAt(seed, firstChunk + chunk));
        while (begin < endOfChunk) {
            std::size_t end = endOfChunk;
            for (const std::size_t size : sizes) {
                end = first + begin < size ? std::min(end, size - first) : end;
            }
            fill(std::span(text).subspan(begin, end - begin), writer);
            begin = end;
        }
    };
    forEachChunk(text.size(), fillChunk, chunkSize);
    text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(share.begin - first));
    text.resize(share.size);
    return text;
}

template Array<std::uint8_t> makeText(InputPattern, std::span<const std::size_t>, std::uint64_t, Share);
template Array<char16_t> makeText(InputPattern, std::span<const std::size_t>, std::uint64_t, Share);
template Array<char32_t> makeText(InputPattern, std::span<const std::size_t>, std::uint64_t, Share);

Array<std::uint8_t> readText(const std::filesystem::path& path, std::size_t n) {
    std::ifstream file(path, std::ios::binary);
    Array<std::uint8_t> text(n);
    file.read(reinterpret_cast<char*>(text.data()), static_cast<std::streamsize>(n));
    const auto count = static_cast<std::size_t>(file.gcount());
    if (count == 0 || file.bad()) {
        throw UsageError(fmt::format("--utf8-file: cannot read {}, or it is empty", path.string()));
    }
    for (std::size_t at = count; at < n; at += count) {
        std::copy_n(text.begin(), std::min(count, n - at), text.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return text;
}

}  // namespace Bench
