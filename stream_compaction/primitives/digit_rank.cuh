#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/warp.cuh"

/// Ranks the keys of a tile by a digit, the central step of a radix sort.
namespace StreamCompaction {

inline constexpr int digitBits = 8;
inline constexpr int digitValues = 1 << digitBits;

/// The part of a key that one pass sorts by.
struct Digit {
    int shift;
    std::uint32_t mask;

    template <typename Bits>
    [[nodiscard]] __device__ std::uint32_t of(Bits key) const {
        return static_cast<std::uint32_t>(key >> shift) & mask;
    }
};

/// The digits that cover the bits [begin, end) of a key, lowest first. The last may be narrower.
struct DigitRange {
    int begin;
    int end;

    [[nodiscard]] __host__ __device__ constexpr int count() const { return (end - begin + digitBits - 1) / digitBits; }
    [[nodiscard]] __host__ __device__ constexpr Digit digit(int i) const {
        const int shift = begin + i * digitBits;
        const int bits = end - shift < digitBits ? end - shift : digitBits;
        return {shift, (1u << bits) - 1};
    }

    /// The digit of the highest `bits` bits.
    [[nodiscard]] __device__ Digit highest(int bits) const { return {end - bits, (1u << bits) - 1}; }
};

/// The lanes of the warp that hold the same digit as this one.
///
/// There is one ballot per bit. A lane whose bit is clear needs the inverse of the ballot. Votes and logic share a
/// pipe, which becomes the bottleneck. Two measures take half of the work off that pipe. A multiply-add computes the
/// inverse as -b - 1, and one instruction combines three words. `allLanes` is ~0. The compiler must not know that,
/// because it would turn the multiplication back into logic.
[[nodiscard]] __device__ inline std::uint32_t lanesOfDigit(std::uint32_t digit, std::uint32_t allLanes) {
#if defined(__CUDA_ARCH__)
    std::uint32_t votes[digitBits];
#pragma unroll
    for (int bit = 0; bit < digitBits; ++bit) {
        asm("{\n\t"
            ".reg .pred isSet;\n\t"
            ".reg .b32 masked;\n\t"
            "and.b32 masked, %1, %2;\n\t"
            "setp.ne.u32 isSet, masked, 0;\n\t"
            "vote.sync.ballot.b32 %0, isSet, 0xffffffff;\n\t"
            "@!isSet mad.lo.s32 %0, %0, %3, %3;\n\t"
            "}"
            : "=&r"(votes[bit])
            : "r"(digit), "r"(1u << bit), "r"(allLanes));
    }
    const auto all = [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        asm("lop3.b32 %0, %0, %1, %2, 0x80;" : "+r"(a) : "r"(b), "r"(c));
        return a;
    };
    return all(all(votes[0], votes[1], votes[2]), all(votes[3], votes[4], votes[5]), votes[6]) & votes[7];
#else
    std::uint32_t peers = allLanes;
    for (int bit = 0; bit < digitBits; ++bit) {
        const bool isSet = (digit >> bit & 1) != 0;
        const std::uint32_t votes = __ballot_sync(Warp::allLanes, isSet);
        peers &= isSet ? votes : ~votes;
    }
    return peers;
#endif
}

/// Ranks the keys of a tile by a digit, stably. The rank of a key is the number of keys with a smaller digit plus the
/// number of earlier keys with the same digit. The order of the keys of a tile is (warp, call, lane).
///
/// Each warp counts its digits in a table of its own, by atomic additions in shared memory. The block scans the tables
/// in the order (digit, warp). In a second table, each entry is the rank of the warp's first key with that digit. Each
/// warp goes through its keys a second time: lanes with the same digit find each other by ballots, and the last of them
/// advances the entry. Counting first costs one more access to shared memory per key than ranking within the warp
/// first. In return no rank waits in a register, and other tiles learn the totals of this tile early.
///
/// Per 32 keys, a warp needs about 25 instructions of the integer pipe and three accesses to shared memory. With random
/// digits, bank conflicts turn each access into about three. With equal digits there are no conflicts. Two ranks of 16
/// bits share a word, so that fewer lanes meet in a bank. Ranks of 32 bits take less time if a block is alone.
///
/// Called by all threads of a block, in this order: construct, `count` each key, `total`, `begin`, `next` for each key.
/// The keys come in the same order both times.
template <int threads, typename Rank = std::uint32_t>
class DigitRank {
  public:
    static_assert(threads >= digitValues, "one thread per digit value");
    static constexpr int warps = threads / Warp::lanes;
    static constexpr int digitWarps = digitValues / Warp::lanes;

    struct Storage {
        Rank ranks[warps][digitValues];
        std::uint32_t totals[digitWarps];
    };
    /// Used until `begin` returns. Then the memory may serve for something else. Ranks of 32 bits may use it.
    using Counts = std::uint32_t[warps][digitValues];

    __device__ DigitRank(Storage& storage, Counts& counts)
        : storage_(storage),
          countsOfAll_(counts),
          counts_(counts[Warp::index()]),
          ranks_(storage.ranks[Warp::index()]),
          allLanes_(__ballot_sync(Warp::allLanes, true)),
          lanesBefore_((1u << Warp::lane()) - 1),
          lanesAfter_(~1u << Warp::lane()) {
#pragma unroll
        for (int digit = 0; digit < digitValues; digit += Warp::lanes) {
            counts_[digit + Warp::lane()] = 0;
        }
        __syncwarp();
    }

    __device__ void count(std::uint32_t digit) { atomicAdd(&counts_[digit], 1u); }

    /// The number of keys of the tile with the digit threadIdx.x. Contains a barrier.
    [[nodiscard]] __device__ std::uint32_t total() const {
        __syncthreads();
        std::uint32_t sum = 0;
        if (threadIdx.x < digitValues) {
#pragma unroll
            for (int warp = 0; warp < warps; ++warp) {
                sum += countsOfAll_[warp][threadIdx.x];
            }
        }
        return sum;
    }

    /// The rank of the first key with the digit threadIdx.x, given `total()`. Contains two barriers. Only the first
    /// `digitWarps` warps scan, one thread per digit.
    __device__ std::uint32_t begin(std::uint32_t total) {
        const bool hasDigit = threadIdx.x < digitValues;
        std::uint32_t upTo = 0;
        if (hasDigit) {
            upTo = Warp::inclusiveScan(total, Sum{});
            if (Warp::lane() == Warp::lanes - 1) {
                storage_.totals[Warp::index()] = upTo;
            }
        }
        __syncthreads();
        std::uint32_t first = 0;
        if (hasDigit) {
            first = upTo - total;
#pragma unroll
            for (int warp = 0; warp < digitWarps; ++warp) {
                first += warp < Warp::index() ? storage_.totals[warp] : 0;
            }
            std::uint32_t rank = first;
            constexpr int batch = 8;  // the compiler must assume that a rank replaces the next count
#pragma unroll
            for (int from = 0; from < warps; from += batch) {
                std::uint32_t counts[batch];
#pragma unroll
                for (int i = 0; i < batch && from + i < warps; ++i) {
                    counts[i] = countsOfAll_[from + i][threadIdx.x];
                }
#pragma unroll
                for (int i = 0; i < batch && from + i < warps; ++i) {
                    storage_.ranks[from + i][threadIdx.x] = static_cast<Rank>(rank);
                    rank += counts[i];
                }
            }
        }
        __syncthreads();
        return first;
    }

    /// The rank of this lane's next key.
    [[nodiscard]] __device__ std::uint32_t next(std::uint32_t digit) {
        const std::uint32_t peers = lanesOfDigit(digit, allLanes_);
        const std::uint32_t rank = ranks_[digit] + __popc(peers & lanesBefore_);
        __syncwarp();
        if ((peers & lanesAfter_) == 0) {
            ranks_[digit] = static_cast<Rank>(rank + 1);
        }
        __syncwarp();
        return rank;
    }

  private:
    Storage& storage_;
    Counts& countsOfAll_;
    std::uint32_t* counts_;  // of this warp
    Rank* ranks_;            // of this warp
    std::uint32_t allLanes_;
    std::uint32_t lanesBefore_;
    std::uint32_t lanesAfter_;
};

}  // namespace StreamCompaction
