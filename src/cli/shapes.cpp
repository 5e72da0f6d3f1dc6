#include "cli/shapes.h"

#include <fmt/format.h>
#include <stream_compaction/common.h>

#include "cli/sizes.h"
#include "cli/usage_error.h"

namespace Bench {

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

}  // namespace Bench
