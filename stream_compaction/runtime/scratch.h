#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/arguments.h"

namespace StreamCompaction {

/// The bytes that `ScratchArena::take<T>(n)` takes, n elements rounded up to `scratchAlignment`. Throws
/// std::invalid_argument for more elements than memory holds.
template <typename T>
[[nodiscard]] constexpr std::size_t scratchBytesFor(std::size_t n) {
    Arguments::requireAtMost("elements of scratch", n, Arguments::mostElements<T>);
    return Common::divideRoundUp(n * sizeof(T), scratchAlignment) * scratchAlignment;
}

/// Hands out consecutive typed arrays from scratch memory.
class ScratchArena {
  public:
    /// Throws std::invalid_argument if `memory` holds fewer than `neededBytes` or is misaligned.
    ScratchArena(Scratch memory, std::size_t neededBytes) : free_(memory) {
        if (memory.size() < neededBytes) {
            throw std::invalid_argument("scratch: expected at least " + std::to_string(neededBytes) + " bytes, got " +
                                        std::to_string(memory.size()));
        }
        if (reinterpret_cast<std::uintptr_t>(memory.data()) % scratchAlignment != 0) {
            throw std::invalid_argument("scratch: expected memory aligned to " + std::to_string(scratchAlignment) +
                                        " bytes");
        }
    }

    /// The next `n` elements, uninitialised.
    template <typename T>
    [[nodiscard]] T* take(std::size_t n) {
        const Scratch taken = free_.first(scratchBytesFor<T>(n));
        free_ = free_.subspan(taken.size());
        return reinterpret_cast<T*>(taken.data());
    }

    /// The rest of the memory, for an operation that this one calls.
    [[nodiscard]] Scratch rest() const { return free_; }

  private:
    Scratch free_;
};

}  // namespace StreamCompaction
