#pragma once

#include <cuda_runtime_api.h>

#include "stream_compaction/runtime/cuda_check.h"

namespace StreamCompaction {

/// The current device of this host thread.
[[nodiscard]] inline int currentDeviceIndex() {
    int device = 0;
    Common::checkCUDAError(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

/// Makes a device the current one of this host thread. At the end of the scope the previous one is current again.
class DeviceScope {
  public:
    /// Throws CudaError if there is no such device.
    explicit DeviceScope(int device) : previous_(currentDeviceIndex()) {
        Common::checkCUDAError(cudaSetDevice(device), "cudaSetDevice");
    }
    ~DeviceScope() { cudaSetDevice(previous_); }
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

  private:
    int previous_;
};

}  // namespace StreamCompaction
