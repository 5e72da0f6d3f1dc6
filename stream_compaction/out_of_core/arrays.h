#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

/// Arguments that are arrays in host memory: spans, vectors and whatever else is contiguous.
namespace StreamCompaction::OutOfCore {

/// An array to read.
template <typename Array>
concept Input = std::ranges::contiguous_range<const Array> && std::ranges::sized_range<const Array>;
/// An array to write.
template <typename Array>
concept Output = std::ranges::contiguous_range<Array> && std::ranges::sized_range<Array> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Array>>>;

template <typename Array>
using ElementOf = std::ranges::range_value_t<Array>;

template <Input Array>
[[nodiscard]] std::span<const ElementOf<Array>> inputSpan(const Array& array) {
    return {std::ranges::data(array), std::ranges::size(array)};
}
template <Output Array>
[[nodiscard]] std::span<ElementOf<Array>> outputSpan(Array&& array) {
    return {std::ranges::data(array), std::ranges::size(array)};
}

/// Throws std::invalid_argument unless an array has n elements.
inline void requireLength(const char* name, std::size_t length, std::size_t n) {
    if (length != n) {
        throw std::invalid_argument(std::string(name) + ": expected " + std::to_string(n) + " elements, got " +
                                    std::to_string(length));
    }
}

}  // namespace StreamCompaction::OutOfCore
