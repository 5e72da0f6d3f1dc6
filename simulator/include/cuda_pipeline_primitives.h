#pragma once

#include <cstddef>

#include "executor.h"

// Asynchronous copies of elements. Each is noted, and carried out when its thread waits for it.

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes) {
    Simulator::copyLater(to, from, bytes);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(unsigned) { Simulator::finishCopies(); }
