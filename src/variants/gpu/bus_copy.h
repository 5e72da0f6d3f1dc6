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
        up_.forEach([&](int) { ways_.push_back(std::make_unique<Ways>(toDevice / shares, toHost / shares)); });
        up_.synchronize();
    }

    /// Events on the default stream time the copies.
    void enqueue() {
        up_.fork();
        down_.fork();
        up_.forEach([this](int gpu) {
            ways_[gpu]->up.enqueue(cudaMemcpyHostToDevice, up_.stream(gpu));
            ways_[gpu]->down.enqueue(cudaMemcpyDeviceToHost, down_.stream(gpu));
        });
        up_.join();
        down_.join();
    }

  private:
    /// One direction. All pieces of the bytes share the memory of one, so that the card need not hold them.
    class Way {
      public:
        explicit Way(std::size_t bytes)
            : bytes_(bytes), host_(std::min(bytes, mostPieceBytes)), device_(host_.elements().size()) {
            std::ranges::fill(host_.elements(), std::byte{0x47});
            fillWithNoise(device_.bytes());
        }

        void enqueue(cudaMemcpyKind kind, cudaStream_t stream) {
            void* const host = host_.elements().data();
            void* const device = device_.data();
            const bool isUp = kind == cudaMemcpyHostToDevice;
            for (std::size_t done = 0; done < bytes_; done += device_.size()) {
                const std::size_t size = std::min(device_.size(), bytes_ - done);
                StreamCompaction::Common::checkCUDAError(
                    cudaMemcpyAsync(isUp ? device : host, isUp ? host : device, size, kind, stream), "cudaMemcpyAsync");
            }
        }

      private:
        static constexpr std::size_t mostPieceBytes = std::size_t{1} << 28;

        std::size_t bytes_;
        StreamCompaction::PinnedArray<std::byte> host_;
        StreamCompaction::DeviceBuffer<std::byte> device_;
    };
    struct Ways {
        Ways(std::size_t toDevice, std::size_t toHost) : up(toDevice), down(toHost) {}

        Way up;
        Way down;
    };

    std::vector<std::unique_ptr<Ways>> ways_;
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
