#pragma once

#include "stream_compaction/cub.cuh"

#if __has_include(<cub/device/device_topk.cuh>)

#include <cub/device/device_topk.cuh>
#include <cuda/std/execution>
#include <cuda/stream>

namespace StreamCompaction::Cub {

/// cub::DeviceTopK::MinKeys, in the only mode that CUB has: the result is not sorted, and which of equal keys are taken
/// may change from call to call.
struct TopK {
    static constexpr bool mayRunInPlace = false;
    template <typename K>
    static constexpr std::size_t mostElements = mostInAnInt;

    template <typename K>
    [[nodiscard]] std::size_t scratchBytes(const K* in, K* out, std::size_t n, std::size_t k) const {
        Arguments::requireSize<K>(n);
        return queryScratchBytes(call(in, out, n, k, nullptr));
    }

    template <typename K>
    void operator()(const K* in, K* out, std::size_t n, std::size_t k, Scratch scratch, cudaStream_t stream) const {
        Arguments::requireArray("in", in, n);
        Arguments::requireArray("out", out, k);
        Arguments::requireDisjoint(in, n * sizeof(K), out, k * sizeof(K));
        runOnScratch("cub::DeviceTopK", scratch, scratchBytes(in, out, n, k), call(in, out, n, k, stream));
    }

  private:
    template <typename K>
    [[nodiscard]] static auto call(const K* in, K* out, std::size_t n, std::size_t k, cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            const auto requirements = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                               cuda::execution::output_ordering::unsorted);
            const auto environment = cuda::std::execution::env{cuda::stream_ref{stream}, requirements};
            return withSize<mostElements<K>>(n, [&](auto size) {
                return cub::DeviceTopK::MinKeys(storage, bytes, in, out, size, static_cast<decltype(size)>(k),
                                                environment);
            });
        };
    }
};

}  // namespace StreamCompaction::Cub

#else

namespace StreamCompaction::Cub {

struct TopK {
    static constexpr std::string_view reasonForAbsence = "the toolkit's CUB has no top-k";
};

}  // namespace StreamCompaction::Cub

#endif
