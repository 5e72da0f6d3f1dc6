#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace Bench {

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

}  // namespace Bench
