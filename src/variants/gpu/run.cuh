#pragma once

#include <stream_compaction/device_buffer.h>
#include <stream_compaction/runtime/cuda_check.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "variants/implementation.h"

/// Runs of the device layer. Operations differ only in their memory and in how they are called.
namespace Bench {

inline constexpr cudaStream_t defaultStream = nullptr;

/// Calls `op()`, which does not use the default stream, after the work that is on it.
template <typename Op>
void afterDefaultStream(const Op& op) {
    StreamCompaction::Common::checkCUDAError(cudaStreamSynchronize(defaultStream), "cudaStreamSynchronize");
    op();
}

template <typename T>
void poison(StreamCompaction::DeviceBuffer<T>& buffer) {
    if (buffer.size() > 0) {  // else there is no memory
        StreamCompaction::Common::checkCUDAError(cudaMemset(buffer.data(), 0xCD, buffer.byteCount()), "cudaMemset");
    }
}

/// Copies the first `count` elements of device memory.
template <typename T>
void fetch(const StreamCompaction::DeviceBuffer<T>& from, Array<T>& to, std::size_t count) {
    to.resize(count);
    from.copyTo(to);
}

/// A run of an operation of the device layer, with its own device memory.
template <typename Op, typename Memory>
class GpuRun final : public PreparedRun {
    using SomeProblem = typename Memory::SomeProblem;

  public:
    GpuRun(Op op, SomeProblem& problem)
        : op_(std::move(op)), problem_(problem), memory_(problem), scratch_(Memory::scratchBytes(op_, problem)) {}

    void poisonOutput() override { memory_.poison(); }
    void launch() override { memory_.call(op_, scratch_.bytes()); }
    void fetchResult() override { memory_.fetchTo(problem_.result()); }

    [[nodiscard]] static std::size_t deviceBytes(const Op& op, const Problem& problem) {
        return Memory::bytes(problem) + Memory::scratchBytes(op, problem);
    }

  private:
    Op op_;
    SomeProblem& problem_;
    Memory memory_;
    StreamCompaction::DeviceBuffer<std::byte> scratch_;
};

/// A run of an operation whose memory also makes the call, because it is not all on one GPU.
template <typename Memory>
class RunInParts final : public PreparedRun {
    using SomeProblem = typename Memory::SomeProblem;

  public:
    /// The arguments behind the problem are for the memory.
    template <typename... Arguments>
    explicit RunInParts(SomeProblem& problem, Arguments&&... arguments)
        : problem_(problem), memory_(problem.input(), std::forward<Arguments>(arguments)...) {}

    void poisonOutput() override { memory_.poison(); }
    void launch() override { memory_.call(); }
    void fetchResult() override { memory_.fetchTo(problem_.result()); }

  private:
    SomeProblem& problem_;
    Memory memory_;
};

/// An operation that this build does not have.
template <typename Op>
concept Absent = requires {
    Op::reasonForAbsence;
};

/// Returns why the operation cannot run on a problem, if so.
template <typename Op, typename T>
[[nodiscard]] std::optional<std::string> tooManyFor(const Problem& problem) {
    if constexpr (requires { Op::template mostElements<T>; }) {
        if (problem.size() > Op::template mostElements<T>) {
            return "takes at most " + std::to_string(Op::template mostElements<T>) + " elements of this type";
        }
    }
    return std::nullopt;
}

/// `makeOp` returns the operation for a block size.
template <typename Memory, typename MakeOp>
[[nodiscard]] Implementation implement(Operation operation, std::string_view variant, MakeOp makeOp) {
    using Op = decltype(makeOp(0));
    constexpr ElementType type = elementTypeOf<typename Memory::Element>();
    if constexpr (Absent<Op>) {
        return absent(operation, type, variant, Op::reasonForAbsence);
    } else {
        using Run = GpuRun<Op, Memory>;
        return {operation,
                type,
                variant,
                {.deviceBytes =
                     [makeOp](const Problem& problem, const Setting& setting) {
                         return Run::deviceBytes(makeOp(setting.blockSize), problem);
                     },
                 .prepare = [makeOp](Problem& problem, const Setting& setting) -> std::unique_ptr<PreparedRun> {
                     return std::make_unique<Run>(makeOp(setting.blockSize),
                                                  dynamic_cast<typename Memory::SomeProblem&>(problem));
                 },
                 .reasonToSkip = tooManyFor<Op, typename Memory::Element>}};
    }
}

/// The same for each element type.
template <template <typename> typename MemoryOf, typename MakeOp, typename... Ts>
[[nodiscard]] Implementations implementEach(Types<Ts...>, Operation operation, std::string_view variant,
                                            MakeOp makeOp) {
    return {implement<MemoryOf<Ts>>(operation, variant, makeOp)...};
}

/// For operations without a choice of block size.
template <typename Op>
[[nodiscard]] Op fixed(int /*blockSize*/) {
    return {};
}

}  // namespace Bench
