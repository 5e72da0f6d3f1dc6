#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stream_compaction/primitives/aligned_run.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/warp.cuh"

/// Copies runs of elements from shared to global memory, by a block or a warp.
///
/// A run may begin and end at any element. Global memory is written in aligned vectors of 16 bytes, each cut out of two
/// vectors of shared memory. The vectors at the ends may be shared with other runs, so the ends are written in smaller
/// pieces:
///
///     shared     |  first vector  |  second vector |  third vector  |
///                      run begins ^^^^^^^^^^^^^^^^^^^^^^^^^
///     global           |  ends   |     one store   |  ends |
namespace StreamCompaction {

/// The 16 bytes from byte `shift` on of two consecutive vectors; shift < 16.
[[nodiscard]] __device__ inline uint4 shiftVector(const uint4& low, const uint4& high, int shift) {
    uint4 a = low;
    uint4 b = high;
    if ((shift & 8) != 0) {
        a = {a.z, a.w, b.x, b.y};
        b = {b.z, b.w, 0, 0};
    }
    if ((shift & 4) != 0) {
        a = {a.y, a.z, a.w, b.x};
        b.x = b.y;
    }
    const int bits = (shift & 3) * 8;
    return {__funnelshift_r(a.x, a.y, bits), __funnelshift_r(a.y, a.z, bits), __funnelshift_r(a.z, a.w, bits),
            __funnelshift_r(a.w, b.x, bits)};
}

/// Copies a run of `count` elements, by all threads of the block. `shared` is aligned to 16 bytes. The run begins at
/// its element `first`.
template <typename T>
__device__ void copyRun(T* to, const std::byte* shared, unsigned first, unsigned count) {
    using Unit = AlignedWord<T>;
    constexpr int width = sizeof(uint4);
    constexpr int line = 128;  // counted from its begin, a warp's vectors are whole lines
    const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % line);  // bytes before the run
    const int end = lead + static_cast<int>(count * sizeof(T));
    const int from = static_cast<int>(first * sizeof(T)) - lead;
    std::byte* const out = reinterpret_cast<std::byte*>(to) - lead;

    for (int at = static_cast<int>(threadIdx.x) * width; at < end; at += static_cast<int>(blockDim.x) * width) {
        if (at >= lead && at + width <= end) {
            const int shift = from & (width - 1);
            const auto* source = reinterpret_cast<const uint4*>(shared + (from + at - shift));
            *reinterpret_cast<uint4*>(out + at) = shift == 0 ? source[0] : shiftVector(source[0], source[1], shift);
        } else if (at + width > lead) {
            const int last = min(at + width, end);
            for (int i = max(at, lead); i < last; i += static_cast<int>(sizeof(Unit))) {
                *reinterpret_cast<Unit*>(out + i) = *reinterpret_cast<const Unit*>(shared + (from + i));
            }
        }
    }
}

/// The vectors of 16 bytes in global memory that belong to one run alone: `count` vectors, after `head` elements.
struct WholeVectors {
    int head;
    int count;
};

/// Stores the ends of a run, whose vectors may be shared with other runs, by a warp. Returns the vectors between them.
template <typename To, typename From>
__device__ WholeVectors storeEndsByWarp(To* to, const From* shared, int count) {
    constexpr int width = sizeof(uint4) / sizeof(To);
    const int begin = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % sizeof(uint4));
    const auto run = piecesInside(begin, begin + count * static_cast<int>(sizeof(To)));
    const int head = (run.bulkBegin - begin) / static_cast<int>(sizeof(To));
    const int vectors = run.bulkBytes() / run.width;
    const int lane = Warp::lane();
    const int i = lane < width ? lane : head + vectors * width + lane - width;
    if (i < (lane < width ? head : count)) {
        to[i] = static_cast<To>(shared[i]);
    }
    return {head, vectors};
}

/// Copies a run of bytes by a warp. The run begins at `shared`, which is aligned to 16 bytes. So all vectors have the
/// same shift, and the words to combine are known at compile time.
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
            constexpr int k = decltype(firstWord)::value;
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

/// The same for elements of 16 bits, which are widened to 32. `inMemory(word)` is a widened element as it is stored.
template <typename To, typename InMemory>
__device__ void widenRunByWarp(To* to, const char16_t* shared, int count, const InMemory& inMemory) {
    static_assert(sizeof(To) == sizeof(char32_t));
    const WholeVectors whole = storeEndsByWarp(to, shared, count);
    const auto* const from = reinterpret_cast<const std::uint32_t*>(shared) + whole.head / 2;
    auto* const out = reinterpret_cast<uint4*>(to + whole.head);
    const int bits = whole.head % 2 * 16;
#pragma unroll 2
    for (int v = Warp::lane(); v < whole.count; v += Warp::lanes) {
        const std::uint32_t front = __funnelshift_r(from[2 * v], from[2 * v + 1], bits);
        const std::uint32_t back = __funnelshift_r(from[2 * v + 1], from[2 * v + 2], bits);
        __stcg(out + v,
               {inMemory(front & 0xFFFF), inMemory(front >> 16), inMemory(back & 0xFFFF), inMemory(back >> 16)});
    }
}

}  // namespace StreamCompaction
