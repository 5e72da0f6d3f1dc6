#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "stream_compaction/primitives/shared_address.cuh"

namespace StreamCompaction {

/// Counters of a block of `threads` threads, in shared memory. Each has `replicas` copies, side by side, and lanes take
/// turns at them, so that they rarely meet in a bank. With 32 replicas they never do. `replicas` is a power of two, at
/// most 32.
template <int threads>
class ReplicatedCounters {
  public:
    /// `words` has `replicas` words per counter.
    __device__ ReplicatedCounters(std::uint32_t* words, unsigned replicas)
        : words_(words),
          mine_(SharedAddress::of(words + threadIdx.x % replicas)),
          stride_(replicas * sizeof(std::uint32_t)),
          replicas_(replicas) {}

    /// The first `count` counters are zero after the next barrier.
    __device__ void clear(unsigned count) const {
        for (unsigned i = threadIdx.x; i < count * replicas_; i += threads) {
            words_[i] = 0;
        }
    }

    __device__ void increment(std::uint32_t counter) const { SharedAddress::increment(mine_ + counter * stride_); }

    /// The count of a counter. Neighbouring threads that ask for neighbouring counters begin in different banks.
    [[nodiscard]] __device__ std::uint32_t sum(std::uint32_t counter) const {
        std::uint32_t sum = 0;
        for (unsigned replica = 0; replica < replicas_; ++replica) {
            sum += words_[counter * replicas_ + (replica + counter) % replicas_];
        }
        return sum;
    }

  private:
    std::uint32_t* words_;
    std::uint32_t mine_;    // the address of this lane's copy of the first counter
    std::uint32_t stride_;  // bytes from one counter to the next
    unsigned replicas_;
};

}  // namespace StreamCompaction
