#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "stream_compaction/primitives/select_bytes.h"

namespace StreamCompaction::SinglePass {

/// How to pack four bytes, for each set of those that are kept.
class PackingTable {
  public:
    /// Called by all threads of the block, which then need a barrier.
    __device__ void fill() {
        if (threadIdx.x < sets) {
            entries_[threadIdx.x] = entryOf(threadIdx.x);
        }
    }

    /// The entry of a set, whose bit i says whether byte i is kept. Higher bits do not count.
    [[nodiscard]] __device__ std::uint32_t operator[](std::uint32_t set) const { return entries_[set % sets]; }

    /// The kept bytes, from the lowest on, and zeros above them.
    [[nodiscard]] __device__ static std::uint32_t pack(std::uint32_t bytes, std::uint32_t entry) {
        return selectBytes(bytes, 0, entry);
    }
    [[nodiscard]] __device__ static std::uint32_t bitsOf(std::uint32_t entry) { return entry >> selectorBits; }

  private:
    static constexpr unsigned sets = 16;
    static constexpr int selectorBits = 16;

    /// The selector of the bytes, and above it the number of their bits.
    [[nodiscard]] __device__ static std::uint32_t entryOf(std::uint32_t set) {
        std::uint32_t selector = 0x4444;  // four zeros
        for (std::uint32_t i = 4; i-- > 0;) {
            if ((set >> i & 1) != 0) {
                selector = (selector << 4 | i) & 0xFFFF;
            }
        }
        return selector | static_cast<std::uint32_t>(8 * __popc(set)) << selectorBits;
    }

    std::uint32_t entries_[sets];
};

}  // namespace StreamCompaction::SinglePass
