#pragma once

#include <stream_compaction/cuda_event.h>
#include <stream_compaction/cuda_stream.h>
#include <stream_compaction/runtime/device_scope.h>
#include <stream_compaction/runtime/peer_access.h>

#include <memory>
#include <numeric>
#include <vector>

#include "variants/gpu/run.cuh"

namespace Bench {

/// A stream on each of the first GPUs. What is enqueued there runs between two places in the default stream of GPU 0,
/// so that events there time it.
class JoinedStreams {
  public:
    /// From the current GPU on, which is GPU 0 here.
    explicit JoinedStreams(int gpus) {
        for (int gpu = 0; gpu < gpus; ++gpu) {
            const StreamCompaction::DeviceScope here(device(gpu));
            branches_.push_back(std::make_unique<Branch>());
        }
    }

    [[nodiscard]] int size() const { return static_cast<int>(branches_.size()); }
    [[nodiscard]] int device(int gpu) const { return first_ + gpu; }
    [[nodiscard]] cudaStream_t stream(int gpu) const { return branches_[gpu]->stream; }

    /// Calls `work(gpu)` for each GPU, which is the current one meanwhile.
    template <typename Work>
    void forEach(const Work& work) const {
        for (int gpu = 0; gpu < size(); ++gpu) {
            const StreamCompaction::DeviceScope here(device(gpu));
            work(gpu);
        }
    }

    /// Makes the streams wait for the default stream of GPU 0.
    void fork() {
        begin_.record(defaultStream);
        forEach([this](int gpu) { begin_.holdBack(stream(gpu)); });
    }
    /// Makes the default stream of GPU 0 wait for the streams.
    void join() {
        forEach([this](int gpu) { branches_[gpu]->end.record(stream(gpu)); });
        for (const auto& branch : branches_) {
            branch->end.holdBack(defaultStream);
        }
    }

    /// Lets copies between the GPUs go over the link where there is one. Elsewhere they go through host memory.
    void connect() const {
        std::vector<int> devices(size());
        std::iota(devices.begin(), devices.end(), device(0));
        (void)StreamCompaction::connectDevices(devices);
    }

    /// Waits for all work of the GPUs.
    void synchronize() const {
        forEach(
            [](int) { StreamCompaction::Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); });
    }

  private:
    struct Branch {
        StreamCompaction::CudaEvent end;
        StreamCompaction::CudaStream stream;
    };

    int first_ = StreamCompaction::currentDeviceIndex();
    StreamCompaction::CudaEvent begin_;
    std::vector<std::unique_ptr<Branch>> branches_;
};

}  // namespace Bench
