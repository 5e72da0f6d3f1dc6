#pragma once

#include <cooperative_groups.h>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/look_back.cuh"
#include "stream_compaction/primitives/look_back_device.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/tile_order.cuh"
#include "stream_compaction/primitives/tile_scan.cuh"
#include "stream_compaction/single_pass/dispatch.cuh"

namespace StreamCompaction::SinglePass {

enum class ScanKind {
    Exclusive,  ///< element i is the sum of the elements before i
    Inclusive,  ///< element i is the sum of the elements up to i
};

/// The sum of what the blocks before this one pass, through a place in global memory for each and one barrier of the
/// grid; in every thread.
template <typename T, typename Op>
__device__ T sumOfBlocksBefore(const T& mine, T* places, const Op& op) {
    if (threadIdx.x == 0) {
        places[blockIdx.x] = mine;
    }
    cooperative_groups::this_grid().sync();
    const T identity = op.template identity<T>();
    T sum = identity;
    for (unsigned first = 0; first < blockIdx.x; first += Warp::lanes) {
        const unsigned block = first + Warp::lane();
        sum = op(sum, Warp::reduce(block < blockIdx.x ? places[block] : identity, op));
    }
    return sum;
}

/// Registers of a thread that holds its part of a tile and the sums of its vectors; bytes are worked on one a register.
template <typename Shape, typename T>
inline constexpr std::size_t registersToScan = std::max<std::size_t>(
    64, 16 + Shape::rows * (std::max(4, Shape::vectorLength) + Common::divideRoundUp(sizeof(T), 4)));

/// Scan in registers, for arrays that fit into those of one block or of all blocks together.
///
/// Every block loads a tile and scans it. Blocks exchange their totals around one barrier of the grid and each adds up
/// those before it; a block alone has nobody to wait for. The order of additions depends on n only.
///
/// Work O(n + blocks^2 / 32), steps O(log n). 8 bytes an int; what counts at this size is latency: the launch, a
/// load, the grid's barrier, a store.
template <typename Shape, typename In, typename T, typename Op>
__global__ void __launch_bounds__(Shape::threads, blocksPerMultiprocessor(Shape::threads, 0, registersToScan<Shape, T>))
    kernScanResident(std::size_t n, T* odata, T* blockTotals, const In* idata, bool inclusive, Op op) {
    constexpr int length = Shape::vectorLength;
    __shared__ SharedArray<T, Shape::warps> warpTotals;
    const int tile = static_cast<int>(blockIdx.x);
    const TileOf<const In> in = Shape::tileOf(idata, tile, n);
    const TileOf<T> out = Shape::tileOf(odata, tile, n);

    // Load, and add up each vector.
    Vector<In, length> vectors[Shape::rows];
    T sums[Shape::rows];
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        vectors[row] = loadVector<length>(in, Shape::offset(row));
    }
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        sums[row] = TileScan::sumOf<T>(vectors[row], op);
    }

    // Scan the tile: rows within the warp, warps within the block, blocks within the grid.
    const T warpTotal = TileScan::sumOfRows(sums, op);
    TileScan::scan(sums, op);
    const auto place = Block::scanWarps<Shape::warps>(warpTotal, warpTotals.data(), op);
    T before = place.before;
    if (gridDim.x > 1) {
        before = op(sumOfBlocksBefore(place.all, blockTotals, op), before);
    }

    // Store.
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        storeVector(out, Shape::offset(row), TileScan::scanned(vectors[row], op(before, sums[row]), inclusive, op));
    }
}

/// Where the look-back scan keeps its words in scratch: the ticket counter, the tiles' statuses, the groups' prefixes.
template <typename T>
struct ScanWords {
    using Statuses = LookBack::Statuses<T>;

    std::uint64_t* words;
    std::size_t tiles;

    [[nodiscard]] static constexpr std::size_t count(std::size_t tiles) {
        const std::size_t groups = tiles / LookBack::groupSize<LookBack::DevicePlatform> + 1;
        return ticketWords + Statuses::wordsFor(tiles) + Statuses::wordsFor(groups + 1);
    }
    [[nodiscard]] __device__ Statuses statuses() const { return Statuses(words + ticketWords); }
    [[nodiscard]] __device__ Statuses groups() const {
        return Statuses(words + ticketWords + Statuses::wordsFor(tiles));
    }
};

/// Chained scan with decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
/// Look-back", 2016), for arrays of any size, in one pass.
///
/// A block takes a tile, adds it up, publishes the sum and, while one warp looks back for the sum of all tiles before,
/// scans it; then it adds the one to the other and stores.
///
/// A tile waits in shared memory for its prefix, where the copy engine puts it: what hides the latency of look-back is
/// the number of bytes that are under way, and an SM has room for six tiles of 32 KiB.
///
/// Work O(n), steps O(n / resident elements). 8 bytes an int, each read and written once: DRAM bandwidth limits it.
template <typename Shape, typename In, typename T, typename Op>
__global__ void __launch_bounds__(Shape::threads, blocksPerMultiprocessor(Shape::threads, Shape::elements * sizeof(In),
                                                                          24 + Shape::rows * sizeof(T) / 4))
    kernScanLookBack(std::size_t n, T* odata, ScanWords<T> scratch, const In* idata, bool inclusive, bool reproducible,
                     TileOrder order, Op op) {
    using Platform = LookBack::DevicePlatform;
    __shared__ typename TileLoader<In, Shape>::Storage storage;
    __shared__ SharedArray<T, Shape::warps> warpTotals;
    __shared__ SharedArray<T, 1> tilePrefix;
    __shared__ int sharedTile;
    TileLoader<In, Shape> loader(storage, idata, n);
    const auto statuses = scratch.statuses();

    const int tile = beginTile(order, scratch.words, sharedTile, loader);

    loader.finish(tile);

    // Add up the tile and publish its sum.
    T sums[Shape::rows];
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        sums[row] = TileScan::sumOf<T>(loader.row(row), op);
    }
    const auto place = Block::scanWarps<Shape::warps>(TileScan::sumOfRows(sums, op), warpTotals.data(), op);
    if (Warp::index() == 0) {
        waitForEarlierKernels();
    }
    if (threadIdx.x == 0) {
        statuses.publish(Platform{}, tile, LookBack::State::Aggregate, place.all);
    }

    // Scan the rows; meanwhile the first warp finds the sum of all tiles before this one.
    TileScan::scan(sums, op);
    if (Warp::index() == 0) {
        T prefix;
        if (reproducible) {
            prefix = LookBack::lookBackInOrder(Platform{}, statuses, scratch.groups(), tile, place.all, op);
        } else {
            prefix = LookBack::lookBack(Platform{}, statuses, tile, op);
            if (threadIdx.x == 0) {
                statuses.publish(Platform{}, tile, LookBack::State::Prefix, op(prefix, place.all));
            }
        }
        if (threadIdx.x == 0) {
            *tilePrefix.data() = prefix;
        }
    }
    __syncthreads();

    // Store.
    TileScan::store<Shape>(Shape::tileOf(odata, tile, n), sums, op(*tilePrefix.data(), place.before), inclusive, op,
                           [&](int row) { return loader.row(row); });
}

/// The shape of the tiles that wait for a prefix, and the sizes below which none has to; the best of those that
/// scripts/tune.sh tried on an H200.
using ScanBlock = BlockShape<128, 16>;
inline constexpr ResidentLimits residentScanLimits{
    .ofTiny = std::size_t{1} << 14, .ofSmall = std::size_t{1} << 16, .ofLarge = std::size_t{1} << 20};

/// Prefix sum of `in` with any associative operator that has an identity (primitives/operators.cuh), accumulated in the
/// type of `out`, which may be wider.
///
/// Elements and sums are trivially copyable, of 1 to 16 bytes, at any address their type allows; `out` may be `in`.
/// Integer sums wrap. The scratch may hold anything and keeps nothing from call to call.
struct Scan {
    ScanKind kind = ScanKind::Exclusive;

    /// Whether floating-point sums come out bit for bit the same in every run on a card.
    bool reproducible = false;

    /// How the blocks of large scans share out the tiles.
    TileOrder order = TileOrder::BlockIndex;

    template <typename T, typename In = T>
    [[nodiscard]] std::size_t scratchBytes(std::size_t n) const {
        Arguments::requireSize<T, In>(n);
        const std::size_t vectors = Common::divideRoundUp(n, vectorLength<In, T>);
        const std::size_t tiles = Common::blocksFor(n, ScanBlock::vectors * vectorLength<In, T>);
        return n == 0 ? 0
                      : std::max(scratchBytesFor<T>(residentBlocksFor(vectors, residentScanLimits)),
                                 scratchBytesFor<std::uint64_t>(ScanWords<T>::count(tiles)));
    }

    template <typename In, typename T, typename Op = Sum>
    void operator()(const In* in, T* out, std::size_t n, Scratch scratch, cudaStream_t stream, Op op = {}) const {
        static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<T>);
        static_assert(sizeof(In) <= 16 && sizeof(T) <= 16, "elements of up to 16 bytes");
        requireSameOrDisjointArrays(in, out, n);
        ScratchArena arena(scratch, scratchBytes<T, In>(n));
        if (n == 0) {
            return;
        }
        const bool isDone =
            launchResident(Common::divideRoundUp(n, vectorLength<In, T>), residentScanLimits,
                           [&](auto block) { return scanResident(block, in, out, n, arena, stream, op); });
        if (!isDone) {
            scanByLookBack(ScanBlock{}, in, out, n, arena, stream, op);
        }
    }

    /// In one launch of blocks that are all resident, of the given shape. Returns false when the array is too large for
    /// that.
    template <typename Block, typename In, typename T, typename Op>
    [[nodiscard]] bool scanResident(Block, const In* in, T* out, std::size_t n, ScratchArena arena, cudaStream_t stream,
                                    Op op) const {
        using Tile = TileShape<Block::threads, Block::rows, vectorLength<In, T>>;
        constexpr auto kernel = kernScanResident<Tile, In, T, Op>;
        const std::size_t blocks = Common::divideRoundUp(n, Tile::elements);
        if (blocks > onCurrentDevice<kernel>(Tile::threads).residentBlocks) {
            return false;
        }
        launch<kernel>("kernScanResident", {blocks, Tile::threads, 0, blocks > 1 ? Begin::Together : Begin::InTurn},
                       stream, n, out, arena.take<T>(blocks), in, kind == ScanKind::Inclusive, op);
        return true;
    }

    /// By look-back over tiles of the given shape.
    template <typename Block, typename In, typename T, typename Op>
    void scanByLookBack(Block, const In* in, T* out, std::size_t n, ScratchArena arena, cudaStream_t stream,
                        Op op) const {
        using Tile = TileShape<Block::threads, Block::rows, vectorLength<In, T>>;
        constexpr auto kernel = kernScanLookBack<Tile, In, T, Op>;
        const std::size_t tiles = Common::divideRoundUp(n, Tile::elements);
        const ScanWords<T> words{arena.take<std::uint64_t>(ScanWords<T>::count(tiles)), tiles};
        clearWords(words.words, ScanWords<T>::count(tiles), stream);
        launch<kernel>("kernScanLookBack", {tiles, Tile::threads, 0, Begin::Early}, stream, n, out, words, in,
                       kind == ScanKind::Inclusive, reproducible, order, op);
    }
};

}  // namespace StreamCompaction::SinglePass
