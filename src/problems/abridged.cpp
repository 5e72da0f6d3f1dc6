#include "problems/abridged.h"

#include <fmt/format.h>

#include <cstdint>

namespace Bench {

template <typename T>
std::string abridged(std::span<const T> values) {
    constexpr std::size_t longestWhole = 16;
    constexpr std::size_t mostFirst = 13;
    constexpr std::size_t last = 2;
    constexpr std::size_t firstColumns = 60;
    const bool whole = values.size() <= longestWhole;
    std::string text = "[ ";
    for (const T value : values.first(whole ? values.size() : mostFirst)) {
        if (whole || text.size() < firstColumns) {
            text += fmt::format("{:3} ", value);
        }
    }
    if (!whole) {
        text += "... ";
        for (const T value : values.last(last)) {
            text += fmt::format("{:3} ", value);
        }
    }
    return text + "]";
}

template std::string abridged(std::span<const std::int8_t>);
template std::string abridged(std::span<const std::int32_t>);
template std::string abridged(std::span<const std::int64_t>);
template std::string abridged(std::span<const float>);
template std::string abridged(std::span<const double>);

}  // namespace Bench
