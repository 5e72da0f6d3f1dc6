#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/utf8/word_bytes.h"

/// The elements of which text consists: std::uint8_t in UTF-8, char16_t in UTF-16, char32_t in UTF-32, `BigEndian` of
/// the latter two, and `Latin1`.
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

static_assert(std::endian::native == std::endian::little, "char16_t is UTF-16LE, char32_t is UTF-32LE");

/// An element of UTF-16 or UTF-32 (T is char16_t or char32_t) whose highest byte comes first in memory. Its bytes
/// change places in registers, as part of a load or a store.
template <typename T>
class BigEndian {
  public:
    BigEndian() = default;
    __host__ __device__ explicit constexpr BigEndian(std::uint32_t value) : stored_(exchanged(value)) {}

    // NOLINTNEXTLINE(google-explicit-constructor): it is a T
    __host__ __device__ constexpr operator T() const { return exchanged(stored_); }
    [[nodiscard]] constexpr bool operator==(const BigEndian&) const = default;

  private:
    [[nodiscard]] static __host__ __device__ constexpr T exchanged(std::uint32_t value) {
        return static_cast<T>(selectBytes(value, 0, sizeof(T) == sizeof(char16_t) ? 0x4401 : 0x0123));
    }

    T stored_;
};

/// A character of ISO-8859-1: a code point up to U+00FF.
enum class Latin1 : std::uint8_t {};

inline constexpr char32_t lastOfLatin1 = 0xFF;

template <typename T>
inline constexpr bool isLatin1 = std::is_same_v<T, Latin1>;
template <typename T>
inline constexpr bool isUtf16 = sizeof(T) == sizeof(char16_t);
template <typename T>
inline constexpr bool isUtf32 = sizeof(T) == sizeof(char32_t);

template <typename T>
struct NativeOf {
    using Type = T;
};
template <typename T>
struct NativeOf<BigEndian<T>> {
    using Type = T;
};
template <>
struct NativeOf<Latin1> {
    using Type = char16_t;
};
/// The elements that are encoded in place of elements of type T. Latin-1 is widened to UTF-16.
template <typename T>
using Native = typename NativeOf<T>::Type;

/// A word of elements of type T in native byte order, given the word as it lies in memory. Its own inverse.
template <typename T>
[[nodiscard]] __host__ __device__ constexpr std::uint32_t nativeOrder(std::uint32_t word) {
    if constexpr (std::is_same_v<T, BigEndian<char16_t>>) {
        return selectBytes(word, 0, 0x2301);
    } else if constexpr (std::is_same_v<T, BigEndian<char32_t>>) {
        return selectBytes(word, 0, 0x0123);
    }
    return word;
}

/// Word i of a vector, as it lies in memory, of elements with these values.
template <typename T>
[[nodiscard]] __host__ __device__ constexpr std::uint32_t wordOf(
    const Array<std::uint32_t, elementsPerVector<T>>& values, int i) {
    if constexpr (sizeof(T) == 1) {
        return selectBytes(selectBytes(values[4 * i], values[4 * i + 1], 0x0040),
                           selectBytes(values[4 * i + 2], values[4 * i + 3], 0x0040), 0x5410);
    } else {
        return nativeOrder<T>(isUtf16<T> ? selectBytes(values[2 * i], values[2 * i + 1], 0x5410) : values[i]);
    }
}

/// The most elements that one element of the input can become.
template <typename From, typename To>
inline constexpr std::size_t mostElements = std::is_same_v<From, std::uint8_t> ? 1
                                            : isLatin1<From>                   ? 2
                                            : isUtf16<From>                    ? 3
                                                                               : 4;

}  // namespace StreamCompaction::Utf8
