#pragma once

#include <algorithm>

#include "stream_compaction/common.cuh"
#include "stream_compaction/radix_sort/onesweep.cuh"
#include "stream_compaction/radix_sort/resident.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// The launches of a radix sort, in shapes of the caller's choice.
namespace StreamCompaction::Radix {

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

/// Scratch of a sort by so many blocks, each of which holds a tile: two arrays that passes write to in turn, and a
/// count a block, pass and digit value.
template <typename Bits, typename Value>
[[nodiscard]] std::size_t residentScratchBytes(std::size_t n, std::size_t blocks) {
    return 2 * elementBytes<Bits, Value>(n) + scratchBytesFor<std::uint16_t>(sizeof(Bits) * blocks * digitValues);
}

/// Tiles of a sort with a launch a pass. Throws std::invalid_argument unless an int counts their statuses, one a digit
/// value.
template <typename Shape>
[[nodiscard]] std::size_t passTiles(std::size_t n) {
    Arguments::requireAtMost("n", n, Common::mostBlocks / digitValues * Shape::elements);
    return Common::divideRoundUp(n, Shape::elements);
}

/// Scratch of a sort with a launch a pass: an array as large as the input, unless that serves for it; the plan and what
/// leads to it; the statuses.
template <typename Shape, typename Bits, typename Value>
[[nodiscard]] std::size_t passesScratchBytes(std::size_t n, bool mayDestroyInput) {
    return (mayDestroyInput ? 0 : elementBytes<Bits, Value>(n)) + scratchBytesFor<Plan>(1) +
           scratchBytesFor<Counters>(1) +
           scratchBytesFor<std::uint64_t>(2 * DigitStatuses::wordsPerSet(passTiles<Shape>(n)));
}

/// A sort of n > 0 elements. Each way returns false, and launches nothing, where the array is too large for it or the
/// card too small.
template <typename Bits, typename Value>
struct Launcher {
    Elements<const Bits, const Value> in;
    Elements<Bits, Value> out;
    std::size_t n;
    DigitRange range;
    KeyCoding<Bits> coding;
    bool mayDestroyInput;
    ScratchArena arena;
    cudaStream_t stream;

    /// By one block.
    template <typename Shape>
    [[nodiscard]] bool byBlock(Shape) const {
        constexpr auto kernel = kernSortBlock<Shape, Bits, Value>;
        using Place = std::conditional_t<hasValues<Value>, std::uint16_t, NoValue>;
        constexpr std::size_t sharedBytes = sizeof(TileStorage<Shape, Bits, Place>);
        if (n > Shape::elements || onCurrentDevice<kernel>(Shape::threads, sharedBytes).residentBlocks == 0) {
            return false;
        }
        launch<kernel>({1, Shape::threads, sharedBytes}, stream, n, out, in, range, coding);
        return true;
    }

    /// By a cluster of blocks.
    template <typename Shape>
    [[nodiscard]] bool byCluster(Shape) const {
        constexpr auto kernel = kernSortResident<Cluster, Shape, Bits, Value>;
        return Common::divideRoundUp(n, Shape::elements) <= onDevice<kernel, Shape>().clusterBlocks &&
               launchResident<kernel, Shape>(Begin::Cluster);
    }

    /// By a cooperative grid.
    template <typename Shape>
    [[nodiscard]] bool byGrid(Shape) const {
        constexpr auto kernel = kernSortResident<Grid, Shape, Bits, Value>;
        return Common::divideRoundUp(n, Shape::elements) <= onDevice<kernel, Shape>().residentBlocks &&
               launchResident<kernel, Shape>(Begin::Cooperative);
    }

    /// With a launch a pass, if a multiprocessor holds so many of the blocks at once.
    template <typename Shape>
    [[nodiscard]] bool inPasses(Shape, int blocksPerMultiprocessor) const {
        constexpr auto kernel = kernSortByDigit<Shape, Bits, Value>;
        constexpr std::size_t sharedBytes = sizeof(TileStorage<Shape, Bits, Value>);
        if (onCurrentDevice<kernel>(Shape::threads, sharedBytes).blocksPerMultiprocessor < blocksPerMultiprocessor) {
            return false;
        }
        // What has to be cleared lies side by side: the counters and the first set of statuses.
        const std::size_t tiles = passTiles<Shape>(n);
        ScratchArena rest = arena;
        auto* const counters = rest.take<Counters>(1);
        const DigitStatuses statuses{rest.take<std::uint64_t>(2 * DigitStatuses::wordsPerSet(tiles)), tiles};
        auto* const plan = rest.take<Plan>(1);
        const Scratch cleared(reinterpret_cast<std::byte*>(counters),
                              reinterpret_cast<std::byte*>(statuses.words + DigitStatuses::wordsPerSet(tiles)));

        SortArrays<Bits, Value> arrays{in, out, {}};
        if (mayDestroyInput) {
            arrays.spare = {const_cast<Bits*>(in.keys), const_cast<Value*>(in.values)};
        } else {
            arrays.spare = takeElements<Bits, Value>(rest, n);
        }
        if (!launchCount<128>(plan, counters, cleared) && !launchCount<32>(plan, counters, cleared)) {
            return false;
        }
        if (mayDestroyInput) {
            constexpr int threads = 256;
            launch<kernCopyFirst<Bits, Value>>({Common::blocksFor(n, threads), threads}, stream, n, out, in, plan);
        }
        for (int i = 0; i < range.count(); ++i) {
            launch<kernel>({tiles, Shape::threads, sharedBytes, Begin::Programmatic}, stream, n, arrays, statuses, plan,
                           i, range.digit(i), coding);
        }
        return true;
    }

  private:
    template <typename Shape>
    static constexpr std::size_t residentSharedBytes = sizeof(ResidentStorage<Shape, Bits, Value>);

    template <auto kernel, typename Shape>
    [[nodiscard]] static KernelProperties onDevice() {
        return onCurrentDevice<kernel>(Shape::threads, residentSharedBytes<Shape>);
    }

    template <auto kernel, typename Shape>
    bool launchResident(Begin begin) const {
        const std::size_t blocks = Common::divideRoundUp(n, Shape::elements);
        ScratchArena rest = arena;
        const auto spare = takeElements<Bits, Value>(rest, n);
        const auto otherSpare = takeElements<Bits, Value>(rest, n);
        auto* const counts = rest.take<std::uint16_t>(range.count() * blocks * digitValues);
        launch<kernel>({blocks, Shape::threads, residentSharedBytes<Shape>, begin}, stream, n, out, spare, otherSpare,
                       counts, in, range, coding);
        return true;
    }

    /// Clears the scratch that has to be, then takes the histograms, in so much shared memory, if the card has as much.
    template <std::size_t kibibytes>
    [[nodiscard]] bool launchCount(Plan* plan, Counters* counters, Scratch cleared) const {
        using Shape = TileShape<1024, 4, vectorLength<Bits>>;
        constexpr std::size_t bytesOfAReplica = sizeof(Bits) * digitValues * sizeof(std::uint32_t);
        constexpr int replicas = static_cast<int>(std::min<std::size_t>(32, (kibibytes << 10) / bytesOfAReplica));
        constexpr auto kernel = kernCountDigits<Shape, replicas, Bits>;
        constexpr std::size_t sharedBytes = replicas * bytesOfAReplica;
        const unsigned resident = onCurrentDevice<kernel>(Shape::threads, sharedBytes).residentBlocks;
        if (resident == 0) {
            return false;
        }
        Common::checkCUDAError(cudaMemsetAsync(cleared.data(), 0, cleared.size(), stream), "cudaMemsetAsync");
        const auto blocks = std::min<std::size_t>(resident, Common::divideRoundUp(n, Shape::elements));
        launch<kernel>({blocks, Shape::threads, sharedBytes}, stream, n, plan, counters, in.keys, range, coding,
                       mayDestroyInput);
        return true;
    }
};

}  // namespace StreamCompaction::Radix
