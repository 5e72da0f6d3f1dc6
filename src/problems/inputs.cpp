#include "problems/inputs.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "cli/nearest_names.h"
#include "cli/usage_error.h"

namespace Bench {
namespace {

using Kind = InputPattern::Kind;

struct Spelling {
    Kind kind;
    std::string_view text;       ///< up to the parameter
    std::string_view parameter;  ///< K, P or none
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
    Spelling{Kind::Kept, "kept:", "P"},
    Spelling{Kind::Ascii, "ascii", ""},
    Spelling{Kind::Cyrillic, "cyrillic", ""},
    Spelling{Kind::Cjk, "cjk", ""},
    Spelling{Kind::Emoji, "emoji", ""},
    Spelling{Kind::Mixed, "mixed", ""},
    Spelling{Kind::IllFormed, "ill-formed:", "K", 100},
};

/// Whether the whole text is a number.
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

/// The element type's worth of random bits; floating-point numbers are made finite.
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

/// Nonzero where the high bits are below p; the value itself comes from the low ones.
[[nodiscard]] std::uint32_t keptValue(double p, std::uint64_t random) {
    constexpr std::uint32_t values = 127;
    return highBits(random) < std::ldexp(p, 32) ? 1 + static_cast<std::uint32_t>(random) % values : 0;
}

template <typename T, typename ValueAt>
[[nodiscard]] Array<T> generate(std::size_t n, ValueAt valueAt) {
    Array<T> values(n);
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n), [&](const tbb::blocked_range<std::size_t>& range) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
            values[i] = static_cast<T>(valueAt(i));
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
Array<T> makeInput(InputPattern pattern, std::size_t n, std::uint64_t seed) {
    switch (pattern.kind) {
        case Kind::Uniform:
            return generate<T>(n, [seed](std::size_t i) { return fromBits<T>(randomAt(seed, i)); });
        case Kind::Zeros:
            return generate<T>(n, [](std::size_t) { return 0; });
        case Kind::Ones:
            return generate<T>(n, [](std::size_t) { return 1; });
        case Kind::Ascending:
            return generate<T>(n, [](std::size_t i) { return i; });
        case Kind::Descending:
            return generate<T>(n, [n](std::size_t i) { return n - 1 - i; });
        case Kind::RandomBits:
            return generate<T>(n, [seed](std::size_t i) { return randomAt(seed, i) >> 63; });
        case Kind::Modulo:
            return generate<T>(n, [seed, k = pattern.k](std::size_t i) { return highBits(randomAt(seed, i)) % k; });
        case Kind::And:
            return generate<T>(n, [seed, k = pattern.k](std::size_t i) { return fromBits<T>(commonBits(k, seed, i)); });
        case Kind::Kept:
            return generate<T>(n, [seed, p = pattern.p](std::size_t i) { return keptValue(p, randomAt(seed, i)); });
        default:
            break;
    }
    throw std::logic_error("makeInput: no such pattern of numbers");
}

template Array<std::int8_t> makeInput(InputPattern, std::size_t, std::uint64_t);
template Array<std::int32_t> makeInput(InputPattern, std::size_t, std::uint64_t);
template Array<std::int64_t> makeInput(InputPattern, std::size_t, std::uint64_t);
template Array<float> makeInput(InputPattern, std::size_t, std::uint64_t);
template Array<double> makeInput(InputPattern, std::size_t, std::uint64_t);

}  // namespace Bench
