#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "problems/elements.h"

namespace Bench {

/// What a test array looks like. Values that an element type cannot hold wrap around in it, or round.
struct InputPattern {
    enum class Kind {
        Uniform,     ///< every integer equally likely, negative ones included; finite floating-point bit patterns
        Zeros,       ///< all 0
        Ones,        ///< all 1
        Ascending,   ///< 0, 1, 2, ...
        Descending,  ///< n - 1, n - 2, ... 0
        RandomBits,  ///< 0 or 1, equally likely
        Modulo,      ///< 0 to k - 1, equally likely: the course's `rand() % K`
        And,         ///< the bits that k uniform values have in common: the higher k, the lower the entropy
        Kept,        ///< 1 to 127 with probability p, else 0
        // Text:
        Ascii,      ///< letters, digits and punctuation: one byte each
        Cyrillic,   ///< two bytes
        Cjk,        ///< Chinese, Japanese, Korean: three bytes
        Emoji,      ///< four bytes
        Mixed,      ///< words of all of these, with spaces between
        IllFormed,  ///< the same, where k of a hundred characters are something ill-formed
    };

    Kind kind = Kind::Uniform;
    std::uint32_t k = 0;  ///< of Modulo, And and IllFormed
    double p = 0;         ///< of Kept

    bool operator==(const InputPattern&) const = default;
};

[[nodiscard]] constexpr bool isText(InputPattern pattern) { return pattern.kind >= InputPattern::Kind::Ascii; }

/// From `uniform`, `mod:50` and so on. Throws UsageError for anything else.
[[nodiscard]] InputPattern parseInputPattern(std::string_view text);
[[nodiscard]] std::string toString(InputPattern pattern);

/// A random number that depends on nothing but the seed and the index: the same on every platform and for every n.
/// It is the number at that place in the sequence of the generator SplitMix64.
[[nodiscard]] constexpr std::uint64_t randomAt(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/// For each of AllTypes; on all cores. Not of text.
template <typename T>
[[nodiscard]] Array<T> makeInput(InputPattern pattern, std::size_t n, std::uint64_t seed);

}  // namespace Bench

/// Text for the conversions between encodings.
namespace Bench {

/// As many elements of text as the largest of the sizes, of UTF-8, UTF-16 or UTF-32: the same on every platform, on all
/// cores. Well-formed but for the pattern that says otherwise, and so are its first elements, as many as any of the
/// sizes: characters end there. Throws UsageError for a pattern that is not of text.
template <typename Element>
[[nodiscard]] Array<Element> makeText(InputPattern pattern, std::span<const std::size_t> sizes, std::uint64_t seed);

/// The first n bytes of a file; where it has fewer, those again and again. Throws UsageError when it cannot be read or
/// is empty.
[[nodiscard]] Array<std::uint8_t> readText(const std::filesystem::path& path, std::size_t n);

/// The beginning as the report shows it: `"Some text ..."`.
template <typename Element>
[[nodiscard]] std::string abridgedText(std::span<const Element> text);

/// `[   3  17   0 ...  12   0 ]`: the whole array when it is short, else its beginning and end. For each of AllTypes.
template <typename T>
[[nodiscard]] std::string abridged(std::span<const T> values);

}  // namespace Bench
