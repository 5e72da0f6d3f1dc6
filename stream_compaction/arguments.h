#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

namespace StreamCompaction {

/// Device memory that a caller lends to an operation for the length of its work on the stream; contents are undefined
/// before and after. Aligned to `scratchAlignment` bytes, as memory from cudaMalloc is.
using Scratch = std::span<std::byte>;

inline constexpr std::size_t scratchAlignment = 256;

namespace Arguments {

/// Element counts of the course layer are `int`.
inline void requireCount(int n) {
    if (n < 0) {
        throw std::invalid_argument("n: expected a number of elements >= 0, got " + std::to_string(n));
    }
}

inline void requireArray(const char* name, const void* array, std::size_t n) {
    if (array == nullptr && n > 0) {
        throw std::invalid_argument(std::string(name) + ": expected an array of " + std::to_string(n) +
                                    " elements, got a null pointer");
    }
}

/// The arrays of the course layer.
inline void requireHostArrays(int n, const int* odata, const int* idata) {
    requireCount(n);
    requireArray("odata", odata, static_cast<std::size_t>(n));
    requireArray("idata", idata, static_cast<std::size_t>(n));
}

/// The lowest bits of an int by which the course layer sorts.
inline void requireBits(int bits) {
    if (bits < 1 || bits > 32) {
        throw std::invalid_argument("bits: expected 1 to 32, got " + std::to_string(bits));
    }
}

/// The matrix of the course layer and a place for each of its rows.
inline void requireHostMatrix(int rows, int cols, const void* out, const void* in) {
    if (rows < 0 || cols < 0) {
        throw std::invalid_argument("rows, cols: expected numbers >= 0, got " + std::to_string(rows) + " and " +
                                    std::to_string(cols));
    }
    requireArray("out", out, static_cast<std::size_t>(rows));
    requireArray("in", in, static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
}

/// Two arrays may not share memory.
inline void requireDisjoint(const void* a, std::size_t aBytes, const void* b, std::size_t bBytes) {
    const auto* aBegin = static_cast<const std::byte*>(a);
    const auto* bBegin = static_cast<const std::byte*>(b);
    const std::less<> before;
    if (before(aBegin, bBegin + bBytes) && before(bBegin, aBegin + aBytes)) {
        throw std::invalid_argument("input and output: expected arrays that share no memory, got overlapping ones");
    }
}

/// Two arrays may be one and the same or share no memory.
inline void requireSameOrDisjoint(const void* a, std::size_t aBytes, const void* b, std::size_t bBytes) {
    if (a != b || aBytes != bBytes) {
        requireDisjoint(a, aBytes, b, bBytes);
    }
}

}  // namespace Arguments
}  // namespace StreamCompaction
