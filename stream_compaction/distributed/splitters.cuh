#pragma once

#include <bit>

#include "stream_compaction/distributed/call.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/digit_rank.cuh"
#include "stream_compaction/primitives/key_coding.cuh"
#include "stream_compaction/primitives/tile.cuh"

/// Where to cut keys that are spread over ranks, so that each rank gets its share of the sorted order, exactly.
///
/// Rank d gets the sorted keys from position `begin(d)` on. The splitter between two ranks is the key at that position.
/// All splitters are found at once, digit by digit from the highest: each rank counts the next digit of the keys that
/// begin like a splitter, the ranks exchange the counts, and each of them finds the next digit of each splitter. Equal
/// keys are cut by rank and index, so that the sort is stable and any input is divided evenly, also if all keys are
/// equal. (Radix select; for sorts by splitters see Blelloch et al., "A Comparison of Sorting Algorithms for the
/// Connection Machine CM-2", 1991.)
namespace StreamCompaction::Distributed {

inline constexpr int mostSplitters = mostRanks - 1;

/// Counters per rank in one exchange. They fit into the shared memory of every card.
inline constexpr int mostCounters = 8192;

/// The part of a key that a sort compares: some bits of the key's order-preserving form, or none.
template <typename Bits>
struct ComparedBits {
    KeyCoding<Bits> coding;
    int begin;
    int end;

    [[nodiscard]] __host__ __device__ int count() const { return end - begin; }
    [[nodiscard]] __device__ Bits of(Bits key) const { return ofCode(coding.encode(key)); }
    [[nodiscard]] __device__ Bits ofCode(Bits code) const {
        const auto mask = static_cast<Bits>((Bits{1} << count() / 2 << (count() + 1) / 2) - 1);  // no shift by all bits
        return static_cast<Bits>(code >> begin & mask);
    }
};

/// A digit of the compared bits.
struct SplitterDigit {
    int shift;
    int bits;

    template <typename Bits>
    [[nodiscard]] __device__ int of(Bits key) const {
        return static_cast<int>(key >> shift) & ((1 << bits) - 1);
    }
    /// The digits before this one. There may be none, and a shift by all bits is undefined.
    template <typename Bits>
    [[nodiscard]] __device__ Bits before(Bits key) const {
        return static_cast<Bits>(key >> shift >> bits);
    }
};

/// The digits in which splitters are found, highest first: as wide as the counters allow. The first has at least the
/// bits of a bucket, and more if that saves a digit. A digit of 8 bits is counted at the speed of a read.
struct SplitterDigits {
    int keyBits;
    int ranks;

    /// One rank has no splitters. Its only round tells how many keys it has.
    [[nodiscard]] int count() const {
        return ranks == 1 ? 1 : 1 + Common::divideRoundUp(keyBits - firstWidth(), width());
    }
    [[nodiscard]] SplitterDigit digit(int i) const {
        const int end = i == 0 ? keyBits : keyBits - firstWidth() - (i - 1) * width();
        const int bits = i == 0 ? firstWidth() : std::min(width(), end);
        return {end - bits, bits};
    }

  private:
    [[nodiscard]] int width() const {
        const int splitters = std::max(ranks - 1, 1);
        return std::min(12, static_cast<int>(std::bit_width(static_cast<unsigned>(mostCounters / splitters))) - 1);
    }
    [[nodiscard]] int firstWidth() const { return std::max(std::min(digitBits, keyBits), (keyBits - 1) % width() + 1); }
};

/// What a rank tells the others about one digit of the splitters.
struct DigitCounts {
    Header header;
    std::uint64_t n;     ///< the rank's number of keys
    std::uint64_t nOut;  ///< and that of its sorted keys
    std::uint64_t
        tables[mostCounters];  ///< one table of counts per group of splitters that agree in the earlier digits

    /// With padding, so that the headers of all ranks are aligned.
    [[nodiscard]] static constexpr std::size_t bytesFor(int tables, SplitterDigit digit) {
        const std::size_t bytes = offsetof(DigitCounts, tables) + (sizeof(std::uint64_t) << digit.bits) * tables;
        return Common::divideRoundUp(bytes, alignof(Header)) * alignof(Header);
    }
};

/// The counts of all ranks.
using AllCounts = ToldBy<DigitCounts>;

/// The keys of a rank that may be splitters once the first digit is known (buckets.cuh).
struct BorderKeys {
    const void* keys;
    std::size_t count;
    bool areEncoded;  ///< they are codes already
};

/// What a rank knows of the splitters. All ranks find the same. Zero at the beginning.
struct Splitters {
    std::uint64_t keys[mostSplitters];       ///< the digits so far; ascending
    std::uint64_t rests[mostSplitters];      ///< the splitter's position among the keys with these digits
    int tables[mostSplitters];               ///< the table that counts for the splitter
    std::uint64_t tableKeys[mostSplitters];  ///< the digits so far of each table's splitters
    int tableCount;

    /// Per rank and splitter, the number of keys before the splitter, and of those equal to it, in the digits so far.
    std::uint64_t below[mostRanks][mostSplitters];
    std::uint64_t equal[mostRanks][mostSplitters];
};

/// The value of a key's first digit, as its bin.
template <typename Bits>
struct FirstDigit {
    ComparedBits<Bits> compared;
    SplitterDigit digit;

    [[nodiscard]] __device__ std::uint32_t operator()(Bits key) const {
        return static_cast<std::uint32_t>(digit.of(compared.of(key)));
    }
};

/// Tells the numbers of a rank's keys. One thread.
template <typename = void>
__global__ void kernTellSizes(DigitCounts* mine, std::size_t n, std::size_t nOut) {
    mine->n = n;
    mine->nOut = nOut;
}

/// Counts a digit after the first, of the keys on the border that begin like a splitter.
///
/// Work O(keys tables). Reads 4 bytes per 4-byte key. With one table DRAM bandwidth is the limit.
template <typename Shape, typename Bits>
__global__ void __launch_bounds__(Shape::threads)
    kernCountSplitterDigit(DigitCounts* mine, const Splitters* splitters, const BorderKeys* border,
                           ComparedBits<Bits> compared, SplitterDigit digit) {
    __shared__ std::uint32_t counts[mostCounters];
    __shared__ Bits tableKeys[mostSplitters];
    const int tables = splitters->tableCount;
    const int counters = tables << digit.bits;
    if (border->areEncoded) {
        compared.coding = {};
    }

    // Clear.
    for (int i = static_cast<int>(threadIdx.x); i < counters; i += Shape::threads) {
        counts[i] = 0;
    }
    if (static_cast<int>(threadIdx.x) < tables) {
        tableKeys[threadIdx.x] = static_cast<Bits>(splitters->tableKeys[threadIdx.x]);
    }
    __syncthreads();

    // Count. Most keys are compared with the first table alone.
    const Bits firstTableKey = tableKeys[0];
    forEachElement<Shape>(static_cast<const Bits*>(border->keys), border->count, [&](Bits key) {
        const Bits bits = compared.of(key);
        const Bits before = digit.before(bits);
        int table = 0;
        if (before != firstTableKey) {
            do {
                ++table;
            } while (table < tables && before != tableKeys[table]);
            if (table >= tables) {
                return;
            }
        }
        atomicAdd(&counts[table << digit.bits | digit.of(bits)], 1u);
    });
    __syncthreads();

    // Add to the counts of all blocks.
    for (int i = static_cast<int>(threadIdx.x); i < counters; i += Shape::threads) {
        if (counts[i] > 0) {
            atomicAdd(reinterpret_cast<unsigned long long*>(&mine->tables[i]), std::uint64_t{counts[i]});
        }
    }
}

inline constexpr int splitterThreads = 1024;

/// Finds the next digit of each splitter from the counts of all ranks. One block. Work O(ranks^2 counters).
template <typename = void>
__global__ void __launch_bounds__(splitterThreads)
    kernFindSplitterDigit(Splitters* splitters, AllCounts all, SplitterDigit digit, bool isFirst) {
    constexpr int warps = splitterThreads / Warp::lanes;
    __shared__ std::uint64_t warpSums[warps];
    __shared__ int found;
    __shared__ std::uint64_t restThere;
    const auto thread = static_cast<int>(threadIdx.x);
    const int values = 1 << digit.bits;
    const int perThread = static_cast<int>(Common::divideRoundUp(values, splitterThreads));
    const std::uint64_t n = all.n();
    for (int s = 0; s < all.ranks - 1; ++s) {
        const int base = (isFirst ? 0 : splitters->tables[s]) << digit.bits;
        const std::uint64_t rest = isFirst ? (n == 0 ? 0 : min(all.shareBegin(s + 1), n - 1)) : splitters->rests[s];
        if (thread == 0) {
            found = 0;
            restThere = 0;
        }

        // The digit at whose keys the position lies.
        const auto countOf = [&](int value) {
            std::uint64_t sum = 0;
            for (int rank = 0; rank < all.ranks; ++rank) {
                sum += all.of(rank).tables[base + value];
            }
            return sum;
        };
        const int first = thread * perThread;
        const int end = min(first + perThread, values);
        std::uint64_t mine = 0;
        for (int value = first; value < end; ++value) {
            mine += countOf(value);
        }
        std::uint64_t before = Block::exclusiveScan<warps>(mine, warpSums, Sum{});
        if (before <= rest && rest < before + mine) {
            int value = first;
            for (std::uint64_t count = countOf(value); rest >= before + count; count = countOf(value)) {
                before += count;
                ++value;
            }
            found = value;
            restThere = rest - before;
        }
        __syncthreads();

        // How many keys each rank has before it. One warp per rank.
        for (int rank = Warp::index(); rank < all.ranks; rank += warps) {
            const std::uint64_t* const table = all.of(rank).tables + base;
            std::uint64_t below = 0;
            for (int value = Warp::lane(); value < found; value += Warp::lanes) {
                below += table[value];
            }
            below = Warp::reduce(below, Sum{});
            if (Warp::lane() == 0) {
                splitters->below[rank][s] += below;
                splitters->equal[rank][s] = table[found];
            }
        }
        if (thread == 0) {
            splitters->keys[s] = splitters->keys[s] << digit.bits | static_cast<std::uint64_t>(found);
            splitters->rests[s] = restThere;
        }
        __syncthreads();
    }

    // Splitters that agree so far share a table.
    if (thread == 0) {
        int tables = 0;
        for (int s = 0; s < all.ranks - 1; ++s) {
            const std::uint64_t key = splitters->keys[s];
            if (s == 0 || key != splitters->keys[s - 1]) {
                splitters->tableKeys[tables++] = key;
            }
            splitters->tables[s] = tables - 1;
        }
        splitters->tableCount = tables;
    }
}

}  // namespace StreamCompaction::Distributed
