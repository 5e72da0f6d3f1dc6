#pragma once

#include <cstdint>
#include <cstring>
#include <cuda/std/limits>

/// IEEE binary16, the compiler's own type. Converts from and to float as CUDA's type does.
struct __half {
    std::uint16_t bits;

    __half() = default;
    __half(float value) {
        const auto narrow = static_cast<_Float16>(value);
        std::memcpy(&bits, &narrow, sizeof(bits));
    }
    operator float() const {
        _Float16 narrow;
        std::memcpy(&narrow, &bits, sizeof(bits));
        return static_cast<float>(narrow);
    }
};

inline __half operator-(__half value) { return {-static_cast<float>(value)}; }

template <>
struct cuda::std::numeric_limits<__half> {
    static constexpr bool is_specialized = true;
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static __half infinity() { return ::std::numeric_limits<float>::infinity(); }
    static __half max() { return 65504; }
    static __half lowest() { return -65504; }
};
