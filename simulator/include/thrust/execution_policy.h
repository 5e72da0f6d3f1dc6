#pragma once

// Thrust with its own host back end. It waits for the earlier work of the stream and then works at once.

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
