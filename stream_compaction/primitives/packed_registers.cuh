#pragma once

#include <cuda_runtime.h>

#include <climits>
#include <cstdint>

namespace StreamCompaction {

/// Small unsigned integers of a thread, several in each register. The compiler has to know all indices.
template <typename Small, int count>
class PackedRegisters {
  public:
    /// Called once per index, in ascending order.
    __device__ void set(int i, std::uint32_t value) {
        std::uint32_t& word = words_[i / perWord];
        if (i % perWord == 0) {
            word = value;
        } else {
            add(word, value, 1u << shiftOf(i));
        }
    }

    [[nodiscard]] __device__ std::uint32_t operator[](int i) const {
        return static_cast<Small>(words_[i / perWord] >> shiftOf(i));
    }

  private:
    static constexpr int perWord = sizeof(std::uint32_t) / sizeof(Small);

    [[nodiscard]] static __device__ constexpr int shiftOf(int i) {
        return i % perWord * static_cast<int>(sizeof(Small)) * CHAR_BIT;
    }

    /// The compiler must not see what a word is made of. Otherwise it keeps the parts in registers of their own.
    static __device__ void add(std::uint32_t& word, std::uint32_t value, std::uint32_t factor) {
#if defined(__CUDA_ARCH__)
        asm("mad.lo.u32 %0, %1, %2, %0;" : "+r"(word) : "r"(value), "r"(factor));
#else
        word += value * factor;
#endif
    }

    std::uint32_t words_[(count + perWord - 1) / perWord]{};
};

}  // namespace StreamCompaction
