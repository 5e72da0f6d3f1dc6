#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/chain.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/tile_order.cuh"
#include "stream_compaction/primitives/tile_scan.cuh"
#include "stream_compaction/runtime/clear_words.cuh"
#include "stream_compaction/runtime/launch.cuh"
#include "stream_compaction/single_pass/dispatch.cuh"

namespace StreamCompaction::SinglePass {

/// Whether a scan adds an element to its own sum.
enum class ScanKind {
    Exclusive,  ///< element i is the sum of the elements before i
    Inclusive,  ///< element i is the sum of the elements up to i
};

/// Registers per thread for its part of a tile and the sums of its vectors. Bytes are processed one per register.
template <typename Shape, typename T>
inline constexpr std::size_t registersToScan = std::max<std::size_t>(
    64, 16 + Shape::rows * (std::max(4, Shape::vectorLength) + Common::divideRoundUp(sizeof(T), 4)));

/// Scan in registers, for arrays that fit into those of one block or of all blocks together.
///
/// Each block loads a tile and scans it. The blocks exchange their totals around one barrier of the grid, and each adds
/// up the totals before its own. A single block needs no barrier of the grid. The order of additions depends only on n.
///
/// Work O(n + blocks^2), steps O(log n). Reads 4 bytes and writes 4 bytes per int. Latency is the limit at this
/// size: launch, load, barrier, store.
template <typename Shape, typename Source, typename Out, typename T, typename Op, typename Initial, typename Count>
__global__ void __launch_bounds__(Shape::threads, blocksPerMultiprocessor(Shape::threads, 0, registersToScan<Shape, T>))
    kernScanResident(Count count, Out* odata, GridChain<T> chain, Source source, Initial initial, bool inclusive,
                     Op op) {
    __shared__ SharedArray<T, Shape::warps> warpTotals;
    const std::size_t n = numberOf(count);
    const int tile = static_cast<int>(blockIdx.x);
    if (isOnDevice<Count> && tile >= Shape::tilesOf(n)) {
        if (gridDim.x > 1) {
            chain.publish(op.template identity<T>());
        }
        return;
    }
    const TileOf<Out> out = Shape::tileOf(odata, tile, n);

    // Load, and add up each vector.
    const RegisterTile<Source, Shape> in(source, tile, n);
    T sums[Shape::rows];
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        sums[row] = TileScan::sumOf<T>(in.row(row), op);
    }

    // Scan the tile: rows within the warp, warps within the block, blocks within the grid.
    const T warpTotal = TileScan::beginScan(sums, op);
    TileScan::finishScan(sums, op);
    const auto place = Block::scanWarps<Shape::warps>(warpTotal, warpTotals.data(), op);
    T before = place.before;
    if (gridDim.x > 1) {
        chain.publish(place.all);
        before = op(chain.before(op), before);
    }
    before = op(valueOf(initial), before);

    // Store. Where a tile ends early, all its vectors but the last are whole.
    const auto storeRow = [&](int row, bool isWhole) {
        storeVector(TileOf<Out>{out.elements, out.size, isWhole}, Shape::offset(row),
                    TileScan::scanned(in.row(row), op(before, sums[row]), inclusive, op));
    };
    if (out.isWhole) {
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            storeRow(row, true);
        }
    } else {
        const bool isAligned = isVectorAligned<Shape::vectorLength>(odata);
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            storeRow(row, isAligned && Shape::offset(row) + Shape::vectorLength <= out.size);
        }
    }
}

/// Chained scan with decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
/// Look-back", 2016), for arrays of any size, in one pass.
///
/// A block takes a tile, adds it up and publishes the sum. Its warps scan their rows, and one warp looks back for the
/// sum of all tiles before. Then the block adds that sum to the scanned rows and stores them.
///
/// The copy engine puts the tile into shared memory, where it waits for its prefix. Bytes in flight hide the latency of
/// the look-back: a multiprocessor has room for six tiles of 32 KiB.
///
/// Work O(n), steps O(n / resident elements). Reads 4 bytes and writes 4 bytes per int. DRAM bandwidth is the limit.
template <typename Shape, typename Source, typename Out, typename T, typename Op, typename Initial, typename Count>
__global__ void __launch_bounds__(Shape::threads,
                                  blocksPerMultiprocessor(Shape::threads, Shape::elements * sizeof(Stored<Source>),
                                                          ScanBlockFor<T>::registers(Shape::rows)))
    kernScanLookBack(Count count, Out* odata, ReproducibleChain<T> chain, Source source, Initial initial,
                     bool inclusive, bool reproducible, TileOrder order, Op op) {
    using Loader = SourceLoader<Source, Shape>;
    __shared__ typename Loader::Storage storage;
    __shared__ SharedArray<T, Shape::warps> warpTotals;
    __shared__ SharedArray<T, 1> tilePrefix;
    __shared__ int sharedTile;
    __shared__ std::size_t sharedNumber;
    const std::size_t& n = numberInBlock(count, sharedNumber);
    const auto tiles = [&] { return Shape::tilesOf(n); };
    Loader loader(storage, source, n);

    forEachTile<Count>(chain, order, sharedTile, loader, tiles, [&](int tile) {
        loader.finish(tile);

        // Add up the tile and publish its sum.
        T sums[Shape::rows];
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            sums[row] = TileScan::sumOf<T>(loader.row(row), op);
        }
        const auto place = Block::scanWarps<Shape::warps>(TileScan::beginScan(sums, op), warpTotals.data(), op);
        if (Warp::index() == 0) {
            chain.publish(tile, place.all);
        }

        // Scan the rows. Then the first warp finds the sum of all tiles before this one.
        TileScan::finishScan(sums, op);
        if (Warp::index() == 0) {
            const T prefix =
                reproducible ? chain.beforeInOrder(tile, place.all, op) : chain.before(tile, place.all, op);
            if (threadIdx.x == 0) {
                *tilePrefix.data() = op(valueOf(initial), prefix);
            }
        }
        __syncthreads();

        // Store.
        TileScan::store<Shape>(Shape::tileOf(odata, tile, n), sums, op(*tilePrefix.data(), place.before), inclusive, op,
                               [&](int row) { return loader.row(row); });
    });
}

/// Calls `function()` when earlier kernels are done. One thread.
template <typename Function>
__global__ void kernCall(Function function) {
    waitForEarlierKernels();
    function();
}

/// Prefix sums: `scan(in, out, n, [op, [initial,]] scratch, stream)`. `in` is an array of n elements in device memory,
/// or a function of such elements or of the index (primitives/source.cuh). `op` is any associative operator with an
/// identity (primitives/operators.cuh), by default Sum. `initial`, by default the identity, comes before the first
/// element. It is a T, or InDeviceMemory<T> if an earlier kernel writes it. Sums are accumulated in the type of `out`,
/// which may be wider than that of `in`.
///
/// Elements and sums are trivially copyable, have 1 to 16 bytes, and lie at any address that their type allows. `out`
/// may be `in`. Integer sums wrap. The scratch may hold anything and keeps nothing from call to call. Neither allocates
/// nor synchronises. Throws what common.cuh says.
struct Scan {
    static constexpr bool mayRunInPlace = true;  ///< whether the output may be the input

    ScanKind kind = ScanKind::Exclusive;  ///< exclusive or inclusive

    /// Whether floating-point sums are bitwise the same in every run on a card.
    bool reproducible = false;

    /// How the blocks of large scans get their tiles.
    TileOrder order = TileOrder::BlockIndex;

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename T, ElementCount N, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const In& /*in*/, T* /*out*/, N n, const Functions&... /*functions*/) const {
        return scratchBytesForSums<T, SourceOf<In>, T>(capacityOf(n));
    }

    /// Adds up.
    template <typename In, typename T, ElementCount N>
    void operator()(const In& in, T* out, N n, Scratch scratch, cudaStream_t stream) const {
        (*this)(in, out, n, Sum{}, scratch, stream);
    }

    /// Combines by `op`.
    template <typename In, typename T, ElementCount N, typename Op>
    void operator()(const In& in, T* out, N n, Op op, Scratch scratch, cudaStream_t stream) const {
        if constexpr (isOperatorFor<T, Op>()) {
            (*this)(in, out, n, op, op.template identity<T>(), scratch, stream);
        }
    }

    /// Combines by `op`, from `initial` on.
    template <typename In, typename T, ElementCount N, typename Op>
    void operator()(const In& in, T* out, N n, Op op, std::type_identity_t<T> initial, Scratch scratch,
                    cudaStream_t stream) const {
        if constexpr (isOperatorFor<T, Op>() && areElements<Stored<SourceOf<In>>, T>()) {
            scanSource(sourceOf(in), out, countOf(n), op, initial, scratch, stream);
        }
    }

    /// Combines by `op`, from a value on that an earlier kernel writes.
    template <typename In, typename T, ElementCount N, typename Op>
    void operator()(const In& in, T* out, N n, Op op, InDeviceMemory<T> initial, Scratch scratch,
                    cudaStream_t stream) const {
        if constexpr (isOperatorFor<T, Op>() && areElements<Stored<SourceOf<In>>, T>()) {
            scanSource(sourceOf(in), out, countOf(n), op, initial, scratch, stream);
        }
    }

    /// Scans a source from `initial` on, in the type of `initial`. Its elements convert to sums, and `prefixAt` makes
    /// of sums what is written (primitives/tile_scan.cuh). Before that, one thread calls `first()` on the device, once
    /// or twice, to the same effect. It may write the initial value, and nothing that the source reads.
    template <typename Source, typename Out, typename Count, typename Op, typename Initial, typename First = DoNothing>
    void scanSource(const Source& source, Out* out, Count n, Op op, Initial initial, Scratch scratch,
                    cudaStream_t stream, First first = {}) const {
        using Element = Stored<Source>;
        static_assert(sizeof(Element) <= 16 && sizeof(Out) <= 16, "elements of up to 16 bytes");
        const std::size_t most = capacityOf(n);
        requireSource<true>(source, out, most);
        requireApart(n, {arrayOf("in", source, most)}, {});
        requireApart(n, {memoryOf("initial", initial)}, {Arguments::array("out", out, most)});
        ScratchArena arena(scratch, scratchBytesForSums<SumOf<Initial>, Source, Out>(most));
        if (most == 0) {
            tellExceeded(n, stream);
            callFirst(first, stream);
            return;
        }
        const std::size_t vectors = Common::divideRoundUp(most, vectorLength<Element, Out>);
        const ScanLimits& limits = currentCard().scan;
        bool isDone = withResidentShape(vectors, limits, [&](auto block) {
            return scanResident(block, source, out, n, op, initial, arena, stream, first);
        });
        if constexpr (ScanBlockFor<SumOf<Initial>>::hasOthers) {
            isDone = isDone || (vectors * wordsOf<SumOf<Initial>> <= limits.ofLarge &&
                                scanResident(LargeBlock{}, source, out, n, op, initial, arena, stream, first));
        }
        if (!isDone) {
            withScanBlock<Out, SumOf<Initial>>(
                vectors, [&](auto block) { scanByLookBack(block, source, out, n, op, initial, arena, stream, first); });
        }
    }

    /// The bytes of scratch that this needs for sums of type T.
    template <typename T, typename Source, typename Out>
    [[nodiscard]] static std::size_t scratchBytesForSums(std::size_t n) {
        using Element = Stored<Source>;
        Arguments::requireSize<Out, Element>(n);
        const std::size_t vectors = Common::divideRoundUp(n, vectorLength<Element, Out>);
        const std::size_t tiles = Common::blocksFor(n, ScanBlockFor<T>::Type::vectors * vectorLength<Element, Out>);
        return n == 0 ? 0
                      : std::max(scratchBytesFor<T>(mostScanBlocks(vectors)),
                                 scratchBytesFor<std::uint64_t>(ReproducibleChain<T>::wordsFor(tiles)));
    }

    /// Launches blocks of the given shape that are all resident. Returns false if the card cannot hold as many as the
    /// array needs. `first()` may have been called then.
    template <typename Shape, typename Source, typename Out, typename Count, typename Op, typename Initial,
              typename First = DoNothing>
    [[nodiscard]] bool scanResident(Shape, const Source& source, Out* out, Count n, Op op, Initial initial,
                                    ScratchArena arena, cudaStream_t stream, First first = {}) const {
        using T = SumOf<Initial>;
        using Tile = TileShape<Shape::threads, Shape::rows, vectorLength<Stored<Source>, Out>>;
        constexpr auto kernel = kernScanResident<Tile, Source, Out, T, Op, Initial, Count>;
        const std::size_t blocks = Common::divideRoundUp(capacityOf(n), Tile::elements);
        if (blocks > onCurrentDevice<kernel>(Tile::threads).residentBlocks) {
            return false;
        }
        callFirst(first, stream);
        return launchTogether<kernel>({blocks, Tile::threads}, stream, n, out, GridChain<T>{arena.take<T>(blocks)},
                                      source, initial, kind == ScanKind::Inclusive, op);
    }

    /// By look-back over tiles of the given shape.
    template <typename Shape, typename Source, typename Out, typename Count, typename Op, typename Initial,
              typename First = DoNothing>
    void scanByLookBack(Shape, const Source& source, Out* out, Count n, Op op, Initial initial, ScratchArena arena,
                        cudaStream_t stream, First first = {}) const {
        using T = SumOf<Initial>;
        using Tile = TileShape<Shape::threads, Shape::rows, vectorLength<Stored<Source>, Out>>;
        constexpr auto kernel = kernScanLookBack<Tile, Source, Out, T, Op, Initial, Count>;
        const std::size_t tiles = Common::divideRoundUp(capacityOf(n), Tile::elements);
        const ReproducibleChain<T> chain{arena.take<std::uint64_t>(ReproducibleChain<T>::wordsFor(tiles)), tiles};
        clearWords(chain.words, ReproducibleChain<T>::wordsFor(tiles), stream, first);
        const std::size_t blocks = blocksForTiles<kernel, Count>(tiles, Tile::threads);
        launch<kernel>({blocks, Tile::threads, 0, Begin::Programmatic}, stream, n, out, chain, source, initial,
                       kind == ScanKind::Inclusive, reproducible, orderFor(order, blocks, tiles), op);
    }

  private:
    template <typename Initial>
    using SumOf = std::remove_cvref_t<decltype(valueOf(std::declval<const Initial&>()))>;

    /// Calls `first()` where nothing has to be cleared.
    template <typename First>
    static void callFirst(First first, cudaStream_t stream) {
        if constexpr (!std::is_same_v<First, DoNothing>) {
            launch<kernCall<First>>({1, 1, 0, Begin::Programmatic}, stream, first);
        }
    }
};

}  // namespace StreamCompaction::SinglePass
