#pragma once

#include <string_view>

namespace Bench {

/// 0.025 from `2.5%`. Throws UsageError for anything else.
[[nodiscard]] double parsePercentage(std::string_view text);

/// Microseconds from `2s` or `500ms`. Throws UsageError for anything else, and for no time at all.
[[nodiscard]] double parseDuration(std::string_view text);

}  // namespace Bench
