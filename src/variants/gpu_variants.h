#pragma once

#include "variants/implementation.h"

namespace Bench {

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
