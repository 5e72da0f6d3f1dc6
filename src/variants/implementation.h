#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "measure/measure.h"
#include "problems/operations.h"
#include "problems/problem.h"

namespace Bench {

/// Thrown by a run that cannot take this input, with the reason: it is skipped.
class CannotTakeInput : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// One variant with its memory allocated and its input in place, ready to run any number of times.
class PreparedRun {
  public:
    virtual ~PreparedRun() = default;

    /// Fills the output with a pattern that no correct run leaves behind.
    virtual void poisonOutput() = 0;
    /// The operation alone; on the device it is only enqueued, on the default stream.
    virtual void launch() = 0;
    /// Brings what the last launch computed to the problem's result.
    virtual void fetchResult() = 0;
};

/// How a variant solves problems of its operation and type. GPU variants of a build without CUDA have none of these.
struct Runner {
    /// Bytes of device memory that it takes; of GPU variants only. Empty, like `prepare`, where it can never be run.
    std::function<std::size_t(const Problem& problem, int blockSize)> deviceBytes{};
    /// Allocates and copies the input, which must outlive the run.
    std::function<std::unique_ptr<PreparedRun>(Problem& problem, int blockSize)> prepare{};
    /// Why it cannot be run on a problem, or nothing; absent where it can be on all.
    std::function<std::optional<std::string>(const Problem& problem)> reasonToSkip{};
    /// The copy that it is compared with, ready to be enqueued. Absent where that is a copy within the device.
    std::function<Work(const Problem& problem)> prepareCopy{};
};

/// The runner of the variant that variants.cpp lists under this operation, type and name.
struct Implementation {
    Operation operation = Operation::Scan;
    ElementType type = ElementType::Int32;
    std::string_view variant;
    Runner runner;
};

using Implementations = std::vector<Implementation>;

/// One that this build does not have: the variant is listed, and skipped with the reason.
[[nodiscard]] inline Implementation absent(Operation operation, ElementType type, std::string_view variant,
                                           std::string_view reason) {
    return {operation, type, variant, {.reasonToSkip = [reason](const Problem&) {
                return std::optional<std::string>(reason);
            }}};
}

/// The lists one after the other.
[[nodiscard]] inline Implementations joined(std::initializer_list<Implementations> lists) {
    Implementations all;
    for (const Implementations& list : lists) {
        all.insert(all.end(), list.begin(), list.end());
    }
    return all;
}

[[nodiscard]] Implementations cpuImplementations();

/// One of the library's host functions: a scan or a sort, or a compaction, which returns how many elements it kept.
[[nodiscard]] Implementation cpuImplementation(Operation operation, std::string_view variant,
                                               void (*function)(int n, int* odata, const int* idata));
[[nodiscard]] Implementation cpuImplementation(Operation operation, std::string_view variant,
                                               int (*function)(int n, int* odata, const int* idata));

/// Conversions of text on the host: the library's reference, and what the build found to compare it with.
[[nodiscard]] Implementations cpuConversions();

/// None in a build without a CUDA compiler.
[[nodiscard]] Implementations gpuImplementations();

/// What it puts together, a file an operation.
[[nodiscard]] Implementations gpuScans();
[[nodiscard]] Implementations gpuCompactions();
[[nodiscard]] Implementations gpuPartitions();
[[nodiscard]] Implementations gpuSorts();
[[nodiscard]] Implementations gpuPairSorts();
[[nodiscard]] Implementations gpuRowSums();
[[nodiscard]] Implementations gpuConversions();

}  // namespace Bench
