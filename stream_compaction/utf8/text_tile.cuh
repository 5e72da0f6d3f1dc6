#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/common.h"
#include "stream_compaction/primitives/bulk_copy.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/runtime/element_count.cuh"
#include "stream_compaction/utf8/element.h"
#include "stream_compaction/utf8/unit.h"

/// Tiles of text in shared memory, with some bytes of the text around them.
namespace StreamCompaction::Utf8 {

/// Text in global memory, divided into tiles from an aligned address on. The first `lead` bytes from there are not
/// text. So the copy engine can load text of any alignment, in whole lines.
struct TextInMemory {
    static constexpr std::size_t alignment = 128;  ///< of tiles, in global and in shared memory
    static constexpr bool isCut = false;           ///< whether it is part of a larger text

    const std::byte* base;
    std::size_t lead;
    std::size_t end;  ///< of the text, counted from the base

    template <typename T>
    __host__ __device__ TextInMemory(const T* text, std::size_t n)
        : base(reinterpret_cast<const std::byte*>(text)),
          lead(reinterpret_cast<std::uintptr_t>(text) % alignment),
          end(lead + n * sizeof(T)) {
        base -= lead;
    }

    /// Four bytes from an offset in the text on, the first in the lowest byte; zeros behind the end. A loop, because it
    /// is seldom called and not worth many registers.
    [[nodiscard]] __device__ std::uint32_t windowAt(std::size_t offset) const {
        std::uint32_t window = 0;
#pragma unroll 1
        for (std::size_t i = 4; i-- > 0;) {
            const std::size_t at = lead + offset + i;
            window = window << 8 | (at < end ? static_cast<std::uint32_t>(base[at]) : 0);
        }
        return window;
    }

    /// Whether nothing lies before the text.
    [[nodiscard]] __device__ static constexpr bool isBeginning() { return true; }
    /// A byte that lies outside the text, given its distances from the first byte and from the end.
    [[nodiscard]] __device__ static constexpr std::byte outside(int, int) { return std::byte{0}; }

    [[nodiscard]] __host__ __device__ std::size_t tiles(std::size_t tileBytes) const {
        return Common::divideRoundUp(end, tileBytes);
    }

    /// An upper bound of `tiles` for text at any address.
    [[nodiscard]] static constexpr std::size_t mostTiles(std::size_t textBytes, std::size_t tileBytes) {
        return Common::divideRoundUp(alignment - 1 + textBytes, tileBytes);
    }
};

/// Text in global memory whose length only the device knows.
struct CountedText {
    static constexpr bool isCut = false;

    const std::byte* elements;
    std::size_t elementBytes;
    CountInDeviceMemory n;

    template <typename T>
    CountedText(const T* text, const CountInDeviceMemory& n)
        : elements(reinterpret_cast<const std::byte*>(text)), elementBytes(sizeof(T)), n(n) {}

    [[nodiscard]] std::size_t tiles(std::size_t tileBytes) const {
        return TextInMemory(elements, n.capacity * elementBytes).tiles(tileBytes);
    }
};

/// Whether blocks take one tile of the text after the other, because only the device knows how many there are.
template <typename Text>
inline constexpr bool isCounted = std::is_same_v<Text, CountedText>;

/// How a kernel gets a text whose number of elements is an N.
template <typename N>
using TextOf = std::conditional_t<isOnDevice<N>, CountedText, TextInMemory>;

/// The text with its length.
template <typename Text>
[[nodiscard]] __device__ auto knownText(const Text& text) {
    if constexpr (isCounted<Text>) {
        return TextInMemory(text.elements, numberOf(text.n) * text.elementBytes);
    } else {
        return text;
    }
}

/// What lies around a part of a larger text: the bytes on which the units at the part's ends depend. Zeros stand for
/// bytes before the beginning and behind the end of the larger text.
struct TextAround {
    std::uint32_t before;  ///< the four bytes before the part, the last one in the highest byte
    std::uint32_t behind;  ///< the four bytes behind it, the first one in the lowest byte
    bool isBeginning;      ///< whether the part is the beginning of the larger text
};

/// A part of a larger text, in global memory. It may begin and end inside a unit. What lies around it is read from
/// `around`, in global memory, too.
struct CutText : TextInMemory {
    static constexpr bool isCut = true;

    const TextAround* around;

    template <typename T>
    CutText(const T* text, std::size_t n, const TextAround* around) : TextInMemory(text, n), around(around) {}

    /// Four bytes from an offset in the part on, those behind the part included.
    [[nodiscard]] __device__ std::uint32_t windowAt(std::size_t offset) const {
        const std::size_t inside = min(end - lead - offset, std::size_t{4});
        return TextInMemory::windowAt(offset) | static_cast<std::uint32_t>(std::uint64_t{around->behind} << 8 * inside);
    }
    [[nodiscard]] __device__ bool isBeginning() const { return around->isBeginning; }
    [[nodiscard]] __device__ std::byte outside(int fromBegin, int fromEnd) const {
        if (fromBegin < 0) {
            return static_cast<std::byte>(fromBegin < -4 ? 0 : byteOf(around->before, 4 + fromBegin));
        }
        return static_cast<std::byte>(fromEnd < 4 ? byteOf(around->behind, fromEnd) : 0);
    }
};

/// A tile of text. Positions count its bytes from the tile's aligned beginning.
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

    /// The number of bytes of the text before a position.
    [[nodiscard]] __device__ std::size_t offsetOf(int position) const { return begin_ + position - lead_; }

    static constexpr int halo = BulkCopy::alignment;  ///< bytes on either side of the tile

  protected:
    static constexpr int window = 4;  // bytes behind a position that are read

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

/// The bytes of text that become a word of native elements, two of UTF-16 or one of UTF-32.
template <typename From>
inline constexpr int wordBytes = isLatin1<From> ? 2 : 4;
/// The bytes of text that become a vector of four such words.
template <typename From>
inline constexpr int vectorBytes = 4 * wordBytes<From>;

/// The element of type From at a position.
template <typename From, typename Text>
[[nodiscard]] __device__ Native<From> elementAt(const Text& text, int position) {
    return static_cast<Native<From>>(text.template at<From>(position));
}
/// The native elements from a position on, which is aligned to `wordBytes`.
template <typename From, typename Text>
[[nodiscard]] __device__ std::uint32_t wordAt(const Text& text, int position) {
    if constexpr (isLatin1<From>) {
        return selectBytes(text.template at<std::uint16_t>(position), 0, 0x4140);
    } else {
        return nativeOrder<From>(text.template at<std::uint32_t>(position));
    }
}
/// The same for a position that is aligned to `vectorBytes`.
template <typename From, typename Text>
[[nodiscard]] __device__ Array<std::uint32_t, 4> vectorAt(const Text& text, int position) {
    if constexpr (isLatin1<From>) {
        const uint2 words = text.template at<uint2>(position);
        return {selectBytes(words.x, 0, 0x4140), selectBytes(words.x, 0, 0x4342), selectBytes(words.y, 0, 0x4140),
                selectBytes(words.y, 0, 0x4342)};
    } else {
        const uint4 words = text.template at<uint4>(position);
        return {nativeOrder<From>(words.x), nativeOrder<From>(words.y), nativeOrder<From>(words.z),
                nativeOrder<From>(words.w)};
    }
}

/// A tile in shared memory. Before and behind it lie a few bytes of the text, or zeros where there is none. No global
/// memory outside the text is read. It belongs to a block of `threads` threads, or to a warp.
template <int threads, int tileBytes>
class TextTile : public TextRange<tileBytes> {
    using Base = TextRange<tileBytes>;
    using Base::from_;
    using Base::textBegin_;
    using Base::textEnd_;
    using Base::window;
    static constexpr int groupBytes = 32;  // which are examined together

  public:
    using Base::bytes;
    using Base::halo;

    struct Storage {
        alignas(TextInMemory::alignment) std::byte memory[TextInMemory::alignment + bytes + halo];
        BulkCopy copy;
    };

    /// Called by all threads. The first one has initialised the storage's `copy`, and starts the load.
    __device__ TextTile(Storage& storage, const TextInMemory& text, int tile)
        : TextTile(storage.memory + TextInMemory::alignment, storage.copy, text, tile) {}

    /// The same, to `place`, which is aligned as the text is, with room for `halo` bytes on either side.
    __device__ TextTile(std::byte* place, BulkCopy& copy, const TextInMemory& text, int tile)
        : Base(text, tile), place_(place), copy_(copy) {
        if (thread() == 0) {
            pieces().start(copy_);
        }
    }

    /// Called by all threads. Returns once the whole tile of the text has been loaded. `parity` is that of
    /// PieceCopy::wait.
    template <typename Text>
    __device__ void finish(const Text& text, unsigned& parity) {
        pieces().copyByThreads();
        if (run().bulkBegin > -halo || run().bulkEnd < bytes + window) {
            loadSingly(text, -halo, run().bulkBegin);
            loadSingly(text, run().bulkEnd, min(bytes, textEnd_ + groupBytes) + window);
        }
        if constexpr (threads == Warp::lanes) {
            __syncwarp();
        } else {
            __syncthreads();
        }
        pieces().wait(copy_, parity);
    }

    template <typename T>
    [[nodiscard]] __device__ T at(int position) const {
        return *pointerTo<T>(position);
    }
    /// The address of a position in shared memory. The memory may be reused once the text there has been read.
    template <typename T>
    [[nodiscard]] __device__ T* pointerTo(int position) const {
        return reinterpret_cast<T*>(memory(position));
    }

  private:
    [[nodiscard]] __device__ static int thread() { return static_cast<int>(threadIdx.x % threads); }
    [[nodiscard]] __device__ std::byte* memory(int position) const { return place_ + position; }

    /// The text in the tile and around it. None if the tile lies behind the text.
    [[nodiscard]] __device__ AlignedRun<int> run() const { return piecesInside(textBegin_, max(textBegin_, textEnd_)); }
    [[nodiscard]] __device__ PieceCopy<threads> pieces() const {
        return {memory(run().bulkBegin), from_ + run().bulkBegin, static_cast<unsigned>(run().bulkBytes())};
    }

    template <typename Text>
    __device__ void loadSingly(const Text& text, int begin, int end) {
#pragma unroll 1
        for (int i = begin + thread(); i < end; i += threads) {
            *memory(i) = i >= textBegin_ && i < textEnd_ ? from_[i] : text.outside(i - textBegin_, i - textEnd_);
        }
    }

    std::byte* place_;
    BulkCopy& copy_;
};

}  // namespace StreamCompaction::Utf8
