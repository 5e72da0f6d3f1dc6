#include "cli/values.h"

#include <fmt/format.h>
#include <stream_compaction/common.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

namespace Bench {
namespace {

/// A number of elements or bytes, as it was given.
struct Amount {
    std::string_view text;
    std::string_view unit;  ///< in the singular
};

[[noreturn]] void throwNotANumber(const Amount& amount) {
    throw UsageError(fmt::format("expected a number of {}s such as 1000000, 2^24, 1<<24 or 16M, got '{}'", amount.unit,
                                 amount.text));
}

[[noreturn]] void throwTooLarge(const Amount& amount) {
    throw UsageError(fmt::format("'{}' {}s are more than any memory holds", amount.text, amount.unit));
}

[[nodiscard]] std::uint64_t parseDigits(std::string_view digits, const Amount& amount) {
    std::uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range) {
        throwTooLarge(amount);
    }
    if (error != std::errc() || stop != end) {
        throwNotANumber(amount);
    }
    return value;
}

/// value * base^exponent
[[nodiscard]] std::uint64_t scale(std::uint64_t value, std::uint64_t base, std::uint64_t exponent,
                                  const Amount& amount) {
    if (value == 0 || base <= 1) {
        return exponent == 0 ? value : value * base;
    }
    for (; exponent > 0; --exponent) {
        if (value > largestSize / base) {
            throwTooLarge(amount);
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

[[nodiscard]] std::uint64_t evaluate(const Amount& amount) {
    const std::string_view text = amount.text;
    if (const std::size_t caret = text.find('^'); caret != std::string_view::npos) {
        const std::uint64_t base = parseDigits(text.substr(0, caret), amount);
        return scale(1, base, parseDigits(text.substr(caret + 1), amount), amount);
    }
    if (const std::size_t shift = text.find("<<"); shift != std::string_view::npos) {
        const std::uint64_t value = parseDigits(text.substr(0, shift), amount);
        return scale(value, 2, parseDigits(text.substr(shift + 2), amount), amount);
    }
    if (const auto exponent = text.empty() ? std::nullopt : suffixExponent(text.back())) {
        return scale(parseDigits(text.substr(0, text.size() - 1), amount), 2, *exponent, amount);
    }
    return parseDigits(text, amount);
}

[[nodiscard]] std::size_t parse(const Amount& amount) {
    const std::uint64_t number = evaluate(amount);
    if (number == 0) {
        throw UsageError(fmt::format("expected at least 1 {}, got '{}'", amount.unit, amount.text));
    }
    if (number > largestSize) {
        throwTooLarge(amount);
    }
    return static_cast<std::size_t>(number);
}

}  // namespace

std::size_t parseSize(std::string_view text) { return parse({text, "element"}); }

std::size_t parseBytes(std::string_view text) { return parse({text, "byte"}); }

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

namespace {

constexpr std::string_view nonPowersOfTwo = "npot";
constexpr std::size_t mostSizes = 10'000;

/// The step of a range: a factor, or a number of elements to add.
struct Step {
    std::size_t factor = 1;
    std::size_t addend = 0;

    /// The size after `n`, if it does not exceed `last`.
    [[nodiscard]] std::optional<std::size_t> after(std::size_t n, std::size_t last) const {
        return n > (last - std::min(last, addend)) / factor ? std::nullopt : std::optional(n * factor + addend);
    }
};

[[nodiscard]] Step parseStep(std::string_view text) {
    if (!text.starts_with('x')) {
        return {.factor = 1, .addend = parseSize(text)};
    }
    const std::size_t factor = parseSize(text.substr(1));
    if (factor < 2) {
        throw UsageError(fmt::format("expected a factor of at least 2 such as x4, got '{}'", text));
    }
    return {.factor = factor, .addend = 0};
}

[[nodiscard]] std::vector<std::string_view> partsBetweenColons(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// `FIRST`, `FIRST:LAST` or `FIRST:LAST:STEP`
void addRange(std::string_view text, std::set<std::size_t>& sizes) {
    const auto parts = partsBetweenColons(text);
    if (parts.size() > 3) {
        throw UsageError(fmt::format("expected FIRST:LAST:STEP, got '{}'", text));
    }
    const std::size_t first = parseSize(parts[0]);
    const std::size_t last = parts.size() > 1 ? parseSize(parts[1]) : first;
    const Step step = parts.size() > 2 ? parseStep(parts[2]) : Step{.factor = 2, .addend = 0};
    if (last < first) {
        throw UsageError(fmt::format("expected a range from a smaller to a larger size, got '{}'", text));
    }
    for (std::optional<std::size_t> n = first; n; n = step.after(*n, last)) {
        sizes.insert(*n);
        if (sizes.size() > mostSizes) {
            throw UsageError(fmt::format("'{}' makes more than {} sizes", text, mostSizes));
        }
    }
}

}  // namespace

std::size_t nonPowerOfTwoBelow(std::size_t n) {
    constexpr std::size_t missing = 3;
    return n > missing ? n - missing : 1;
}

std::vector<std::size_t> parseSweep(std::span<const std::string> items) {
    std::set<std::size_t> sizes;
    for (const std::string& item : items) {
        if (item != nonPowersOfTwo) {
            addRange(item, sizes);
        }
    }
    if (sizes.empty()) {
        throw UsageError(fmt::format("expected sizes beside '{}'", nonPowersOfTwo));
    }
    if (std::ranges::find(items, nonPowersOfTwo) != items.end()) {
        for (const std::size_t n : std::vector(sizes.begin(), sizes.end())) {
            sizes.insert(nonPowerOfTwoBelow(n));
        }
    }
    return {sizes.begin(), sizes.end()};
}

Shape parseShape(std::string_view text) {
    const std::size_t by = text.find('x');
    if (by == std::string_view::npos) {
        throw UsageError(fmt::format("expected rows and columns such as 3000x2048 or 2^22x128, got '{}'", text));
    }
    const Shape shape{parseSize(text.substr(0, by)), parseSize(text.substr(by + 1))};
    if (shape.rows > largestSize / shape.cols) {
        throw UsageError(fmt::format("'{}' elements are more than any memory holds", text));
    }
    return shape;
}

std::string toString(Shape shape) { return fmt::format("{}x{}", shape.rows, shape.cols); }

Shape nearSquare(std::size_t n) {
    const std::size_t rows = std::size_t{1} << (StreamCompaction::Common::ilog2ceil(n) / 2);
    return {rows, n / rows};
}

namespace {

/// The number before `unit`, if the text has nothing else.
[[nodiscard]] std::optional<double> numberOf(std::string_view unit, std::string_view text) {
    if (!text.ends_with(unit)) {
        return std::nullopt;
    }
    const char* end = text.data() + text.size() - unit.size();
    double number = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool isNumber = error == std::errc() && stop == end && std::isfinite(number) && number >= 0;
    return isNumber ? std::optional(number) : std::nullopt;
}

}  // namespace

double parsePercentage(std::string_view text) {
    if (const auto percent = numberOf("%", text)) {
        return *percent / 100;
    }
    throw UsageError(fmt::format("expected a percentage such as 2%, got '{}'", text));
}

double parseDuration(std::string_view text) {
    constexpr double millisecond = 1e3;
    constexpr double second = 1e6;
    // "ms" ends in "s", too.
    auto us = numberOf("ms", text);
    if (us) {
        *us *= millisecond;
    } else if ((us = numberOf("s", text))) {
        *us *= second;
    }
    if (!us || *us == 0) {
        throw UsageError(fmt::format("expected a time such as 2s or 500ms, got '{}'", text));
    }
    return *us;
}

}  // namespace Bench
