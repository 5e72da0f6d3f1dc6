#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace Bench {

/// An error that the user can correct. The message is one line: what is wrong and what to do.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Small enough that a product with an element size and a number of arrays does not overflow.
inline constexpr std::size_t largestSize = std::numeric_limits<std::size_t>::max() / 256;

/// A number of elements from `1000000`, `2^24`, `1<<24` or `16M` (K, M and G stand for 2^10, 2^20 and 2^30). Throws
/// UsageError for other texts, for zero, and for numbers above largestSize.
[[nodiscard]] std::size_t parseSize(std::string_view text);
/// The same of a number of bytes.
[[nodiscard]] std::size_t parseBytes(std::string_view text);

/// `1536` as `1.5 KiB`.
[[nodiscard]] std::string formatBytes(std::size_t bytes);

/// The size that the course pairs with a power of two `n`: three elements less.
[[nodiscard]] std::size_t nonPowerOfTwoBelow(std::size_t n);

/// Sizes in ascending order, without duplicates. The items are sizes such as `2^20`, ranges `2^10:2^28` (doubling),
/// `2^10:2^28:x4` (factor 4) and `1000:5000:500` (step 500), and `npot`, which adds nonPowerOfTwoBelow() of each size.
/// Throws UsageError for other texts, for empty ranges and for more than 10000 sizes.
[[nodiscard]] std::vector<std::size_t> parseSweep(std::span<const std::string> items);

/// Rows and columns of a matrix.
struct Shape {
    std::size_t rows = 0;
    std::size_t cols = 0;

    [[nodiscard]] std::size_t size() const { return rows * cols; }
    bool operator==(const Shape&) const = default;
};

/// From `3000x2048` or `2^22x128`: two sizes. Throws UsageError for other texts, and for products above largestSize.
[[nodiscard]] Shape parseShape(std::string_view text);
/// As `3000x2048`.
[[nodiscard]] std::string toString(Shape shape);

/// A matrix of at most `n` elements. The number of rows is a power of two, and the number of columns is similar:
/// `1024x1024` for 2^20 elements, `1024x1023` for three elements less.
[[nodiscard]] Shape nearSquare(std::size_t n);

/// 0.025 from `2.5%`. Throws UsageError for other texts.
[[nodiscard]] double parsePercentage(std::string_view text);

/// Microseconds from `2s` or `500ms`. Throws UsageError for other texts, and for zero.
[[nodiscard]] double parseDuration(std::string_view text);

}  // namespace Bench
