#pragma once

#include <algorithm>
#include <cstddef>

namespace Bench {

/// A part of an array: the elements [begin, begin + size).
struct Share {
    std::size_t begin;
    std::size_t size;
};

/// The shares of an array's parts differ by at most one element. That of part 0 is one of the largest.
[[nodiscard]] inline Share shareOf(std::size_t n, int parts, int part) {
    const auto count = static_cast<std::size_t>(parts);
    const auto index = static_cast<std::size_t>(part);
    return {n / count * index + std::min(index, n % count), n / count + (index < n % count ? 1 : 0)};
}

}  // namespace Bench
