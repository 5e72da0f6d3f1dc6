#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problems/elements.h"
#include "problems/share.h"
#include "stream_compaction/runtime/compiler.h"

namespace Bench {

/// The contents of a test array. Values that do not fit into the element type wrap or are rounded.
struct InputPattern {
    enum class Kind {
        Uniform,     ///< every integer equally likely, negative ones included; finite floating-point bit patterns
        Zeros,       ///< all 0
        Ones,        ///< all 1
        Ascending,   ///< 0, 1, 2, ...
        Descending,  ///< n - 1, n - 2, ... 0
        RandomBits,  ///< 0 or 1, equally likely
        Modulo,      ///< 0 to k - 1, equally likely: the course's `rand() % K`
        And,         ///< bitwise and of k uniform values: the higher k, the lower the entropy
        Zipf,        ///< 1 to k, v with a probability of log(1 + 1 / v) / log(1 + k), about proportional to 1 / v
        Kept,        ///< 1 to 127 with probability p, else 0
        Runs,        ///< runs of equal numbers from 0 to 127, of 1 to 2k - 1 elements, on average k
        Segments,    ///< any values, whose lowest bits are equal in segments of 1 to 2k - 1 elements, on average k
        // Text:
        Ascii,      ///< letters, digits and punctuation: one byte each
        Cyrillic,   ///< two bytes
        Cjk,        ///< Chinese, Japanese, Korean: three bytes
        Emoji,      ///< four bytes
        Mixed,      ///< words of all these scripts, separated by spaces
        IllFormed,  ///< mixed text in which k of a hundred characters are ill-formed
    };

    Kind kind = Kind::Uniform;
    std::uint32_t k = 0;  ///< for Modulo, And, Zipf, Runs, Segments and IllFormed
    double p = 0;         ///< for Kept

    bool operator==(const InputPattern&) const = default;
};

[[nodiscard]] constexpr bool isText(InputPattern pattern) { return pattern.kind >= InputPattern::Kind::Ascii; }

/// From `uniform`, `mod:50` and so on. Throws UsageError for other texts.
[[nodiscard]] InputPattern parseInputPattern(std::string_view text);
[[nodiscard]] std::string toString(InputPattern pattern);

/// A random number that depends only on the seed and the index, so it is the same on every platform and for every n. It
/// is element i of the sequence of the generator SplitMix64.
[[nodiscard]] __host__ __device__ constexpr std::uint64_t randomAt(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/// A part of an input of n elements. For each of AllTypes, on all cores. Not for patterns of text.
template <typename T>
[[nodiscard]] Array<T> makeInput(InputPattern pattern, std::size_t n, std::uint64_t seed, Share share);

/// The whole input.
template <typename T>
[[nodiscard]] Array<T> makeInput(InputPattern pattern, std::size_t n, std::uint64_t seed) {
    return makeInput<T>(pattern, n, seed, {0, n});
}

}  // namespace Bench

/// Text for the conversions between encodings.
namespace Bench {

/// Text in UTF-8, UTF-16 or UTF-32 with as many elements as the largest of `sizes`, made on all cores and the same on
/// every platform. A character ends at each of the sizes, so the first elements of each size are well-formed unless the
/// pattern says otherwise. This is a part of it, cut anywhere. Throws UsageError for a pattern that is not of text.
template <typename Element>
[[nodiscard]] Array<Element> makeText(InputPattern pattern, std::span<const std::size_t> sizes, std::uint64_t seed,
                                      Share share);

/// The whole text.
template <typename Element>
[[nodiscard]] Array<Element> makeText(InputPattern pattern, std::span<const std::size_t> sizes, std::uint64_t seed) {
    return makeText<Element>(pattern, sizes, seed, {0, std::ranges::max(sizes)});
}

/// The first n bytes of a file, repeated if it has fewer. Throws UsageError if the file cannot be read or is empty.
[[nodiscard]] Array<std::uint8_t> readText(const std::filesystem::path& path, std::size_t n);

}  // namespace Bench
