#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace StreamCompaction {

/// The unsigned integer as wide as T.
template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Maps a key to unsigned bits that compare as the keys do, so that a radix sort need know only unsigned integers.
/// A signed integer gets its sign bit flipped. A negative float gets all bits flipped, any other the sign bit: the
/// total order in which -0 comes before +0 and NaNs lie beyond the infinity of their sign (Herf, "Radix Tricks", 2001).
template <typename T>
requires std::is_arithmetic_v<T> __host__ __device__ BitsOf<T> orderedBits(T key) {
    using Bits = BitsOf<T>;
    constexpr Bits signBit = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
    if constexpr (std::is_floating_point_v<T>) {
        Bits bits;
        memcpy(&bits, &key, sizeof(T));
        return (bits & signBit) ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | signBit);
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<Bits>(static_cast<Bits>(key) ^ signBit);
    } else {
        return key;
    }
}

}  // namespace StreamCompaction
