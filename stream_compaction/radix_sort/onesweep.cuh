#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/look_back.cuh"
#include "stream_compaction/primitives/look_back_device.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/radix_sort/tile.cuh"
#include "stream_compaction/runtime/early_launch.cuh"

/// Radix sort of arrays of any size, in one pass a digit ("Onesweep", Adinets and Merrill, "Onesweep: A Faster Least
/// Significant Digit Radix Sort for GPUs", 2022).
namespace StreamCompaction::Radix {

inline constexpr int mostDigits = 64 / digitBits;

/// The arrays that passes read and write.
enum class Place { In, Out, Spare };

/// What becomes of one digit.
struct Pass {
    bool isNeeded;  ///< not all keys share the digit
    bool isFirst;
    bool isLast;
    int order;  ///< among the passes that are needed
    Place from;
    Place to;
};

/// What the keys' histograms say about the passes; in device memory.
struct Plan {
    Pass passes[mostDigits];
    std::uint64_t starts[mostDigits][digitValues];  ///< keys with a lesser digit
    bool copiesFirst;
};

/// Scratch that has to be zero before the histograms are taken.
struct Counters {
    std::uint64_t counts[mostDigits][digitValues];
    unsigned finishedBlocks;
};

/// Chooses the arrays so that the last pass writes `out`. A pass is needed at least, since it is a pass that brings the
/// keys there. Where the spare array is the input, an even number of passes has to begin with a copy of it in `out`.
__device__ inline void choosePasses(Plan& plan, int digits, std::uint32_t needed, bool spareIsInput) {
    if (needed == 0) {
        needed = 1u << (digits - 1);
    }
    int left = __popc(needed);
    plan.copiesFirst = spareIsInput && left % 2 == 0;
    Place from = plan.copiesFirst ? Place::Out : Place::In;
    int order = 0;
    for (int i = 0; i < digits; ++i) {
        Pass& pass = plan.passes[i];
        pass.isNeeded = (needed >> i & 1) != 0;
        if (pass.isNeeded) {
            --left;
            pass.isFirst = order == 0;
            pass.isLast = left == 0;
            pass.order = order++;
            pass.from = from;
            pass.to = left % 2 == 0 ? Place::Out : Place::Spare;
            from = pass.to;
        }
    }
}

/// Turns the counts of all digits into a plan, by one block.
template <int threads>
__device__ void makePlan(const Counters& counters, std::size_t n, int digits, bool spareIsInput, Plan& plan) {
    __shared__ std::uint64_t slots[threads / Warp::lanes];
    std::uint32_t needed = 0;
    for (int i = 0; i < digits; ++i) {
        const std::uint64_t count = threadIdx.x < digitValues ? __ldcg(&counters.counts[i][threadIdx.x]) : 0;
        const std::uint64_t start = Block::exclusiveScan<threads / Warp::lanes>(count, slots, Sum{});
        if (threadIdx.x < digitValues) {
            plan.starts[i][threadIdx.x] = start;
        }
        const bool isShared = __syncthreads_or(count == n) != 0;
        needed |= isShared ? 0 : 1u << i;
    }
    if (threadIdx.x == 0) {
        choosePasses(plan, digits, needed, spareIsInput);
    }
}

/// Histograms of all digits in one read of the keys; the last block to finish plans the passes.
///
/// Counters are in shared memory, `replicas` of each, so that lanes with different digits seldom meet in a bank: with
/// 32 replicas never.
///
/// Work O(n). 4 bytes a 4-byte key. With enough replicas the integer pipe limits it, close to the bandwidth of DRAM;
/// with fewer the shared-memory atomics, one a digit and key.
template <typename Shape, int replicas, typename Bits>
__global__ void __launch_bounds__(Shape::threads)
    kernCountDigits(std::size_t n, Plan* plan, Counters* counters, const Bits* keys, DigitRange range,
                    KeyCoding<Bits> coding, bool spareIsInput) {
    constexpr int mostDigitsHere = sizeof(Bits) * 8 / digitBits;
    constexpr int length = Shape::vectorLength;
    using Counts = std::uint32_t[mostDigitsHere][digitValues][replicas];
    auto& counts = dynamicShared<Counts>();
    const int digits = range.count();

    // Clear.
    auto* const flat = &counts[0][0][0];
    for (int i = static_cast<int>(threadIdx.x); i < digits * digitValues * replicas; i += Shape::threads) {
        flat[i] = 0;
    }
    __syncthreads();

    // Count. What is beyond the digits counts as zeros, in a table that nobody reads.
    Digit places[mostDigitsHere];
#pragma unroll
    for (int d = 0; d < mostDigitsHere; ++d) {
        places[d] = d < digits ? range.digit(d) : Digit{0, 0};
    }
    const auto count = [&](Bits key) {
        const Bits code = coding.encode(key);
#pragma unroll
        for (int d = 0; d < mostDigitsHere; ++d) {
            atomicAdd(&counts[d][places[d].of(code)][threadIdx.x % replicas], 1u);
        }
    };
    const int tiles = static_cast<int>(Common::divideRoundUp(n, Shape::elements));
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
        const TileOf<const Bits> in = Shape::tileOf(keys, tile, n);
        if (in.isWhole) {
            Vector<Bits, length> vectors[Shape::rows];
#pragma unroll
            for (int row = 0; row < Shape::rows; ++row) {
                vectors[row] = loadVector<length>(in, Shape::offset(row));
            }
#pragma unroll
            for (int row = 0; row < Shape::rows; ++row) {
#pragma unroll
                for (int i = 0; i < length; ++i) {
                    count(vectors[row].items[i]);
                }
            }
        } else {
#pragma unroll 1
            for (int i = static_cast<int>(threadIdx.x); i < in.size; i += Shape::threads) {
                count(in.elements[i]);
            }
        }
    }
    __syncthreads();

    // Add up the replicas, each thread from another bank on, and the blocks.
    for (int i = static_cast<int>(threadIdx.x); i < digits * digitValues; i += Shape::threads) {
        std::uint32_t count = 0;
        for (int replica = 0; replica < replicas; ++replica) {
            count += flat[i * replicas + (replica + i) % replicas];
        }
        if (count > 0) {
            atomicAdd(reinterpret_cast<unsigned long long*>(&counters->counts[0][0]) + i, std::uint64_t{count});
        }
    }

    __threadfence();
    __syncthreads();
    const bool isFinishedLast = threadIdx.x == 0 && atomicAdd(&counters->finishedBlocks, 1) + 1 == gridDim.x;
    if (__syncthreads_or(isFinishedLast) != 0) {
        __threadfence();
        makePlan<Shape::threads>(*counters, n, digits, spareIsInput, *plan);
    }
}

/// Copies the input, if the plan says so.
template <typename Bits, typename Value>
__global__ void kernCopyFirst(std::size_t n, Elements<Bits, Value> out, Elements<const Bits, const Value> in,
                              const Plan* plan) {
    const std::size_t i = Common::globalThreadIndex();
    if (plan->copiesFirst && i < n) {
        out.keys[i] = in.keys[i];
        if constexpr (hasValues<Value>) {
            out.values[i] = in.values[i];
        }
    }
}

/// The arrays of a sort.
template <typename Bits, typename Value>
struct SortArrays {
    Elements<const Bits, const Value> in;
    Elements<Bits, Value> out;
    Elements<Bits, Value> spare;

    [[nodiscard]] __device__ Elements<const Bits, const Value> source(Place place) const {
        return place == Place::In ? in : target(place).readOnly();
    }
    [[nodiscard]] __device__ Elements<Bits, Value> target(Place place) const {
        return place == Place::Out ? out : spare;
    }
};

/// The statuses of the tiles, one a digit value, in two sets: while one pass uses the one, it clears the other for the
/// next.
struct DigitStatuses {
    std::uint64_t* words;
    std::size_t tiles;

    using Set = LookBack::Statuses<LookBack::Count>;

    [[nodiscard]] static constexpr std::size_t wordsPerSet(std::size_t tiles) {
        return Set::wordsFor(tiles * digitValues);
    }
    [[nodiscard]] __device__ Set set(int i) const { return Set(words + (i % 2) * wordsPerSet(tiles)); }
    __device__ void clear(int set, int tile, int digit) const {
        words[(set % 2) * wordsPerSet(tiles) + static_cast<std::size_t>(tile) * digitValues + digit] = 0;
    }
};

/// Asks for an array that will be read later in the kernel, a line of 128 bytes a thread.
template <typename T>
__device__ void prefetchToL2(const T* elements, int size) {
    constexpr int line = 128;
    [[maybe_unused]] const auto* const bytes = reinterpret_cast<const std::byte*>(elements);
    const int end = size * static_cast<int>(sizeof(T));
    for (int at = static_cast<int>(threadIdx.x) * line; at < end; at += static_cast<int>(blockDim.x) * line) {
#if defined(__CUDA_ARCH__)
        asm volatile("prefetch.global.L2 [%0];" : : "l"(bytes + at));
#endif
    }
}

/// The same digit, though the compiler cannot tell: it would keep what it made of each key while counting for when the
/// keys are ranked, two registers a key, which cost more than to compute it again.
[[nodiscard]] __device__ inline Digit withoutMemory(Digit digit) {
    return {digit.shift & static_cast<int>(__ballot_sync(Warp::allLanes, true)), digit.mask};
}

/// One pass: sorts by a digit, stably, reading and writing each element once.
///
/// A block counts the digits of its tile and publishes the counts. It packs the tile in shared memory in the order of
/// the digits, looks back, a thread a digit, for how many keys with that digit earlier tiles have, and writes the tile
/// out, run after run.
///
/// Forward progress: a tile waits only for tiles before it, and blocks begin in the order of their index.
///
/// Work O(n), steps O(n / resident elements). 8 bytes a 4-byte key. Ranking limits it: the integer pipe and the
/// accesses to shared memory are each busy for more than half of the time, DRAM for less.
template <typename Shape, typename Bits, typename Value>
__global__ void __launch_bounds__(Shape::threads, 2)
    kernSortByDigit(std::size_t n, SortArrays<Bits, Value> arrays, DigitStatuses statuses, const Plan* plan, int index,
                    Digit digit, KeyCoding<Bits> coding) {
    using LookBack::Count;
    using LookBack::State;
    const LookBack::ColumnPlatform platform;
    waitForEarlierKernels();
    const Pass pass = plan->passes[index];
    if (!pass.isNeeded) {
        return;
    }
    auto& storage = dynamicShared<TileStorage<Shape, Bits, Value>>();
    const auto from = arrays.source(pass.from);
    const auto to = arrays.target(pass.to);
    __builtin_assume(__isGlobal(from.keys) && __isGlobal(to.keys));
    const auto set = statuses.set(pass.order);
    const int tile = static_cast<int>(blockIdx.x);
    const int column = static_cast<int>(threadIdx.x);
    const std::size_t begin = std::size_t{blockIdx.x} * Shape::elements;
    const int size = static_cast<int>(min(n - begin, std::size_t{Shape::elements}));

    // Count, and publish the counts.
    TileKeys<Shape, Bits> keys;
    if (pass.isFirst) {
        keys.loadAndEncode(from.keys + begin, size, coding);
    } else {
        keys.load(from.keys + begin, size);
    }
    const bool makesValues = isOwnIndex<Value> && pass.isFirst;
    if (hasValues<Value> && !makesValues) {
        prefetchToL2(from.values + begin, size);
    }
    DigitRank<Shape::threads> ranks(storage.ranks);
    keys.count(ranks, digit);
    const std::uint32_t total = ranks.total();
    if (column < digitValues) {
        set.publish(platform, tile * digitValues + column, State::Aggregate, Count{total});
        statuses.clear(pass.order + 1, tile, column);
    }

    // Pack the tile; the values are on their way while the block looks back.
    const bool copiesValues = hasElementCopy<Value>();
    const std::uint32_t firstRank = ranks.begin(total);
    keys.pack(ranks, withoutMemory(digit), storage, [&](int row, std::uint32_t place) {
        if constexpr (isElementCopySize<Value>) {
            if (copiesValues && !makesValues && placeIn<Shape>(row) < size) {
                copyElement(storage.values[place], from.values[begin + placeIn<Shape>(row)]);
            }
        }
        if constexpr (isOwnIndex<Value>) {
            if (copiesValues && makesValues) {
                storage.values[place] = ownIndex<Value>(begin + placeIn<Shape>(row));
            }
        }
    });
    Value values[Shape::items];
    if (hasValues<Value> && !copiesValues) {
        loadValues<Shape>(values, from.values, begin, size, makesValues);
    }

    // Look back. Reads compete with the values that are under way, so that none should be in vain.
    if (column < digitValues) {
        constexpr int window = hasValues<Value> ? 1 : 4;
        const Count before =
            LookBack::lookBackInColumn<window>(platform, set, tile, column, digitValues, LookBack::AddCounts{});
        set.publish(platform, tile * digitValues + column, State::Prefix, Count{before.value + total});
        storage.starts[column] = static_cast<std::int64_t>(plan->starts[index][column] + before.value) - firstRank;
    }
    if (copiesValues) {
        awaitElementCopies();
    } else {
        keys.packValues(values, storage);
    }
    __syncthreads();

    storePacked(storage, size, digit, to, coding, pass.isLast);
}

}  // namespace StreamCompaction::Radix
