#pragma once

#include <cuda_runtime_api.h>

#include "stream_compaction/runtime/cuda_check.h"

namespace StreamCompaction {

/// Owns a CUDA event that has no time: a place in a stream for which other streams and the host can wait. Not copyable.
class CudaEvent {
  public:
    /// Creates an event on the current device. Throws CudaError.
    CudaEvent() {
        Common::checkCUDAError(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
    ~CudaEvent() { cudaEventDestroy(event_); }
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;

    /// Puts the event behind the work that is on the stream. The stream belongs to the event's device.
    void record(cudaStream_t stream) { Common::checkCUDAError(cudaEventRecord(event_, stream), "cudaEventRecord"); }

    /// Makes later work of the stream, which may belong to any device, wait for the event. An event that was never
    /// recorded holds nothing back.
    void holdBack(cudaStream_t stream) const {
        Common::checkCUDAError(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
    }

    /// Waits for the event on the host. Throws CudaError if work before it has failed.
    void synchronize() const { Common::checkCUDAError(cudaEventSynchronize(event_), "cudaEventSynchronize"); }

  private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace StreamCompaction
