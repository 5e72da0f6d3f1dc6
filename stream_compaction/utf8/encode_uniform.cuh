#pragma once

#include <array>

#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/utf8/element.h"
#include "stream_compaction/utf8/text_tile.cuh"
#include "stream_compaction/utf8/uniform.h"

/// Encodes parts of a tile whose elements all take the same number of bytes. The size of the output is known in
/// advance, and no scan is needed to place the bytes of an element.
namespace StreamCompaction::Utf8 {

/// The elements from `least` to `least + count - 1`.
struct ElementRange {
    std::uint32_t least;
    std::uint32_t count;

    [[nodiscard]] __device__ bool has(std::uint32_t element) const { return element - least < count; }
};

/// The elements that take `length` bytes in UTF-8. In UTF-16, surrogates are the elements of four bytes. In both
/// encodings they are also among those of three.
template <typename From>
[[nodiscard]] __device__ ElementRange elementsOf(int length) {
    return length == 1     ? ElementRange{0, 0x80}
           : length == 2   ? ElementRange{0x80, 0x800 - 0x80}
           : length == 3   ? ElementRange{0x800, 0x10000 - 0x800}
           : isUtf16<From> ? ElementRange{0xD800, 0x800}
                           : ElementRange{0x10000, lastCodePoint + 1 - 0x10000};
}

/// Bounds of a set of elements. In UTF-16, the lower and the upper halves of words have bounds of their own.
template <typename From>
class CommonElements {
    static constexpr bool isInHalves = isUtf16<From>;

  public:
    __device__ void add(std::uint32_t word) {
        lowest_ = smaller(lowest_, word);
        highest_ = isInHalves ? __vmaxu2(highest_, word) : max(highest_, word);
        nearest_ = smaller(nearest_, word ^ (isInHalves ? 0xD800D800 : 0xD800));
    }
    [[nodiscard]] __device__ bool areIn(const ElementRange& lower, const ElementRange& upper) const {
        if constexpr (isInHalves) {
            return lower.has(lowest_ & 0xFFFF) && lower.has(highest_ & 0xFFFF) && upper.has(lowest_ >> 16) &&
                   upper.has(highest_ >> 16);
        }
        return lower.has(lowest_) && lower.has(highest_);
    }
    [[nodiscard]] __device__ bool hasSurrogates() const {
        return isInHalves ? min(nearest_ & 0xFFFF, nearest_ >> 16) < 0x800 : nearest_ < 0x800;
    }

  private:
    [[nodiscard]] __device__ static std::uint32_t smaller(std::uint32_t a, std::uint32_t b) {
        return isInHalves ? __vminu2(a, b) : min(a, b);
    }

    std::uint32_t lowest_ = ~0u;
    std::uint32_t highest_ = 0;
    std::uint32_t nearest_ = ~0u;  // the smallest element ^ 0xD800, less than 0x800 for surrogates
};

/// The number of bytes that each element of a part takes, 1 to 4, or 0 if they differ. In UTF-16, 4 stands for pairs of
/// surrogates. If `isCut`, the first pair begins before the part, and the last one ends behind it.
struct UniformPart {
    int length;
    bool isCut;
};

/// Called by a warp, for its part.
template <typename From, typename Text>
[[nodiscard]] __device__ UniformPart findUniform(const Text& text) {
    // A sample decides for most text. 4 comes before 3, because surrogates are also among the elements of three bytes.
    using Element = Native<From>;
    const std::uint32_t sample = elementAt<From>(text, Warp::lane() * static_cast<int>(sizeof(From)));
    const auto areAll = [&](int length) {
        return __all_sync(Warp::allLanes, elementsOf<Element>(length).has(sample)) != 0;
    };
    const int length = areAll(1) ? 1 : areAll(2) ? 2 : areAll(4) ? 4 : areAll(3) ? 3 : 0;
    if (length == 0 || __all_sync(Warp::allLanes, text.isWhole()) == 0) {
        return {0, false};
    }
    CommonElements<Element> common;
#pragma unroll
    for (int at = 0; at < Text::bytes; at += Warp::lanes * vectorBytes<From>) {
        for (const std::uint32_t word : vectorAt<From>(text, at + Warp::lane() * vectorBytes<From>).items) {
            common.add(word);
        }
    }
    const auto areIn = [&](const ElementRange& lower, const ElementRange& upper) {
        return __all_sync(Warp::allLanes, common.areIn(lower, upper)) != 0;
    };
    if (isUtf16<From> && length == 4) {
        constexpr ElementRange first{0xD800, 0x400};
        constexpr ElementRange second{0xDC00, 0x400};
        const bool isCut = areIn(second, first) && first.has(elementAt<From>(text, -2)) &&
                           second.has(elementAt<From>(text, Text::bytes));
        return {isCut || areIn(first, second) ? 4 : 0, isCut};
    }
    const ElementRange all = elementsOf<Element>(length);
    const bool isUniform = areIn(all, all) && __all_sync(Warp::allLanes, !common.hasSurrogates());
    return {isUniform ? length : 0, false};
}

/// The number of bytes that a uniform part takes in UTF-8.
template <typename From, typename Text>
[[nodiscard]] __device__ int bytesOf(const UniformPart& part) {
    return Text::bytes / static_cast<int>(sizeof(From)) * bytesEach<Native<From>>(part.length);
}

/// Encodes a uniform part to `packed`, aligned to 16 bytes, by its warp. The text may begin anywhere behind `packed`,
/// if no byte of the output lies behind the element from which it comes.
template <typename From, int length, typename Text>
__device__ void encodeUniform(const Text& text, bool isCut, std::uint8_t* packed) {
    using Vector = UniformVector<Native<From>, length>;
    constexpr int width = vectorBytes<From>;
#pragma unroll 1
    for (int vector = Warp::lane(); vector < Text::bytes / width; vector += Warp::lanes) {
        const auto in = vectorAt<From>(text, vector * width);
        auto out = Vector(in).encoded();
        if (Vector::isOfPairs && isCut) {
            // Encode all pairs to which the vector's elements belong, and take the halves that are theirs.
            const std::uint32_t before = wordAt<From>(text, vector * width - wordBytes<From>);
            const std::uint32_t behind = wordAt<From>(text, vector * width + width);
            const auto pairs = Vector({__funnelshift_r(before, in[0], 16), __funnelshift_r(in[0], in[1], 16),
                                       __funnelshift_r(in[1], in[2], 16), __funnelshift_r(in[2], in[3], 16)})
                                   .encoded();
            const std::uint32_t last = Vector({__funnelshift_r(in[3], behind, 16), 0, 0, 0}).encoded()[0];
#pragma unroll
            for (int i = 0; i < Vector::words; ++i) {
                out[i] = __funnelshift_r(pairs[i], i + 1 < Vector::words ? pairs[i + 1] : last, 16);
            }
        }
        __syncwarp();
        auto* const to = reinterpret_cast<std::uint32_t*>(packed) + vector * Vector::words;
        if constexpr (Vector::words == 4) {
            *reinterpret_cast<uint4*>(to) = {out[0], out[1], out[2], out[3]};
        } else if constexpr (Vector::words % 2 == 0) {
#pragma unroll
            for (int i = 0; i < Vector::words; i += 2) {
                *reinterpret_cast<uint2*>(to + i) = {out[i], out[i + 1]};
            }
        } else {
#pragma unroll
            for (int i = 0; i < Vector::words; ++i) {
                to[i] = out[i];
            }
        }
    }
}

/// The same for any length.
template <typename From, typename Text>
__device__ void encodeUniform(const Text& text, const UniformPart& part, std::uint8_t* packed) {
    switch (part.length) {
        case 1:
            return encodeUniform<From, 1>(text, false, packed);
        case 2:
            return encodeUniform<From, 2>(text, false, packed);
        case 3:
            return encodeUniform<From, 3>(text, false, packed);
        default:
            return encodeUniform<From, 4>(text, part.isCut, packed);
    }
}

}  // namespace StreamCompaction::Utf8
