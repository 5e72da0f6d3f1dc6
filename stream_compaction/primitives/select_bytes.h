#pragma once

#include <cstdint>

#include "stream_compaction/runtime/compiler.h"

namespace StreamCompaction {

/// Four of the eight bytes of `low` and `high`, which are numbered from 0 to 7. Digit k of the hexadecimal selector
/// says what byte k of the result is: 0 to 7 stand for that byte, 8 to F for the sign bit of byte 0 to 7, repeated
/// eight times.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t selectBytes(std::uint32_t low, std::uint32_t high,
                                                                      std::uint32_t selector) {
#ifdef __CUDA_ARCH__
    std::uint32_t result;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(selector));
    return result;
#else
    const std::uint64_t both = std::uint64_t{high} << 32 | low;
    std::uint32_t result = 0;
    for (int k = 0; k < 4; ++k) {
        const auto byte = static_cast<std::uint32_t>(both >> 8 * (selector >> 4 * k & 7) & 0xFF);
        const bool isSign = (selector >> 4 * k & 8) != 0;
        result |= (isSign ? (byte >> 7) * 0xFF : byte) << 8 * k;
    }
    return result;
#endif
}

}  // namespace StreamCompaction
