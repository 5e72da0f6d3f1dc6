#include "cli/sizes.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "cli/usage_error.h"

namespace Bench {
namespace {

[[noreturn]] void throwNotASize(std::string_view text) {
    throw UsageError(fmt::format("expected a number of elements such as 1000000, 2^24, 1<<24 or 16M, got '{}'", text));
}

[[noreturn]] void throwTooLarge(std::string_view text) {
    throw UsageError(fmt::format("'{}' elements are more than any memory holds", text));
}

[[nodiscard]] std::uint64_t parseDigits(std::string_view digits, std::string_view text) {
    std::uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range) {
        throwTooLarge(text);
    }
    if (error != std::errc() || stop != end) {
        throwNotASize(text);
    }
    return value;
}

/// value * base^exponent
[[nodiscard]] std::uint64_t scale(std::uint64_t value, std::uint64_t base, std::uint64_t exponent,
                                  std::string_view text) {
    if (value == 0 || base <= 1) {
        return exponent == 0 ? value : value * base;
    }
    for (; exponent > 0; --exponent) {
        if (value > largestSize / base) {
            throwTooLarge(text);
        }
        value *= base;
    }
    return value;
}

[[nodiscard]] std::optional<int> suffixExponent(char suffix) {
    switch (suffix) {
        case 'k':
        case 'K':
            return 10;
        case 'm':
        case 'M':
            return 20;
        case 'g':
        case 'G':
            return 30;
        default:
            return std::nullopt;
    }
}

[[nodiscard]] std::uint64_t evaluate(std::string_view text) {
    if (const std::size_t caret = text.find('^'); caret != std::string_view::npos) {
        const std::uint64_t base = parseDigits(text.substr(0, caret), text);
        return scale(1, base, parseDigits(text.substr(caret + 1), text), text);
    }
    if (const std::size_t shift = text.find("<<"); shift != std::string_view::npos) {
        const std::uint64_t value = parseDigits(text.substr(0, shift), text);
        return scale(value, 2, parseDigits(text.substr(shift + 2), text), text);
    }
    if (const auto exponent = text.empty() ? std::nullopt : suffixExponent(text.back())) {
        return scale(parseDigits(text.substr(0, text.size() - 1), text), 2, *exponent, text);
    }
    return parseDigits(text, text);
}

}  // namespace

std::size_t parseSize(std::string_view text) {
    const std::uint64_t size = evaluate(text);
    if (size == 0) {
        throw UsageError(fmt::format("expected at least 1 element, got '{}'", text));
    }
    if (size > largestSize) {
        throwTooLarge(text);
    }
    return static_cast<std::size_t>(size);
}

std::string formatBytes(std::size_t bytes) {
    constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace Bench
