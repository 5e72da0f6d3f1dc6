#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/common.h"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/runtime/arguments.h"

/// Flags packed 32 to a word, as the validity masks of data frames are: flag i is bit i % 32 of word i / 32.
namespace StreamCompaction {

/// Packed flags as the flags of a compaction.
struct PackedBits {
    using Value = bool;  ///< a flag

    const std::uint32_t* words;  ///< in device memory

    /// The number of words that hold n flags.
    [[nodiscard]] static constexpr std::size_t wordsFor(std::size_t n) { return Common::divideRoundUp(n, 32); }
};

/// Flags that are packed in words in device memory, an argument of `SinglePass::CompactFlagged`.
[[nodiscard]] inline PackedBits packedBits(const std::uint32_t* words) { return {words}; }

[[nodiscard]] inline PackedBits sourceOf(const PackedBits& in) { return in; }

/// The memory of n flags.
[[nodiscard]] inline Arguments::Region arrayOf(const char* name, const PackedBits& bits, std::size_t n) {
    return Arguments::array(name, bits.words, PackedBits::wordsFor(n));
}

/// Loads a tile of packed flags into registers, and has shared memory for `room` bytes. A vector is a part of one word.
template <typename Shape, std::size_t room>
class SourceLoader<PackedBits, Shape, room> {
    static_assert(32 % Shape::vectorLength == 0);

  public:
    struct Storage {
        alignas(16) std::byte elements[room];
    };

    __device__ SourceLoader(Storage& storage, const PackedBits& source, const std::size_t& n)
        : storage_(storage), source_(source), n_(n) {}

    __device__ void start(int /*tile*/) {}
    __device__ void finish(int tile) {
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            const std::size_t first = Shape::begin(tile) + Shape::offset(row);
            words_[row] = source_.words[min(first, n_ - 1) / 32] >> first % 32;
        }
    }
    [[nodiscard]] __device__ auto row(int row) const {
        Vector<bool, Shape::vectorLength> flags;
#pragma unroll
        for (int i = 0; i < Shape::vectorLength; ++i) {
            flags.items[i] = (words_[row] >> i & 1) != 0;
        }
        return flags;
    }
    [[nodiscard]] __device__ std::byte* memory() const { return storage_.elements; }

  private:
    Storage& storage_;
    const PackedBits& source_;
    const std::size_t& n_;
    std::uint32_t words_[Shape::rows];
};

}  // namespace StreamCompaction
