#pragma once

#include <cstddef>

namespace StreamCompaction::OutOfCore {

/// memcpy. All cores share the work if there are more than 256 KiB.
void copyOnHost(void* to, const void* from, std::size_t bytes);

}  // namespace StreamCompaction::OutOfCore
