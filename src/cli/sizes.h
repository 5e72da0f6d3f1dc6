#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace Bench {

/// Leaves room to multiply by element sizes and array counts without a check at each place.
inline constexpr std::size_t largestSize = std::numeric_limits<std::size_t>::max() / 256;

/// A number of elements from `1000000`, `2^24`, `1<<24` or `16M` (K, M and G stand for 2^10, 2^20 and 2^30).
/// Throws UsageError for anything else, for zero, and for more than any memory holds.
[[nodiscard]] std::size_t parseSize(std::string_view text);

/// `1536` as `1.5 KiB`.
[[nodiscard]] std::string formatBytes(std::size_t bytes);

}  // namespace Bench
