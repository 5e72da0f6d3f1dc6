#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "stream_compaction/runtime/cuda_check.h"

namespace StreamCompaction {

/// Owns page-locked host memory, uninitialised. Copies between it and the device overlap with other work, and kernels
/// can read and write it. Not copyable. The constructor throws CudaError if the memory does not suffice.
template <typename T>
class PinnedArray {
  public:
    /// Allocates `size` elements.
    explicit PinnedArray(std::size_t size) : size_(size) {
        void* memory = nullptr;
        Common::checkCUDAError(cudaMallocHost(&memory, std::max<std::size_t>(1, size) * sizeof(T)), "cudaMallocHost");
        data_ = static_cast<T*>(memory);
    }
    ~PinnedArray() { cudaFreeHost(data_); }
    PinnedArray(const PinnedArray&) = delete;
    PinnedArray& operator=(const PinnedArray&) = delete;

    /// The elements, in host memory.
    [[nodiscard]] std::span<T> elements() const { return {data_, size_}; }

  private:
    T* data_ = nullptr;
    std::size_t size_;
};

}  // namespace StreamCompaction
