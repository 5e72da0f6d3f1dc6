#include <array>

#include "stream_compaction/common.h"
#include "stream_compaction/cpu/vector_sum.h"

namespace StreamCompaction::CPU {

namespace {

/// Enough accumulators side by side for the compiler to put them into vectors.
template <typename T>
[[nodiscard]] T sum(std::span<const T> elements) {
    constexpr std::size_t lanes = 16;
    std::array<T, lanes> sums{};
    std::size_t i = 0;
    for (; i + lanes <= elements.size(); i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            sums[lane] = Common::wrappingAdd(sums[lane], elements[i + lane]);
        }
    }
    for (std::size_t lane = 0; i < elements.size(); ++i, ++lane) {
        sums[lane] = Common::wrappingAdd(sums[lane], elements[i]);
    }
    for (std::size_t width = lanes / 2; width > 0; width /= 2) {
        for (std::size_t lane = 0; lane < width; ++lane) {
            sums[lane] = Common::wrappingAdd(sums[lane], sums[lane + width]);
        }
    }
    return sums[0];
}

}  // namespace

float vectorSum(std::span<const float> elements) { return sum(elements); }
double vectorSum(std::span<const double> elements) { return sum(elements); }
std::int32_t vectorSum(std::span<const std::int32_t> elements) { return sum(elements); }

}  // namespace StreamCompaction::CPU
