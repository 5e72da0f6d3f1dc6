#pragma once

#include <cstddef>

#include "executor.h"

// Copies of elements that nobody waits for until they are needed: each thread's are put down, and carried out when it
// waits for them.

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes) {
    Simulator::copyLater(to, from, bytes);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(unsigned) { Simulator::finishCopies(); }
