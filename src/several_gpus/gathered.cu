#include <stream_compaction/device_buffer.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stream_compaction/single_pass/compact.cuh>
#include <stream_compaction/single_pass/scan.cuh>

#include "several_gpus/spread.cuh"
#include "variants/gpu/compact_kernels.cuh"
#include "variants/gpu/memory.cuh"
#include "variants/gpu/sort_kernels.cuh"
#include "variants/implementation.h"

/// What a program does that has arrays on several GPUs and a library for one of them.
namespace Bench {
namespace {

/// An array whose parts lie on the GPUs, room for all of it on GPU 0, and the streams of copies between them.
template <typename T>
class GatheredInput {
  public:
    GatheredInput(std::span<const T> input, int gpus) : streams_(gpus), parts_(streams_, input), whole_(input.size()) {
        streams_.connect();
    }
    GatheredInput(const GatheredInput&) = delete;
    GatheredInput& operator=(const GatheredInput&) = delete;

    /// On GPU 0.
    [[nodiscard]] static std::size_t deviceBytes(std::size_t n, int gpus) {
        return (n + shareOf(n, gpus, 0).size) * sizeof(T);
    }

    [[nodiscard]] JoinedStreams& streams() { return streams_; }
    [[nodiscard]] const JoinedStreams& streams() const { return streams_; }
    [[nodiscard]] std::size_t size() const { return whole_.size(); }
    [[nodiscard]] const T* whole() const { return whole_.data(); }

    void poison() { Bench::poison(whole_); }
    /// Copies all parts to GPU 0.
    void gather() {
        copyParts([this](int gpu) {
            copy(whole_.data() + parts_.share(gpu).begin, parts_.data(gpu), parts_.size(gpu), gpu);
        });
    }
    /// Copies an array on GPU 0 into the parts of `to`.
    void scatter(const T* from, Spread<T>& to) {
        copyParts([&](int gpu) { copy(to.data(gpu), from + to.share(gpu).begin, to.size(gpu), gpu); });
    }

  private:
    template <typename Copy>
    void copyParts(const Copy& copyPart) {
        streams_.fork();
        streams_.forEach(copyPart);
        streams_.join();
    }
    /// Between GPU 0 and another, on the stream of the other.
    void copy(T* to, const T* from, std::size_t n, int gpu) const {
        StreamCompaction::Common::checkCUDAError(
            cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDefault, streams_.stream(gpu)),
            "cudaMemcpyAsync between GPUs");
    }

    JoinedStreams streams_;
    Spread<T> parts_;
    StreamCompaction::DeviceBuffer<T> whole_;
};

/// Copies all parts to GPU 0, runs an operation of the device layer there, and copies the result back.
template <typename Op, typename T, typename ProblemOfOp>
class Gathered {
  public:
    using Element = T;
    using SomeProblem = ProblemOfOp;

    Gathered(std::span<const T> input, int gpus)
        : input_(input, gpus),
          output_(input_.streams(), input.size()),
          wholeOutput_(input.size()),
          scratch_(scratchBytes(input.size())) {}

    /// On GPU 0.
    [[nodiscard]] static std::size_t deviceBytes(std::size_t n, int gpus) {
        return 2 * GatheredInput<T>::deviceBytes(n, gpus) + scratchBytes(n);
    }

    void call() {
        input_.gather();
        Op{}(input_.whole(), wholeOutput_.data(), input_.size(), scratch_.bytes(), defaultStream);
        input_.scatter(wholeOutput_.data(), output_);
    }
    void poison() {
        input_.poison();
        output_.poison();
        Bench::poison(wholeOutput_);
    }
    void fetchTo(Array<T>& result) const {
        input_.streams().synchronize();
        output_.fetchTo(result);
    }

  private:
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n) {
        return Op{}.scratchBytes(StreamCompaction::noArray<T>, StreamCompaction::noArray<T>, n);
    }

    GatheredInput<T> input_;
    Spread<T> output_;
    StreamCompaction::DeviceBuffer<T> wholeOutput_;
    StreamCompaction::DeviceBuffer<std::byte> scratch_;
};

/// The same for a compaction. What is kept stays on GPU 0, because only the device knows how much that is.
template <typename Op, typename T>
class GatheredCompact {
  public:
    using Element = T;
    using SomeProblem = CompactProblem<T>;

    GatheredCompact(std::span<const T> input, int gpus)
        : input_(input, gpus), output_(input.size()), scratch_(scratchBytes(input.size())) {}

    /// On GPU 0.
    [[nodiscard]] static std::size_t deviceBytes(std::size_t n, int gpus) {
        return GatheredInput<T>::deviceBytes(n, gpus) + n * sizeof(T) + sizeof(std::size_t) + scratchBytes(n);
    }

    void call() {
        input_.gather();
        Op{}(input_.whole(), output_.data(), count_.get(), input_.size(), scratch_.bytes(), defaultStream);
    }
    void poison() {
        input_.poison();
        Bench::poison(output_);
        count_.poison();
    }
    void fetchTo(Array<T>& result) const {
        input_.streams().synchronize();
        fetch(output_, result, count_.fetchOf(input_.size()));
    }

  private:
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n) {
        using StreamCompaction::noArray;
        return Op{}.scratchBytes(noArray<T>, noArray<T>, noArray<std::size_t>, n);
    }

    GatheredInput<T> input_;
    StreamCompaction::DeviceBuffer<T> output_;
    KeptCount count_;
    StreamCompaction::DeviceBuffer<std::byte> scratch_;
};

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

}  // namespace

Implementations gpuGathered() {
    using namespace StreamCompaction;
    return {gathered<Gathered<SinglePass::Scan, std::int32_t, ScanProblem<std::int32_t>>>(Operation::Scan),
            gathered<GatheredCompact<SinglePass::Compact, std::int32_t>>(Operation::Compact),
            gathered<Gathered<Radix::Sort, std::int32_t, SortProblem<std::int32_t>>>(Operation::Sort)};
}

}  // namespace Bench
