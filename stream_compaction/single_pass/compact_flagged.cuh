#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/chain.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/primitives/packed_bits.cuh"
#include "stream_compaction/primitives/previous.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/tile_order.cuh"
#include "stream_compaction/runtime/clear_words.cuh"
#include "stream_compaction/runtime/launch.cuh"
#include "stream_compaction/single_pass/compact.cuh"
#include "stream_compaction/single_pass/dispatch.cuh"

namespace StreamCompaction::SinglePass {

/// The place of an element in its tile.
using PlaceInTile = std::uint16_t;

/// The tile of a block: at most 32 elements and 128 bytes of the flags per thread.
template <typename S>
using FlaggedTile =
    TileShape<256, std::max(1, static_cast<int>(std::min<std::size_t>(32, 128 / sizeof(S)) / vectorLength<S>)),
              vectorLength<S>>;

/// The tile of a block that meets all others: small, so that few elements occupy many multiprocessors.
template <typename S>
using SmallFlaggedTile = TileShape<256, 1, vectorLength<S>>;

/// Stores load(i) at to[i] for each i below `end`, by all threads of the block. The loads of a batch are on their way
/// at once.
template <typename Word, typename Load>
__device__ void storeLoaded(Word* to, unsigned end, Load load) {
    constexpr unsigned batch = 4;
    for (unsigned first = threadIdx.x; first < end; first += batch * blockDim.x) {
        Word words[batch];
#pragma unroll
        for (unsigned j = 0; j < batch; ++j) {
            if (const unsigned i = first + j * blockDim.x; i < end) {
                words[j] = load(i);
            }
        }
#pragma unroll
        for (unsigned j = 0; j < batch; ++j) {
            if (const unsigned i = first + j * blockDim.x; i < end) {
                to[i] = words[j];
            }
        }
    }
}

/// Copies the elements at these places behind `begin` of the source, by all threads of the block. Consecutive threads
/// copy consecutive words, so the accesses of a warp share sectors whatever the size of an element.
template <typename Source, typename T>
__device__ void gatherRun(T* to, const Source& source, std::size_t begin, const PlaceInTile* places, unsigned count) {
    if constexpr (std::is_same_v<Source, ArraySource<T>>) {
        using Word = AnyObject<AlignedWord<T>>;
        constexpr unsigned words = sizeof(T) / sizeof(Word);
        const auto* const from = reinterpret_cast<const Word*>(source.elements + begin);
        storeLoaded(reinterpret_cast<Word*>(to), count * words,
                    [=](unsigned i) { return from[places[i / words] * words + i % words]; });
    } else {
        storeLoaded(to, count, [&](unsigned i) { return valueAt(source, begin + places[i]); });
    }
}

/// Compaction by flags, fused with the chained scan of its counts (see kernCompactPacked).
///
/// A block loads the flags of its tile, counts what it keeps and publishes the count. It writes the places of the
/// kept elements, in order, to shared memory, where the flags were. If there are few blocks, they meet. Otherwise one
/// warp looks back. So the block learns how many elements earlier tiles keep. Then it copies the elements at these
/// places from global memory to the output.
/// Elements that are dropped are not read, unless they share a sector of 32 bytes with a kept one.
///
/// Work O(n), steps O(n / resident elements). Reads the flags, and the sectors that hold kept elements. Writes the
/// kept elements. DRAM bandwidth is the limit.
template <typename Shape, typename Chain, typename Source, typename Flags, typename T, typename Predicate,
          typename Count>
__global__ void __launch_bounds__(Shape::threads,
                                  blocksPerMultiprocessor(Shape::threads, tileBytes<Shape, Flags, PlaceInTile>, 40))
    kernCompactFlagged(Count number, T* odata, std::size_t* count, Chain chain, Source source, Flags flags,
                       TileOrder order, Predicate keep) {
    static_assert(Shape::elements <= 1 << 16, "a place has 16 bits");
    using Loader = SourceLoader<Flags, Shape, tileBytes<Shape, Flags, PlaceInTile>>;
    __shared__ typename Loader::Storage storage;
    __shared__ std::uint32_t warpCounts[Shape::warps];
    __shared__ GridSums<std::uint64_t> keptElsewhere;
    __shared__ int sharedTile;
    const std::size_t n = numberOf(number);
    const auto tiles = [all = Shape::tilesOf(n)] { return all; };
    if constexpr (isOnDevice<Count>) {
        countNothing(n, count);
    }
    Loader loader(storage, flags, n);

    forEachTile<Count>(chain, order, sharedTile, loader, tiles, [&](int tile) {
        const std::size_t begin = Shape::begin(tile);
        const int size = Shape::sizeOf(tile, n);

        // Decide what to keep, count it and publish the number.
        const typename PreviousFor<Predicate, typename Flags::Value>::Type previous(flags, Shape::beginOfWarp(tile), n);
        loader.finish(tile);
        KeptElements<Shape> kept;
        const std::uint32_t warpCount =
            kept.decide([&](int row) { return loader.row(row); }, previous, begin, size, keep);
        const auto place = Block::scanWarps<Shape::warps>(warpCount, warpCounts, Sum{});
        const LookBack::Count tileCount{place.all};
        if (Warp::index() == 0) {
            chain.publish(tile, tileCount);
        }

        // Write down the places of the kept elements, where the flags were.
        PlaceInTile* const places = reinterpret_cast<PlaceInTile*>(loader.memory());
        Vector<PlaceInTile, Shape::vectorLength> rows[Shape::rows];
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
#pragma unroll
            for (int i = 0; i < Shape::vectorLength; ++i) {
                rows[row].items[i] = static_cast<PlaceInTile>(Shape::offset(row) + i);
            }
        }
        kept.distribute(
            rows, place.before, size, [&](PlaceInTile at, std::uint32_t rank) { places[rank] = at; },
            [](PlaceInTile, std::uint32_t) {});

        shareKept(chain, tile, tiles(), tileCount, keptElsewhere, count);

        gatherRun(odata + keptElsewhere.before, source, begin, places, place.all);
    });
}

/// Stable compaction by flags: `compact(in, flags, out, count, n, [keep,] scratch, stream)`. Element i of `in` is kept
/// if `keep` holds for element i of `flags`; by default, if that is not zero. The kept elements go to `out`, in order,
/// and their number to `count`; both are in device memory. It takes one pass and reads only what it keeps. Use it for
/// large elements of which few are kept. Writes nothing past the kept elements. May not run in place. Neither allocates
/// nor synchronises. Throws what common.cuh says.
///
/// `flags` is an array of n bytes, bools or other elements in device memory, `packedBits(words)` for flags that are
/// packed 32 to a word, or a function of elements or of the index (primitives/source.cuh). `keep` is a predicate as for
/// `Compact`, of elements of `flags`.
///
/// `in` is an array of n elements in device memory, or a function of elements or of the index. A function is called for
/// kept elements alone; `indices()` gives their indices. Elements are trivially copyable, have 1 to 64 bytes, and lie
/// at any address that their type allows. The scratch may hold anything and keeps nothing from call to call.
struct CompactFlagged {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// How the blocks of large compactions get their tiles.
    TileOrder order = TileOrder::BlockIndex;
    /// The most elements that are kept (common.cuh).
    std::size_t maxOut = noLimit;

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename Flags, typename T, ElementCount N, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const In& /*in*/, const Flags& /*flags*/, T* /*out*/, CountPointer /*count*/,
                                           N n, const Functions&... /*functions*/) const {
        using Element = Stored<SourceOf<Flags>>;
        const std::size_t most = capacityOf(n);
        Arguments::requireSize<Stored<SourceOf<In>>, Element, T>(most);
        const std::size_t tiles = Common::blocksFor(most, FlaggedTile<Element>::elements);
        const std::size_t tilesTogether =
            std::min(Common::divideRoundUp(most, SmallFlaggedTile<Element>::elements), mostMeetingBlocks);
        return most == 0 ? 0
                         : std::max(scratchBytesFor<LookBack::Count>(tilesTogether),
                                    scratchBytesFor<std::uint64_t>(LookBackChain<LookBack::Count>::wordsFor(tiles)));
    }

    /// Keeps the elements whose flag is not zero.
    template <typename In, typename Flags, typename T, ElementCount N>
    void operator()(const In& in, const Flags& flags, T* out, CountPointer count, N n, Scratch scratch,
                    cudaStream_t stream) const {
        (*this)(in, flags, out, count, n, IsNonzero{}, scratch, stream);
    }

    /// Keeps the elements for whose flag `keep` holds.
    template <typename In, typename Flags, typename T, ElementCount N, typename Predicate>
    void operator()(const In& in, const Flags& flags, T* out, CountPointer count, N n, Predicate keep, Scratch scratch,
                    cudaStream_t stream) const {
        using Source = SourceOf<In>;
        using Element = Stored<SourceOf<Flags>>;
        static_assert(std::is_same_v<typename Source::Value, T>, "elements come out as they go in");
        static_assert(sizeof(T) <= 64 && sizeof(Element) <= 64, "elements of up to 64 bytes");
        const Source source = sourceOf(in);
        const SourceOf<Flags> flagSource = sourceOf(flags);
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(number, {arrayOf("in", source, most), arrayOf("flags", flagSource, most), arrayReadBy(keep, most)},
                     {Arguments::array("out", out, std::min(most, maxOut)), Arguments::array("count", count, 1)});
        ScratchArena arena(scratch, scratchBytes(in, flags, out, count, n));
        if (most == 0) {
            countNothing(number, count, stream);
            return;
        }
        if constexpr (areElements<T, Element>() && isPredicateFor<typename SourceOf<Flags>::Value, Predicate>()) {
            using SmallTile = SmallFlaggedTile<Element>;
            const bool isDone = areFew(Common::divideRoundUp(most, SmallTile::elements)) &&
                                compactTogether<SmallTile>(source, flagSource, out, count, number, keep, arena, stream);
            if (!isDone) {
                compactByLookBack<FlaggedTile<Element>>(source, flagSource, out, count, number, keep, arena, stream);
            }
        }
    }

    /// Over tiles of the given shape, by blocks that are all resident. Returns false if there are too many of them.
    template <typename Shape, typename Source, typename Flags, typename T, typename Count, typename Predicate>
    [[nodiscard]] bool compactTogether(const Source& source, const Flags& flags, T* out, std::size_t* count, Count n,
                                       Predicate keep, ScratchArena arena, cudaStream_t stream) const {
        using Chain = GridChain<LookBack::Count>;
        constexpr auto kernel = kernCompactFlagged<Shape, Chain, Source, Flags, T, Predicate, Count>;
        const std::size_t tiles = Common::divideRoundUp(capacityOf(n), Shape::elements);
        return tiles <= mostMeetingBlocks && launchTogether<kernel>({tiles, Shape::threads}, stream, n, out, count,
                                                                    Chain{arena.take<LookBack::Count>(tiles)}, source,
                                                                    flags, TileOrder::BlockIndex, keep);
    }

    /// Over tiles of the given shape, by look-back.
    template <typename Shape, typename Source, typename Flags, typename T, typename Count, typename Predicate>
    void compactByLookBack(const Source& source, const Flags& flags, T* out, std::size_t* count, Count n,
                           Predicate keep, ScratchArena arena, cudaStream_t stream) const {
        using Chain = LookBackChain<LookBack::Count>;
        constexpr auto kernel = kernCompactFlagged<Shape, Chain, Source, Flags, T, Predicate, Count>;
        const std::size_t tiles = Common::divideRoundUp(capacityOf(n), Shape::elements);
        const Chain chain{arena.take<std::uint64_t>(Chain::wordsFor(tiles)), tiles};
        clearWords(chain.words, Chain::wordsFor(tiles), stream);
        const std::size_t blocks = blocksForTiles<kernel, Count>(tiles, Shape::threads);
        launch<kernel>({blocks, Shape::threads, 0, Begin::Programmatic}, stream, n, out, count, chain, source, flags,
                       orderFor(order, blocks, tiles), keep);
    }
};

}  // namespace StreamCompaction::SinglePass
