#pragma once

#include <algorithm>

#include "stream_compaction/common.cuh"
#include "stream_compaction/runtime/launch.cuh"
#include "stream_compaction/segments/sort_kernels.cuh"

namespace StreamCompaction {

/// Sorts each segment of an array, stably: `sort(keysIn, segments, keysOut, n, scratch, stream)`, or with values
/// `sort(keysIn, segments, keysOut, valuesIn, valuesOut, n, scratch, stream)`.
///
/// `segments` is `segmentsAt(begins, count)`. As for a scan, elements before the first offset are a segment, and
/// offsets of n or more mark nothing. Only the device knows the lengths of segments. Those of up to 512 elements are
/// sorted in the registers of a warp, short ones several at a time; of up to 128 if keys of eight bytes have values. A
/// block sorts a longer one, in shared memory if it has up to 1536 elements, or up to 4096 if they are small. Otherwise
/// it makes one pass over the segment per byte of the key.
/// All blocks together do the same with a huge segment, which has at least 8 such tiles, and more tiles than n elements
/// have segments of its length.
///
/// Keys, values and their order are as for Radix::Sort: integers, float and double, with values of 1 to 16 bytes. No
/// array may overlap another. Neither allocates nor synchronises. A card with too little shared memory throws
/// CudaError. The scratch may hold anything and keeps nothing from call to call. It has room for an array of keys, one
/// of values, at most 8 bytes per 129 elements, and 2 MiB if a segment may be huge.
struct SegmentedSort {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    bool descending = false;  ///< greatest key first; equal keys keep their order

    /// The bytes of scratch that a call with these arguments needs.
    template <typename K, typename Offset, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, const SegmentsAt<Offset>& segments, K* /*keysOut*/,
                                           N n) const {
        return scratchOf<K, Radix::NoValue>(segments, capacityOf(n));
    }
    /// Sorts keys.
    template <typename K, typename Offset, ElementCount N>
    void operator()(const K* keysIn, const SegmentsAt<Offset>& segments, K* keysOut, N n, Scratch scratch,
                    cudaStream_t stream) const {
        const ScratchArena arena(scratch, scratchBytes(keysIn, segments, keysOut, n));
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(number, {Arguments::array("keysIn", keysIn, most), Segments::arrayOf(segments)},
                     {Arguments::array("keysOut", keysOut, most)});
        run<K, Radix::NoValue>({Radix::bitsOf(keysIn), nullptr}, {Radix::bitsOf(keysOut), nullptr}, segments, number,
                               arena, stream);
    }

    /// Keys and values.
    template <typename K, typename V, typename Offset, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, const SegmentsAt<Offset>& segments, K* /*keysOut*/,
                                           const V* /*valuesIn*/, V* /*valuesOut*/, N n) const {
        return scratchOf<K, V>(segments, capacityOf(n));
    }
    /// Sorts keys and their values.
    template <typename K, typename V, typename Offset, ElementCount N>
    void operator()(const K* keysIn, const SegmentsAt<Offset>& segments, K* keysOut, const V* valuesIn, V* valuesOut,
                    N n, Scratch scratch, cudaStream_t stream) const {
        const ScratchArena arena(scratch, scratchBytes(keysIn, segments, keysOut, valuesIn, valuesOut, n));
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(number,
                     {Arguments::array("keysIn", keysIn, most), Arguments::array("valuesIn", valuesIn, most),
                      Segments::arrayOf(segments)},
                     {Arguments::array("keysOut", keysOut, most), Arguments::array("valuesOut", valuesOut, most)});
        if constexpr (areElements<Radix::Carried<V>>()) {
            run<K, Radix::Carried<V>>({Radix::bitsOf(keysIn), Radix::carried(valuesIn)},
                                      {Radix::bitsOf(keysOut), Radix::carried(valuesOut)}, segments, number, arena,
                                      stream);
        }
    }

  private:
    static constexpr std::size_t mostBlocks = 1024;  // that sort long segments
    static constexpr std::size_t hugeBytes = scratchBytesFor<std::uint64_t>(Segments::Team::countsOf(mostBlocks));

    template <typename K, typename V, typename Offset>
    [[nodiscard]] static std::size_t scratchOf(const SegmentsAt<Offset>& segments, std::size_t n) {
        static_assert(std::is_trivially_copyable_v<V>, "values are trivially copyable");
        static_assert(sizeof(V) <= 16, "values of up to 16 bytes");
        Arguments::requireSize<K, V>(n);
        Arguments::requireSize<Offset>(segments.count);
        (void)Common::blocksFor(segments.count + 1, Segments::shortThreads);
        const std::size_t mostLong = Segments::LongSegments::most<BitsOf<K>, V>(n);
        if (mostLong == 0) {
            return 0;
        }
        return scratchBytesFor<Segments::LongSegments::Counters>(1) + scratchBytesFor<std::uint64_t>(mostLong) +
               Radix::elementBytes<BitsOf<K>, V>(n) + (n >= Segments::leastHuge<BitsOf<K>, V> ? hugeBytes : 0);
    }

    template <typename K, typename Value, typename Offset, typename Count>
    void run(Radix::Elements<const BitsOf<K>, const Value> in, Radix::Elements<BitsOf<K>, Value> out,
             const SegmentsAt<Offset>& segments, Count n, ScratchArena arena, cudaStream_t stream) const {
        using Bits = BitsOf<K>;
        const std::size_t most = capacityOf(n);
        if (most == 0) {
            tellExceeded(n, stream);
            return;
        }
        const auto coding = KeyCoding<Bits>::template of<K>(descending);
        const std::size_t mostLong = Segments::LongSegments::most<Bits, Value>(most);
        Segments::LongSegments longSegments{nullptr, nullptr, mostLong};
        if (mostLong > 0) {
            longSegments.counters = arena.take<Segments::LongSegments::Counters>(1);
            longSegments.indices = arena.take<std::uint64_t>(mostLong);
            Common::checkCUDAError(cudaMemsetAsync(longSegments.counters, 0, sizeof(*longSegments.counters), stream),
                                   "cudaMemsetAsync");
        }
        sortShort(n, out, in, segments, longSegments, coding, stream);
        if (mostLong == 0) {
            return;
        }
        constexpr auto kernel = Segments::kernSortLongSegments<Bits, Value, Offset, Count>;
        constexpr int threadsPerBlock = Segments::SmallTile::threads;
        constexpr std::size_t sharedBytes = sizeof(Segments::LongStorage<Bits, Value>);
        const std::size_t mostResident = std::min<std::size_t>(
            {mostLong, mostBlocks, onCurrentDevice<kernel>(threadsPerBlock, sharedBytes).residentBlocks});
        if (mostResident == 0) {
            Common::throwTooLittleSharedMemory("segmented sort");
        }
        const auto spare = Radix::takeElements<Bits, Value>(arena, most);
        const bool mayBeHuge = most >= Segments::leastHuge<Bits, Value>;
        auto* const counts = mayBeHuge ? arena.take<std::uint64_t>(Segments::Team::countsOf(mostBlocks)) : nullptr;
        launchAtMost(mostResident, 1, [&](std::size_t blocks) {
            const Begin begin = mayBeHuge && blocks > 1 ? Begin::Cooperative : Begin::Programmatic;
            return tryLaunch<kernel>({blocks, threadsPerBlock, sharedBytes, begin}, stream, n, out, spare, in, segments,
                                     longSegments, counts, DigitRange{0, 8 * static_cast<int>(sizeof(K))}, coding);
        });
    }

    /// Sorts the segments that are not too long for a warp, and lists the others.
    template <typename Bits, typename Value, typename Offset, typename Count>
    static void sortShort(Count n, Radix::Elements<Bits, Value> out, Radix::Elements<const Bits, const Value> in,
                          const SegmentsAt<Offset>& segments, const Segments::LongSegments& longSegments,
                          const KeyCoding<Bits>& coding, cudaStream_t stream) {
        constexpr auto kernel = Segments::kernSortShortSegments<Bits, Value, Offset, Count>;
        constexpr int threads = Segments::shortThreads;
        constexpr std::size_t warps = threads / Warp::lanes;
        const std::size_t resident = onCurrentDevice<kernel>(threads).residentBlocks;
        const std::size_t perWarp = Segments::segmentsPerWarp(segments.count, resident * warps);
        std::size_t blocks = Common::divideRoundUp(segments.count + 1, perWarp * warps);
        if constexpr (isOnDevice<Count>) {
            // There may be few elements, and a block without any takes about a nanosecond. But with several rounds of
            // blocks, one that is done early makes room for the next.
            constexpr std::size_t mostRounds = 4;
            blocks = std::min(blocks, mostRounds * resident);
        }
        launch<kernel>({.blocks = blocks, .threads = threads, .carveout = cudaSharedmemCarveoutDefault}, stream, n, out,
                       in, segments, resident * warps, longSegments, coding);
    }
};

}  // namespace StreamCompaction
