#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/look_back.cuh"

namespace StreamCompaction {

/// What a part of an array leaves to the parts behind it.
template <typename T, typename Heads>
struct OpenRun {
    Heads heads;  ///< the number of runs that begin in the part; as a bool, whether any does
    T sum;        ///< of the values since the last of these beginnings, or of all values if there is none
};

/// Joins two neighbouring parts. A beginning in the second part ends the run that the first part has left open.
template <typename Op>
struct JoinParts {
    Op op;

    template <typename Part>
    [[nodiscard]] __device__ Part identity() const {
        return {0, op.template identity<decltype(Part::sum)>()};
    }
    template <typename T, typename Heads>
    [[nodiscard]] __device__ OpenRun<T, Heads> operator()(const OpenRun<T, Heads>& a,
                                                          const OpenRun<T, Heads>& b) const {
        return {static_cast<Heads>(a.heads + b.heads), b.heads == 0 ? op(a.sum, b.sum) : b.sum};
    }
};

/// The most beginnings that a number of 4 bytes may count, because a status has 30 bits for it. One of 8 bytes has 60.
inline constexpr std::size_t mostNarrowHeads = (std::size_t{1} << 30) - 1;

}  // namespace StreamCompaction

namespace StreamCompaction::LookBack {

/// The sum is stored as it would be alone. The number of beginnings takes the 30 bits that this leaves free in a word:
/// in the first word and, if it is wide, in the second. So the sums of ints take one word per tile, and those of 8
/// bytes take two.
template <typename T, typename Heads>
struct Coding<OpenRun<T, Heads>> {
    using Run = OpenRun<T, Heads>;

    static constexpr int freeBits = 30;
    static constexpr int headWords = sizeof(Heads) <= 4 ? 1 : 2;
    static constexpr int sumWords = Coding<T>::words;
    static constexpr int words = std::max(headWords, sumWords);

    __host__ __device__ static void toPayloads(const Run& run, std::uint64_t (&payloads)[words]) {
        std::uint64_t ofSum[sumWords];
        Coding<T>::toPayloads(run.sum, ofSum);
        for (int i = 0; i < words; ++i) {
            payloads[i] = i < sumWords ? ofSum[i] : 0;
            if (i < headWords) {
                payloads[i] |= (static_cast<std::uint64_t>(run.heads) >> freeBits * i & mask) << 32;
            }
        }
    }
    __host__ __device__ static Run fromPayloads(const std::uint64_t (&payloads)[words]) {
        std::uint64_t ofSum[sumWords];
        std::uint64_t heads = 0;
        for (int i = 0; i < words; ++i) {
            if (i < sumWords) {
                ofSum[i] = payloads[i] & 0xffffffffu;
            }
            if (i < headWords) {
                heads |= payloads[i] >> 32 << freeBits * i;
            }
        }
        return {static_cast<Heads>(heads), Coding<T>::fromPayloads(ofSum)};
    }

  private:
    static constexpr std::uint64_t mask = (std::uint64_t{1} << freeBits) - 1;
};

}  // namespace StreamCompaction::LookBack
