#include "cli/quantities.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "cli/usage_error.h"

namespace Bench {
namespace {

/// The number before `unit`, if that is all there is.
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
    // Milliseconds end in an s, too.
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
