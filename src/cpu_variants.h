#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "prepared_run.h"

namespace Bench {

/// A call of the library's host functions: fills `output`, returns how many elements the result has.
using CpuCall = std::function<std::size_t(std::span<const int> input, std::span<int> output)>;

[[nodiscard]] CpuCall cpuCall(void (*function)(int n, int* odata, const int* idata));
[[nodiscard]] CpuCall cpuCall(int (*function)(int n, int* odata, const int* idata));

[[nodiscard]] std::unique_ptr<PreparedRun> prepareCpuRun(CpuCall call, std::span<const int> input);

}  // namespace Bench
