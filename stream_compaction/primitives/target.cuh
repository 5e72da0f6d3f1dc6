#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// The card that code is compiled for, and its dynamic shared memory.
namespace StreamCompaction {

#if defined(STREAM_COMPACTION_SIMULATED)

/// Whether this code may run on a card of compute capability `capability` (10 major + minor) or later.
constexpr bool mayRunOnCapability(int /*capability*/) { return true; }
/// Whether this code runs on such a card. nvcc knows when it compiles a kernel; the simulator asks its card.
[[nodiscard]] inline bool isOnCapability(int capability) { return Simulator::isAtLeast(capability); }

#else

__host__ __device__ constexpr bool mayRunOnCapability([[maybe_unused]] int capability) {
#if defined(__CUDA_ARCH__)
    return __CUDA_ARCH__ >= 10 * capability;
#else
    return false;
#endif
}
[[nodiscard]] __device__ constexpr bool isOnCapability(int capability) { return mayRunOnCapability(capability); }

#endif

/// The dynamic shared memory of the kernel, as one object.
template <typename Storage>
[[nodiscard]] __device__ Storage& dynamicShared() {
    constexpr int alignment = 128;
    static_assert(alignof(Storage) <= alignment);
#if defined(STREAM_COMPACTION_SIMULATED)
    std::byte* const memory = Simulator::dynamicSharedMemory();
#else
    extern __shared__ __align__(alignment) std::byte memory[];
#endif
    return *reinterpret_cast<Storage*>(memory);
}

}  // namespace StreamCompaction
