#pragma once

#include <cstddef>

namespace StreamCompaction::OutOfCore {

/// memcpy on all cores.
void copyOnHost(void* to, const void* from, std::size_t bytes);

}  // namespace StreamCompaction::OutOfCore
