#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace StreamCompaction {

/// Device memory that a caller lends to an operation for the length of its work on the stream; contents are undefined
/// before and after. Aligned to `scratchAlignment` bytes, as memory from cudaMalloc is.
using Scratch = std::span<std::byte>;

inline constexpr std::size_t scratchAlignment = 256;

/// Stands for an array of T where only its type counts: in the question for scratch, before the array is there.
template <typename T>
inline constexpr T* noArray = nullptr;

namespace Arguments {

/// More than any array takes, because addresses have at most 57 bits; so little that the sum of hundreds of such sizes
/// does not overflow.
inline constexpr std::size_t mostBytes = std::size_t{1} << 56;

/// Elements of an array of each of the types.
template <typename... T>
inline constexpr std::size_t mostElements = mostBytes / std::max({sizeof(T)...});

[[noreturn]] inline void throwAbove(const char* name, std::size_t value, std::size_t most) {
    throw std::invalid_argument(std::string(name) + ": expected at most " + std::to_string(most) + ", got " +
                                std::to_string(value));
}

constexpr void requireAtMost(const char* name, std::size_t value, std::size_t most) {
    if (value > most) {
        throwAbove(name, value, most);
    }
}

/// Arrays of n elements of each of the types have to fit into memory.
template <typename... T>
constexpr void requireSize(std::size_t n) {
    requireAtMost("n", n, mostElements<T...>);
}

/// Element counts of the course layer are `int`.
inline void requireCount(int n) {
    if (n < 0) {
        throw std::invalid_argument("n: expected a number of elements >= 0, got " + std::to_string(n));
    }
}

template <typename T>
void requireArray(const char* name, const T* array, std::size_t n) {
    requireAtMost(name, n, mostElements<T>);
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
template <typename T>
void requireHostMatrix(int rows, int cols, const T* out, const T* in) {
    if (rows < 0 || cols < 0) {
        throw std::invalid_argument("rows, cols: expected numbers >= 0, got " + std::to_string(rows) + " and " +
                                    std::to_string(cols));
    }
    requireArray("out", out, static_cast<std::size_t>(rows));
    requireArray("in", in, static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
}

/// Two arrays may not share memory.
inline void requireDisjoint(const void* a, std::size_t aBytes, const void* b, std::size_t bBytes) {
    const auto aBegin = reinterpret_cast<std::uintptr_t>(a);
    const auto bBegin = reinterpret_cast<std::uintptr_t>(b);
    const bool overlap = aBegin <= bBegin ? bBegin - aBegin < aBytes : aBegin - bBegin < bBytes;
    if (aBytes > 0 && bBytes > 0 && overlap) {
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
