#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace Bench {

/// Something that the person at the keyboard can put right: one line that says what is wrong and what to do.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Leaves room to multiply by element sizes and array counts without a check at each place.
inline constexpr std::size_t largestSize = std::numeric_limits<std::size_t>::max() / 256;

/// A number of elements from `1000000`, `2^24`, `1<<24` or `16M` (K, M and G stand for 2^10, 2^20 and 2^30).
/// Throws UsageError for anything else, for zero, and for more than any memory holds.
[[nodiscard]] std::size_t parseSize(std::string_view text);

/// `1536` as `1.5 KiB`.
[[nodiscard]] std::string formatBytes(std::size_t bytes);

/// The largest array that is no power of two when `n` is one, as the course has it: three elements less.
[[nodiscard]] std::size_t nonPowerOfTwoBelow(std::size_t n);

/// Sizes in ascending order, each once, from items such as `2^20`, `2^10:2^28` (each twice the one before),
/// `2^10:2^28:x4`, `1000:5000:500` (so many more each time) and `npot`, which adds nonPowerOfTwoBelow() of all the
/// others. Throws UsageError for anything else, for a range that ends before it begins and for more than 10000 sizes.
[[nodiscard]] std::vector<std::size_t> parseSweep(std::span<const std::string> items);

/// Rows and columns of a matrix.
struct Shape {
    std::size_t rows = 0;
    std::size_t cols = 0;

    [[nodiscard]] std::size_t size() const { return rows * cols; }
    bool operator==(const Shape&) const = default;
};

/// From `3000x2048` or `2^22x128`: two sizes. Throws UsageError for anything else, and for more than any memory holds.
[[nodiscard]] Shape parseShape(std::string_view text);
/// As `3000x2048`.
[[nodiscard]] std::string toString(Shape shape);

/// A matrix of at most n elements: a power of two of rows, about as many columns: `1024x1024` for 2^20 elements,
/// `1024x1023` for three less.
[[nodiscard]] Shape nearSquare(std::size_t n);

/// 0.025 from `2.5%`. Throws UsageError for anything else.
[[nodiscard]] double parsePercentage(std::string_view text);

/// Microseconds from `2s` or `500ms`. Throws UsageError for anything else, and for no time at all.
[[nodiscard]] double parseDuration(std::string_view text);

}  // namespace Bench
