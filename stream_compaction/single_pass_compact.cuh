#pragma once

#include <cooperative_groups.h>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/device_platform.cuh"
#include "stream_compaction/primitives/look_back.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/tile_queue.cuh"
#include "stream_compaction/single_pass_launch.cuh"

namespace StreamCompaction::SinglePass {

/// Keeps the elements whose flag, in device memory, is set: pass it for the predicate of a compaction.
template <typename Flag>
struct KeepFlagged {
    const Flag* flags;

    template <typename T>
    __device__ bool operator()(const T&, std::size_t i) const {
        return static_cast<bool>(flags[i]);
    }
};

/// A predicate looks at the element, or at the element and its index.
template <typename Predicate, typename T>
__device__ bool isKept(const Predicate& keep, const T& x, std::size_t i) {
    if constexpr (std::is_invocable_v<const Predicate&, const T&, std::size_t>) {
        return keep(x, i);
    } else {
        return keep(x);
    }
}

/// Which elements of its rows a thread keeps, and their ranks among the kept elements of the warp.
template <int rows, int length>
class KeptElements {
  public:
    __device__ void keep(int row, int item, bool isKept) {
        flags_[bit(row, item) / 32] |= static_cast<std::uint32_t>(isKept) << bit(row, item) % 32;
    }
    [[nodiscard]] __device__ bool isKept(int row, int item) const {
        return (flags_[bit(row, item) / 32] >> bit(row, item) % 32 & 1) != 0;
    }

    /// Ranks the kept elements; returns how many the warp keeps. Several rows share a word, and with it a scan.
    __device__ std::uint32_t rank() {
        std::uint32_t start = 0;
#pragma unroll
        for (int first = 0; first < rows; first += rowsPerWord) {
            std::uint32_t counts = 0;
#pragma unroll
            for (int row = first; row < first + rowsPerWord && row < rows; ++row) {
                counts |= count(row) << fieldOf(row);
            }
            const std::uint32_t upTo = Warp::inclusiveScan(counts, Sum{});
            const std::uint32_t totals = Warp::broadcast(upTo, Warp::lanes - 1);
#pragma unroll
            for (int row = first; row < first + rowsPerWord && row < rows; ++row) {
                ranks_[row] = start + ((upTo - counts) >> fieldOf(row) & fieldMask);
                start += totals >> fieldOf(row) & fieldMask;
            }
        }
        return start;
    }

    /// The rank of the thread's first kept element of the row.
    [[nodiscard]] __device__ std::uint32_t rankOf(int row) const { return ranks_[row]; }

  private:
    static constexpr int fieldBits = Warp::lanes * length < 256 ? 8 : 16;
    static constexpr int rowsPerWord = 32 / fieldBits;
    static constexpr std::uint32_t fieldMask = (1u << fieldBits) - 1;

    [[nodiscard]] __device__ static constexpr int bit(int row, int item) { return row * length + item; }
    [[nodiscard]] __device__ static constexpr int fieldOf(int row) { return row % rowsPerWord * fieldBits; }
    [[nodiscard]] __device__ std::uint32_t count(int row) const {
        return __popc(flags_[bit(row, 0) / 32] >> bit(row, 0) % 32 & ((1u << length) - 1));
    }

    std::uint32_t flags_[(rows * length + 31) / 32] = {};
    std::uint32_t ranks_[rows];
};

/// The elements of a tile in registers, and which of them are kept.
template <typename T, typename Shape>
struct TileInRegisters {
    static constexpr int length = Shape::vectorLength;

    Vector<T, length> rows[Shape::rows];
    KeptElements<Shape::rows, length> kept;

    /// Asks the predicate about the elements before the end of the tile; `begin` is the tile's first index. Returns how
    /// many the warp keeps.
    template <typename Predicate>
    __device__ std::uint32_t decide(std::size_t begin, int size, const Predicate& keep) {
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
#pragma unroll
            for (int i = 0; i < length; ++i) {
                const int at = Shape::offset(row) + i;
                kept.keep(row, i, at < size && SinglePass::isKept(keep, rows[row].items[i], begin + at));
            }
        }
        return kept.rank();
    }

    /// Calls `take(element, rank)` for the kept elements, `leave(element, rank)` for the others, `rank` among the
    /// tile's kept and left elements respectively; `before` is the number that earlier warps of the block keep.
    template <typename Take, typename Leave>
    __device__ void distribute(std::uint32_t before, int size, Take take, Leave leave) const {
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            std::uint32_t rank = before + kept.rankOf(row);
#pragma unroll
            for (int i = 0; i < length; ++i) {
                const int at = Shape::offset(row) + i;
                if (kept.isKept(row, i)) {
                    take(rows[row].items[i], rank++);
                } else if (at < size) {
                    leave(rows[row].items[i], at - rank);
                }
            }
        }
    }
};

/// What becomes of the elements that are not kept.
enum class Rejects {
    Dropped,
    Apart,   ///< in order, in an array of their own
    Behind,  ///< in order, behind the kept ones
};

/// Counts of the blocks of a grid.
struct GridCounts {
    std::size_t before;  ///< of the blocks before this one
    std::size_t all;
};

/// Exchanges the blocks' counts through global memory around one barrier of the grid.
__device__ inline GridCounts exchangeCounts(std::uint32_t mine, std::uint32_t* places) {
    if (threadIdx.x == 0) {
        places[blockIdx.x] = mine;
    }
    cooperative_groups::this_grid().sync();
    std::uint32_t before = 0;
    std::uint32_t all = 0;
    for (unsigned block = Warp::lane(); block < gridDim.x; block += Warp::lanes) {
        const std::uint32_t count = places[block];
        before += block < blockIdx.x ? count : 0;
        all += count;
    }
    return {Warp::reduce(before, Sum{}), Warp::reduce(all, Sum{})};
}

/// Compaction in registers, for arrays that fit into those of one block or of all blocks together.
///
/// Every block loads a tile and ranks the elements it keeps. Blocks exchange their counts around one barrier of the
/// grid and scatter from registers; a block alone has nobody to wait for.
///
/// Work O(n + blocks^2), steps O(log n). Latency counts at this size: launch, load, barrier, store.
template <typename Shape, Rejects rejects, typename T, typename Predicate>
__global__ void __launch_bounds__(Shape::threads)
    kernCompactResident(std::size_t n, T* odata, T* rejected, std::size_t* count, std::uint32_t* blockCounts,
                        const T* idata, Predicate keep) {
    __shared__ std::uint32_t warpCounts[Shape::warps];
    const int tile = static_cast<int>(blockIdx.x);
    const TileOf<const T> in = Shape::tileOf(idata, tile, n);

    // Load, and decide what to keep.
    TileInRegisters<T, Shape> elements;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        elements.rows[row] = loadVector<Shape::vectorLength>(in, Shape::offset(row));
    }
    const std::uint32_t warpCount = elements.decide(Shape::begin(tile), in.size, keep);

    // Count: within the block, within the grid.
    const auto place = Block::scanWarps<Shape::warps>(warpCount, warpCounts, Sum{});
    const GridCounts grid =
        gridDim.x > 1 ? exchangeCounts(place.all, blockCounts) : GridCounts{0, std::size_t{place.all}};
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *count = grid.all;
    }

    // Scatter.
    T* const keptHere = odata + grid.before;
    T* const rejectedHere =
        (rejects == Rejects::Behind ? odata + grid.all : rejected) + (Shape::begin(tile) - grid.before);
    elements.distribute(
        place.before, in.size, [&](const T& x, std::uint32_t rank) { keptHere[rank] = x; },
        [&](const T& x, std::uint32_t rank) {
            if constexpr (rejects != Rejects::Dropped) {
                rejectedHere[rank] = x;
            }
        });
}

/// Where the look-back compaction keeps its words in scratch.
struct CompactWords {
    std::uint64_t* words;
    std::size_t tiles;

    [[nodiscard]] static constexpr std::size_t count(std::size_t tiles) {
        return TileQueue::counterWords + LookBack::Statuses<LookBack::Count>::wordsFor(tiles);
    }
    [[nodiscard]] __device__ LookBack::Statuses<LookBack::Count> statuses() const {
        return LookBack::Statuses<LookBack::Count>(words + TileQueue::counterWords);
    }
};

/// Compaction fused with the chained scan of its counts (see kernScanLookBack), for arrays of any size, in one pass.
///
/// A block counts what it keeps of its tile and publishes the number. While one warp looks back for how many are kept
/// before, the others pack the kept elements in shared memory, where the tile was, in order; the packed run then goes
/// out in aligned vectors, to wherever it belongs. Packing before the look-back ends keeps it off the critical path; a
/// scatter straight to global memory takes twice the time.
///
/// With Rejects::Behind the others go to the end of `odata` in reverse, since how many are kept in all is known only
/// when the last tile is done.
///
/// Work O(n), steps O(n / resident elements). 4 bytes an int read and 4 bytes a kept one written: DRAM bandwidth limits
/// it.
template <typename Shape, Rejects rejects, typename T, typename Predicate>
__global__ void __launch_bounds__(Shape::threads,
                                  blocksPerMultiprocessor(Shape::threads, Shape::elements * sizeof(T),
                                                          24 + Shape::rows / 2 +
                                                              Shape::rows * Shape::vectorLength * sizeof(T) / 4))
    kernCompactLookBack(std::size_t n, T* odata, T* rejected, std::size_t* count, CompactWords scratch, const T* idata,
                        TileOrder order, Predicate keep) {
    using Platform = LookBack::DevicePlatform;
    __shared__ typename TileLoader<T, Shape>::Storage storage;
    __shared__ std::uint32_t warpCounts[Shape::warps];
    __shared__ std::uint64_t keptBefore;
    __shared__ int nextTile;
    TileLoader<T, Shape> loader(storage, idata, n);
    const TileQueue queue(order, scratch.words, nextTile);
    const auto statuses = scratch.statuses();
    const int tiles = static_cast<int>(scratch.tiles);

    // The first tile is on its way while the scratch is cleared.
    int tile = TileQueue::first();
    loader.start(tile);
    clearTogether(scratch.words, CompactWords::count(scratch.tiles));

    while (tile < tiles) {
        const std::size_t begin = Shape::begin(tile);
        const int size = Shape::tileOf(idata, tile, n).size;

        // Take the tile out of shared memory and decide what to keep.
        loader.finish(tile);
        TileInRegisters<T, Shape> elements;
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            elements.rows[row] = loader.row(row);
        }
        const std::uint32_t warpCount = elements.decide(begin, size, keep);

        // Count and publish. After the barrier inside the tile's memory is free.
        const auto place = Block::scanWarps<Shape::warps>(warpCount, warpCounts, Sum{});
        const LookBack::Count tileCount{place.all};
        if (threadIdx.x == 0) {
            statuses.publish(Platform{}, tile, LookBack::State::Aggregate, tileCount);
        }

        // Pack: the kept elements, and behind them, if they are wanted, the others.
        T* const packed = reinterpret_cast<T*>(loader.memory());
        elements.distribute(
            place.before, size, [&](const T& x, std::uint32_t rank) { packed[rank] = x; },
            [&](const T& x, std::uint32_t rank) {
                if constexpr (rejects == Rejects::Apart) {
                    packed[place.all + rank] = x;
                } else if constexpr (rejects == Rejects::Behind) {
                    packed[size - 1 - rank] = x;
                }
            });

        // Look back.
        if (Warp::index() == 0) {
            const LookBack::Count before = LookBack::lookBack(Platform{}, statuses, tile, LookBack::AddCounts{});
            const LookBack::Count upTo{before.value + tileCount.value};
            if (threadIdx.x == 0) {
                statuses.publish(Platform{}, tile, LookBack::State::Prefix, upTo);
                keptBefore = before.value;
                if (tile == tiles - 1) {
                    *count = upTo.value;
                }
            }
        }
        __syncthreads();

        // Store, with the next tile already asked for.
        const int answer = queue.ask(tile);
        const std::uint32_t rejectedCount = size - place.all;
        copyRun(odata + keptBefore, loader.memory(), 0, place.all);
        if constexpr (rejects == Rejects::Apart) {
            copyRun(rejected + (begin - keptBefore), loader.memory(), place.all, rejectedCount);
        } else if constexpr (rejects == Rejects::Behind) {
            copyRun(odata + (n - (begin - keptBefore) - rejectedCount), loader.memory(), place.all, rejectedCount);
        }
        BulkCopy::fence();
        tile = queue.tell(answer);
        if (tile < tiles) {
            loader.start(tile);
        }
    }
}

/// Reverses what stands behind the first `count` of n elements.
template <typename T>
__global__ void kernReverseRest(std::size_t n, T* data, const std::size_t* count) {
    const std::size_t i = *count + Common::globalThreadIndex();
    const std::size_t mirrored = n - 1 - Common::globalThreadIndex();
    if (i < mirrored) {
        const T x = data[i];
        data[i] = data[mirrored];
        data[mirrored] = x;
    }
}

/// The launches that compaction and partition share.
template <Rejects rejects>
struct CompactLauncher {
    TileOrder order;

    /// A thread holds 256 bytes of a large tile, in at most 16 rows.
    template <typename T>
    using LargeTile = TileShape<128, std::min<int>(16, 256 / (sizeof(T) * vectorLength<T>)), vectorLength<T>>;

    template <typename T>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n) {
        const std::size_t vectors = Common::divideRoundUp(n, vectorLength<T>);
        const std::size_t tiles = Common::divideRoundUp(n, LargeTile<T>::elements);
        return scratchBytesFor<std::uint32_t>(residentBlocksFor(vectors)) +
               scratchBytesFor<std::uint64_t>(n == 0 ? 0 : CompactWords::count(tiles));
    }

    template <typename T, typename Predicate>
    void operator()(const T* in, T* out, T* rejected, std::size_t* count, std::size_t n, Scratch scratch,
                    cudaStream_t stream, Predicate keep) const {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 64, "plain elements of up to 64 bytes");
        ScratchArena arena(scratch, scratchBytes<T>(n));
        if (n == 0) {
            Common::checkCUDAError(cudaMemsetAsync(count, 0, sizeof(*count), stream), "cudaMemsetAsync of the count");
            return;
        }
        if (!compactResident(in, out, rejected, count, n, arena, stream, keep)) {
            compactByLookBack(in, out, rejected, count, n, arena, stream, keep);
        }
    }

  private:
    /// Returns false when the array is too large.
    template <typename T, typename Predicate>
    [[nodiscard]] bool compactResident(const T* in, T* out, T* rejected, std::size_t* count, std::size_t n,
                                       ScratchArena arena, cudaStream_t stream, Predicate keep) const {
        const std::size_t vectors = Common::divideRoundUp(n, vectorLength<T>);
        return launchResident(vectors, [&]<typename Block>(Block) {
            using Tile = TileShape<Block::threads, Block::rows, vectorLength<T>>;
            constexpr auto kernel = kernCompactResident<Tile, rejects, T, Predicate>;
            const std::size_t blocks = Common::divideRoundUp(vectors, Block::vectors);
            if (blocks > residentBlocks<kernel>(Block::threads)) {
                return false;
            }
            launchTogether<kernel>("kernCompactResident", static_cast<unsigned>(blocks), Block::threads, stream, n, out,
                                   rejected, count, arena.take<std::uint32_t>(residentBlocksFor(vectors)), in, keep);
            return true;
        });
    }

    template <typename T, typename Predicate>
    void compactByLookBack(const T* in, T* out, T* rejected, std::size_t* count, std::size_t n, ScratchArena arena,
                           cudaStream_t stream, Predicate keep) const {
        using Tile = LargeTile<T>;
        constexpr auto kernel = kernCompactLookBack<Tile, rejects, T, Predicate>;
        const std::size_t tiles = Common::divideRoundUp(n, Tile::elements);
        const std::size_t blocks = std::min<std::size_t>(tiles, residentBlocks<kernel>(Tile::threads));
        const CompactWords words{arena.take<std::uint64_t>(CompactWords::count(tiles)), tiles};
        launchTogether<kernel>("kernCompactLookBack", static_cast<unsigned>(blocks), Tile::threads, stream, n, out,
                               rejected, count, words, in, order, keep);
        if constexpr (rejects == Rejects::Behind) {
            constexpr int threads = 256;
            kernReverseRest<<<Common::blocksFor(n / 2, threads), threads, 0, stream>>>(n, out, count);
            Common::checkCUDAError("kernReverseRest");
        }
    }
};

/// Stable compaction: keeps in order the elements for which `keep` holds, by default the nonzero ones, or whose flag is
/// set (KeepFlagged), and writes how many to `count` in device memory; nothing is written past them. Not in place.
///
/// Elements are trivially copyable, of 1 to 64 bytes, at any address their type allows. The predicate is called once an
/// element, with it or with it and its index. The scratch may hold anything and keeps nothing from call to call.
struct Compact {
    /// How the blocks of large compactions share out the tiles.
    TileOrder order = TileOrder::Ticket;

    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(std::size_t n) const {
        return CompactLauncher<Rejects::Dropped>::scratchBytes<T>(n);
    }

    template <typename T, typename Predicate = IsNonzero>
    void operator()(const T* in, T* out, std::size_t* count, std::size_t n, Scratch scratch, cudaStream_t stream,
                    Predicate keep = {}) const {
        requireCompactArrays(in, out, count, n);
        CompactLauncher<Rejects::Dropped>{order}(in, out, static_cast<T*>(nullptr), count, n, scratch, stream, keep);
    }
};

/// Stable partition: the elements that a compaction would keep, then the others, each in their order; `count` is the
/// number of the former. Not in place.
struct Partition {
    TileOrder order = TileOrder::Ticket;

    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(std::size_t n) const {
        return CompactLauncher<Rejects::Apart>::scratchBytes<T>(n);
    }

    /// Into one array, of n elements. Large arrays take a second pass over the others, which the first writes in
    /// reverse.
    template <typename T, typename Predicate = IsNonzero>
    void operator()(const T* in, T* out, std::size_t* count, std::size_t n, Scratch scratch, cudaStream_t stream,
                    Predicate keep = {}) const {
        requireCompactArrays(in, out, count, n);
        CompactLauncher<Rejects::Behind>{order}(in, out, static_cast<T*>(nullptr), count, n, scratch, stream, keep);
    }

    /// Into two arrays, each with room for as many elements as will go there; always one pass.
    template <typename T, typename Predicate = IsNonzero>
    void operator()(const T* in, T* kept, T* rejected, std::size_t* count, std::size_t n, Scratch scratch,
                    cudaStream_t stream, Predicate keep = {}) const {
        Arguments::requireArray("in", in, n);
        Arguments::requireArray("kept", kept, n);
        Arguments::requireArray("rejected", rejected, n);
        Arguments::requireArray("count", count, 1);
        // How many elements go to either array only the device will know; none may begin inside the input.
        Arguments::requireDisjoint(in, n * sizeof(T), kept, 1);
        Arguments::requireDisjoint(in, n * sizeof(T), rejected, 1);
        CompactLauncher<Rejects::Apart>{order}(in, kept, rejected, count, n, scratch, stream, keep);
    }
};

}  // namespace StreamCompaction::SinglePass
