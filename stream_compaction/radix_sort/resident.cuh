#pragma once

#include <cooperative_groups.h>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/sort_tile.cuh"
#include "stream_compaction/runtime/element_count.cuh"

/// Radix sort of arrays that fit into the blocks of one launch.
namespace StreamCompaction::Radix {

/// In a sort by one block, each key carries its index in the input. At the end this index gives its value.
template <typename Value>
using OriginInBlock = std::conditional_t<hasValues<Value>, std::uint16_t, NoValue>;

/// Least-significant-digit radix sort of at most Shape::elements keys by one block, called by all of its threads. The
/// keys go back and forth between registers and shared memory, one pass per digit. A digit that all keys share needs no
/// pass. The values are read once, at the end.
///
/// Work O(n) per digit, steps O(log n). Each key and each value is read and written once: 8 bytes per int. Latency is
/// the limit: a launch, a load, the barriers of each pass, a store.
template <typename Shape, typename Bits, typename Value>
__device__ void sortInBlock(TileStorage<Shape, Bits, OriginInBlock<Value>>& storage, int size,
                            Elements<Bits, Value> out, Elements<const Bits, const Value> in, DigitRange range,
                            const KeyCoding<Bits>& coding) {
    using Origin = OriginInBlock<Value>;
    TileKeys<Shape, Bits> keys;
    keys.loadAndEncode(in.keys, size, coding);
    Origin origins[Shape::items];
    Bits differing = 0;
    const Bits first = coding.encode(in.keys[0]);
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
        if constexpr (hasValues<Value>) {
            origins[row] = static_cast<Origin>(placeIn<Shape>(row));
        }
        differing |= placeIn<Shape>(row) < size ? keys[row] ^ first : Bits{0};
    }

    for (int pass = 0; pass < range.count(); ++pass) {
        const Digit digit = range.digit(pass);
        if (__syncthreads_or(digit.of(differing) != 0) == 0) {
            continue;
        }
        DigitRank<Shape::threads> ranks(storage.ranks, storage.counts);
        keys.count(ranks, digit);
        ranks.begin(ranks.total());
        keys.pack(ranks, digit, storage);
        keys.packValues(origins, storage);
        __syncthreads();
        keys.load(storage.keys, Shape::elements);
        if constexpr (hasValues<Value>) {
            loadRows<Shape>(origins, storage.values, Shape::elements, Origin{});
        }
    }

#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
        const int i = placeIn<Shape>(row);
        if (i < size) {
            out.keys[i] = coding.decode(keys[row]);
            if constexpr (hasValues<Value>) {
                if constexpr (isOwnIndex<Value>) {
                    out.values[i] = ownIndex<Value>(origins[row]);
                } else {
                    out.values[i] = in.values[origins[row]];
                }
            }
        }
    }
}

/// The same as a launch of one block.
template <typename Shape, typename Bits, typename Value, typename Count>
__global__ void __launch_bounds__(Shape::threads)
    kernSortBlock(Count n, Elements<Bits, Value> out, Elements<const Bits, const Value> in, DigitRange range,
                  KeyCoding<Bits> coding) {
    const int size = static_cast<int>(numberOf(n));
    if (!isOnDevice<Count> || size > 0) {
        sortInBlock<Shape>(dynamicShared<TileStorage<Shape, Bits, OriginInBlock<Value>>>(), size, out, in, range,
                           coding);
    }
}

/// The blocks of a cooperative launch.
struct Grid {
    [[nodiscard]] static __device__ auto group() { return cooperative_groups::this_grid(); }
};

/// The blocks of one cluster, whose barrier is faster. Needs compute capability 9.0.
struct Cluster {
#if defined(STREAM_COMPACTION_SIMULATED) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    [[nodiscard]] static __device__ auto group() { return cooperative_groups::this_cluster(); }
#else
    [[nodiscard]] static __device__ auto group() { return cooperative_groups::this_grid(); }
#endif
};

/// The shared memory of a block in a sort by resident blocks with one tile each.
template <typename Shape, typename Bits, typename Value>
struct ResidentStorage {
    TileStorage<Shape, Bits, Value, std::uint16_t> tile;
    std::uint32_t before[digitValues];  ///< per digit, the number of its keys in earlier blocks
    std::uint32_t all[digitValues];     ///< per digit, the number of its keys in all blocks
    std::uint32_t slots[Shape::threads / Warp::lanes];
};

/// Adds up the counts of all blocks. There is one row of 16-bit counts per block. Each thread adds up two columns.
template <int threads>
__device__ void addUpCounts(const std::uint16_t* rows, std::uint32_t (&before)[digitValues],
                            std::uint32_t (&all)[digitValues]) {
    constexpr unsigned columns = digitValues / 2;
    constexpr unsigned rowsAtATime = threads / columns;
    constexpr int batch = 8;  // loads in flight
    const auto* pairs = reinterpret_cast<const std::uint32_t*>(rows);
    const unsigned column = threadIdx.x % columns;
    uint2 sumBefore{};
    uint2 sum{};
    for (unsigned first = threadIdx.x / columns; first < gridDim.x; first += batch * rowsAtATime) {
        std::uint32_t pair[batch];
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const unsigned block = first + i * rowsAtATime;
            pair[i] = block < gridDim.x ? __ldcg(pairs + block * columns + column) : 0;
        }
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const uint2 count{pair[i] & 0xffff, pair[i] >> 16};
            const bool isBefore = first + i * rowsAtATime < blockIdx.x;
            sum.x += count.x;
            sum.y += count.y;
            sumBefore.x += isBefore ? count.x : 0;
            sumBefore.y += isBefore ? count.y : 0;
        }
    }
    atomicAdd(&before[2 * column], sumBefore.x);
    atomicAdd(&before[2 * column + 1], sumBefore.y);
    atomicAdd(&all[2 * column], sum.x);
    atomicAdd(&all[2 * column + 1], sum.y);
    __syncthreads();
}

/// The tile of a block: block b has tile b. Without elements if it lies behind the end.
struct ResidentTile {
    std::size_t begin;
    int size;
};

/// The block's tile of n elements.
template <typename Shape, typename Count>
[[nodiscard]] __device__ ResidentTile residentTile(std::size_t n) {
    const std::size_t begin = std::size_t{blockIdx.x} * Shape::elements;
    // If only the device knows n, blocks may have no element. They take part in all barriers.
    const std::size_t left = isOnDevice<Count> ? n - min(begin, n) : n - begin;
    return {begin, static_cast<int>(min(left, std::size_t{Shape::elements}))};
}

/// The keys of all blocks.
struct DigitCount {
    std::uint32_t smaller;  ///< with a digit smaller than threadIdx.x
    std::uint32_t equal;    ///< with this digit
};

/// Packs the loaded tile by a digit, and finds the places of its keys in `to` among those of all blocks.
///
/// A block publishes how often each digit occurs in its tile, in its row of `rows`, and packs the tile while the other
/// blocks count: between the arrival at a barrier of all blocks and the wait for it. Then it adds up the rows of all
/// blocks. A barrier of the block has to follow.
template <typename Shape, typename Group, typename Bits, typename Value, typename DigitOf>
__device__ DigitCount packResident(const Group& blocks, ResidentStorage<Shape, Bits, Value>& storage,
                                   TileKeys<Shape, Bits>& keys, const Value* valuesIn, ResidentTile tile, bool isInput,
                                   DigitOf digit, std::uint16_t* rows, const Elements<Bits, Value>& to) {
    DigitRank<Shape::threads, std::uint16_t> ranks(storage.tile.ranks, storage.tile.counts);
    keys.count(ranks, digit);
    const std::uint32_t total = ranks.total();
    if (threadIdx.x < digitValues) {
        rows[blockIdx.x * digitValues + threadIdx.x] = static_cast<std::uint16_t>(total);
        storage.before[threadIdx.x] = 0;
        storage.all[threadIdx.x] = 0;
    }
    auto arrival = blocks.barrier_arrive();

    const std::uint32_t firstRank = ranks.begin(total);
    keys.pack(ranks, digit, storage.tile);
    if constexpr (hasValues<Value>) {
        keys.loadAndPackValues(valuesIn, tile.begin, isInput, storage.tile);
    }
    blocks.barrier_wait(std::move(arrival));

    addUpCounts<Shape::threads>(rows, storage.before, storage.all);
    const std::uint32_t all = threadIdx.x < digitValues ? storage.all[threadIdx.x] : 0;
    const std::uint32_t start = Block::exclusiveScan<Shape::threads / Warp::lanes>(all, storage.slots, Sum{});
    if (threadIdx.x < digitValues) {
        storage.tile.setRun(static_cast<int>(threadIdx.x), to,
                            std::int64_t{start} + storage.before[threadIdx.x] - std::int64_t{firstRank});
    }
    return {start, all};
}

/// Least-significant-digit radix sort by blocks that are resident together, with one tile per block.
///
/// A pass packs the tiles, and moves the keys to the array that the next pass reads. So it has two barriers of all
/// blocks. If all keys share a digit, the pass ends after the counts. Only the last pass never does, because it moves
/// the keys to `out`.
///
/// Work O(n + blocks^2) per digit, steps O(log n). 8 bytes per 4-byte key and pass, in the second-level cache. The
/// latency of the barriers and of ranking a tile is the limit.
template <typename Blocks, typename Shape, typename Bits, typename Value, typename Count>
__global__ void __launch_bounds__(Shape::threads)
    kernSortResident(Count count, Elements<Bits, Value> out, Elements<Bits, Value> spare,
                     Elements<Bits, Value> otherSpare, std::uint16_t* counts, Elements<const Bits, const Value> in,
                     DigitRange range, KeyCoding<Bits> coding) {
    const auto blocks = Blocks::group();
    auto& storage = dynamicShared<ResidentStorage<Shape, Bits, Value>>();
    const ResidentTile tile = residentTile<Shape, Count>(numberOf(count));

    Elements<const Bits, const Value> from = in;
    for (int pass = 0; pass < range.count(); ++pass) {
        const Digit digit = range.digit(pass);
        const bool isLast = pass + 1 == range.count();

        TileKeys<Shape, Bits> keys;
        if (from.keys == in.keys) {
            keys.loadAndEncode(from.keys + tile.begin, tile.size, coding);
        } else {
            keys.load(from.keys + tile.begin, tile.size);
        }
        std::uint16_t* const rows = counts + std::size_t{static_cast<unsigned>(pass) * gridDim.x} * digitValues;
        const Elements<Bits, Value> to = isLast ? out : from.keys == spare.keys ? otherSpare : spare;
        const std::uint32_t all =
            packResident<Shape>(blocks, storage, keys, from.values, tile, from.keys == in.keys, digit, rows, to).equal;
        const bool isShared = __syncthreads_or(all == gridDim.x * Shape::elements) != 0;
        if (isShared && !isLast) {
            continue;
        }

        storeCoded(coding, isLast, [&](auto decode) { storePacked(storage.tile, tile.size, digit, decode); });
        if (!isLast) {
            blocks.sync();
        }
        from = to.readOnly();
    }
}

}  // namespace StreamCompaction::Radix
