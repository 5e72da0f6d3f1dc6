#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "stream_compaction/runtime/compiler.h"

/// What the conversions of UTF-8 take and return: the modes, the result, the kinds of errors.
namespace StreamCompaction::Utf8 {

/// A byte of UTF-8.
template <typename T>
concept Utf8Byte =
    std::same_as<T, std::uint8_t> || std::same_as<T, char> || std::same_as<T, char8_t> || std::same_as<T, std::byte>;

/// The bytes of a text, as kernels read them.
template <Utf8Byte Byte>
[[nodiscard]] const std::uint8_t* bytesOf(const Byte* text) {
    return reinterpret_cast<const std::uint8_t*>(text);
}
/// The same, as kernels write them.
template <Utf8Byte Byte>
[[nodiscard]] std::uint8_t* bytesOf(Byte* text) {
    return reinterpret_cast<std::uint8_t*>(text);
}

/// What happens to ill-formed input.
enum class Errors {
    Replace,  ///< U+FFFD takes the place of each ill-formed unit
    Skip,     ///< ill-formed units are dropped
    Strict,   ///< nothing after the first ill-formed unit counts
};
/// The same, chosen when the program is compiled: `DecodeWith<Always<Errors::Strict>>` compiles a third of the kernels
/// of `Decode`.
template <Errors errors>
using Always = std::integral_constant<Errors, errors>;

/// Whether a byte order mark at the beginning of the text goes to the output.
enum class Bom { Keep, Drop };

/// The encoding whose elements are counted: code points, or code units of UTF-16.
enum class CountIn { Utf32, Utf16 };

/// Why a unit is ill-formed.
enum class ErrorKind {
    None,
    UnexpectedContinuation,  ///< a continuation byte without a lead
    Truncated,               ///< a sequence that ends too early, or with the input
    Overlong,                ///< a longer sequence than the code point needs; C0 and C1 always are
    Surrogate,               ///< a code point from U+D800 to U+DFFF; in UTF-16, a surrogate without its other half
    AboveLast,               ///< a code point above U+10FFFF, or a byte F5 to FF, which could only begin one
    AboveLatin1,             ///< a code point above U+00FF, in a conversion to Latin-1
};

/// The outcome of a conversion or a validation.
struct Result {
    static constexpr std::uint64_t noError = ~std::uint64_t{0};  ///< `firstError` of well-formed input

    std::uint64_t count;       ///< elements written, or that a conversion would write
    std::uint64_t firstError;  ///< made by errorAt(); `noError` where all input is well-formed

    /// Whether both have the same count and the same first error.
    [[nodiscard]] constexpr bool operator==(const Result&) const = default;
    /// Whether there was no error.
    [[nodiscard]] __host__ __device__ constexpr bool isWellFormed() const { return firstError == noError; }
    /// Where the first ill-formed unit begins, in elements of the input.
    [[nodiscard]] __host__ __device__ constexpr std::size_t errorOffset() const {
        return static_cast<std::size_t>(firstError >> kindBits);
    }
    /// Of the first error.
    [[nodiscard]] __host__ __device__ constexpr ErrorKind errorKind() const {
        return isWellFormed() ? ErrorKind::None : static_cast<ErrorKind>(firstError & ((1u << kindBits) - 1));
    }

    /// An error as a number. Of two errors the earlier one is the smaller number.
    [[nodiscard]] static __host__ __device__ constexpr std::uint64_t errorAt(std::uint64_t offset, ErrorKind kind) {
        return offset << kindBits | static_cast<std::uint64_t>(kind);
    }

  private:
    static constexpr int kindBits = 3;
};

/// The kind in words, for a message: `an overlong form`.
[[nodiscard]] constexpr std::string_view describe(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::None:
            break;
        case ErrorKind::UnexpectedContinuation:
            return "an unexpected continuation byte";
        case ErrorKind::Truncated:
            return "a truncated sequence";
        case ErrorKind::Overlong:
            return "an overlong form";
        case ErrorKind::Surrogate:
            return "a surrogate";
        case ErrorKind::AboveLast:
            return "a code point above U+10FFFF";
        case ErrorKind::AboveLatin1:
            return "a code point above U+00FF";
    }
    return "no error";
}

}  // namespace StreamCompaction::Utf8
