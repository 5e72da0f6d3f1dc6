#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/key_coding.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/runtime/early_launch.cuh"
#include "stream_compaction/runtime/element_count.cuh"

/// Counting sort of short keys alone (Seward, 1954; Cormen et al., "Introduction to Algorithms", ch. 8.2). A key is its
/// code, so nothing has to be moved: each code is written as often as it was counted.
namespace StreamCompaction::Radix {

/// Keys of which every code has a counter of its own.
template <typename Bits>
inline constexpr bool isCountable = sizeof(Bits) <= 2;

template <typename Bits>
requires isCountable<Bits>
inline constexpr std::uint32_t codes = std::uint32_t{1} << 8 * sizeof(Bits);

/// Threads of the block that turns counts into places.
template <typename Bits>
inline constexpr int beginThreads = std::min<int>(codes<Bits>, 1024);

/// The bin of a key.
template <typename Bits>
struct CodeOf {
    KeyCoding<Bits> coding;

    [[nodiscard]] __device__ std::uint32_t operator()(Bits key) const { return coding.encode(key); }
};

/// Turns the counts of all codes into the places where their runs begin, and adds the end of the last one. One block.
/// Each warp owns consecutive rows of 32 codes.
///
/// Work O(codes), steps O(codes / threads). Reads 16 bytes and writes 8 per code, in cache.
template <typename Bits>
__global__ void __launch_bounds__(beginThreads<Bits>) kernBeginRuns(std::uint64_t* runs) {
    constexpr int warps = beginThreads<Bits> / Warp::lanes;
    constexpr int rows = codes<Bits> / beginThreads<Bits>;
    __shared__ std::uint64_t slots[warps];
    waitForEarlierKernels();
    std::uint64_t* const mine = runs + Warp::index() * rows * Warp::lanes + Warp::lane();
    std::uint64_t sum = 0;
#pragma unroll 8
    for (int row = 0; row < rows; ++row) {
        sum += mine[row * Warp::lanes];
    }
    const std::uint64_t ofWarp = Warp::reduce(sum, Sum{});
    const std::uint64_t before = Block::exclusiveScan<warps>(Warp::lane() == 0 ? ofWarp : 0, slots, Sum{});
    std::uint64_t begin = Warp::broadcast(before, 0);
#pragma unroll 8
    for (int row = 0; row < rows; ++row) {
        const std::uint64_t count = mine[row * Warp::lanes];
        const std::uint64_t upTo = Warp::inclusiveScan(count, Sum{});
        mine[row * Warp::lanes] = begin + upTo - count;
        begin += Warp::broadcast(upTo, Warp::lanes - 1);
    }
    if (threadIdx.x == beginThreads<Bits> - 1) {
        runs[codes<Bits>] = begin;
    }
}

/// The code whose run contains a place of the output.
template <typename Bits>
[[nodiscard]] __device__ std::uint32_t codeAt(std::size_t place, const std::uint64_t* runs) {
    std::uint32_t code = 0;
#pragma unroll
    for (std::uint32_t step = codes<Bits> / 2; step > 0; step /= 2) {
        code += runs[code + step] <= place ? step : 0;
    }
    return code;
}

/// Writes the runs of all codes, as keys. Each thread looks for the code at the beginning of its vector, and again
/// where a run ends.
///
/// Work O(n), steps O(n / threads). Writes each key once. DRAM is the limit; the places of the runs are in cache.
template <typename Shape, typename Bits, typename Count>
__global__ void __launch_bounds__(Shape::threads)
    kernWriteRuns(Count number, Bits* out, const std::uint64_t* runs, KeyCoding<Bits> coding) {
    constexpr int length = Shape::vectorLength;
    waitForEarlierKernels();
    const std::size_t n = numberOf(number);
    const std::size_t head = min(n, elementsBeforeVectors<length>(out));
    const std::size_t vectors = (n - head) / length;
    const std::size_t stride = std::size_t{gridDim.x} * Shape::threads;
    for (std::size_t i = Common::globalThreadIndex(); i < vectors; i += stride) {
        const std::size_t begin = head + i * length;
        std::uint32_t code = codeAt<Bits>(begin, runs);
        Vector<Bits, length> keys;
        if (begin + length <= runs[code + 1]) {
            const Bits key = coding.decode(static_cast<Bits>(code));
#pragma unroll
            for (Bits& each : keys.items) {
                each = key;
            }
        } else {
#pragma unroll
            for (int k = 0; k < length; ++k) {
                if (runs[code + 1] <= begin + k) {
                    code = codeAt<Bits>(begin + k, runs);
                }
                keys.items[k] = coding.decode(static_cast<Bits>(code));
            }
        }
        copyVector(reinterpret_cast<Vector<Bits, length>*>(out + begin), &keys);
    }
    for (std::size_t i = Common::globalThreadIndex(); i < n - vectors * length; i += stride) {
        const std::size_t place = i < head ? i : i + vectors * length;
        out[place] = coding.decode(static_cast<Bits>(codeAt<Bits>(place, runs)));
    }
}

}  // namespace StreamCompaction::Radix
