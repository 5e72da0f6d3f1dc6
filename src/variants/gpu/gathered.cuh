#pragma once

#include <stream_compaction/device_buffer.h>
#include <stream_compaction/runtime/peer_access.h>

#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "variants/gpu/memory.cuh"
#include "variants/gpu/spread.cuh"
#include "variants/implementation.h"

/// What a program does that has arrays on several GPUs and a library for one of them.
namespace Bench {

/// Copies all parts to GPU 0, runs an operation of the device layer there, and copies the result back.
template <typename Op, typename T, typename ProblemOfOp>
class Gathered {
  public:
    using Element = T;
    using SomeProblem = ProblemOfOp;

    Gathered(std::span<const T> input, int gpus)
        : streams_(gpus),
          input_(streams_, input),
          output_(streams_, input.size()),
          wholeInput_(input.size()),
          wholeOutput_(input.size()),
          scratch_(scratchBytes(input.size())) {
        // The copies go over the link where there is one, and through host memory elsewhere.
        std::vector<int> devices(gpus);
        std::iota(devices.begin(), devices.end(), 0);
        (void)StreamCompaction::connectDevices(devices);
    }

    /// On GPU 0.
    [[nodiscard]] static std::size_t deviceBytes(std::size_t n, int gpus) {
        return 2 * (n + shareOf(n, gpus, 0).size) * sizeof(T) + scratchBytes(n);
    }

    void call() {
        streams_.fork();
        streams_.forEach([this](int gpu) {
            copy(wholeInput_.data() + input_.share(gpu).begin, input_.data(gpu), input_.size(gpu), gpu);
        });
        streams_.join();
        Op{}(std::as_const(wholeInput_).data(), wholeOutput_.data(), wholeInput_.size(), scratch_.bytes(),
             defaultStream);
        streams_.fork();
        streams_.forEach([this](int gpu) {
            copy(output_.data(gpu), wholeOutput_.data() + output_.share(gpu).begin, output_.size(gpu), gpu);
        });
        streams_.join();
    }
    void poison() {
        output_.poison();
        Bench::poison(wholeOutput_);
    }
    void fetchTo(Array<T>& result) const {
        streams_.synchronize();
        output_.fetchTo(result);
    }

  private:
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n) {
        return Op{}.scratchBytes(StreamCompaction::noArray<T>, StreamCompaction::noArray<T>, n);
    }
    /// Between GPU 0 and another, on the stream of the other.
    void copy(T* to, const T* from, std::size_t n, int gpu) const {
        StreamCompaction::Common::checkCUDAError(
            cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDefault, streams_.stream(gpu)),
            "cudaMemcpyAsync between GPUs");
    }

    JoinedStreams streams_;
    Spread<T> input_;
    Spread<T> output_;
    StreamCompaction::DeviceBuffer<T> wholeInput_;
    StreamCompaction::DeviceBuffer<T> wholeOutput_;
    StreamCompaction::DeviceBuffer<std::byte> scratch_;
};

/// The variant "gather-to-one" of an operation.
template <typename Memory>
[[nodiscard]] Implementation gathered(Operation operation) {
    return {operation,
            elementTypeOf<typename Memory::Element>(),
            "gather-to-one",
            {.deviceBytes = [](const Problem& problem,
                               const Setting& setting) { return Memory::deviceBytes(problem.size(), setting.gpus); },
             .prepare = [](Problem& problem, const Setting& setting) -> std::unique_ptr<PreparedRun> {
                 return std::make_unique<RunInParts<Memory>>(dynamic_cast<typename Memory::SomeProblem&>(problem),
                                                             setting.gpus);
             }}};
}

}  // namespace Bench
