#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "stream_compaction/primitives/aligned_run.cuh"
#include "stream_compaction/primitives/copy_engine.cuh"
#include "stream_compaction/primitives/target.cuh"

/// Bulk copies from global to shared memory (compute capability 9.0 and later). One thread starts a copy. The copy
/// engine performs it without registers or load/store pipes, and counts the bytes that have arrived in a barrier in
/// shared memory. All threads wait at that barrier.
namespace StreamCompaction {

class BulkCopy {
  public:
    /// Whether the card has bulk copies. If not, the other functions do nothing.
    [[nodiscard]] __device__ static bool isAvailable() { return isOnCapability(capability); }

    /// Both addresses and the number of bytes must be multiples of this. A copy is fastest where the addresses are
    /// equal modulo 128; otherwise each line of 128 bytes becomes two transfers.
    static constexpr unsigned alignment = AlignedRun<int>::width;

    /// Called by whole warps; `isStarter` is true for the thread that will start the copies. Other warps may call
    /// `wait` after a barrier of the block.
    __device__ void initialize(bool isStarter) {
        if constexpr (mayRunOnCapability(capability)) {
            if (isStarter) {
                CopyEngine::beginBarrier(&barrier_, 1);
            }
            __syncwarp();  // a warp's uniform instruction may initialise on behalf of another lane
        }
    }

    /// Called by one thread.
    __device__ void start(void* shared, const void* global, unsigned bytes) {
        if constexpr (mayRunOnCapability(capability)) {
            CopyEngine::arriveExpecting(&barrier_, bytes);
            CopyEngine::copyInBulk(shared, global, bytes, &barrier_);
        }
    }

    /// Called by all threads: waits until the copy has arrived. `parity` is 0 for the first copy, 1 for the second, 0
    /// for the third and so on.
    __device__ void wait(unsigned parity) {
        if constexpr (mayRunOnCapability(capability)) {
            while (!CopyEngine::hasTurned(&barrier_, parity)) {
            }
        }
    }

    /// Called by all threads before a barrier, if they have used shared memory that is a copy's next target.
    __device__ static void release() {
        if constexpr (mayRunOnCapability(capability)) {
            CopyEngine::fenceShared();
        }
    }

  private:
    static constexpr int capability = 90;

    std::uint64_t barrier_;
};

/// The pieces of an aligned run on their way from global to shared memory. The copy engine moves them where there is
/// one, otherwise the `threads` threads of a block or a warp do. `bytes` is a multiple of 16.
template <int threads>
struct PieceCopy {
    void* shared;
    const void* global;
    unsigned bytes;

    /// Called by one thread, after `copy.initialize`.
    __device__ void start(BulkCopy& copy) const {
        if (usesEngine()) {
            copy.start(shared, global, bytes);
        }
    }

    /// Called by all threads. Copies if there is no engine.
    __device__ void copyByThreads() const {
        if (!BulkCopy::isAvailable()) {
            constexpr unsigned width = sizeof(uint4);
            for (unsigned i = threadIdx.x % threads; i < bytes / width; i += threads) {
                static_cast<uint4*>(shared)[i] = static_cast<const uint4*>(global)[i];
            }
        }
    }

    /// Called by all threads, after a barrier behind `start`. Waits for the engine. `parity` is 0 before the first copy
    /// of `copy`; each thread keeps it for the next one.
    __device__ void wait(BulkCopy& copy, unsigned& parity) const {
        if (usesEngine()) {
            copy.wait(parity);
            parity ^= 1;
        }
    }

    /// Whether the engine moves the pieces.
    [[nodiscard]] __device__ bool usesEngine() const { return BulkCopy::isAvailable() && bytes > 0; }
};

}  // namespace StreamCompaction
