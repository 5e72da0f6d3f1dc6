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
#include "world/world.h"

namespace Bench {

/// Thrown, with the reason, by a run that cannot take this input. The variant is then skipped.
class CannotTakeInput : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A variant with its memory allocated and its input copied. It can run any number of times.
class PreparedRun {
  public:
    virtual ~PreparedRun() = default;

    /// Fills the output with a pattern that no right result has, once earlier launches are done.
    virtual void poisonOutput() = 0;
    /// Runs the operation alone. On the device it only enqueues it on the default stream.
    virtual void launch() = 0;
    /// Copies the result of the last launch to the problem.
    virtual void fetchResult() = 0;
};

/// How a variant is run.
struct Setting {
    int blockSize = 0;            ///< threads per block, for a variant with a choice
    int gpus = 1;                 ///< that it runs on, from the current one on; with several ranks one GPU of each
    std::size_t deviceBytes = 0;  ///< that an operation on host memory may use on each GPU; 0 if there is no limit
    const World& world = alone;   ///< the ranks
};

/// The functions that run a variant. GPU variants have none of them in a build without CUDA.
struct Runner {
    /// Bytes of memory that a GPU variant needs on each of its GPUs. Empty, like `prepare`, if the variant cannot run.
    std::function<std::size_t(const Problem& problem, const Setting& setting)> deviceBytes{};
    /// Allocates memory and copies the input. The problem must outlive the run.
    std::function<std::unique_ptr<PreparedRun>(Problem& problem, const Setting& setting)> prepare{};
    /// Returns why the variant cannot run on a problem, if so. Empty if it can run on all.
    std::function<std::optional<std::string>(const Problem& problem)> reasonToSkip{};
    /// Prepares the copy that the variant is compared with. Empty if that is a copy within the device.
    std::function<Work(const Problem& problem, const Setting& setting)> prepareCopy{};
    /// The library of a peer, with its version. Empty for this project's variants.
    std::string library{};
};

/// The runner of the variant with this operation, type and name in variants.cpp.
struct Implementation {
    Operation operation = Operation::Scan;
    ElementType type = ElementType::Int32;
    std::string_view variant;
    Runner runner;
};

using Implementations = std::vector<Implementation>;

/// For a variant that this build does not have. It is listed and skipped with the reason.
[[nodiscard]] Implementation absent(Operation operation, ElementType type, std::string_view variant,
                                    std::string_view reason);

/// Concatenates the lists.
[[nodiscard]] inline Implementations joined(std::initializer_list<Implementations> lists) {
    Implementations all;
    for (const Implementations& list : lists) {
        all.insert(all.end(), list.begin(), list.end());
    }
    return all;
}

[[nodiscard]] Implementations cpuImplementations();

/// Wraps one of the library's host functions: a scan, a sort, or a compaction, which returns the number of kept
/// elements.
[[nodiscard]] Implementation cpuImplementation(Operation operation, std::string_view variant,
                                               void (*function)(int n, int* odata, const int* idata));
[[nodiscard]] Implementation cpuImplementation(Operation operation, std::string_view variant,
                                               int (*function)(int n, int* odata, const int* idata));

/// Conversions of text on the host: the library's reference, and iconv if the build found it.
[[nodiscard]] Implementations cpuConversions();
/// Empty if the build did not find simdutf.
[[nodiscard]] Implementations simdutfPeers();

/// Empty in a build without a CUDA compiler.
[[nodiscard]] Implementations gpuImplementations();

/// The parts of gpuImplementations(), one per group of operations.
[[nodiscard]] Implementations gpuScans();
[[nodiscard]] Implementations gpuCompactions();
[[nodiscard]] Implementations gpuPartitions();
[[nodiscard]] Implementations gpuSorts();
[[nodiscard]] Implementations gpuPairSorts();
[[nodiscard]] Implementations gpuSelections();
[[nodiscard]] Implementations gpuRowSums();
[[nodiscard]] Implementations gpuSegments();
[[nodiscard]] Implementations gpuRuns();
[[nodiscard]] Implementations gpuMultiPartitions();
[[nodiscard]] Implementations gpuHistograms();
[[nodiscard]] Implementations gpuConversions();
/// The parts in several_gpus/, which are absent in a build for one GPU: operations on arrays in host memory, on arrays
/// that are spread over several GPUs by NCCL, and on such arrays that are gathered on one of them.
[[nodiscard]] Implementations gpuOutOfCore();
[[nodiscard]] Implementations gpuDistributed();
[[nodiscard]] Implementations gpuGathered();
/// CUB and Thrust of the toolkit.
[[nodiscard]] Implementations gpuPeers();
/// CUB and Thrust of the newest CCCL. Empty if the build knows none but the toolkit's.
[[nodiscard]] Implementations gpuLatestPeers();

}  // namespace Bench
