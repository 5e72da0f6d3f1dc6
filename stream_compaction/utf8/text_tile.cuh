#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/common.h"
#include "stream_compaction/primitives/bulk_copy.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/utf8/unit.h"

/// Tiles of text in shared memory, with what stands around them, and the way from there to global memory.
namespace StreamCompaction::Utf8 {

/// Text as tiles see it: from an aligned address on, of which the first `lead` bytes are not text. So the copy engine
/// takes it whatever its alignment, and whole lines at a time.
struct TextInMemory {
    static constexpr std::size_t alignment = 128;  ///< of tiles, in global and in shared memory

    const std::byte* base;
    std::size_t lead;
    std::size_t end;  ///< of the text, counted from the base

    template <typename T>
    TextInMemory(const T* text, std::size_t n)
        : base(reinterpret_cast<const std::byte*>(text)),
          lead(reinterpret_cast<std::uintptr_t>(text) % alignment),
          end(lead + n * sizeof(T)) {
        base -= lead;
    }

    /// Four bytes from an offset in the text on, the first in the lowest byte; zeros behind the end. As of a span, but
    /// in a loop: it is seldom called, and not worth many registers.
    [[nodiscard]] __device__ std::uint32_t windowAt(std::size_t offset) const {
        std::uint32_t window = 0;
#pragma unroll 1
        for (std::size_t i = 4; i-- > 0;) {
            const std::size_t at = lead + offset + i;
            window = window << 8 | (at < end ? static_cast<std::uint32_t>(base[at]) : 0);
        }
        return window;
    }

    [[nodiscard]] std::size_t tiles(std::size_t tileBytes) const { return Common::divideRoundUp(end, tileBytes); }

    /// Wherever the text lies.
    [[nodiscard]] static constexpr std::size_t mostTiles(std::size_t textBytes, std::size_t tileBytes) {
        return Common::divideRoundUp(alignment - 1 + textBytes, tileBytes);
    }
};

/// A tile of text: positions count its bytes, from that of an aligned address on.
template <int tileBytes>
class TextRange {
  public:
    static constexpr int bytes = tileBytes;

    __device__ TextRange(const TextInMemory& text, int tile)
        : begin_(static_cast<std::ptrdiff_t>(tile) * bytes),
          from_(text.base + begin_),
          lead_(static_cast<int>(text.lead)),
          textBegin_(static_cast<int>(max(static_cast<std::ptrdiff_t>(text.lead) - begin_, std::ptrdiff_t{-halo}))),
          textEnd_(
              static_cast<int>(min(static_cast<std::ptrdiff_t>(text.end) - begin_, std::ptrdiff_t{bytes + halo}))) {}

    /// The positions of the text in this tile.
    [[nodiscard]] __device__ int first() const { return max(textBegin_, 0); }
    [[nodiscard]] __device__ int end() const { return min(textEnd_, bytes); }

    /// Whether all of the tile is text.
    [[nodiscard]] __device__ bool isWhole() const { return textBegin_ <= 0 && textEnd_ >= bytes; }
    [[nodiscard]] __device__ bool isFirst() const { return begin_ == 0; }
    [[nodiscard]] __device__ bool isLast() const { return textEnd_ <= bytes; }

    /// How many bytes of the text stand before a position.
    [[nodiscard]] __device__ std::size_t offsetOf(int position) const { return begin_ + position - lead_; }

    static constexpr int halo = BulkCopy::alignment;  ///< bytes around the tile, as far as they are known

  protected:
    static constexpr int window = 4;  // bytes behind a position that are looked at

    std::ptrdiff_t begin_;
    const std::byte* from_;
    int lead_;
    int textBegin_;
    int textEnd_;
};

/// Four bytes from any position on, the first in the lowest byte.
template <typename Text>
[[nodiscard]] __device__ std::uint32_t windowAt(const Text& text, int position) {
    const int word = position & ~3;
    return __funnelshift_r(text.template at<std::uint32_t>(word), text.template at<std::uint32_t>(word + 4),
                           position * 8);
}

/// A tile in shared memory, where it can be read in any order. Around it lie a few bytes of the text before and behind,
/// zeros where there is none. Nothing outside the text is read. It belongs to a block of so many threads, or to a warp.
template <int threads, int tileBytes>
class TextTile : public TextRange<tileBytes> {
    using Base = TextRange<tileBytes>;
    using Base::from_;
    using Base::textBegin_;
    using Base::textEnd_;
    using Base::window;
    static constexpr int groupBytes = 32;  // which are looked at together

  public:
    using Base::bytes;
    using Base::halo;

    struct Storage {
        alignas(TextInMemory::alignment) std::byte memory[TextInMemory::alignment + bytes + halo];
        BulkCopy copy;
    };

    /// By all threads. Begins to load.
    __device__ TextTile(Storage& storage, const TextInMemory& text, int tile)
        : TextTile(storage.memory + TextInMemory::alignment, storage.copy, text, tile) {}

    /// The same to a place for the tile that is aligned as the text is, with room for `halo` bytes on either side.
    __device__ TextTile(std::byte* place, BulkCopy& copy, const TextInMemory& text, int tile)
        : Base(text, tile), place_(place), copy_(copy) {
        if (thread() == 0) {
            copy_.initialize();
            if (BulkCopy::isAvailable() && bulkBegin() < bulkEnd()) {
                copy_.start(memory(bulkBegin()), from_ + bulkBegin(), bulkEnd() - bulkBegin());
            }
        }
    }

    /// By all threads: returns once all of the tile is there.
    __device__ void finish() {
        if (!BulkCopy::isAvailable()) {
            constexpr int width = sizeof(uint4);
            for (int i = bulkBegin() + thread() * width; i < bulkEnd(); i += threads * width) {
                *reinterpret_cast<uint4*>(memory(i)) = *reinterpret_cast<const uint4*>(from_ + i);
            }
        }
        if (bulkBegin() > -halo || bulkEnd() < bytes + window) {
            loadSingly(-halo, bulkBegin());
            loadSingly(max(bulkBegin(), bulkEnd()), min(bytes, textEnd_ + groupBytes) + window);
        }
        if constexpr (threads == Warp::lanes) {
            __syncwarp();
        } else {
            __syncthreads();
        }
        if (BulkCopy::isAvailable() && bulkBegin() < bulkEnd()) {
            copy_.wait(0);
        }
    }

    template <typename T>
    [[nodiscard]] __device__ T at(int position) const {
        return *pointerTo<T>(position);
    }
    /// Where a position lies in shared memory; once the text there has been read, a place for something else.
    template <typename T>
    [[nodiscard]] __device__ T* pointerTo(int position) const {
        return reinterpret_cast<T*>(memory(position));
    }

  private:
    [[nodiscard]] __device__ static int thread() { return static_cast<int>(threadIdx.x % threads); }
    [[nodiscard]] __device__ std::byte* memory(int position) const { return place_ + position; }

    /// What goes in aligned vectors.
    [[nodiscard]] __device__ int bulkBegin() const { return (textBegin_ + halo - 1) & -halo; }
    [[nodiscard]] __device__ int bulkEnd() const { return textEnd_ & -halo; }

    __device__ void loadSingly(int begin, int end) {
#pragma unroll 1
        for (int i = begin + thread(); i < end; i += threads) {
            *memory(i) = i >= textBegin_ && i < textEnd_ ? from_[i] : std::byte{0};
        }
    }

    std::byte* place_;
    BulkCopy& copy_;
};

/// The vectors of 16 bytes in global memory that are a run's alone: behind `head` elements so many.
struct WholeVectors {
    int head;
    int count;
};

/// Stores the ends of a run, whose vectors other runs have a part in, by a warp.
template <typename To, typename From>
__device__ WholeVectors storeEndsByWarp(To* to, const From* shared, int count) {
    constexpr int width = sizeof(uint4) / sizeof(To);
    const int head = min(static_cast<int>(-(reinterpret_cast<std::uintptr_t>(to) / sizeof(To)) % width), count);
    const int vectors = (count - head) / width;
    const int lane = Warp::lane();
    const int i = lane < width ? lane : head + vectors * width + lane - width;
    if (i < (lane < width ? head : count)) {
        to[i] = shared[i];
    }
    return {head, vectors};
}

/// Copies a run of bytes from shared memory, aligned to 16 bytes, to global memory, by a warp.
__device__ inline void copyRunByWarp(std::uint8_t* to, const std::uint8_t* shared, int count) {
    const WholeVectors whole = storeEndsByWarp(to, shared, count);
    const auto copy = [&](auto firstWord) {
        const int bits = whole.head % 4 * 8;
        const auto* from = reinterpret_cast<const uint4*>(shared);
        auto* out = reinterpret_cast<uint4*>(to + whole.head);
#pragma unroll 2
        for (int v = Warp::lane(); v < whole.count; v += Warp::lanes) {
            const uint4 a = from[v];
            const uint4 b = from[v + 1];
            const std::uint32_t words[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
            constexpr int k = firstWord();
            out[v] = {__funnelshift_r(words[k], words[k + 1], bits), __funnelshift_r(words[k + 1], words[k + 2], bits),
                      __funnelshift_r(words[k + 2], words[k + 3], bits),
                      __funnelshift_r(words[k + 3], words[k + 4], bits)};
        }
    };
    switch (whole.head / 4) {
        case 0:
            copy(std::integral_constant<int, 0>{});
            break;
        case 1:
            copy(std::integral_constant<int, 1>{});
            break;
        case 2:
            copy(std::integral_constant<int, 2>{});
            break;
        default:
            copy(std::integral_constant<int, 3>{});
            break;
    }
}

/// The same of elements of 16 bits, which become 32.
__device__ inline void widenRunByWarp(char32_t* to, const char16_t* shared, int count) {
    const WholeVectors whole = storeEndsByWarp(to, shared, count);
    const auto* const from = reinterpret_cast<const std::uint32_t*>(shared) + whole.head / 2;
    auto* const out = reinterpret_cast<uint4*>(to + whole.head);
    const int bits = whole.head % 2 * 16;
#pragma unroll 2
    for (int v = Warp::lane(); v < whole.count; v += Warp::lanes) {
        const std::uint32_t front = __funnelshift_r(from[2 * v], from[2 * v + 1], bits);
        const std::uint32_t back = __funnelshift_r(from[2 * v + 1], from[2 * v + 2], bits);
        __stcg(out + v, {front & 0xFFFF, front >> 16, back & 0xFFFF, back >> 16});
    }
}

}  // namespace StreamCompaction::Utf8
