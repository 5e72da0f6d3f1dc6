#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "stream_compaction/common.cuh"
#include "stream_compaction/radix_sort/buckets.cuh"
#include "stream_compaction/radix_sort/network.cuh"
#include "stream_compaction/radix_sort/onesweep.cuh"
#include "stream_compaction/radix_sort/resident.cuh"
#include "stream_compaction/radix_sort/spans.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// The ways to launch a radix sort: by a block, by a cluster, by a grid, with a launch per pass. Each way is a type
/// with the shape of its tiles as a parameter, and has
///
///   mostElements                                  how many elements it can hold;
///   scratchBytes<Bits, Value>(n, consumesInput)   the scratch that it takes for them, on any card, which never
///                                                 decreases with n;
///   fits(sort)                                    whether it suits the sort and the current card can launch it;
///   launch(sort)                                  enqueues the kernels; requires that it holds the array and fits.
///                                                 A way whose blocks have to be resident together returns whether
///                                                 the card did not refuse that; the others return nothing.
namespace StreamCompaction::Radix {

/// A sort of n elements, with room for at least one. `Count` is that of runtime/element_count.cuh.
template <typename Bits, typename Value, typename Count = std::size_t>
struct SortCall {
    Elements<const Bits, const Value> in;  ///< without values if these are own indices
    Elements<Bits, Value> out;
    Count n;
    DigitRange range;
    KeyCoding<Bits> coding;
    TileOrder order;
    Elements<Bits, Value> consumed;  ///< the input again if the sort may write to it; otherwise null
    ScratchArena arena;
    cudaStream_t stream;

    [[nodiscard]] bool consumesInput() const { return consumed.keys != nullptr; }
    [[nodiscard]] std::size_t capacity() const { return capacityOf(n); }
    [[nodiscard]] bool sortsByAllBits() const { return range.begin == 0 && range.end == 8 * sizeof(Bits); }
};

/// The `mostElements` of a way that holds any array.
inline constexpr std::size_t anyNumber = std::numeric_limits<std::size_t>::max();

/// Scratch for a second array of keys, or of keys and values.
template <typename Bits, typename Value>
[[nodiscard]] std::size_t elementBytes(std::size_t n) {
    return scratchBytesFor<Bits>(n) + (hasValues<Value> ? scratchBytesFor<Value>(n) : 0);
}

template <typename Bits, typename Value>
[[nodiscard]] Elements<Bits, Value> takeElements(ScratchArena& arena, std::size_t n) {
    Elements<Bits, Value> elements{arena.take<Bits>(n), nullptr};
    if constexpr (hasValues<Value>) {
        elements.values = arena.take<Value>(n);
    }
    return elements;
}

/// Enqueues a copy of the input to the output. With a plan, the device copies only if the plan says so.
template <typename Bits, typename Value, typename Count>
void launchCopy(const SortCall<Bits, Value, Count>& sort, const Plan* plan) {
    constexpr int threads = 256;
    constexpr auto copy = kernCopy<Bits, Value, Count>;
    const std::size_t blocks = blocksForTiles<copy, Count>(Common::blocksFor(sort.capacity(), threads), threads);
    launch<copy>({blocks, threads}, sort.stream, sort.n, sort.out, sort.in, plan);
}

/// Sorts by no bits: copies.
struct ByCopy {
    static constexpr std::size_t mostElements = anyNumber;

    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t /*n*/, bool /*consumesInput*/) {
        return 0;
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        return sort.range.count() == 0;
    }

    template <typename Bits, typename Value, typename Count>
    static void launch(const SortCall<Bits, Value, Count>& sort) {
        launchCopy<Bits, Value, Count>(sort, nullptr);
    }
};

/// Sorts by one block, by a network. For keys alone, all bits of which count.
template <typename Shape>
struct ByNetwork {
    static constexpr std::size_t mostElements = Shape::elements;

    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t /*n*/, bool /*consumesInput*/) {
        return 0;
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        if constexpr (suitsNetwork<Bits, Value>) {
            return sort.sortsByAllBits() &&
                   onCurrentDevice<kernel<Bits, Count>>(Shape::threads, sharedBytes<Bits>).residentBlocks > 0;
        } else {
            return false;
        }
    }

    template <typename Bits, typename Value, typename Count>
    static void launch(const SortCall<Bits, Value, Count>& sort) {
        if constexpr (suitsNetwork<Bits, Value>) {
            StreamCompaction::launch<kernel<Bits, Count>>({1, Shape::threads, sharedBytes<Bits>}, sort.stream, sort.n,
                                                          sort.out, sort.in, sort.coding);
        }
    }

  private:
    template <typename Bits, typename Count>
    static constexpr auto kernel = kernSortByNetwork<Shape, Bits, Count>;
    template <typename Bits>
    static constexpr std::size_t sharedBytes = sizeof(NetworkStorage<Shape::threads, Shape::elements, Bits, NoValue>);
};

/// Sorts by one block, in its registers and shared memory.
template <typename Shape>
struct ByBlock {
    static constexpr std::size_t mostElements = Shape::elements;

    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t /*n*/, bool /*consumesInput*/) {
        return 0;
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& /*sort*/) {
        constexpr auto kernel = kernSortBlock<Shape, Bits, Value, Count>;
        return onCurrentDevice<kernel>(Shape::threads, sharedBytes<Bits, Value>).residentBlocks > 0;
    }

    template <typename Bits, typename Value, typename Count>
    static void launch(const SortCall<Bits, Value, Count>& sort) {
        StreamCompaction::launch<kernSortBlock<Shape, Bits, Value, Count>>(
            {1, Shape::threads, sharedBytes<Bits, Value>}, sort.stream, sort.n, sort.out, sort.in, sort.range,
            sort.coding);
    }

  private:
    template <typename Bits, typename Value>
    static constexpr std::size_t sharedBytes = sizeof(TileStorage<Shape, Bits, OriginInBlock<Value>>);
};

/// The 16-bit counts of blocks that are resident together: one per time that they count, block and digit value.
[[nodiscard]] constexpr std::size_t residentCounts(std::size_t times, std::size_t blocks) {
    return times * blocks * digitValues;
}

/// Two arrays that passes write to in turn, and the counts of the blocks.
template <typename Bits, typename Value>
[[nodiscard]] std::size_t residentBytes(std::size_t n, std::size_t counts) {
    return 2 * elementBytes<Bits, Value>(n) + scratchBytesFor<std::uint16_t>(counts);
}

/// The arrays of a resident sort, with room for that many counts.
template <typename Bits, typename Value, typename Count>
[[nodiscard]] ResidentArrays<Bits, Value> takeResidentArrays(const SortCall<Bits, Value, Count>& sort,
                                                             ScratchArena& arena, std::size_t counts) {
    const auto spare = takeElements<Bits, Value>(arena, sort.capacity());
    const auto otherSpare = takeElements<Bits, Value>(arena, sort.capacity());
    return {sort.in, sort.out, spare, otherSpare, arena.take<std::uint16_t>(counts)};
}

/// How blocks that are resident together begin. `Blocks` is Cluster or Grid.
template <typename Blocks>
inline constexpr Begin beginTogether = std::is_same_v<Blocks, Cluster> ? Begin::Cluster : Begin::Cooperative;

/// Whether the card can hold `blocks` blocks of the kernel at the same time.
template <typename Blocks, auto kernel>
[[nodiscard]] bool fitTogether(std::size_t blocks, int threads, std::size_t sharedBytes) {
    if constexpr (std::is_same_v<Blocks, Cluster>) {
        return blocks <= largestCluster<kernel>(threads, sharedBytes);
    } else {
        return blocks <= onCurrentDevice<kernel>(threads, sharedBytes).residentBlocks;
    }
}

/// Sorts by at most `mostBlocks` blocks that are resident together, one tile per block.
template <typename Blocks, typename Shape, std::size_t mostBlocks>
struct ByResidentBlocks {
    static constexpr std::size_t mostElements = mostBlocks * Shape::elements;

    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool /*consumesInput*/) {
        return residentBytes<Bits, Value>(n, residentCounts(sizeof(Bits), blocksOf(n)));
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        return fitTogether<Blocks, kernSortResident<Blocks, Shape, Bits, Value, Count>>(
            blocksOf(sort.capacity()), Shape::threads, sharedBytes<Bits, Value>);
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool launch(const SortCall<Bits, Value, Count>& sort) {
        const std::size_t blocks = blocksOf(sort.capacity());
        ScratchArena rest = sort.arena;
        const auto arrays = takeResidentArrays(sort, rest, residentCounts(sort.range.count(), blocks));
        return tryLaunch<kernSortResident<Blocks, Shape, Bits, Value, Count>>(
            {blocks, Shape::threads, sharedBytes<Bits, Value>, beginTogether<Blocks>}, sort.stream, sort.n, arrays,
            sort.range, sort.coding);
    }

  private:
    template <typename Bits, typename Value>
    static constexpr std::size_t sharedBytes = sizeof(ResidentStorage<Shape, Bits, Value>);

    [[nodiscard]] static std::size_t blocksOf(std::size_t n) { return Common::divideRoundUp(n, Shape::elements); }
};

/// Sorts by at most `mostBlocks` blocks that are resident together, with one bucket per block. `BucketOf` is InDigits,
/// InGroups or InLargeGroups. For integers of 4 bytes, whose high bits are more often distributed evenly than those of
/// floats.
template <typename Blocks, typename Shape, template <typename> typename BucketOf, std::size_t mostBlocks>
struct ByBuckets {
    using Bucket = BucketOf<Shape>;
    static_assert(mostBlocks <= digitValues && std::has_single_bit(mostBlocks));
    static constexpr std::size_t mostElements = mostBlocks * Shape::elements;

    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool /*consumesInput*/) {
        const std::size_t blocks = blocksOf(n);
        return !serves<Bits, Value>
                   ? 0
                   : residentBytes<Bits, Value>(n, counts(sizeof(Bits), blocks)) + scratchBytesFor<int>(blocks);
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        if constexpr (!serves<Bits, Value>) {
            return false;
        } else {
            const std::size_t blocks = blocksOf(sort.capacity());
            return sort.coding.onlyInverts() && (sort.sortsByAllBits() || !Bucket::needsAllBits) && blocks > 1 &&
                   fitTogether<Blocks, kernel<Bits, Value, Count>>(blocks, Shape::threads, sharedBytes<Bits, Value>);
        }
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool launch(const SortCall<Bits, Value, Count>& sort) {
        if constexpr (serves<Bits, Value>) {
            const std::size_t blocks = blocksOf(sort.capacity());
            ScratchArena rest = sort.arena;
            const auto arrays = takeResidentArrays(sort, rest, counts(sort.range.count(), blocks));
            auto* const widths = rest.take<int>(blocks);
            return tryLaunch<kernel<Bits, Value, Count>>(
                {blocks, Shape::threads, sharedBytes<Bits, Value>, beginTogether<Blocks>}, sort.stream, sort.n, arrays,
                widths, sort.range, sort.coding);
        } else {
            return false;
        }
    }

  private:
    template <typename Bits, typename Value>
    static constexpr bool serves = sizeof(Bits) == 4 && Bucket::template serves<Bits, Value>;
    template <typename Bits, typename Value, typename Count>
    static constexpr auto kernel = kernSortByBuckets<Blocks, Shape, Bucket, Bits, Value, Count>;
    template <typename Bits, typename Value>
    static constexpr std::size_t sharedBytes = sizeof(BucketStorage<Shape, Bucket, 1, Bits, Value>);

    /// Buckets are larger than parts, because not even uniformly distributed keys are distributed quite evenly.
    [[nodiscard]] static std::size_t blocksOf(std::size_t n) {
        return std::bit_ceil(Common::divideRoundUp(n, Shape::elements));
    }
    [[nodiscard]] static constexpr std::size_t counts(std::size_t passes, std::size_t blocks) {
        return residentCounts(Buckets::mostCounts + passes, blocks);
    }
};

/// The largest cluster of any card so far.
inline constexpr std::size_t mostClusterBlocks = 16;

template <typename Shape, template <typename> typename BucketOf = InDigits>
using BucketsByCluster = ByBuckets<Cluster, Shape, BucketOf, mostClusterBlocks>;
template <typename Shape, std::size_t mostBlocks, template <typename> typename BucketOf = InDigits>
using BucketsByGrid = ByBuckets<Grid, Shape, BucketOf, mostBlocks>;
template <typename Shape>
using ByCluster = ByResidentBlocks<Cluster, Shape, mostClusterBlocks>;
template <typename Shape, std::size_t mostBlocks>
using ByGrid = ByResidentBlocks<Grid, Shape, mostBlocks>;

/// The number of tiles of a sort with one launch per pass. Throws std::invalid_argument unless an int can count the
/// statuses, one per tile and digit value.
template <typename Shape>
[[nodiscard]] std::size_t passTiles(std::size_t n) {
    Arguments::requireAtMost("n", n, Common::mostBlocks / digitValues * Shape::elements);
    return Common::divideRoundUp(n, Shape::elements);
}

/// Calls `launch(shape, replicas, sharedBytes)` with counters for all digits of a key in up to 128 KiB of shared memory
/// per block. If it returns false, because the card has less, calls it with 32 KiB, which every card has.
template <typename Bits, typename Launch>
void withDigitCounters(const Launch& launch) {
    constexpr std::size_t bytesPerReplica = sizeof(Bits) * digitValues * sizeof(std::uint32_t);
    const auto launchWithin = [&](auto kibibytes) {
        constexpr int replicas = static_cast<int>(std::min<std::size_t>(32, (kibibytes() << 10) / bytesPerReplica));
        return launch(TileShape<1024, 4, vectorLength<Bits>>{}, std::integral_constant<int, replicas>{},
                      replicas * bytesPerReplica);
    };
    if (!launchWithin(std::integral_constant<std::size_t, 128>{})) {
        (void)launchWithin(std::integral_constant<std::size_t, 32>{});
    }
}

/// Sorts with one launch per pass, on cards whose multiprocessors hold at least `blocksPerMultiprocessor` blocks each.
template <typename Shape, int blocksPerMultiprocessor = 1, std::size_t most = anyNumber>
struct InPasses {
    static constexpr std::size_t mostElements = most;

    /// A spare array as large as the input, unless the input serves as one. Then counters, statuses and the plan.
    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool consumesInput) {
        return (consumesInput ? 0 : elementBytes<Bits, Value>(n)) + scratchBytesFor<Plan>(1) +
               scratchBytesFor<Counters>(1) +
               scratchBytesFor<std::uint64_t>(2 * DigitStatuses::wordsPerSet(passTiles<Shape>(n)));
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& /*sort*/) {
        constexpr auto kernel = kernSortByDigit<Shape, Bits, Value, Count>;
        return onCurrentDevice<kernel>(Shape::threads, sharedBytes<Bits, Value>).blocksPerMultiprocessor >=
               blocksPerMultiprocessor;
    }

    template <typename Bits, typename Value, typename Count>
    static void launch(const SortCall<Bits, Value, Count>& sort) {
        ScratchArena rest = sort.arena;
        const Memory<Bits, Value> memory(sort, rest);
        clear(sort, memory, memory.counters);
        countDigits(sort, memory);
        if (sort.consumesInput()) {
            launchCopy(sort, memory.plan);
        }
        launchPasses(sort, memory, memory.plan, 0);
    }

    /// What the kernels share.
    template <typename Bits, typename Value>
    struct Memory {
        template <typename Count>
        Memory(const SortCall<Bits, Value, Count>& sort, ScratchArena& arena)
            : counters(arena.take<Counters>(1)), statuses{nullptr, passTiles<Shape>(sort.capacity())} {
            statuses.words = arena.take<std::uint64_t>(2 * DigitStatuses::wordsPerSet(statuses.tiles));
            plan = arena.take<Plan>(1);
            arrays = {sort.in, sort.out,
                      sort.consumesInput() ? sort.consumed : takeElements<Bits, Value>(arena, sort.capacity())};
        }

        Counters* counters;
        DigitStatuses statuses;
        Plan* plan;
        SortArrays<Bits, Value> arrays;
    };

    /// Enqueues the clearing of counters and statuses, and of the memory from `begin` to them.
    template <typename Bits, typename Value, typename Count>
    static void clear(const SortCall<Bits, Value, Count>& sort, const Memory<Bits, Value>& memory, void* begin) {
        clearStatuses<Shape>(sort.n, memory.statuses, begin, sort.stream);
    }

    /// Enqueues the counts of all digits, from which the last block plans the passes.
    template <typename Bits, typename Value, typename Count>
    static void countDigits(const SortCall<Bits, Value, Count>& sort, const Memory<Bits, Value>& memory) {
        withDigitCounters<Bits>([&](auto shape, auto replicas, std::size_t countBytes) {
            using CountShape = decltype(shape);
            constexpr auto count = kernCountDigits<CountShape, replicas(), Bits, Count>;
            const unsigned resident = onCurrentDevice<count>(CountShape::threads, countBytes).residentBlocks;
            if (resident == 0) {
                return false;
            }
            const auto blocks =
                std::min<std::size_t>(resident, Common::divideRoundUp(sort.capacity(), CountShape::elements));
            StreamCompaction::launch<count>({blocks, CountShape::threads, countBytes}, sort.stream, sort.n, memory.plan,
                                            memory.counters, sort.in.keys, sort.range, sort.coding,
                                            sort.consumesInput());
            return true;
        });
    }

    /// Enqueues the passes of a plan, from a digit on.
    template <typename Bits, typename Value, typename Count>
    static void launchPasses(const SortCall<Bits, Value, Count>& sort, const Memory<Bits, Value>& memory, Plan* plan,
                             int firstDigit) {
        constexpr auto kernel = kernSortByDigit<Shape, Bits, Value, Count>;
        constexpr std::size_t bytes = sharedBytes<Bits, Value>;
        const std::size_t tiles = memory.statuses.tiles;
        const std::size_t blocks = blocksForTiles<kernel, Count>(tiles, Shape::threads, bytes);
        const int distance = prefetchDistance<kernel>(blocks, tiles, Shape::threads, bytes);
        for (int i = firstDigit; i < sort.range.count(); ++i) {
            StreamCompaction::launch<kernel>({blocks, Shape::threads, bytes, Begin::Programmatic}, sort.stream, sort.n,
                                             memory.arrays, memory.statuses, plan, orderFor(sort.order, blocks, tiles),
                                             i, sort.range.digit(i), sort.coding, distance, WholeArray{});
        }
    }

  private:
    template <typename Bits, typename Value>
    static constexpr std::size_t sharedBytes = sizeof(PassStorage<Shape, Bits, Value>);
};

/// Sorts by at most `mostBlocks` blocks that are resident together, each with `tiles` tiles and buckets, unless a
/// bucket is too large. For keys alone of 4 bytes, all bits of which count, if they are not to be overwritten. A sort
/// in passes behind it finds out from the device whether it is needed.
template <typename Shape, int tiles, std::size_t mostBlocks>
struct BucketAttempt {
    using Bucket = InGroups<Shape>;
    static_assert(std::has_single_bit(mostBlocks) && mostBlocks * tiles <= digitValues);
    static_assert(tiles * Shape::elements <= 0xffff, "counts have 16 bits");
    static constexpr std::size_t mostElements = mostBlocks * tiles * Shape::elements;

    template <typename Bits, typename Value>
    static constexpr bool serves = sizeof(Bits) == 4 && Bucket::template serves<Bits, Value>;

    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n) {
        return !serves<Bits, Value>
                   ? 0
                   : scratchBytesFor<std::uint16_t>(counts(blocksOf(n))) + scratchBytesFor<int>(blocksOf(n));
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        if constexpr (serves<Bits, Value>) {
            return sort.coding.onlyInverts() && sort.sortsByAllBits() && !sort.consumesInput() &&
                   fitTogether<Grid, kernel<Bits, Count>>(blocksOf(sort.capacity()), Shape::threads, sharedBytes<Bits>);
        } else {
            return false;
        }
    }

    /// Enqueues the attempt, unless the card refuses to hold the blocks together. `memory` is that of InPasses.
    template <typename Bits, typename Value, typename Count, typename Memory>
    static void launch(const SortCall<Bits, Value, Count>& sort, const Memory& memory, ScratchArena& arena) {
        if constexpr (serves<Bits, Value>) {
            const std::size_t blocks = blocksOf(sort.capacity());
            auto* const rows = arena.take<std::uint16_t>(counts(blocks));
            auto* const widths = arena.take<int>(blocks);
            (void)tryLaunch<kernel<Bits, Count>>(
                {blocks, Shape::threads, sharedBytes<Bits>, Begin::Cooperative}, sort.stream, sort.n,
                ResidentArrays<Bits, Value>{sort.in, sort.out, memory.arrays.spare, {}, rows}, widths, sort.range,
                sort.coding, memory.counters, memory.plan);
        }
    }

  private:
    template <typename Bits, typename Count>
    static constexpr auto kernel = kernTryBuckets<Grid, Shape, tiles, Bucket, Bits, Count>;
    template <typename Bits>
    static constexpr std::size_t sharedBytes = sizeof(BucketStorage<Shape, Bucket, tiles, Bits, NoValue>);

    [[nodiscard]] static std::size_t blocksOf(std::size_t n) {
        return std::bit_ceil(Common::divideRoundUp(std::min(n, mostElements), std::size_t{tiles} * Shape::elements));
    }
    [[nodiscard]] static constexpr std::size_t counts(std::size_t blocks) {
        return residentCounts(Buckets::mostCounts, blocks);
    }
};

/// Sorts by `Attempt`, a BucketAttempt, and if that fails by `Passes`, which are InPasses.
template <typename Attempt, typename Passes>
struct InBuckets {
    static constexpr std::size_t mostElements = Attempt::mostElements;

    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool consumesInput) {
        return !Attempt::template serves<Bits, Value> ? 0
                                                      : Passes::template scratchBytes<Bits, Value>(n, consumesInput) +
                                                            Attempt::template scratchBytes<Bits, Value>(n);
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        return Attempt::fits(sort) && Passes::fits(sort);
    }

    template <typename Bits, typename Value, typename Count>
    static void launch(const SortCall<Bits, Value, Count>& sort) {
        ScratchArena rest = sort.arena;
        const typename Passes::template Memory<Bits, Value> memory(sort, rest);
        Passes::clear(sort, memory, memory.counters);
        Attempt::launch(sort, memory, rest);
        Passes::countDigits(sort, memory);
        Passes::launchPasses(sort, memory, memory.plan, 0);
    }
};

/// Sorts by the highest digits in passes, and then each span in shared memory, from `leastElements` elements on. If the
/// spans are uneven, sorts by all digits in passes. For keys of at least 4 bytes, all bits of which count, if they are
/// not to be overwritten. `Passes` are InPasses. If only the device knows the number, `Attempt` comes first, because it
/// may be small.
template <typename Passes, typename Shape, std::size_t leastElements, typename Attempt>
struct InSpans {
    static_assert(leastElements >= digitValues, "a sample is at least a block of keys");
    static constexpr std::size_t mostElements = anyNumber;

    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool consumesInput) {
        if (!serves<Bits> || n < leastElements) {
            return 0;
        }
        const std::size_t spans = Spans<Bits, Value>::bitsFor(n).spans();
        return Passes::template scratchBytes<Bits, Value>(n, consumesInput) +
               Attempt::template scratchBytes<Bits, Value>(n) + scratchBytesFor<Plan>(1) +
               scratchBytesFor<SpanState>(1) + scratchBytesFor<std::uint32_t>(spans) +
               scratchBytesFor<std::size_t>(spans + 1);
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        if constexpr (!serves<Bits>) {
            return false;
        } else {
            // If the spans replace only one pass, they save no time.
            return sort.capacity() >= leastElements && sort.sortsByAllBits() && !sort.consumesInput() &&
                   Spans<Bits, Value>::bitsFor(sort.capacity()).firstDigit > 1 && Passes::fits(sort) &&
                   onCurrentDevice<kernSortSpans<Spans<Bits, Value>, Count>>(Shape::threads, sharedBytes<Bits, Value>)
                           .residentBlocks > 0;
        }
    }

    template <typename Bits, typename Value, typename Count>
    static void launch(const SortCall<Bits, Value, Count>& sort) {
        if constexpr (serves<Bits>) {
            const SpanBits bits = Spans<Bits, Value>::bitsFor(sort.capacity());
            ScratchArena rest = sort.arena;
            auto* const state = rest.take<SpanState>(1);
            auto* const counts = rest.take<std::uint32_t>(bits.spans());
            const typename Passes::template Memory<Bits, Value> memory(sort, rest);
            auto* const highest = rest.take<Plan>(1);
            auto* const begins = rest.take<std::size_t>(bits.spans() + 1);

            Passes::clear(sort, memory, state);
            if constexpr (isOnDevice<Count>) {
                if (Attempt::fits(sort)) {
                    Attempt::launch(sort, memory, rest);
                }
            }
            Passes::countDigits(sort, memory);
            StreamCompaction::launch<kernPlanSpans<Spans<Bits, Value>, Count>>(
                {samplingBlocks(sort.capacity()), digitValues}, sort.stream, sort.n, sort.in.keys, sort.coding, counts,
                state, memory.plan, highest, bits.firstDigit, leastElements);
            Passes::launchPasses(sort, memory, highest, bits.firstDigit);
            constexpr int threads = 256;
            const std::size_t spansPerBlock = threads / Warp::lanes * (Warp::lanes - 1);
            StreamCompaction::launch<kernFindSpans<Bits>>(
                {Common::divideRoundUp(bits.spans() + 1, spansPerBlock), threads, 0, Begin::Programmatic}, sort.stream,
                begins, state, memory.plan, memory.arrays.spare.keys, Shape::elements);
            constexpr auto kernel = kernSortSpans<Spans<Bits, Value>, Count>;
            constexpr std::size_t bytes = sharedBytes<Bits, Value>;
            StreamCompaction::launch<kernel>(
                {blocksForTiles<kernel, Count>(bits.spans(), Shape::threads, bytes), Shape::threads, bytes,
                 Begin::Programmatic},
                sort.stream, sort.out,
                typename Spans<Bits, Value>::ConstArray{memory.arrays.spare.keys, memory.arrays.spare.values}, begins,
                state, bits.bits, sort.coding);
            Passes::launchPasses(sort, memory, memory.plan, 0);
        }
    }

  private:
    template <typename Bits>
    static constexpr bool serves = sizeof(Bits) >= sizeof(std::uint32_t);
    template <typename Bits, typename Value>
    using Spans = SpanSort<Shape, Bits, Value>;
    template <typename Bits, typename Value>
    static constexpr std::size_t sharedBytes = sizeof(SpanStorage<Shape, Bits, Value>);
};

/// A table of ways, in the order in which they are tried.
template <typename... Ways>
struct WayTable {
    /// Enough for each of the ways, for n elements and for fewer.
    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool consumesInput) {
        return std::max({Ways::template scratchBytes<Bits, Value>(std::min(n, Ways::mostElements), consumesInput)...});
    }

    /// Launches the first way that holds the array, fits and is not refused. Returns false if there is none.
    template <typename Call>
    [[nodiscard]] static bool launch(const Call& call) {
        const std::size_t most = capacityOf(call.n);
        return ((most <= Ways::mostElements && Ways::fits(call) && isLaunched<Ways>(call)) || ...);
    }

  private:
    template <typename Way, typename Call>
    [[nodiscard]] static bool isLaunched(const Call& call) {
        if constexpr (std::is_void_v<decltype(Way::launch(call))>) {
            Way::launch(call);
            return true;
        } else {
            return Way::launch(call);
        }
    }
};

}  // namespace StreamCompaction::Radix
