#include "inputs.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "nearest_names.h"
#include "usage_error.h"

namespace Bench {
namespace {

using Kind = InputPattern::Kind;

constexpr std::string_view modPrefix = "mod:";

constexpr std::array plainPatterns{
    std::pair{std::string_view("uniform"), Kind::Uniform},
    std::pair{std::string_view("zeros"), Kind::Zeros},
    std::pair{std::string_view("ones"), Kind::Ones},
    std::pair{std::string_view("ascending"), Kind::Ascending},
    std::pair{std::string_view("descending"), Kind::Descending},
    std::pair{std::string_view("random-bits"), Kind::RandomBits},
};

[[nodiscard]] InputPattern parseModulo(std::string_view digits) {
    constexpr std::uint32_t largest = std::numeric_limits<int>::max();
    std::uint32_t modulus = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, modulus);
    if (error != std::errc() || stop != end || modulus == 0 || modulus > largest) {
        throw UsageError(fmt::format("expected mod:K with K from 1 to {}, got '{}{}'", largest, modPrefix, digits));
    }
    return {Kind::Modulo, modulus};
}

[[nodiscard]] std::uint32_t highBits(std::uint64_t random) { return static_cast<std::uint32_t>(random >> 32); }

template <typename ValueAt>
[[nodiscard]] std::vector<int> generate(std::size_t n, ValueAt valueAt) {
    std::vector<int> values(n);
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = static_cast<int>(valueAt(i));
    }
    return values;
}

}  // namespace

InputPattern parseInputPattern(std::string_view text) {
    if (text.starts_with(modPrefix)) {
        return parseModulo(text.substr(modPrefix.size()));
    }
    std::vector<std::string_view> names;
    for (const auto& [name, kind] : plainPatterns) {
        if (text == name) {
            return {kind, 0};
        }
        names.push_back(name);
    }
    names.emplace_back("mod:K");
    throw UsageError(unknownName("input", text, names));
}

std::string toString(InputPattern pattern) {
    for (const auto& [name, kind] : plainPatterns) {
        if (pattern.kind == kind) {
            return std::string(name);
        }
    }
    return fmt::format("{}{}", modPrefix, pattern.modulus);
}

std::vector<int> makeInput(InputPattern pattern, std::size_t n, std::uint64_t seed) {
    switch (pattern.kind) {
        case Kind::Uniform:
            return generate(n, [seed](std::size_t i) { return highBits(randomAt(seed, i)); });
        case Kind::Zeros:
            return generate(n, [](std::size_t) { return 0; });
        case Kind::Ones:
            return generate(n, [](std::size_t) { return 1; });
        case Kind::Ascending:
            return generate(n, [](std::size_t i) { return i; });
        case Kind::Descending:
            return generate(n, [n](std::size_t i) { return n - 1 - i; });
        case Kind::Modulo:
            return generate(n, [seed, k = pattern.modulus](std::size_t i) { return highBits(randomAt(seed, i)) % k; });
        case Kind::RandomBits:
            return generate(n, [seed](std::size_t i) { return randomAt(seed, i) >> 63; });
    }
    throw std::logic_error("makeInput: no such pattern");
}

}  // namespace Bench
