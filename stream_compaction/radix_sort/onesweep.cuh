#pragma once

#include <cstdint>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/last_block.cuh"
#include "stream_compaction/primitives/look_back.cuh"
#include "stream_compaction/primitives/replicated_counters.cuh"
#include "stream_compaction/primitives/sort_tile.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/tile_order.cuh"
#include "stream_compaction/runtime/device.h"
#include "stream_compaction/runtime/early_launch.cuh"

/// Radix sort of arrays of any size, with one pass over memory per digit ("Onesweep", Adinets and Merrill, "Onesweep: A
/// Faster Least Significant Digit Radix Sort for GPUs", 2022).
namespace StreamCompaction::Radix {

inline constexpr int mostDigits = 64 / digitBits;

/// The arrays that passes read and write.
enum class Buffer { In, Out, Spare };

/// The pass for one digit.
struct alignas(16) Pass {
    bool isNeeded;  ///< not all keys share the digit
    bool isFirst;
    bool encodes;  ///< reads keys; otherwise codes
    bool decodes;  ///< writes keys; otherwise codes
    int order;     ///< index among the passes that are needed
    Buffer from;
    Buffer to;
};
static_assert(sizeof(Pass) == 4 * sizeof(bool) + 3 * sizeof(int), "without padding, which would be loaded unwritten");

/// Loads a pass in one access. Otherwise the other fields are loaded once `isNeeded` is known, and each block waits
/// twice.
[[nodiscard]] __device__ inline Pass loadAtOnce(const Pass& pass) {
    Vector<Pass, 1> copy;
    copyVector(&copy, reinterpret_cast<const Vector<Pass, 1>*>(&pass));
    return copy.items[0];
}

/// The passes, planned from the histograms of the keys. In device memory.
struct Plan {
    Pass passes[mostDigits];
    std::uint64_t starts[mostDigits][digitValues];  ///< per pass and digit, the number of keys with a smaller digit
    std::uint64_t tickets[mostDigits];              ///< tiles that have begun, per pass, for TileOrder::Ticket
    bool copiesFirst;
};

/// Scratch that has to be zero before the histograms begin.
struct Counters {
    std::uint64_t counts[mostDigits][digitValues];
    unsigned finishedBlocks;
    bool areSorted;  ///< an earlier kernel has sorted the keys and planned no passes
};

/// Chooses the arrays so that the last pass writes `out`. At least one pass runs, because only a pass moves the keys to
/// `out`. If the spare array is the input and the number of passes is even, the input is first copied to `out`. The
/// first pass encodes the keys, unless they are codes already.
__device__ inline void choosePasses(Plan& plan, int digits, std::uint32_t needed, bool spareIsInput, bool encodes) {
    if (needed == 0) {
        needed = 1u << (digits - 1);
    }
    int left = __popc(needed);
    plan.copiesFirst = spareIsInput && left % 2 == 0;
    Buffer from = plan.copiesFirst ? Buffer::Out : Buffer::In;
    int order = 0;
    for (int i = 0; i < digits; ++i) {
        plan.tickets[i] = 0;
        Pass pass{};
        pass.isNeeded = (needed >> i & 1) != 0;
        if (pass.isNeeded) {
            --left;
            pass.isFirst = order == 0;
            pass.encodes = pass.isFirst && encodes;
            pass.decodes = left == 0;
            pass.order = order++;
            pass.from = from;
            pass.to = left % 2 == 0 ? Buffer::Out : Buffer::Spare;
            from = pass.to;
        }
        plan.passes[i] = pass;
    }
}

/// Turns the counts of all digits into a plan. Called by all threads of one block.
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
        choosePasses(plan, digits, needed, spareIsInput, true);
    }
}

/// Counts all digits of the keys that are one team's part of n (forEachElement). Digits past the range are counted as
/// zeros, in tables that are never read.
template <typename Shape, typename Bits>
__device__ void countDigits(const ReplicatedCounters<Shape::threads>& counts, const Bits* keys, std::size_t n,
                            DigitRange range, const KeyCoding<Bits>& coding, unsigned team, unsigned teams) {
    constexpr int mostDigitsHere = sizeof(Bits) * 8 / digitBits;
    Digit places[mostDigitsHere];
#pragma unroll
    for (int d = 0; d < mostDigitsHere; ++d) {
        places[d] = d < range.count() ? range.digit(d) : Digit{0, 0};
    }
    const auto countCodes = [&](auto encode) {
        forEachElement<Shape>(
            keys, n,
            [&](Bits key) {
                const Bits code = encode(key);
#pragma unroll
                for (int d = 0; d < mostDigitsHere; ++d) {
                    counts.increment(d * digitValues + places[d].of(code));
                }
            },
            team, teams);
    };
    if (coding.onlyInverts()) {
        countCodes([&](Bits key) { return static_cast<Bits>(key ^ coding.inverted); });
    } else {
        countCodes([&](Bits key) { return coding.encode(key); });
    }
}

/// Histograms of all digits in one read of the keys. The last block to finish plans the passes.
///
/// Each counter has `replicas` copies in shared memory, so that lanes rarely meet in a bank. With 32 replicas they
/// never do.
///
/// Work O(n) per digit. Reads 4 bytes per 4-byte key. With enough replicas DRAM is the limit. With fewer it is the
/// shared-memory atomics, one per digit and key.
template <typename Shape, int replicas, typename Bits, typename Count>
__global__ void __launch_bounds__(Shape::threads)
    kernCountDigits(Count number, Plan* plan, Counters* counters, const Bits* keys, DigitRange range,
                    KeyCoding<Bits> coding, bool spareIsInput) {
    const ReplicatedCounters<Shape::threads> counts(&dynamicShared<std::uint32_t>(), replicas);
    const std::size_t n = numberOf(number);
    const int digits = range.count();
    const bool areSorted = counters->areSorted;
    counts.clear(digits * digitValues);
    __syncthreads();
    if (areSorted) {
        return;
    }

    countDigits<Shape>(counts, keys, n, range, coding, blockIdx.x, gridDim.x);
    __syncthreads();

    // Add the sums to the counts of all blocks.
    for (int i = static_cast<int>(threadIdx.x); i < digits * digitValues; i += Shape::threads) {
        if (const std::uint32_t count = counts.sum(i); count > 0) {
            atomicAdd(reinterpret_cast<unsigned long long*>(&counters->counts[0][0]) + i, std::uint64_t{count});
        }
    }

    if (Block::isLastToFinish(&counters->finishedBlocks)) {
        makePlan<Shape::threads>(*counters, n, digits, spareIsInput, *plan);
    }
}

/// Copies the input to `out` if the plan says so, or if there is none. Reads and writes each element once.
template <typename Bits, typename Value, typename Count>
__global__ void kernCopy(Count n, Elements<Bits, Value> out, Elements<const Bits, const Value> in, const Plan* plan) {
    if (plan != nullptr && !plan->copiesFirst) {
        return;
    }
    const std::size_t size = numberOf(n);
    for (std::size_t i = Common::globalThreadIndex(); i < size; i += std::size_t{gridDim.x} * blockDim.x) {
        out.keys[i] = in.keys[i];
        if constexpr (hasValues<Value>) {
            out.values[i] = originalValue(in.values, 0, i);
        }
    }
}

/// The arrays of a sort.
template <typename Bits, typename Value>
struct SortArrays {
    Elements<const Bits, const Value> in;
    Elements<Bits, Value> out;
    Elements<Bits, Value> spare;

    [[nodiscard]] __device__ Elements<const Bits, const Value> source(Buffer buffer) const {
        return buffer == Buffer::In ? in : target(buffer).readOnly();
    }
    [[nodiscard]] __device__ Elements<Bits, Value> target(Buffer buffer) const {
        return buffer == Buffer::Out ? out : spare;
    }
};

/// The statuses, one per tile and digit value, in two sets. A pass uses one set and clears the other for the next pass.
struct DigitStatuses {
    std::uint64_t* words;
    std::size_t tiles;

    using Set = LookBack::Statuses<LookBack::Count>;

    [[nodiscard]] static __host__ __device__ constexpr std::size_t wordsPerSet(std::size_t tiles) {
        return Set::wordsFor(tiles * digitValues);
    }
    [[nodiscard]] __device__ Set set(int i) const { return Set(words + (i % 2) * wordsPerSet(tiles)); }

    /// The statuses of a tile lie side by side. passTiles() keeps their number within an int.
    [[nodiscard]] static __device__ int indexOf(int tile, int digit) { return tile * digitValues + digit; }
};

/// Clears the first set of statuses, if only the device knows the number of tiles. Writes 2 KiB per tile.
template <typename Shape, typename Count>
__global__ void kernClearStatuses(Count n, DigitStatuses statuses) {
    const std::size_t words = DigitStatuses::wordsPerSet((numberOf(n) + Shape::elements - 1) / Shape::elements);
    for (std::size_t i = Common::globalThreadIndex(); i < words; i += std::size_t{gridDim.x} * blockDim.x) {
        statuses.words[i] = 0;
    }
}

/// Enqueues the clearing of the first set of statuses, and of the memory from `begin` to it.
template <typename Shape, typename Count>
void clearStatuses(const Count& n, const DigitStatuses& statuses, void* begin, cudaStream_t stream) {
    auto* const first = static_cast<std::byte*>(begin);
    const std::size_t words = DigitStatuses::wordsPerSet(statuses.tiles);
    const auto* const last = reinterpret_cast<std::byte*>(statuses.words + (isOnDevice<Count> ? 0 : words));
    if (first != last) {
        Common::checkCUDAError(cudaMemsetAsync(first, 0, last - first, stream), "cudaMemsetAsync");
    }
    if constexpr (isOnDevice<Count>) {
        constexpr int threads = 256;
        constexpr auto kernel = kernClearStatuses<Shape, Count>;
        const std::size_t blocks = blocksForTiles<kernel, Count>(Common::blocksFor(words, threads), threads);
        launch<kernel>({blocks, threads}, stream, n, statuses);
    }
}

/// Prefetches an array that is read soon into the second-level cache, in lines of 128 bytes.
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

/// How many tiles ahead a block of a pass over keys alone prefetches: to the tile that begins when the block ends. On
/// an H200, with 37 GB/s per multiprocessor, that takes less time. On an H100, with 25 GB/s, it takes more, because the
/// memory is busier. If blocks take several tiles each, it takes more on both. 0 if a pass does not prefetch.
template <auto kernel>
[[nodiscard]] int prefetchDistance(std::size_t blocks, std::size_t tiles, int threads, std::size_t sharedBytes) {
    constexpr double leastBytesPerSecond = 30e9;  // per multiprocessor
    const DeviceProperties card = currentDevice();
    const bool prefetches = blocks == tiles && card.memoryBytesPerSecond >= leastBytesPerSecond * card.multiprocessors;
    return prefetches ? static_cast<int>(onCurrentDevice<kernel>(threads, sharedBytes).residentBlocks) : 0;
}

/// What a pass computes digits with. A digit that lies in device memory has its own overload, which loads it once per
/// block.
template <typename DigitOf>
[[nodiscard]] __device__ const DigitOf& loaded(const DigitOf& digit) {
    return digit;
}

/// The same digit, but the compiler cannot know that. Otherwise it keeps the digit of each key and the address of its
/// counter from counting to ranking. That takes two registers per key and costs more than computing them again.
[[nodiscard]] __device__ inline Digit withoutMemory(Digit digit) {
    return {digit.shift & static_cast<int>(__ballot_sync(Warp::allLanes, true)), digit.mask};
}

/// The same for a digit that any function computes. It gets a copy of the key, inverted where `zero` is set.
template <typename DigitOf>
struct DigitOfCopy {
    DigitOf digit;
    std::uint32_t zero;

    template <typename Bits>
    [[nodiscard]] __device__ std::uint32_t of(const Bits& key) const {
        return digit.of(Warp::mapWords(key, [this](std::uint32_t word) { return word ^ zero; }));
    }
};
template <typename DigitOf>
inline constexpr bool greatestKeyIsLast<DigitOfCopy<DigitOf>> = greatestKeyIsLast<DigitOf>;

template <typename DigitOf>
[[nodiscard]] __device__ DigitOfCopy<DigitOf> withoutMemory(const DigitOf& digit) {
    return {digit, ~__ballot_sync(Warp::allLanes, true)};
}

/// The tile of a pass: `size` elements of `from`, from element `begin` on.
template <typename Bits, typename Value>
struct PassTile {
    Elements<const Bits, const Value> from;
    std::size_t begin;
    int size;
    int segment;
    bool beginsSegment;
};

/// Elements that all go to one array.
struct OneTarget {
    template <typename Shape>
    using Lines = NoLines;  ///< no run is stored by lines

    /// The array to which the elements with a digit go.
    template <typename Bits, typename Value>
    [[nodiscard]] __device__ Elements<Bits, Value> target(const Pass& pass, const SortArrays<Bits, Value>& arrays,
                                                          int /*digit*/) const {
        return arrays.target(pass.to);
    }
};

/// An array that is sorted as a whole. Its tiles follow one another.
struct WholeArray : OneTarget {
    [[nodiscard]] __device__ bool hasTile(unsigned /*tile*/) const { return true; }

    /// Prefetches the keys of a tile, if there is one.
    template <typename Shape, typename Bits>
    __device__ void prefetch(int tile, std::size_t n, const Pass& /*pass*/, const Bits* keys) const {
        const std::size_t begin = static_cast<std::size_t>(tile) * Shape::elements;
        if (begin < n) {
            prefetchToL2(keys + begin, static_cast<int>(min(n - begin, std::size_t{Shape::elements})));
        }
    }

    /// Only the last tile has places past its end, and none looks back at it.
    template <typename Keys, typename DigitOf>
    [[nodiscard]] __device__ std::uint32_t countedPastTheEnd(const Keys& /*keys*/, const DigitOf& /*digit*/,
                                                             int /*value*/) const {
        return 0;
    }

    template <typename Shape, typename Bits, typename Value>
    [[nodiscard]] __device__ PassTile<Bits, Value> tile(int tile, std::size_t n, const Pass& pass,
                                                        const SortArrays<Bits, Value>& arrays) const {
        const std::size_t begin = static_cast<std::size_t>(tile) * Shape::elements;
        return {arrays.source(pass.from), begin, static_cast<int>(min(n - begin, std::size_t{Shape::elements})), 0,
                false};
    }

    /// Per digit, where the elements of a segment begin.
    [[nodiscard]] __device__ const std::uint64_t* starts(const Plan& plan, int index, int /*segment*/) const {
        return plan.starts[index];
    }
};

/// A tile of a segment. It lies at `from` before the first pass, and at element `begin` of the array afterwards.
template <typename Bits, typename Value>
struct alignas(16) SegmentTile {
    Elements<const Bits, const Value> from;
    std::size_t begin;
    std::uint16_t size;
    std::uint16_t segment;
    std::uint32_t beginsSegment;  ///< 1 if it does, else 0
};

/// An array of codes, each segment of which is sorted for itself. The elements of segment s with digit d begin at
/// startsOfSegments[(pass * segments + s) * digitValues + d].
template <typename Bits, typename Value>
struct Segments : OneTarget {
    const SegmentTile<Bits, Value>* tiles;  ///< those of a segment follow one another
    const unsigned* tileCount;              ///< in device memory
    const std::uint64_t* startsOfSegments;
    int segments;

    [[nodiscard]] __device__ bool hasTile(unsigned tile) const { return tile < *tileCount; }

    /// The first pass may read the memory of other cards, which the cache does not hold.
    template <typename Shape>
    __device__ void prefetch(int tile, std::size_t /*n*/, const Pass& pass, const Bits* keys) const {
        if (!pass.isFirst && hasTile(tile)) {
            prefetchToL2(keys + tiles[tile].begin, tiles[tile].size);
        }
    }

    template <typename Keys, typename DigitOf>
    [[nodiscard]] __device__ std::uint32_t countedPastTheEnd(const Keys& keys, const DigitOf& digit, int value) const {
        return keys.countedPastTheEnd(digit, value);
    }

    template <typename Shape>
    [[nodiscard]] __device__ PassTile<Bits, Value> tile(int tile, std::size_t /*n*/, const Pass& pass,
                                                        const SortArrays<Bits, Value>& arrays) const {
        static_assert(Shape::elements <= 0xffff);
        const SegmentTile<Bits, Value> part = tiles[tile];
        return {pass.isFirst ? part.from : arrays.source(pass.from), pass.isFirst ? 0 : part.begin, part.size,
                part.segment, part.beginsSegment != 0};
    }

    [[nodiscard]] __device__ const std::uint64_t* starts(const Plan& /*plan*/, int index, int segment) const {
        return startsOfSegments + (static_cast<std::size_t>(index) * segments + segment) * digitValues;
    }
};

/// One pass: sorts by a digit, stably, reading and writing each element once. The digit is that of a radix sort, or any
/// function of a key (multi_partition.cuh). `parts` is a WholeArray, also one with several targets, or Segments that
/// are sorted each for itself.
///
/// A block counts the digits of its tile and publishes the counts. It packs the keys in shared memory in the order of
/// the digits. One thread per digit looks back for the number of keys with that digit in earlier tiles. Then the block
/// writes the keys out, run after run, and after them the values, through the same shared memory.
///
/// Forward progress: a tile waits only for earlier tiles, and TileOrder says why these have begun.
///
/// Work O(n), steps O(n / resident elements). Reads 4 bytes and writes 4 bytes per 4-byte key. Ranking is the limit:
/// the accesses to shared memory are busy for three quarters of the time, the integer pipe for two thirds, and DRAM for
/// half.
template <typename Shape, typename Bits, typename Value, typename Number, typename DigitOf = Digit,
          typename Coding = KeyCoding<Bits>, typename Parts = WholeArray>
__global__ void __launch_bounds__(Shape::threads, 2)
    kernSortByDigit(Number number, SortArrays<Bits, Value> arrays, DigitStatuses statuses, Plan* plan, TileOrder order,
                    int index, DigitOf digitOf, Coding coding, int prefetchDistance, Parts parts) {
    using LookBack::Count;
    using LookBack::State;
    waitForEarlierKernels();
    const Pass pass = loadAtOnce(plan->passes[index]);
    if (!pass.isNeeded) {
        return;
    }
    using Storage = PassStorage<Shape, Bits, Value, typename Parts::template Lines<Shape>>;
    auto& storage = dynamicShared<Storage>();
    const auto set = statuses.set(pass.order);
    const int column = static_cast<int>(threadIdx.x);
    const std::size_t n = numberOf(number);
    if (!parts.hasTile(blockIdx.x)) {
        return;
    }

    const auto& digit = loaded(digitOf);
    const auto take = [&](int round) { return tileOfBlock(order, &plan->tickets[index], storage.tile, round); };
    forEachTile<Number>(static_cast<int>((n + Shape::elements - 1) / Shape::elements), take, [&](int tile) {
        const PassTile<Bits, Value> part = parts.template tile<Shape>(tile, n, pass, arrays);
        const std::size_t begin = part.begin;
        const int size = part.size;

        // Count, and publish the counts.
        const Bits* const input = inGlobalMemory(part.from.keys + begin);
        TileKeys<Shape, Bits> keys;
        typename Storage::Ranks ranks(storage.ranks, storage.counts);
        storage.lines.clear();
        if (!Coding::isIdentity && pass.encodes) {
            keys.loadAndCount(input, size, coding, ranks, digit);
        } else {
            keys.loadAndCount(input, size, NoCoding{}, ranks, digit);
        }
        const std::uint32_t total = ranks.total();
        const std::uint32_t count = total - parts.countedPastTheEnd(keys, digit, column);
        if (column < digitValues) {
            const int status = DigitStatuses::indexOf(tile, column);
            set.publish(status, part.beginsSegment ? State::Prefix : State::Aggregate, Count{count});
            statuses.set(pass.order + 1).publish(status, State::Empty, Count{0});
        }

        // Pack the keys.
        const std::uint32_t firstRank = ranks.begin(total);
        keys.pack(ranks, withoutMemory(digit), storage);

        // Look back. The reads compete with the values that other blocks load, so with values it reads one at a time.
        std::int64_t start = 0;
        if (column < digitValues) {
            constexpr int window = hasValues<Value> ? 1 : 4;
            const Count before = part.beginsSegment ? Count{0}
                                                    : LookBack::lookBackInColumn<window>(set, tile, column, digitValues,
                                                                                         LookBack::AddCounts{});
            set.publish(DigitStatuses::indexOf(tile, column), State::Prefix, Count{before.value + count});
            start =
                static_cast<std::int64_t>(parts.starts(*plan, index, part.segment)[column] + before.value) - firstRank;
            storage.keyRuns[column] = parts.target(pass, arrays, column).keys + start;
            storage.lines.add(storage.keyRuns[column], column, static_cast<int>(firstRank),
                              min(static_cast<int>(firstRank + total), size));
        }
        __syncthreads();

        // Store the keys, then the values.
        if (!hasValues<Value> && prefetchDistance > 0) {
            parts.template prefetch<Shape>(tile + prefetchDistance, n, pass, part.from.keys);
        }
        const StoredDigits<Shape> digits = storeCoded(
            coding, pass.decodes, [&](auto decode) { return storeKeys<Shape>(storage, size, digit, decode); });
        if constexpr (hasValues<Value>) {
            __syncthreads();
            if (column < digitValues) {
                storage.valueRuns[column] = parts.target(pass, arrays, column).values + start;
            }
            keys.loadAndPackValues(part.from.values, begin, pass.isFirst, storage);
            __syncthreads();
            storeValues<Shape>(storage, size, digits);
        }
    });
}

}  // namespace StreamCompaction::Radix
