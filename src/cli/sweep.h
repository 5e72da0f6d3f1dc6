#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace Bench {

/// The largest array that is no power of two when `n` is one, as the course has it: three elements less.
[[nodiscard]] std::size_t nonPowerOfTwoBelow(std::size_t n);

/// Sizes in ascending order, each once, from items such as `2^20`, `2^10:2^28` (each twice the one before),
/// `2^10:2^28:x4`, `1000:5000:500` (so many more each time) and `npot`, which adds nonPowerOfTwoBelow() of all the
/// others. Throws UsageError for anything else, for a range that ends before it begins and for more than 10000 sizes.
[[nodiscard]] std::vector<std::size_t> parseSweep(std::span<const std::string> items);

}  // namespace Bench
