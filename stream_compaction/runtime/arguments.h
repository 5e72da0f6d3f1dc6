#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>

namespace StreamCompaction {

/// Device memory that a caller lends to an operation until its work on the stream is done. Its contents are undefined
/// before and after. It may begin at any address.
using Scratch = std::span<std::byte>;

/// The default of `maxOut` (common.cuh): as many elements as can come out.
inline constexpr std::size_t noLimit = std::numeric_limits<std::size_t>::max();

/// The default of the `endBit` of sorts: up to the highest bit of the key.
inline constexpr int allBits = std::numeric_limits<int>::max();

/// Stands for an array of T where only its type matters, as in a call of `scratchBytes` before there is an array.
template <typename T>
inline constexpr T* noArray = nullptr;

namespace Arguments {

/// An upper bound for the size of an array, because addresses have at most 57 bits. Hundreds of such sizes add up
/// without overflow.
inline constexpr std::size_t mostBytes = std::size_t{1} << 56;

/// The most elements that arrays of each of the types can have.
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

/// Throws unless arrays of n elements of each of the types fit into memory.
template <typename... T>
constexpr void requireSize(std::size_t n) {
    requireAtMost("n", n, mostElements<T...>);
}

/// Throws for a negative number of elements.
template <std::integral N>
void requireCount(N n) {
    if constexpr (std::signed_integral<N>) {
        if (n < 0) {
            throw std::invalid_argument("n: expected a number of elements >= 0, got " + std::to_string(n));
        }
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

/// Checks the arrays of the course layer.
inline void requireHostArrays(int n, const int* odata, const int* idata) {
    requireCount(n);
    requireArray("odata", odata, static_cast<std::size_t>(n));
    requireArray("idata", idata, static_cast<std::size_t>(n));
}

/// Checks the number of low bits by which the course layer sorts ints.
inline void requireBits(int bits) {
    if (bits < 1 || bits > 32) {
        throw std::invalid_argument("bits: expected 1 to 32, got " + std::to_string(bits));
    }
}

/// Checks the matrix of the course layer and its array of row sums.
template <typename T>
void requireHostMatrix(int rows, int cols, const T* out, const T* in) {
    if (rows < 0 || cols < 0) {
        throw std::invalid_argument("rows, cols: expected numbers >= 0, got " + std::to_string(rows) + " and " +
                                    std::to_string(cols));
    }
    requireArray("out", out, static_cast<std::size_t>(rows));
    requireArray("in", in, static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
}

/// Memory that an operation reads or writes.
struct Region {
    const char* name = "";        ///< in error messages
    const void* begin = nullptr;  ///< the first byte
    std::size_t bytes = 0;        ///< its size
};

/// The memory of an array, which may not be null.
template <typename T>
[[nodiscard]] Region array(const char* name, const T* array, std::size_t n) {
    requireArray(name, array, n);
    return {name, array, n * sizeof(T)};
}

/// Throws if two regions share memory.
inline void requireDisjoint(const Region& a, const Region& b) {
    const auto aBegin = reinterpret_cast<std::uintptr_t>(a.begin);
    const auto bBegin = reinterpret_cast<std::uintptr_t>(b.begin);
    const bool overlap = aBegin <= bBegin ? bBegin - aBegin < a.bytes : aBegin - bBegin < b.bytes;
    if (a.bytes > 0 && b.bytes > 0 && overlap) {
        throw std::invalid_argument(std::string(a.name) + " and " + b.name +
                                    ": expected arrays that share no memory, got overlapping ones");
    }
}

/// Throws if an output shares memory with an input or with another output.
inline void requireApart(std::initializer_list<Region> inputs, std::initializer_list<Region> outputs) {
    for (const Region* out = outputs.begin(); out != outputs.end(); ++out) {
        for (const Region& in : inputs) {
            requireDisjoint(in, *out);
        }
        for (const Region* other = outputs.begin(); other != out; ++other) {
            requireDisjoint(*other, *out);
        }
    }
}

/// Throws if two arrays share memory.
inline void requireDisjoint(const void* a, std::size_t aBytes, const void* b, std::size_t bBytes) {
    requireDisjoint({"input", a, aBytes}, {"output", b, bBytes});
}

/// Throws if two arrays share memory, unless they are one and the same.
inline void requireSameOrDisjoint(const void* a, std::size_t aBytes, const void* b, std::size_t bBytes) {
    if (a != b || aBytes != bBytes) {
        requireDisjoint(a, aBytes, b, bBytes);
    }
}

}  // namespace Arguments
}  // namespace StreamCompaction
