#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/select_bytes.h"

/// Arithmetic on the four bytes of a word. Byte 0 is the lowest, which comes first in memory. On a GPU each function
/// is one or two instructions.
///
/// Everything here is constexpr and runs on host and device alike.
namespace StreamCompaction::Utf8 {

/// Like std::array, whose functions device code may not call.
template <typename T, std::size_t length>
struct Array {
    T items[length];  // NOLINT(modernize-avoid-c-arrays): plain data in registers

    [[nodiscard]] __host__ __device__ constexpr T& operator[](std::size_t i) { return items[i]; }
    [[nodiscard]] __host__ __device__ constexpr const T& operator[](std::size_t i) const { return items[i]; }
    [[nodiscard]] constexpr bool operator==(const Array&) const = default;
};

/// Elements of type T in a vector of 16 bytes.
template <typename T>
inline constexpr int elementsPerVector = static_cast<int>(16 / sizeof(T));

[[nodiscard]] __host__ __device__ constexpr std::uint32_t byteOf(std::uint32_t word, int index) {
    return word >> 8 * index & 0xFF;
}

/// The number of zero bits above the highest set bit of x, which is not 0.
[[nodiscard]] __host__ __device__ constexpr int leadingZeros(std::uint32_t x) {
#ifdef __CUDA_ARCH__
    return __clz(static_cast<int>(x));
#else
    return std::countl_zero(x);
#endif
}

/// The bits of `a` where the mask is set, of `b` elsewhere. The compiler would make two instructions of the formula,
/// because it takes the mask and its complement for two constants.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t choose(std::uint32_t mask, std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
    std::uint32_t result;
    asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(result) : "r"(mask), "r"(a), "r"(b));
    return result;
#else
    return (a & mask) | (b & ~mask);
#endif
}

/// How planesOf() orders bytes: in the order of the words, or with the last two words first.
inline constexpr std::uint32_t inOrder = 0x5410;
inline constexpr std::uint32_t halvesExchanged = 0x1054;

/// Transposes the bytes of four words: plane k has byte k of each word.
[[nodiscard]] __host__ __device__ constexpr Array<std::uint32_t, 4> planesOf(const Array<std::uint32_t, 4>& words,
                                                                             std::uint32_t order = inOrder) {
    const std::uint32_t front01 = selectBytes(words[0], words[1], 0x5140);
    const std::uint32_t back01 = selectBytes(words[0], words[1], 0x7362);
    const std::uint32_t front23 = selectBytes(words[2], words[3], 0x5140);
    const std::uint32_t back23 = selectBytes(words[2], words[3], 0x7362);
    const std::uint32_t upper = order + 0x2222;
    return {selectBytes(front01, front23, order), selectBytes(front01, front23, upper),
            selectBytes(back01, back23, order), selectBytes(back01, back23, upper)};
}

/// The sum of x and byte k of the word. On a GPU this is a dot product, which does not use the busiest pipe, that of
/// shifts and logic.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t addByte(std::uint32_t word, int k, std::uint32_t x) {
#ifdef __CUDA_ARCH__
    return __dp4a(word, 1u << 8 * k, x);
#else
    return x + byteOf(word, k);
#endif
}

/// `addend` plus the dot product of the four bytes and the four weights, all of them signed numbers.
[[nodiscard]] __host__ __device__ constexpr int weightedSum(std::uint32_t word, std::uint32_t weights, int addend) {
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) {
        return __dp4a(static_cast<int>(word), static_cast<int>(weights), addend);
    }
#endif
    for (int k = 0; k < 4; ++k) {
        addend += static_cast<std::int8_t>(byteOf(word, k)) * static_cast<std::int8_t>(byteOf(weights, k));
    }
    return addend;
}

}  // namespace StreamCompaction::Utf8
