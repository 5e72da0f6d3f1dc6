#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <string_view>

#include "stream_compaction/common.h"

namespace StreamCompaction::Common {

/// Throws CudaError if `status` is a failure, and clears CUDA's last error in that case. `call` names the call that
/// returned `status`, and `where` is its place.
void checkCUDAError(cudaError_t status, std::string_view call,
                    std::source_location where = std::source_location::current());

/// Throws CudaError because a block of `operation` needs more shared memory than the device has.
[[noreturn]] void throwTooLittleSharedMemory(std::string_view operation);

}  // namespace StreamCompaction::Common
