#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "stream_compaction/runtime/compiler.h"

/// The calls of a variant's course layer (its .h) share a timer and settings, so only one host thread at a time may
/// call them. The calls of the device layers share nothing.
namespace StreamCompaction {

/// A CUDA call failed. The message says which call, where, and what CUDA says about it.
class CudaError : public std::runtime_error {
  public:
    /// The code where a build or a machine has no CUDA at all: cudaErrorNotSupported.
    static constexpr int notSupported = 801;

    /// A message, and the cudaError_t as a number.
    CudaError(const std::string& what, int code) : std::runtime_error(what), code_(code) {}

    /// The cudaError_t of the failure, as a number, so that this header needs no CUDA.
    [[nodiscard]] int code() const { return code_; }

  private:
    int code_;
};

namespace Common {

/// floor(log2(x)); 0 for x == 0.
[[nodiscard]] constexpr int ilog2(std::uint64_t x) { return x == 0 ? 0 : std::bit_width(x) - 1; }

/// ceil(log2(x)); 0 for x == 0.
[[nodiscard]] constexpr int ilog2ceil(std::uint64_t x) { return x <= 1 ? 0 : std::bit_width(x - 1); }

/// std::min, for host and device alike.
template <typename T>
[[nodiscard]] __host__ __device__ constexpr const T& lesser(const T& a, const T& b) {
    return b < a ? b : a;
}
/// std::max, likewise.
template <typename T>
[[nodiscard]] __host__ __device__ constexpr const T& greater(const T& a, const T& b) {
    return a < b ? b : a;
}

/// ceil(n / divisor), without overflow. `divisor` is not 0.
[[nodiscard]] __host__ __device__ constexpr std::size_t divideRoundUp(std::size_t n, std::size_t divisor) {
    return n / divisor + (n % divisor != 0 ? 1 : 0);
}

/// a + b. Integers wrap around instead of overflowing. For bools it is `a || b`, the value to which their sum converts.
template <typename T>
[[nodiscard]] __host__ __device__ constexpr T wrappingAdd(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) {
        return a || b;
    } else if constexpr (std::is_integral_v<T>) {
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
        return a + b;
    }
}

/// The reason why no CUDA kernel can run here, in one line, or std::nullopt if one can. Does not throw if there is no
/// device.
[[nodiscard]] std::optional<std::string> cudaUnavailableReason();

}  // namespace Common
}  // namespace StreamCompaction
