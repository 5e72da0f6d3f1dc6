#pragma once

#include <type_traits>

#include "stream_compaction/primitives/run_copy.cuh"
#include "stream_compaction/utf8/lead_rule.h"
#include "stream_compaction/utf8/report.cuh"
#include "stream_compaction/utf8/text_tile.cuh"
#include "stream_compaction/utf8/uniform.h"

/// Decodes tiles whose sequences all have the same length. The number of elements of such a tile is known before it is
/// decoded, so later tiles wait as little as possible. No list of runs is needed, because the position of each element
/// is known, too.
namespace StreamCompaction::Utf8 {

/// The part of a tile that one thread checks and converts: consecutive bytes, which hold a whole number of sequences of
/// any length.
template <typename Shape>
struct DecodePart {
    static constexpr int bytes = Shape::bytes / Shape::threads;
    static constexpr int words = bytes / 4;
    static_assert(bytes == 96);

    [[nodiscard]] __device__ static int begin() { return static_cast<int>(threadIdx.x) * bytes; }
};

/// Whether a tile consists of sequences of one length.
template <typename Shape>
class UniformTile {
    using Tile = typename Shape::Tile;
    using Part = DecodePart<Shape>;

  public:
    /// Called by all threads.
    __device__ explicit UniformTile(const Tile& tile) {
        const std::uint32_t begin = tile.template at<std::uint32_t>(0);
        const std::uint32_t notContinuations = (begin & 0xC0C0C0C0) ^ 0x80808080;
        first_ = notContinuations == 0 ? 0 : (__ffs(static_cast<int>(notContinuations)) - 1) >> 3;

        // A sample of 32 words decides for most text. All warps take the same sample, from different banks.
        constexpr int allLengths = 12;
        constexpr int step = ((Shape::bytes / Warp::lanes / allLengths - 1) | 1) * allLengths;
        const std::uint32_t sample = windowAt(tile, first_ + Warp::lane() * step);
        const auto areAll = [&](const WordMarks& marks) {
            return __all_sync(Warp::allLanes, marks.areIn(sample, sample)) != 0;
        };
        length_ = areAll(sequenceMarks<2>(0))   ? 2
                  : areAll(sequenceMarks<3>(0)) ? 3
                  : areAll(sequenceMarks<4>(0)) ? 4
                                                : 0;
        if (length_ == 0) {
            return;
        }
        const bool isPart = length_ == 2 ? isPartOf<2>(tile) : length_ == 3 ? isPartOf<3>(tile) : isPartOf<4>(tile);
        // The bytes before the first sequence must not belong to a longer one, whose second surrogate could be this
        // tile's.
        const std::uint32_t inside = insideOf(tile.template at<std::uint32_t>(-4), begin);
        const bool isUniform = isPart && tile.isWhole() && first_ < length_ && __popc(inside) == first_;
        behind_ = tile.template at<std::uint32_t>(Part::begin() + Part::bytes);
        if (__syncthreads_and(isUniform) == 0) {
            length_ = 0;
        }
    }

    /// 2 to 4, or 0 for a tile of any other text.
    [[nodiscard]] __device__ int length() const { return length_; }
    /// The position of the first sequence, 0 to 3.
    [[nodiscard]] __device__ int first() const { return first_; }
    /// The word behind this thread's part, as it was before the conversion.
    [[nodiscard]] __device__ std::uint32_t behind() const { return behind_; }

  private:
    /// Whether this thread's part, from its first sequence on, consists of sequences of `length` bytes.
    template <int length>
    [[nodiscard]] __device__ bool isPartOf(const Tile& tile) const {
        constexpr int halfBytes = Part::bytes / 2;
        bool isUniform = true;
#pragma unroll 1
        for (int i = 0; i < 2; ++i) {
            // Every other four lanes begin with the second half, so that neighbours read different banks.
            const int begin = Part::begin() + ((i ^ (threadIdx.x >> 2)) & 1) * halfBytes;
            alignas(uint4) std::uint32_t words[13];
#pragma unroll
            for (int k = 0; k < 3; ++k) {
                *reinterpret_cast<uint4*>(words + 4 * k) = tile.template at<uint4>(begin + 16 * k);
            }
            words[12] = tile.template at<std::uint32_t>(begin + halfBytes);
            Array<std::uint32_t, 12> text;
#pragma unroll
            for (int k = 0; k < 12; ++k) {
                text[k] = __funnelshift_r(words[k], words[k + 1], first_ * 8);
            }
            isUniform &= areSequences<length>(text);
        }
        return isUniform;
    }

    int length_;
    int first_;
    std::uint32_t behind_ = 0;
};

/// Decodes a uniform tile, by all threads. They convert it in place in shared memory. Code points of two or three bytes
/// take 16 bits there, so that the result fits. After the wait for earlier tiles, only a copy is left to do.
template <typename To, Errors errors, int length, typename Shape, typename Chain>
__device__ void decodeUniform(const typename Shape::Tile& tile, const UniformTile<Shape>& uniform, To* odata,
                              Chain chain) {
    using Part = DecodePart<Shape>;
    using Converted = std::conditional_t<length == 4 || isUtf16<To>, To, char16_t>;
    constexpr bool isWidened = sizeof(Converted) < sizeof(To);
    using Run = UniformRun<Converted, length>;
    constexpr int runs = Part::words / Run::words;
    constexpr int elements = runs * elementsPerVector<Converted> * Warp::lanes;  // per warp
    constexpr int emitted = Shape::warps * elements;
    if (Warp::index() == 0) {
        chain.publish(emitted);
    }

    alignas(uint4) Array<std::uint32_t, Part::words + 1> words;
#pragma unroll
    for (int i = 0; i < Part::words; i += 4) {
        *reinterpret_cast<uint4*>(words.items + i) = tile.template at<uint4>(Part::begin() + 4 * i);
    }
    words[Part::words] = uniform.behind();
    __syncwarp();
    auto* const converted = tile.template pointerTo<uint4>(Warp::index() * Warp::lanes * Part::bytes);
#pragma unroll
    for (int run = 0; run < runs; ++run) {
        Array<std::uint32_t, Run::words> text;
#pragma unroll
        for (int i = 0; i < Run::words; ++i) {
            const int word = run * Run::words + i;
            text[i] = __funnelshift_r(words[word], words[word + 1], uniform.first() * 8);
        }
        const auto out = Run(text).converted();
        converted[Warp::lane() * runs + run] = {nativeOrder<Converted>(out[0]), nativeOrder<Converted>(out[1]),
                                                nativeOrder<Converted>(out[2]), nativeOrder<Converted>(out[3])};
    }

    To* out = odata + chain.before(emitted);
    if (tile.isLast() && threadIdx.x == 0) {
        reportEnd<errors>(chain.result, out - odata + emitted);
    }
    // The second surrogate of a pair comes from the second byte. If that is the tile's first byte, the surrogate is
    // this tile's, too. The second surrogate of the last pair is then the next tile's, and both tiles write the same
    // value.
    if (Run::isOfPairs && uniform.first() == 3) {
        if (threadIdx.x == 0) {
            *out = elementOf<To>(words[0], leadRule<To>(leadHalf(words[0])));
        }
        ++out;
    }
    out += Warp::index() * elements;
    if constexpr (isWidened) {
        widenRunByWarp(out, reinterpret_cast<const char16_t*>(converted), elements,
                       [](std::uint32_t word) { return nativeOrder<To>(word); });
    } else {
        copyRunByWarp(reinterpret_cast<std::uint8_t*>(out), reinterpret_cast<const std::uint8_t*>(converted),
                      elements * static_cast<int>(sizeof(To)));
    }
}

}  // namespace StreamCompaction::Utf8
