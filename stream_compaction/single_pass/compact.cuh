#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/chain.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/previous.cuh"
#include "stream_compaction/primitives/row_counts.cuh"
#include "stream_compaction/primitives/run_copy.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/tile_order.cuh"
#include "stream_compaction/runtime/clear_words.cuh"
#include "stream_compaction/runtime/launch.cuh"
#include "stream_compaction/single_pass/dispatch.cuh"
#include "stream_compaction/single_pass/packing_table.cuh"

namespace StreamCompaction::SinglePass {

/// Makes the compiler keep the word as one register. Otherwise it keeps the bits of which the word is made, each in a
/// register.
__device__ inline void forgetHowItWasMade(std::uint32_t& word) { asm("" : "+r"(word)); }

/// The elements that a thread keeps, as one flag per element of its rows.
template <typename Shape>
class KeptElements {
  public:
    static constexpr int length = Shape::vectorLength;

    /// Calls the predicate for the elements before the end of the tile. `row(r)` is the thread's vector in row r,
    /// `previous` knows the elements before the vectors, `begin` is the tile's first index. Returns how many elements
    /// the warp keeps.
    template <typename Row, typename Before, typename Predicate>
    __device__ std::uint32_t decide(Row row, Before previous, std::size_t begin, int size, const Predicate& keep) {
        const auto decideWhere = [&](auto isThere) {
#pragma unroll
            for (int r = 0; r < Shape::rows; ++r) {
                const auto vector = row(r);
                const auto before = beforeVector(row, previous, r);
#pragma unroll
                for (int i = 0; i < length; ++i) {
                    const int at = Shape::offset(r) + i;
                    const bool isKept =
                        isThere(at) && StreamCompaction::isKept(keep, i == 0 ? before : vector.items[i - 1],
                                                                vector.items[i], begin + at);
                    flags_[bit(r, i) / 32] |= static_cast<std::uint32_t>(isKept) << bit(r, i) % 32;
                }
            }
        };
        const auto isInTile = [=](int at) { return at < size; };
        if constexpr (sizeof(row(0).items[0]) < sizeof(std::uint32_t)) {
            // Instructions limit elements that are smaller than a word. So a full tile compares no places.
            if (size == Shape::elements) {
                decideWhere([](int /*at*/) { return true; });
            } else {
                decideWhere(isInTile);
            }
        } else {
            decideWhere(isInTile);
        }
#pragma unroll
        for (std::uint32_t& word : flags_) {
            forgetHowItWasMade(word);
        }
        return Warp::reduce(countOfThread(), Sum{});
    }

    /// Calls `take(element, rank)` for the kept elements and `leave(element, rank)` for the others. The rank of a kept
    /// element is its index among the tile's kept elements, and likewise for the others. `before` is the number of
    /// elements that earlier warps of the block keep.
    template <typename T, typename Take, typename Leave>
    __device__ void distribute(const Vector<T, length> (&rows)[Shape::rows], std::uint32_t before, int size, Take take,
                               Leave leave) const {
        static_assert(!Shape::isThreadwise);
        std::uint32_t beforeRow = before;
#pragma unroll
        for (int first = 0; first < Shape::rows; first += Counts::rowsPerWord) {
            const int end = min(first + Counts::rowsPerWord, Shape::rows);
            std::uint32_t word = 0;
#pragma unroll
            for (int r = first; r < end; ++r) {
                word |= Counts::wordOf(r - first, countIn(r));
            }
            const Counts counts = Counts::scanned(word);
#pragma unroll
            for (int r = first; r < end; ++r) {
                std::uint32_t rank = beforeRow + counts.before(r - first);
                beforeRow += counts.total(r - first);
#pragma unroll
                for (int i = 0; i < length; ++i) {
                    const int at = Shape::offset(r) + i;
                    if ((flags_[bit(r, i) / 32] >> bit(r, i) % 32 & 1) != 0) {
                        take(rows[r].items[i], rank++);
                    } else if (at < size) {
                        leave(rows[r].items[i], at - rank);
                    }
                }
            }
        }
    }

    /// Packs the kept bytes of the warp from `packed` on, in order. Each thread owns consecutive bytes. Lanes write
    /// where others may have read, so all must have read `rows` before.
    ///
    /// A thread packs four bytes at a time, appends them to a word in registers, and stores each word that gets full.
    /// Of its first word, the lanes before own the lowest bytes. They write these later, with their last bytes.
    template <typename T>
    __device__ void packByWarp(const Vector<T, length> (&rows)[Shape::rows], const PackingTable& table,
                               std::byte* packed) const {
        static_assert(Shape::isThreadwise && sizeof(T) == 1);
        constexpr int wordBytes = sizeof(std::uint32_t);
        constexpr int words = Shape::rows * length / wordBytes;
        std::uint32_t bytes[words];
        std::memcpy(bytes, rows, sizeof(rows));

        const std::uint32_t mine = countOfThread();
        const std::uint32_t begin = Warp::inclusiveScan(mine, Sum{}) - mine;
        const std::uint32_t firstAt = begin / wordBytes * wordBytes;
        std::uint32_t at = firstAt;  // where the word will be
        std::uint32_t word = 0;
        std::uint32_t filled = 8 * (begin - firstAt);  // bits since `firstAt`
#pragma unroll
        for (int w = 0; w < words; ++w) {
            const int flag = bit(0, w * wordBytes);
            const std::uint32_t entry = table[flags_[flag / 32] >> flag % 32];
            const std::uint32_t kept = PackingTable::pack(bytes[w], entry);
            word |= __funnelshift_l(0, kept, filled);
            const std::uint32_t rest = __funnelshift_l(kept, 0, filled);
            const std::uint32_t before = filled;
            filled += PackingTable::bitsOf(entry);
            if (((filled ^ before) & 32) != 0) {
                *reinterpret_cast<std::uint32_t*>(packed + at) = word;
                at += wordBytes;
                word = rest;
            }
        }
        __syncwarp();
        const std::uint32_t first = at == firstAt ? begin % wordBytes : 0;
        const std::uint32_t end = filled / 8 % wordBytes;
#pragma unroll
        for (std::uint32_t i = 0; i < wordBytes - 1; ++i) {
            if (i >= first && i < end) {
                packed[at + i] = static_cast<std::byte>(word >> 8 * i);
            }
        }
    }

  private:
    static constexpr int mostPerRow = Warp::lanes * length;
    using Counts = RowCounts<(mostPerRow < 256) ? 8 : 16>;

    /// The element before the thread's vector in row r.
    template <typename Row, typename Before>
    [[nodiscard]] __device__ static auto beforeVector(Row row, Before& previous, int r) {
        if constexpr (Shape::isThreadwise) {
            return r == 0 ? previous.before(row(Shape::rows - 1).items[length - 1]) : row(r - 1).items[length - 1];
        } else {
            return previous.before(row(r).items[length - 1]);
        }
    }

    [[nodiscard]] __device__ static constexpr int bit(int row, int item) { return row * length + item; }
    [[nodiscard]] __device__ std::uint32_t countOfThread() const {
        std::uint32_t count = 0;
#pragma unroll
        for (const std::uint32_t word : flags_) {
            count += __popc(word);
        }
        return count;
    }
    [[nodiscard]] __device__ std::uint32_t countIn(int row) const {
        return __popc(flags_[bit(row, 0) / 32] >> bit(row, 0) % 32 & ((1u << length) - 1));
    }

    std::uint32_t flags_[(Shape::rows * length + 31) / 32] = {};
};

/// Registers per thread for its elements and their flags.
template <typename T, typename Shape>
inline constexpr std::size_t registersToHold = (sizeof(T) == 1
                                                    ? Shape::rows * Shape::vectorLength / 4
                                                    : Shape::rows * registersPerVector<T>)+sizeof(KeptElements<Shape>) /
                                               4;

/// Writes the count of a compaction without elements.
__device__ inline void countNothing(std::size_t n, std::size_t* count) {
    if (n == 0 && blockIdx.x == 0 && threadIdx.x == 0) {
        *count = 0;
    }
}

/// Learns how many elements earlier tiles keep and, if all tiles meet, how many all keep, and shares that in `kept`.
/// Called by all threads; contains a barrier. The last tile writes the number of all kept elements.
template <typename Chain>
__device__ void shareKept(const Chain& chain, int tile, int tiles, LookBack::Count tileCount,
                          GridSums<std::uint64_t>& kept, std::size_t* count) {
    chain.meet();
    if (Warp::index() == 0) {
        GridSums<LookBack::Count> sums{};
        if constexpr (Chain::meetsInGrid) {
            sums = chain.beforeAndAll(LookBack::AddCounts{});
        } else {
            sums.before = chain.before(tile, tileCount, LookBack::AddCounts{});
        }
        if (threadIdx.x == 0) {
            kept = {sums.before.value, sums.all.value};
            if (tile == tiles - 1) {
                *count = sums.before.value + tileCount.value;
            }
        }
    }
    __syncthreads();
}

/// Enqueues what an operation does that counts elements and has room for none.
template <typename Number>
void countNothing(const Number& n, std::size_t* count, cudaStream_t stream) {
    tellExceeded(n, stream);
    Common::checkCUDAError(cudaMemsetAsync(count, 0, sizeof(*count), stream), "cudaMemsetAsync of the count");
}

/// Compaction in registers, for arrays that fit into those of one block or of all blocks together.
///
/// Each block loads a tile and ranks the elements it keeps. The blocks exchange their counts around one barrier of the
/// grid and scatter from registers. A single block needs no barrier of the grid.
///
/// Work O(n + blocks^2), steps O(log n). Reads 4 bytes per int and writes 4 bytes per kept int. Latency is the limit at
/// this size: launch, load, barrier, store.
template <typename Shape, Rejects rejects, typename Source, typename T, typename Predicate, typename Count>
__global__ void __launch_bounds__(Shape::threads,
                                  blocksPerMultiprocessor(Shape::threads, 0, 20 + registersToHold<T, Shape>))
    kernCompactResident(Count number, T* odata, T* rejected, std::size_t* count, GridChain<std::uint32_t> chain,
                        Source source, Predicate keep) {
    __shared__ std::uint32_t warpCounts[Shape::warps];
    const std::size_t n = numberOf(number);
    const int tile = static_cast<int>(blockIdx.x);
    if (isOnDevice<Count> && tile >= Shape::tilesOf(n)) {
        countNothing(n, count);
        if (gridDim.x > 1) {
            chain.publish(0);
        }
        return;
    }
    const int size = Shape::sizeOf(tile, n);

    // Load, and decide what to keep.
    const typename PreviousFor<Predicate, T>::Type previous(source, Shape::beginOfWarp(tile), n);
    const RegisterTile<Source, Shape> in(source, tile, n);
    Vector<T, Shape::vectorLength> rows[Shape::rows];
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        rows[row] = in.row(row);
    }
    KeptElements<Shape> kept;
    const std::uint32_t warpCount =
        kept.decide([&](int row) { return rows[row]; }, previous, Shape::begin(tile), size, keep);

    // Count: within the block, within the grid.
    const auto place = Block::scanWarps<Shape::warps>(warpCount, warpCounts, Sum{});
    GridSums<std::uint32_t> grid{0, place.all};
    if (gridDim.x > 1) {
        chain.publish(place.all);
        grid = chain.beforeAndAll(Sum{});
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *count = grid.all;
    }

    // Scatter.
    T* const keptHere = odata + grid.before;
    T* const rejectedHere =
        (rejects == Rejects::Behind ? odata + grid.all : rejected) + (Shape::begin(tile) - grid.before);
    kept.distribute(
        rows, place.before, size, [&](const T& x, std::uint32_t rank) { keptHere[rank] = x; },
        [&](const T& x, std::uint32_t rank) {
            if constexpr (rejects != Rejects::Dropped) {
                rejectedHere[rank] = x;
            }
        });
}

/// Registers per thread that hold a tile without spilling, by the compiler's reports. Spills are expensive here,
/// because the tiles leave only a small first-level cache.
template <typename T, typename Shape, Rejects rejects, typename Predicate>
[[nodiscard]] constexpr std::size_t registersToCompact() {
    if (Shape::isThreadwise) {
        constexpr std::size_t step = 8;  // in which a card gives out registers
        return Common::divideRoundUp(14 + registersToHold<T, Shape>, step) * step;
    }
    constexpr bool comparesAndPacksAll = asksForPrevious<Predicate> && rejects != Rejects::Dropped;
    return (comparesAndPacksAll ? 24 : 16) + registersToHold<T, Shape>;
}

/// The elements of a vector in a compaction that packs. Beside longer vectors of bytes, the lanes of a warp would
/// pack to places so far apart that they meet in banks.
template <typename Element, typename T>
inline constexpr int packedLength = sizeof(T) == 1 ? std::min(4, vectorLength<Element, T>) : vectorLength<Element, T>;

/// Whether threads of blocks that look back pack bytes in registers. A predicate of the index may read an array by it.
/// Then neighbouring threads need neighbouring elements, so each element is packed apart. So are results of functions,
/// because packing in registers would call a function once more.
template <Rejects rejects, typename Source, typename T, typename Predicate>
inline constexpr bool packsInRegisters = rejects == Rejects::Dropped &&
                                         sizeof(T) == 1 && std::is_same_v<Source, ArraySource<T>> &&
                                         !asksForIndex<Predicate>;

/// The tile of a block that packs, of the block's shape.
template <typename Source, typename T, typename Block>
using PackedTile =
    TileShape<Block::threads, Block::rows * vectorLength<Stored<Source>, T> / packedLength<Stored<Source>, T>,
              packedLength<Stored<Source>, T>>;

/// The same of a block that packs bytes in registers.
template <typename Block>
using ByteTile = ThreadwiseShape<Block::threads, Block::rows, 16>;

/// Shared memory for a tile. The packed elements later take the place of the loaded ones.
template <typename Shape, typename Source, typename T>
inline constexpr std::size_t tileBytes = Shape::elements* std::max(sizeof(Stored<Source>), sizeof(T));

/// Compaction fused with the chained scan of its counts (see kernScanLookBack), in one pass.
///
/// A block counts the elements that it keeps of its tile, and publishes the count. It packs these elements in order in
/// shared memory, where the tile was. If all blocks are resident, they may meet. Otherwise one warp looks back. So the
/// block learns how many elements earlier tiles keep. Then it stores the packed run in aligned vectors. Packing is done
/// before the look-back ends, so it is off the critical path. A scatter straight to global memory takes twice the time.
///
/// Bytes that move one by one would make instructions the limit. So if the others are dropped and blocks look back, a
/// thread owns consecutive bytes of an array (ThreadwiseShape). It packs them in registers, four at a time. Each warp
/// packs and stores its part of the tile apart from the others.
///
/// With Rejects::Behind the others go behind the kept ones. Blocks that look back do not know how many these are until
/// the last tile is done, so they store the others at the end of `odata`, in reverse. kernReverseRest restores their
/// order.
///
/// Work O(n), steps O(n / resident elements). Reads 4 bytes per int and writes 4 bytes per kept int. DRAM bandwidth is
/// the limit.
template <typename Shape, Rejects rejects, typename Chain, typename Source, typename T, typename Predicate,
          typename Count>
__global__ void __launch_bounds__(Shape::threads,
                                  blocksPerMultiprocessor(Shape::threads, tileBytes<Shape, Source, T>,
                                                          registersToCompact<T, Shape, rejects, Predicate>()))
    kernCompactPacked(Count number, T* odata, T* rejected, std::size_t* count, Chain chain, Source source,
                      TileOrder order, Predicate keep) {
    static_assert(!Shape::isThreadwise || rejects == Rejects::Dropped);
    constexpr bool isInReverse = rejects == Rejects::Behind && !Chain::meetsInGrid;
    using Loader = SourceLoader<Source, Shape, tileBytes<Shape, Source, T>>;
    __shared__ typename Loader::Storage storage;
    __shared__ std::uint32_t warpCounts[Shape::warps];
    __shared__ GridSums<std::uint64_t> keptElsewhere;
    __shared__ int sharedTile;
    __shared__ std::conditional_t<Shape::isThreadwise, PackingTable, DoNothing> packing;
    const std::size_t n = numberOf(number);
    const auto tiles = [all = Shape::tilesOf(n)] { return all; };
    if constexpr (isOnDevice<Count>) {
        countNothing(n, count);
    }
    if constexpr (Shape::isThreadwise) {
        packing.fill();
    }
    Loader loader(storage, source, n);

    forEachTile<Count>(chain, order, sharedTile, loader, tiles, [&](int tile) {
        const std::size_t begin = Shape::begin(tile);
        const int size = Shape::sizeOf(tile, n);

        // Decide what to keep, count it and publish the number.
        const typename PreviousFor<Predicate, T>::Type previous(source, Shape::beginOfWarp(tile), n);
        loader.finish(tile);
        KeptElements<Shape> kept;
        const std::uint32_t warpCount =
            kept.decide([&](int row) { return loader.row(row); }, previous, begin, size, keep);
        const auto place = Block::scanWarps<Shape::warps>(warpCount, warpCounts, Sum{});
        const LookBack::Count tileCount{place.all};
        if (Warp::index() == 0) {
            chain.publish(tile, tileCount);
        }

        // Pack the kept elements where the tile was and, if the others are stored too, those behind them.
        Vector<T, Shape::vectorLength> rows[Shape::rows];
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            rows[row] = loader.row(row);
        }
        if constexpr (Shape::isThreadwise) {
            __syncwarp();
            kept.packByWarp(rows, packing, loader.memory() + Shape::beginOfWarp(0));
        } else {
            __syncthreads();
            T* const packed = reinterpret_cast<T*>(loader.memory());
            kept.distribute(
                rows, place.before, size, [&](const T& x, std::uint32_t rank) { packed[rank] = x; },
                [&](const T& x, std::uint32_t rank) {
                    if constexpr (isInReverse) {
                        packed[size - 1 - rank] = x;
                    } else if constexpr (rejects != Rejects::Dropped) {
                        packed[place.all + rank] = x;
                    }
                });
        }

        shareKept(chain, tile, tiles(), tileCount, keptElsewhere, count);

        // Store.
        const std::uint32_t rejectedCount = size - place.all;
        const std::size_t keptBefore = keptElsewhere.before;
        const std::size_t rejectedBefore = begin - keptBefore;
        if constexpr (Shape::isThreadwise) {
            copyRunByWarp(reinterpret_cast<std::uint8_t*>(odata + keptBefore + place.before),
                          reinterpret_cast<const std::uint8_t*>(loader.memory() + Shape::beginOfWarp(0)),
                          static_cast<int>(warpCount));
        } else {
            copyRun(odata + keptBefore, loader.memory(), 0, place.all);
        }
        if constexpr (isInReverse) {
            copyRun(odata + (n - rejectedBefore - rejectedCount), loader.memory(), place.all, rejectedCount);
        } else if constexpr (rejects != Rejects::Dropped) {
            T* const rest = rejects == Rejects::Behind ? odata + keptElsewhere.all : rejected;
            copyRun(rest + rejectedBefore, loader.memory(), place.all, rejectedCount);
        }
    });
}

/// Loads a run of elements into shared memory, in reverse, by all threads of the block.
template <typename Shape, typename T>
__device__ void loadReversed(T* shared, const T* run, int size) {
    constexpr int items = Shape::rows * Shape::vectorLength;
    T elements[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
        if (const int at = i * Shape::threads + static_cast<int>(threadIdx.x); at < size) {
            elements[i] = run[at];
        }
    }
#pragma unroll
    for (int i = 0; i < items; ++i) {
        if (const int at = i * Shape::threads + static_cast<int>(threadIdx.x); at < size) {
            shared[size - 1 - at] = elements[i];
        }
    }
}

/// The elements of either end that a block reverses at a time, at most.
template <typename T>
using ReverseTile = TileShape<256, sizeof(T) <= 16 ? 2 : 1, vectorLength<T>>;

/// Two runs in reverse, aligned for copyRun().
template <typename Shape, typename T>
struct ReverseStorage {
    static constexpr std::size_t alignment = std::max<std::size_t>(alignof(T), 16);  ///< in bytes

    alignas(alignment) std::byte front[Shape::elements * sizeof(T)];  ///< of the first elements
    alignas(alignment) std::byte back[Shape::elements * sizeof(T)];   ///< of the last
};

/// Reverses the elements after the first `count` of n, in place. A block takes a run from either end, reverses both in
/// shared memory and stores each in the place of the other, in aligned vectors.
///
/// Work O(n - count), steps O((n - count) / threads of the grid). Reads and writes each of them once. DRAM bandwidth is
/// the limit.
template <typename Shape, typename T, typename Count>
__global__ void __launch_bounds__(Shape::threads) kernReverseRest(Count number, T* data, const std::size_t* count) {
    __shared__ ReverseStorage<Shape, T> storage;
    waitForEarlierKernels();
    constexpr std::size_t busyBlocks = 1024;  // a card holds about as many at once
    // Read once: numberOf() may write, so to the compiler a second read could give another number.
    const std::size_t kept = *count;
    T* const rest = data + kept;
    const std::size_t size = numberOf(number) - kept;
    const std::size_t half = size / 2;
    const std::size_t step = min(std::size_t{Shape::elements}, max(std::size_t{Shape::threads}, half / busyBlocks));
    for (std::size_t begin = blockIdx.x * step; begin < half; begin += gridDim.x * step) {
        const int here = static_cast<int>(min(half - begin, step));
        T* const first = rest + begin;
        T* const last = rest + (size - begin - here);
        loadReversed<Shape>(reinterpret_cast<T*>(storage.front), first, here);
        loadReversed<Shape>(reinterpret_cast<T*>(storage.back), last, here);
        __syncthreads();
        copyRun(first, storage.back, 0, here);
        copyRun(last, storage.front, 0, here);
        __syncthreads();
    }
}

/// The launches that compaction and partition share.
template <Rejects rejects>
struct CompactLauncher {
    TileOrder order;

    template <typename Source, typename T>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n) {
        using Element = Stored<Source>;
        Arguments::requireSize<T, Element>(n);
        constexpr int length = vectorLength<Element, T>;
        const std::size_t vectors = Common::divideRoundUp(n, countedLength<length>);
        const std::size_t tiles = Common::blocksFor(n, CompactBlock<T>::vectors * length);
        const std::size_t halfTiles = Common::divideRoundUp(n, HalfCompactBlock<T>::vectors * length);
        return n == 0 ? 0
                      : std::max({scratchBytesFor<std::uint32_t>(mostCompactBlocks(vectors)),
                                  scratchBytesFor<LookBack::Count>(std::min(halfTiles, mostMeetingBlocks)),
                                  scratchBytesFor<std::uint64_t>(LookBackChain<LookBack::Count>::wordsFor(tiles))});
    }

    template <typename Source, typename T, typename Count, typename Predicate>
    void operator()(const Source& in, T* out, T* rejected, std::size_t* count, Count n, Predicate keep, Scratch scratch,
                    cudaStream_t stream) const;

    /// Launches blocks of the given shape that are all resident and scatter from registers. Returns false if an element
    /// takes too many registers, or if the card cannot hold as many blocks as the array needs.
    template <typename Shape, typename Source, typename T, typename Count, typename Predicate>
    [[nodiscard]] bool compactResident(Shape, const Source& in, T* out, T* rejected, std::size_t* count, Count n,
                                       Predicate keep, ScratchArena arena, cudaStream_t stream) const {
        using Tile = TileShape<Shape::threads, Shape::rows, vectorLength<Stored<Source>, T>>;
        constexpr std::size_t registers = registersToHold<T, Tile>;
        constexpr std::size_t mostRegisters = 128;
        if constexpr (registers > mostRegisters) {
            return false;
        } else {
            constexpr auto kernel = kernCompactResident<Tile, rejects, Source, T, Predicate, Count>;
            const std::size_t blocks = Common::divideRoundUp(capacityOf(n), Tile::elements);
            return launchTogether<kernel>({blocks, Tile::threads}, stream, n, out, rejected, count,
                                          GridChain<std::uint32_t>{arena.take<std::uint32_t>(blocks)}, in, keep);
        }
    }

    /// Launches blocks of the given shape that pack their tiles and meet. Returns false if there are too many of them.
    template <typename Shape, typename Source, typename T, typename Count, typename Predicate>
    [[nodiscard]] bool compactTogether(Shape, const Source& in, T* out, T* rejected, std::size_t* count, Count n,
                                       Predicate keep, ScratchArena arena, cudaStream_t stream) const {
        using Tile = PackedTile<Source, T, Shape>;
        using Chain = GridChain<LookBack::Count>;
        constexpr auto kernel = kernCompactPacked<Tile, rejects, Chain, Source, T, Predicate, Count>;
        const std::size_t blocks = Common::divideRoundUp(capacityOf(n), Tile::elements);
        return blocks <= mostMeetingBlocks &&
               launchTogether<kernel>({blocks, Tile::threads}, stream, n, out, rejected, count,
                                      Chain{arena.take<LookBack::Count>(blocks)}, in, TileOrder::BlockIndex, keep);
    }

    /// By look-back over tiles of the given shape.
    template <typename Shape, typename Source, typename T, typename Count, typename Predicate>
    void compactByLookBack(Shape, const Source& in, T* out, T* rejected, std::size_t* count, Count n, Predicate keep,
                           ScratchArena arena, cudaStream_t stream) const {
        using Tile = std::conditional_t<packsInRegisters<rejects, Source, T, Predicate>, ByteTile<Shape>,
                                        PackedTile<Source, T, Shape>>;
        using Chain = LookBackChain<LookBack::Count>;
        constexpr auto kernel = kernCompactPacked<Tile, rejects, Chain, Source, T, Predicate, Count>;
        const std::size_t tiles = Common::divideRoundUp(capacityOf(n), Tile::elements);
        const Chain chain{arena.take<std::uint64_t>(Chain::wordsFor(tiles)), tiles};
        clearWords(chain.words, Chain::wordsFor(tiles), stream);
        const std::size_t blocks = blocksForTiles<kernel, Count>(tiles, Tile::threads);
        launch<kernel>({blocks, Tile::threads, 0, Begin::Programmatic}, stream, n, out, rejected, count, chain, in,
                       orderFor(order, blocks, tiles), keep);
        if constexpr (rejects == Rejects::Behind) {
            using Half = ReverseTile<T>;
            constexpr auto reverse = kernReverseRest<Half, T, Count>;
            // Only the device knows how many elements are to be reversed.
            constexpr unsigned mostBlocks = 4096;
            std::size_t reversing = Common::blocksFor(capacityOf(n), 2 * Half::threads, mostBlocks);
            if constexpr (isOnDevice<Count>) {
                // There may be few, and a block without any takes about a nanosecond.
                reversing = std::min<std::size_t>(reversing, onCurrentDevice<reverse>(Half::threads).residentBlocks);
            }
            launch<reverse>({reversing, Half::threads, 0, Begin::Programmatic}, stream, n, out, count);
        }
    }
};

// Not inline, so that files of a program that compact alike can leave the kernels to one of them, by `extern template`.
template <Rejects rejects>
template <typename Source, typename T, typename Count, typename Predicate>
void CompactLauncher<rejects>::operator()(const Source& in, T* out, T* rejected, std::size_t* count, Count n,
                                          Predicate keep, Scratch scratch, cudaStream_t stream) const {
    using Element = Stored<Source>;
    static_assert(std::is_same_v<typename Source::Value, T>, "elements come out as they go in");
    static_assert(sizeof(T) <= 64 && sizeof(Element) <= 64, "elements of up to 64 bytes");
    const std::size_t most = capacityOf(n);
    ScratchArena arena(scratch, scratchBytes<Source, T>(most));
    if (most == 0) {
        countNothing(n, count, stream);
        return;
    }
    constexpr int length = vectorLength<Element, T>;
    const std::size_t vectors = Common::divideRoundUp(most, countedLength<length>);
    const CompactLimits limits = compactLimits<length>(rejects);
    const auto scatter = [&]<typename Shape>(Shape) {
        return compactResident(ResidentCompactBlock<Shape, length>{}, in, out, rejected, count, n, keep, arena, stream);
    };
    const auto pack = [&](auto shape) {
        return compactTogether(shape, in, out, rejected, count, n, keep, arena, stream);
    };
    const bool isDone = withResidentShape(vectors, limits, scatter) ||
                        (vectors <= limits.ofHalf && pack(HalfCompactBlock<T>{})) ||
                        (vectors <= limits.ofWhole && pack(CompactBlock<T>{}));
    if (!isDone) {
        using Block =
            std::conditional_t<packsInRegisters<rejects, Source, T, Predicate>, ByteCompactBlock, CompactBlock<T>>;
        compactByLookBack(Block{}, in, out, rejected, count, n, keep, arena, stream);
    }
}

/// Stable compaction. Writes the elements for which `keep` holds to `out`, in order, and their number to `count`, both
/// in device memory. By default `keep` holds for the nonzero elements; `keepFlagged` keeps the elements whose flag is
/// set, and `CompactFlagged` reads no others. Writes nothing past the kept elements. May not run in place. Neither
/// allocates nor synchronises. Throws what common.cuh says.
///
/// `in` is an array of n elements in device memory, or a function of such elements or of the index
/// (primitives/source.cuh). With a function, `keep` gets what it returns, and that is written. The function may be
/// called twice per element.
///
/// Elements are trivially copyable, have 1 to 64 bytes, and lie at any address that their type allows. The predicate is
/// called once per element, with the element, with the element and its index (WithIndex), or with the element before
/// and the element (WithPrevious). The scratch may hold anything and keeps nothing from call to call.
struct Compact {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// How the blocks of large compactions get their tiles.
    TileOrder order = TileOrder::BlockIndex;
    /// The most elements that are kept (common.cuh).
    std::size_t maxOut = noLimit;

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename T, ElementCount N, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const In& /*in*/, T* /*out*/, CountPointer /*count*/, N n,
                                           const Functions&... /*functions*/) const {
        return CompactLauncher<Rejects::Dropped>::scratchBytes<SourceOf<In>, T>(capacityOf(n));
    }

    /// Keeps the nonzero elements.
    template <typename In, typename T, ElementCount N>
    void operator()(const In& in, T* out, CountPointer count, N n, Scratch scratch, cudaStream_t stream) const {
        (*this)(in, out, count, n, IsNonzero{}, scratch, stream);
    }

    /// Keeps the elements for which `keep` holds.
    template <typename In, typename T, ElementCount N, typename Predicate>
    void operator()(const In& in, T* out, CountPointer count, N n, Predicate keep, Scratch scratch,
                    cudaStream_t stream) const {
        const SourceOf<In> source = sourceOf(in);
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(number, {arrayOf("in", source, most), arrayReadBy(keep, most)},
                     {Arguments::array("out", out, std::min(most, maxOut)), Arguments::array("count", count, 1)});
        if constexpr (areElements<Stored<SourceOf<In>>, T>() && isPredicateFor<T, Predicate>()) {
            CompactLauncher<Rejects::Dropped>{order}(source, out, noArray<T>, count, number, keep, scratch, stream);
        }
    }
};

/// Stable partition: the elements that `Compact` keeps and the others, each in order. `count`, in device memory, is the
/// number of kept elements. May not run in place. Everything else is as for `Compact`.
struct Partition {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// How the blocks of large partitions get their tiles.
    TileOrder order = TileOrder::BlockIndex;
    /// With two outputs: the most elements that are kept (common.cuh).
    std::size_t maxOut = noLimit;
    /// The same for those that are not kept.
    std::size_t maxRejected = noLimit;

    /// The bytes of scratch that a call with one output needs.
    template <typename In, typename T, ElementCount N, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const In& /*in*/, T* /*out*/, CountPointer /*count*/, N n,
                                           const Functions&... /*functions*/) const {
        return CompactLauncher<Rejects::Behind>::scratchBytes<SourceOf<In>, T>(capacityOf(n));
    }
    /// The bytes of scratch that a call with two outputs needs.
    template <typename In, typename T, ElementCount N, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const In& /*in*/, T* /*kept*/, T* /*rejected*/, CountPointer /*count*/, N n,
                                           const Functions&... /*functions*/) const {
        return CompactLauncher<Rejects::Apart>::scratchBytes<SourceOf<In>, T>(capacityOf(n));
    }

    /// Into one array of n elements: the kept ones, then the others. For large arrays the first pass writes the others
    /// in reverse, and a second pass reverses them.
    template <typename In, typename T, ElementCount N>
    void operator()(const In& in, T* out, CountPointer count, N n, Scratch scratch, cudaStream_t stream) const {
        (*this)(in, out, count, n, IsNonzero{}, scratch, stream);
    }
    /// The same, by a predicate.
    template <typename In, typename T, ElementCount N, typename Predicate>
    void operator()(const In& in, T* out, CountPointer count, N n, Predicate keep, Scratch scratch,
                    cudaStream_t stream) const {
        const SourceOf<In> source = sourceOf(in);
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(number, {arrayOf("in", source, most), arrayReadBy(keep, most)},
                     {Arguments::array("out", out, most), Arguments::array("count", count, 1)});
        if constexpr (areElements<Stored<SourceOf<In>>, T>() && isPredicateFor<T, Predicate>()) {
            CompactLauncher<Rejects::Behind>{order}(source, out, noArray<T>, count, number, keep, scratch, stream);
        }
    }

    /// Into two arrays, each with room for the elements that go there. Always one pass.
    template <typename In, typename T, ElementCount N>
    void operator()(const In& in, T* kept, T* rejected, CountPointer count, N n, Scratch scratch,
                    cudaStream_t stream) const {
        (*this)(in, kept, rejected, count, n, IsNonzero{}, scratch, stream);
    }
    /// The same, by a predicate.
    template <typename In, typename T, ElementCount N, typename Predicate>
    void operator()(const In& in, T* kept, T* rejected, CountPointer count, N n, Predicate keep, Scratch scratch,
                    cudaStream_t stream) const {
        const SourceOf<In> source = sourceOf(in);
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(
            number, {arrayOf("in", source, most), arrayReadBy(keep, most)},
            {Arguments::array("kept", kept, std::min(most, maxOut)),
             Arguments::array("rejected", rejected, std::min(most, maxRejected)), Arguments::array("count", count, 1)});
        if constexpr (areElements<Stored<SourceOf<In>>, T>() && isPredicateFor<T, Predicate>()) {
            CompactLauncher<Rejects::Apart>{order}(source, kept, rejected, count, number, keep, scratch, stream);
        }
    }
};

}  // namespace StreamCompaction::SinglePass
