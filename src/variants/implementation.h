#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/measure.h"
#include "problems/operations.h"
#include "problems/problem.h"
#include "variants/prepared_run.h"

namespace Bench {

/// How a variant solves problems of its operation and type. GPU variants of a build without CUDA have none of these.
struct Runner {
    /// Bytes of device memory that it takes; of GPU variants only. Empty, like `prepare`, where it can never be run.
    std::function<std::size_t(const Problem& problem, int blockSize)> deviceBytes;
    /// Allocates and copies the input, which must outlive the run.
    std::function<std::unique_ptr<PreparedRun>(Problem& problem, int blockSize)> prepare;
    /// Why it cannot be run on a problem, or nothing; absent where it can be on all.
    std::function<std::optional<std::string>(const Problem& problem)> reasonToSkip;
    /// The copy that it is compared with, ready to be enqueued. Absent where that is a copy within the device.
    std::function<Work(const Problem& problem)> prepareCopy;
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

}  // namespace Bench
