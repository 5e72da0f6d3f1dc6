#pragma once

// Thrust by its own host back end: work on a stream is done at once, when what the stream has before it is done.

#include_next <thrust/execution_policy.h>

#include "cuda_runtime_api.h"

namespace thrust::cuda {

inline constexpr struct {
    [[nodiscard]] auto on(cudaStream_t stream) const {
        cudaStreamSynchronize(stream);
        return thrust::cpp::par;
    }
} par;

}  // namespace thrust::cuda
