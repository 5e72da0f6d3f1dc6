#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/target.cuh"

/// Shuffles, reductions and scans by the 32 lanes of a warp, without shared memory or a barrier. All lanes must call.
/// Operators need not commute, because operands keep their order. Values have any size; a shuffle moves four bytes.
namespace StreamCompaction::Warp {

inline constexpr int lanes = 32;
inline constexpr std::uint32_t allLanes = 0xffffffffu;

__device__ inline int lane() { return static_cast<int>(threadIdx.x % lanes); }

/// The index of the warp in its block.
__device__ inline int index() { return static_cast<int>(threadIdx.x / lanes); }

/// Applies a function of 32-bit words, such as a shuffle, to each word of a value of any type. Numbers of 8 bytes are
/// taken apart by shifts, because in large kernels the compiler keeps an array of two words in local memory.
template <typename T, typename WordFunction>
__device__ T mapWords(const T& x, WordFunction function) {
    T result;
    if constexpr (std::is_arithmetic_v<T> && sizeof(T) == sizeof(std::uint64_t)) {
        std::uint64_t words;
        memcpy(&words, &x, sizeof(T));
        const std::uint32_t low = function(static_cast<std::uint32_t>(words));
        const std::uint32_t high = function(static_cast<std::uint32_t>(words >> 32));
        words = std::uint64_t{high} << 32 | low;
        memcpy(&result, &words, sizeof(T));
    } else {
        constexpr int count = (sizeof(T) + 3) / 4;
        std::uint32_t words[count] = {};
        memcpy(words, &x, sizeof(T));
#pragma unroll
        for (std::uint32_t& word : words) {
            word = function(word);
        }
        memcpy(&result, words, sizeof(T));
    }
    return result;
}

/// The value of lane `fromLane`, in every lane.
template <typename T>
__device__ T broadcast(const T& x, int fromLane) {
    return mapWords(x, [=](std::uint32_t word) { return __shfl_sync(allLanes, word, fromLane); });
}

/// The value of the lane `distance` places before this one. The first `distance` lanes keep their own.
template <typename T>
__device__ T shiftUp(const T& x, int distance) {
    return mapWords(x, [=](std::uint32_t word) { return __shfl_up_sync(allLanes, word, distance); });
}

/// The value of the lane before this one; lane 0 gets that of the last lane.
template <typename T>
__device__ T rotateUp(const T& x) {
    return broadcast(x, (lane() + lanes - 1) % lanes);
}

/// The sum over each `group` of neighbouring lanes, in every lane: a butterfly of shuffles.
template <int group, typename T, typename Op>
__device__ T reduceByShuffles(T x, const Op& op) {
#pragma unroll
    for (int distance = 1; distance < group; distance *= 2) {
        const T other = mapWords(x, [=](std::uint32_t word) { return __shfl_xor_sync(allLanes, word, distance); });
        x = (lane() & distance) != 0 ? op(other, x) : op(x, other);
    }
    return x;
}

/// The sum of words over all lanes, in every lane. A single instruction from compute capability 8.0 on.
__device__ inline std::uint32_t addUp(std::uint32_t x) {
#if defined(STREAM_COMPACTION_SIMULATED) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
    return isOnCapability(80) ? __reduce_add_sync(allLanes, x) : reduceByShuffles<lanes>(x, Sum{});
#else
    return reduceByShuffles<lanes>(x, Sum{});
#endif
}

/// The sum over all lanes, or over each `group` of neighbouring lanes, in every lane.
template <int group = lanes, typename T, typename Op>
__device__ T reduce(T x, const Op& op) {
    if constexpr (group == lanes && std::is_same_v<Op, Sum> && std::is_integral_v<T> && sizeof(T) <= 4) {
        return static_cast<T>(addUp(static_cast<std::uint32_t>(x)));
    } else {
        return reduceByShuffles<group>(x, op);
    }
}

/// One step of a scan of words by Sum, in two instructions: the shuffle itself says whether there is a lane `distance`
/// places before.
__device__ inline std::uint32_t addFromBefore(std::uint32_t x, int distance) {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "{\n\t"
        ".reg .pred isThere;\n\t"
        ".reg .b32 before;\n\t"
        "shfl.sync.up.b32 before|isThere, %0, %1, 0, 0xffffffff;\n\t"
        "@isThere add.u32 %0, before, %0;\n\t"
        "}"
        : "+r"(x)
        : "r"(distance));
#else
    const std::uint32_t before = shiftUp(x, distance);
    x += lane() >= distance ? before : 0;
#endif
    return x;
}

/// The sum of the lanes up to and including this one (Hillis and Steele, log2 `count` steps). Valid in the first
/// `count` lanes.
template <int count = lanes, typename T, typename Op>
__device__ T inclusiveScan(T x, const Op& op) {
#pragma unroll
    for (int distance = 1; distance < count; distance *= 2) {
        if constexpr (std::is_same_v<Op, Sum> && std::is_integral_v<T> && sizeof(T) == sizeof(std::uint32_t)) {
            x = static_cast<T>(addFromBefore(static_cast<std::uint32_t>(x), distance));
        } else {
            const T before = shiftUp(x, distance);
            if (lane() >= distance) {
                x = op(before, x);
            }
        }
    }
    return x;
}

}  // namespace StreamCompaction::Warp
