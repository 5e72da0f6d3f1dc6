#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <string_view>

#include "stream_compaction/common.h"

namespace StreamCompaction::Common {

/// Throws CudaError when `status` is a failure, and clears CUDA's last error then; `call` names what returned it.
void checkCUDAError(cudaError_t status, std::string_view call,
                    std::source_location where = std::source_location::current());

/// The same for the last error on this thread, which it clears: for the line after a kernel launch.
void checkCUDAError(std::string_view call, std::source_location where = std::source_location::current());

}  // namespace StreamCompaction::Common
