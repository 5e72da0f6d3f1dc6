#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Segments of arrays, of many lengths.
namespace StreamCompaction::Testing {

/// The length of segment number `segment`.
using SegmentLengths = std::function<std::size_t(std::size_t segment)>;

/// The first elements of the segments of n elements, and n. The last segment may be cut short.
[[nodiscard]] inline std::vector<std::size_t> segmentBorders(std::size_t n, const SegmentLengths& lengths) {
    std::vector<std::size_t> borders{0};
    for (std::size_t segment = 0; borders.back() < n; ++segment) {
        borders.push_back(std::min(borders.back() + lengths(segment), n));
    }
    return borders;
}

/// Offsets of n elements that begin late, leave elements out, repeat one another or go past the end.
[[nodiscard]] inline std::vector<std::vector<std::size_t>> partialOffsets(std::size_t n) {
    return {{}, {n}, {n / 2}, {n / 2, n, n, n + 1000}, {0, 0, 0, 1, n - 1}, std::vector<std::size_t>(5000, n / 3)};
}

/// The borders of the segments that these offsets stand for.
[[nodiscard]] inline std::vector<std::size_t> bordersOf(const std::vector<std::size_t>& offsets, std::size_t n) {
    std::vector<std::size_t> borders{0};
    for (const std::size_t offset : offsets) {
        borders.push_back(std::min(offset, n));
    }
    borders.push_back(n);
    return borders;
}

/// Calls visit(begin, end) for each segment.
template <typename Visit>
void forEachSegment(const std::vector<std::size_t>& borders, Visit visit) {
    for (std::size_t segment = 0; segment + 1 < borders.size(); ++segment) {
        visit(borders[segment], borders[segment + 1]);
    }
}

}  // namespace StreamCompaction::Testing
