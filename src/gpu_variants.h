#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "operations.h"
#include "prepared_run.h"

namespace Bench {

/// The part of a GPU variant that only a CUDA compiler can build; variants.cpp has the rest and finds it by name.
struct GpuImplementation {
    Operation operation = Operation::Scan;
    std::string_view variant;
    std::function<std::size_t(std::size_t n, int blockSize)> deviceBytes;
    std::function<std::unique_ptr<PreparedRun>(std::span<const int> input, int blockSize)> prepare;
};

/// None in a build without a CUDA compiler.
[[nodiscard]] std::vector<GpuImplementation> gpuImplementations();

}  // namespace Bench
