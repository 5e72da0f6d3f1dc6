#include "stream_compaction/runtime/peer_access.h"

#include <cuda_runtime_api.h>

#include "stream_compaction/runtime/cuda_check.h"
#include "stream_compaction/runtime/device_scope.h"

namespace StreamCompaction {

namespace {

/// Lets the device `from` reach the memory of `to`. Returns whether it can.
[[nodiscard]] bool connect(int from, int to) {
    int isPossible = 0;
    Common::checkCUDAError(cudaDeviceCanAccessPeer(&isPossible, from, to), "cudaDeviceCanAccessPeer");
    if (isPossible == 0) {
        return false;
    }
    const DeviceScope here(from);
    const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
    if (status == cudaSuccess) {
        return true;
    }
    cudaGetLastError();  // clears the error, because arrays can take another way
    return status == cudaErrorPeerAccessAlreadyEnabled;
}

}  // namespace

bool connectDevices(std::span<const int> devices) {
    bool areConnected = true;
    for (const int from : devices) {
        for (const int to : devices) {
            areConnected = (from == to || connect(from, to)) && areConnected;
        }
    }
    return areConnected;
}

}  // namespace StreamCompaction
