#pragma once

#include <stream_compaction/device_buffer.h>
#include <stream_compaction/pinned_array.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "measure/gpu_noise.h"
#include "problems/problem.h"
#include "variants/gpu/joined_streams.h"

namespace Bench {

/// Copies between page-locked host memory and GPUs, both directions at the same time.
class BusCopy {
  public:
    /// `toDevice` and `toHost` bytes in all, of which each GPU copies the same share.
    BusCopy(std::size_t toDevice, std::size_t toHost, int gpus) : up_(gpus), down_(gpus) {
        const auto shares = static_cast<std::size_t>(gpus);
        up_.forEach([&](int) { arrays_.push_back(std::make_unique<Arrays>(toDevice / shares, toHost / shares)); });
        up_.synchronize();
    }

    /// Events on the default stream time the copies.
    void enqueue() {
        up_.fork();
        down_.fork();
        up_.forEach([this](int gpu) {
            Arrays& on = *arrays_[gpu];
            copy(on.deviceIn.data(), on.hostIn.elements().data(), on.deviceIn.byteCount(), cudaMemcpyHostToDevice,
                 up_.stream(gpu));
            copy(on.hostOut.elements().data(), on.deviceOut.data(), on.deviceOut.byteCount(), cudaMemcpyDeviceToHost,
                 down_.stream(gpu));
        });
        up_.join();
        down_.join();
    }

  private:
    struct Arrays {
        Arrays(std::size_t toDevice, std::size_t toHost)
            : hostIn(toDevice), hostOut(toHost), deviceIn(toDevice), deviceOut(toHost) {
            std::ranges::fill(hostIn.elements(), std::byte{0x47});
            fillWithNoise(deviceOut.bytes());
        }

        StreamCompaction::PinnedArray<std::byte> hostIn;
        StreamCompaction::PinnedArray<std::byte> hostOut;
        StreamCompaction::DeviceBuffer<std::byte> deviceIn;
        StreamCompaction::DeviceBuffer<std::byte> deviceOut;
    };

    static void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
        StreamCompaction::Common::checkCUDAError(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
    }

    std::vector<std::unique_ptr<Arrays>> arrays_;
    JoinedStreams up_;  // last, so that they are waited for before their memory is freed
    JoinedStreams down_;
};

/// The copies with which an operation on host memory is compared: of its input, of elements of that size, and of its
/// result.
template <std::size_t elementBytes>
[[nodiscard]] Work busCopyFor(const Problem& problem, const Setting& setting) {
    const std::size_t toDevice = problem.size() * elementBytes;
    const std::size_t toHost = problem.bytesMoved() - toDevice;
    return [copy = std::make_shared<BusCopy>(toDevice, toHost, setting.gpus)] { copy->enqueue(); };
}

}  // namespace Bench
