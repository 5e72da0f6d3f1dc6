#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stream_compaction/runtime/compiler.h"

namespace Bench {

/// Leaves new elements uninitialised.
template <typename T>
struct UninitializedAllocator : std::allocator<T> {
    template <typename U>
    void construct(U* place) noexcept {
        ::new (static_cast<void*>(place)) U;
    }
};

/// A vector that is not cleared before it is filled. For a gigabyte, clearing takes as long as filling.
template <typename T>
using Array = std::vector<T, UninitializedAllocator<T>>;

/// The type of the arrays' elements.
enum class ElementType { Int8, Int32, Int64, Float, Double };

inline constexpr std::array allElementTypes{ElementType::Int8, ElementType::Int32, ElementType::Int64,
                                            ElementType::Float, ElementType::Double};

template <typename...>
struct Types {};

/// The same as C++ types.
using AllTypes = Types<std::int8_t, std::int32_t, std::int64_t, float, double>;
/// Types of variants that are not measured in all types. Each further type would lengthen the build.
using IntsAlone = Types<std::int32_t>;
using BytesAndInts = Types<std::int8_t, std::int32_t>;
using Integers = Types<std::int32_t, std::int64_t>;
using IntsAndFloats = Types<std::int32_t, float>;

/// The name in `--type` and the CSV.
[[nodiscard]] std::string_view name(ElementType type);
/// Throws UsageError, with the nearest names, for an unknown name.
[[nodiscard]] ElementType parseElementType(std::string_view text);

template <typename T>
[[nodiscard]] constexpr ElementType elementTypeOf() {
    if constexpr (std::same_as<T, std::int8_t>) {
        return ElementType::Int8;
    } else if constexpr (std::same_as<T, std::int32_t>) {
        return ElementType::Int32;
    } else if constexpr (std::same_as<T, std::int64_t>) {
        return ElementType::Int64;
    } else if constexpr (std::same_as<T, float>) {
        return ElementType::Float;
    } else {
        static_assert(std::same_as<T, double>);
        return ElementType::Double;
    }
}

/// Calls `work` with std::type_identity of the C++ type.
template <typename Work>
decltype(auto) withElementType(ElementType type, Work&& work) {
    switch (type) {
        case ElementType::Int8:
            return work(std::type_identity<std::int8_t>{});
        case ElementType::Int32:
            break;
        case ElementType::Int64:
            return work(std::type_identity<std::int64_t>{});
        case ElementType::Float:
            return work(std::type_identity<float>{});
        case ElementType::Double:
            return work(std::type_identity<double>{});
    }
    return work(std::type_identity<std::int32_t>{});
}

/// The square of a number, for host and device. Integers wrap.
struct Square {
    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr auto operator()(T x) const {
        if constexpr (std::floating_point<T>) {
            return x * x;
        } else {
            using Signed = std::common_type_t<T, int>;
            const auto wrapping = static_cast<std::make_unsigned_t<Signed>>(x);
            return static_cast<Signed>(wrapping * wrapping);
        }
    }
};

/// The part of an integer, for host and device, in a partition into 256 parts: its lowest byte.
struct LowByte {
    static constexpr std::uint32_t values = 256;

    template <std::integral T>
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t operator()(T x) const {
        return static_cast<std::uint8_t>(x);
    }
};

/// Whether a segment begins at element i. Neighbours are in one segment if their lowest bits are equal.
template <std::integral T>
[[nodiscard]] constexpr bool beginsSegment(std::span<const T> in, std::size_t i) {
    return i == 0 || ((in[i] ^ in[i - 1]) & 1) != 0;
}

/// The bin of an integer, for host and device, if bins have one number each and begin with `first`.
struct BinFrom {
    std::int32_t first;

    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t operator()(T x) const {
        static_assert(std::integral<T> && sizeof(T) <= sizeof(first));
        return static_cast<std::uint32_t>(x) - static_cast<std::uint32_t>(first);
    }
};

/// The type in which sums are accumulated. Sums of bytes would overflow at once.
template <typename T>
using SumOf = std::conditional_t<std::same_as<T, std::int8_t>, std::int32_t, T>;

}  // namespace Bench
