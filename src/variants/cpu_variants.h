#pragma once

#include <string_view>

#include "variants/implementation.h"

namespace Bench {

[[nodiscard]] Implementations cpuImplementations();

/// One of the library's host functions: a scan or a sort, or a compaction, which returns how many elements it kept.
[[nodiscard]] Implementation cpuImplementation(Operation operation, std::string_view variant,
                                               void (*function)(int n, int* odata, const int* idata));
[[nodiscard]] Implementation cpuImplementation(Operation operation, std::string_view variant,
                                               int (*function)(int n, int* odata, const int* idata));

}  // namespace Bench
