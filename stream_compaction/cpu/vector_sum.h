#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace StreamCompaction::CPU {

/// The longest piece that is added up without halving it. Even with the shortest vectors, an accumulator adds up at
/// most 16 of them.
inline constexpr std::size_t vectorSumPiece = 128;

/// The sum of at most `vectorSumPiece` elements, by the widest vectors of the machine if the build found Highway.
[[nodiscard]] float vectorSum(std::span<const float> elements);
[[nodiscard]] double vectorSum(std::span<const double> elements);
[[nodiscard]] std::int32_t vectorSum(std::span<const std::int32_t> elements);

}  // namespace StreamCompaction::CPU
