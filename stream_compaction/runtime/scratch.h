#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/arguments.h"

namespace StreamCompaction {

/// The alignment of the arrays in scratch, in bytes. That of memory from cudaMalloc.
inline constexpr std::size_t scratchAlignment = 256;

/// The next multiple of the alignment.
[[nodiscard]] __host__ __device__ constexpr std::size_t alignedForScratch(std::size_t bytes) {
    return Common::divideRoundUp(bytes, scratchAlignment) * scratchAlignment;
}

/// The bytes that `ScratchArena::take<T>(n)` takes at most: n elements, and the bytes before the next aligned address.
/// Throws std::invalid_argument for more elements than memory holds.
template <typename T>
[[nodiscard]] constexpr std::size_t scratchBytesFor(std::size_t n) {
    Arguments::requireAtMost("elements of scratch", n, Arguments::mostElements<T>);
    return n == 0 ? 0 : n * sizeof(T) + scratchAlignment - 1;
}

/// Hands out consecutive typed arrays from scratch memory. The arrays are aligned, the memory need not be.
class ScratchArena {
  public:
    /// Throws std::invalid_argument if `memory` holds fewer than `neededBytes`.
    ScratchArena(Scratch memory, std::size_t neededBytes) : free_(memory) {
        if (memory.size() < neededBytes) {
            throw std::invalid_argument("scratch: expected at least " + std::to_string(neededBytes) + " bytes, got " +
                                        std::to_string(memory.size()));
        }
    }

    /// The next `n` elements, uninitialised.
    template <typename T>
    [[nodiscard]] T* take(std::size_t n) {
        const auto address = reinterpret_cast<std::uintptr_t>(free_.data());
        const std::size_t padding = n == 0 ? 0 : alignedForScratch(address) - address;
        const Scratch taken = free_.subspan(padding, n * sizeof(T));
        free_ = free_.subspan(padding + taken.size());
        return reinterpret_cast<T*>(taken.data());
    }

    /// The rest of the memory, for an operation that this one calls.
    [[nodiscard]] Scratch rest() const { return free_; }

  private:
    Scratch free_;
};

}  // namespace StreamCompaction
