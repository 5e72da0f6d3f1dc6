#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "stream_compaction/common.cuh"
#include "stream_compaction/radix_sort/onesweep.cuh"
#include "stream_compaction/radix_sort/resident.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// The ways to launch a radix sort: by a block, by a cluster, by a grid, with a launch per pass. Each way is a type
/// with the shape of its tiles as a parameter, and has
///
///   scratchBytes<Bits, Value>(n, consumesInput)   the scratch that it takes, on any card;
///   fits(sort)                                    whether it holds the array and the current card can launch it;
///   launch(sort)                                  enqueues the kernels; requires that it fits.
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
};

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

/// By one block, in its registers and shared memory.
template <typename Shape>
struct ByBlock {
    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t /*n*/, bool /*consumesInput*/) {
        return 0;
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        constexpr auto kernel = kernSortBlock<Shape, Bits, Value, Count>;
        return sort.capacity() <= Shape::elements &&
               onCurrentDevice<kernel>(Shape::threads, sharedBytes<Bits, Value>).residentBlocks > 0;
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

/// By at most `mostBlocks` blocks that are resident together, one tile per block. `Blocks` is Cluster or Grid.
template <typename Blocks, typename Shape, std::size_t mostBlocks>
struct ByResidentBlocks {
    /// Two arrays that passes write to in turn, and 16-bit counts: one per pass, block and digit value.
    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool /*consumesInput*/) {
        return n > mostBlocks * Shape::elements
                   ? 0
                   : 2 * elementBytes<Bits, Value>(n) +
                         scratchBytesFor<std::uint16_t>(sizeof(Bits) * blocksOf(n) * digitValues);
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        if (blocksOf(sort.capacity()) > mostBlocks) {
            return false;
        }
        const auto card = onCurrentDevice<kernSortResident<Blocks, Shape, Bits, Value, Count>>(
            Shape::threads, sharedBytes<Bits, Value>);
        return blocksOf(sort.capacity()) <= (isCluster ? card.clusterBlocks : card.residentBlocks);
    }

    template <typename Bits, typename Value, typename Count>
    static void launch(const SortCall<Bits, Value, Count>& sort) {
        const std::size_t blocks = blocksOf(sort.capacity());
        ScratchArena rest = sort.arena;
        const auto spare = takeElements<Bits, Value>(rest, sort.capacity());
        const auto otherSpare = takeElements<Bits, Value>(rest, sort.capacity());
        auto* const counts = rest.take<std::uint16_t>(sort.range.count() * blocks * digitValues);
        StreamCompaction::launch<kernSortResident<Blocks, Shape, Bits, Value, Count>>(
            {blocks, Shape::threads, sharedBytes<Bits, Value>, isCluster ? Begin::Cluster : Begin::Cooperative},
            sort.stream, sort.n, sort.out, spare, otherSpare, counts, sort.in, sort.range, sort.coding);
    }

  private:
    static constexpr bool isCluster = std::is_same_v<Blocks, Cluster>;

    template <typename Bits, typename Value>
    static constexpr std::size_t sharedBytes = sizeof(ResidentStorage<Shape, Bits, Value>);

    [[nodiscard]] static std::size_t blocksOf(std::size_t n) { return Common::divideRoundUp(n, Shape::elements); }
};

/// The largest cluster of any card so far.
inline constexpr std::size_t mostClusterBlocks = 16;

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

/// With one launch per pass, on cards whose multiprocessors hold at least `blocksPerMultiprocessor` blocks each.
template <typename Shape, int blocksPerMultiprocessor = 1,
          std::size_t mostElements = std::numeric_limits<std::size_t>::max()>
struct InPasses {
    /// A spare array as large as the input, unless the input serves as one. Then counters, statuses and the plan.
    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool consumesInput) {
        if (n > mostElements) {
            return 0;
        }
        return (consumesInput ? 0 : elementBytes<Bits, Value>(n)) + scratchBytesFor<Plan>(1) +
               scratchBytesFor<Counters>(1) +
               scratchBytesFor<std::uint64_t>(2 * DigitStatuses::wordsPerSet(passTiles<Shape>(n)));
    }

    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        constexpr auto kernel = kernSortByDigit<Shape, Bits, Value, Count>;
        return sort.capacity() <= mostElements &&
               onCurrentDevice<kernel>(Shape::threads, sharedBytes<Bits, Value>).blocksPerMultiprocessor >=
                   blocksPerMultiprocessor;
    }

    template <typename Bits, typename Value, typename Count>
    static void launch(const SortCall<Bits, Value, Count>& sort) {
        const std::size_t tiles = passTiles<Shape>(sort.capacity());
        ScratchArena rest = sort.arena;
        auto* const counters = rest.take<Counters>(1);
        const DigitStatuses statuses{rest.take<std::uint64_t>(2 * DigitStatuses::wordsPerSet(tiles)), tiles};
        auto* const plan = rest.take<Plan>(1);
        const SortArrays<Bits, Value> arrays{
            sort.in, sort.out, sort.consumesInput() ? sort.consumed : takeElements<Bits, Value>(rest, sort.capacity())};

        clearStatuses<Shape>(sort.n, statuses, counters, sort.stream);
        if (!launchCount<128>(sort, plan, counters)) {
            (void)launchCount<32>(sort, plan, counters);
        }
        if (sort.consumesInput()) {
            constexpr int threads = 256;
            constexpr auto copy = kernCopyFirst<Bits, Value, Count>;
            const std::size_t blocks =
                blocksForTiles<copy, Count>(Common::blocksFor(sort.capacity(), threads), threads);
            StreamCompaction::launch<copy>({blocks, threads}, sort.stream, sort.n, sort.out, sort.in, plan);
        }
        constexpr auto kernel = kernSortByDigit<Shape, Bits, Value, Count>;
        const std::size_t blocks = blocksForTiles<kernel, Count>(tiles, Shape::threads, sharedBytes<Bits, Value>);
        const int distance = prefetchDistance<kernel>(Shape::threads, sharedBytes<Bits, Value>);
        for (int i = 0; i < sort.range.count(); ++i) {
            StreamCompaction::launch<kernel>({blocks, Shape::threads, sharedBytes<Bits, Value>, Begin::Programmatic},
                                             sort.stream, sort.n, arrays, statuses, plan, orderFor<Count>(sort.order),
                                             i, sort.range.digit(i), sort.coding, distance);
        }
    }

  private:
    template <typename Bits, typename Value>
    static constexpr std::size_t sharedBytes = sizeof(PassStorage<Shape, Bits, Value>);

    /// Computes the histograms in at most `kibibytes` KiB of shared memory per block. Returns false if the card has
    /// less. Every card has 32.
    template <std::size_t kibibytes, typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool launchCount(const SortCall<Bits, Value, Count>& sort, Plan* plan, Counters* counters) {
        using CountShape = TileShape<1024, 4, vectorLength<Bits>>;
        constexpr std::size_t bytesPerReplica = sizeof(Bits) * digitValues * sizeof(std::uint32_t);
        constexpr int replicas = static_cast<int>(std::min<std::size_t>(32, (kibibytes << 10) / bytesPerReplica));
        constexpr auto kernel = kernCountDigits<CountShape, replicas, Bits, Count>;
        constexpr std::size_t countBytes = replicas * bytesPerReplica;
        const unsigned resident = onCurrentDevice<kernel>(CountShape::threads, countBytes).residentBlocks;
        if (resident == 0) {
            return false;
        }
        const auto blocks =
            std::min<std::size_t>(resident, Common::divideRoundUp(sort.capacity(), CountShape::elements));
        StreamCompaction::launch<kernel>({blocks, CountShape::threads, countBytes}, sort.stream, sort.n, plan, counters,
                                         sort.in.keys, sort.range, sort.coding, sort.consumesInput());
        return true;
    }
};

/// A table of ways, in the order in which they are tried.
template <typename... Ways>
struct WayTable {
    /// Enough for each of the ways.
    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool consumesInput) {
        return std::max({Ways::template scratchBytes<Bits, Value>(n, consumesInput)...});
    }

    /// Launches the first way that fits. Returns false if none does.
    template <typename Call>
    [[nodiscard]] static bool launch(const Call& call) {
        return ((Ways::fits(call) && (Ways::launch(call), true)) || ...);
    }
};

}  // namespace StreamCompaction::Radix
