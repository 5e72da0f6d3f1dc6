#pragma once

#include <bit>
#include <cstdint>
#include <cuda/std/limits>

/// The upper half of a float, rounded to nearest even. Converts from and to float as CUDA's type does.
struct __nv_bfloat16 {
    std::uint16_t bits;

    __nv_bfloat16() = default;
    __nv_bfloat16(float value) {
        const auto wide = std::bit_cast<std::uint32_t>(value);
        bits = value != value ? 0x7FFF : static_cast<std::uint16_t>((wide + 0x7FFF + (wide >> 16 & 1)) >> 16);
    }
    operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

inline __nv_bfloat16 operator-(__nv_bfloat16 value) { return {-static_cast<float>(value)}; }

template <>
struct cuda::std::numeric_limits<__nv_bfloat16> {
    static constexpr bool is_specialized = true;
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static __nv_bfloat16 infinity() { return ::std::numeric_limits<float>::infinity(); }
    static __nv_bfloat16 max() { return 0x1.FEp127F; }
    static __nv_bfloat16 lowest() { return -0x1.FEp127F; }
};
