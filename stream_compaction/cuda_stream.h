#pragma once

#include <cuda_runtime_api.h>

#include "stream_compaction/runtime/cuda_check.h"

namespace StreamCompaction {

/// Owns a CUDA stream. Not copyable.
class CudaStream {
  public:
    /// Creates a stream on the current device. Throws CudaError. By default the stream and the default stream do not
    /// wait for each other; with cudaStreamDefault they do.
    explicit CudaStream(unsigned flags = cudaStreamNonBlocking) {
        Common::checkCUDAError(cudaStreamCreateWithFlags(&stream_, flags), "cudaStreamCreateWithFlags");
    }
    /// Waits for the work on the stream.
    ~CudaStream() {
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
    }
    CudaStream(const CudaStream&) = delete;
    CudaStream& operator=(const CudaStream&) = delete;

    /// The stream, for calls of the runtime.
    operator cudaStream_t() const { return stream_; }

    /// Waits for the work on the stream. Throws CudaError if it has failed.
    void synchronize() const { Common::checkCUDAError(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  private:
    cudaStream_t stream_ = nullptr;
};

}  // namespace StreamCompaction
