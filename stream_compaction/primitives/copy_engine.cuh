#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "stream_compaction/primitives/shared_address.cuh"

/// The instructions of the copy engine (compute capability 9.0 and later). They are in `<cuda/ptx>`, too, but that is
/// 1.4 MB of headers, as much as CUDA's own.
///
/// A barrier in shared memory awaits arrivals of threads and bytes of copies. Then it turns: its next phase begins.
namespace StreamCompaction::CopyEngine {

#if defined(STREAM_COMPACTION_SIMULATED)

using Simulator::arriveExpecting;
using Simulator::beginBarrier;
using Simulator::copyInBulk;
using Simulator::hasTurned;
inline void fenceShared() {}

#else

/// Phase 0 of the barrier awaits `arrivals` threads. The engine sees the barrier, too.
__device__ inline void beginBarrier(std::uint64_t* barrier, std::uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SharedAddress::of(barrier)), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// The calling thread arrives. The phase also awaits `bytes` bytes.
__device__ inline void arriveExpecting(std::uint64_t* barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(SharedAddress::of(barrier)),
                 "r"(bytes)
                 : "memory");
}

/// Starts a copy from global memory, `from`, to shared memory, `to`.
__device__ inline void copyInBulk(void* to, const void* from, std::uint32_t bytes, std::uint64_t* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     SharedAddress::of(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(SharedAddress::of(barrier))
                 : "memory");
}

/// Whether phase `parity` (0 for the first, 1 for the second, 0 for the third) is over. May wait for a while.
[[nodiscard]] __device__ inline bool hasTurned(const std::uint64_t* barrier, std::uint32_t parity) {
    std::uint32_t turned;
    asm volatile(
        "{\n\t"
        ".reg .pred turned;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 turned, [%1], %2;\n\t"
        "selp.b32 %0, 1, 0, turned;\n\t"
        "}"
        : "=r"(turned)
        : "r"(SharedAddress::of(barrier)), "r"(parity)
        : "memory");
    return turned != 0;
}

/// Orders the thread's accesses to shared memory before later copies.
__device__ inline void fenceShared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

#endif

}  // namespace StreamCompaction::CopyEngine
