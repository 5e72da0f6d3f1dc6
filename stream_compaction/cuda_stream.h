#pragma once

#include <cuda_runtime_api.h>

#include "stream_compaction/runtime/cuda_check.h"

namespace StreamCompaction {

/// Owns a stream.
class CudaStream {
  public:
    /// Unless told otherwise with cudaStreamDefault it neither waits for the default stream nor makes that wait.
    explicit CudaStream(unsigned flags = cudaStreamNonBlocking) {
        Common::checkCUDAError(cudaStreamCreateWithFlags(&stream_, flags), "cudaStreamCreateWithFlags");
    }
    /// Waits for what is on it.
    ~CudaStream() {
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
    }
    CudaStream(const CudaStream&) = delete;
    CudaStream& operator=(const CudaStream&) = delete;

    operator cudaStream_t() const { return stream_; }

    void synchronize() const { Common::checkCUDAError(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  private:
    cudaStream_t stream_ = nullptr;
};

}  // namespace StreamCompaction
