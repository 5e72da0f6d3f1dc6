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
/// pass. The values are read once, at the end. `encoding` is applied to the keys of `in`, and undoing `coding` gives
/// those of `out`. The output may be the input.
///
/// Work O(n) per digit, steps O(log n). Each key and each value is read and written once: 8 bytes per int. Latency is
/// the limit: a launch, a load, the barriers of each pass, a store.
template <typename Shape, typename Bits, typename Value, typename Rank, typename Encoding>
__device__ void sortInBlock(TileStorage<Shape, Bits, OriginInBlock<Value>, Rank>& storage, int size,
                            Elements<Bits, Value> out, Elements<const Bits, const Value> in, DigitRange range,
                            const Encoding& encoding, const KeyCoding<Bits>& coding) {
    using Origin = OriginInBlock<Value>;
    TileKeys<Shape, Bits> keys;
    keys.loadAndEncode(in.keys, size, encoding);
    Origin origins[Shape::items];
    if constexpr (hasValues<Value>) {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            origins[row] = static_cast<Origin>(placeIn<Shape>(row));
        }
    }
    const Bits differing = keys.differingFrom(encoding.encode(in.keys[0]));

    for (int pass = 0; pass < range.count(); ++pass) {
        const Digit digit = range.digit(pass);
        if (__syncthreads_or(digit.of(differing) != 0) == 0) {
            continue;
        }
        DigitRank<Shape::threads, Rank> ranks(storage.ranks, storage.counts);
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

    const auto forEachRow = [&](auto work) {
#pragma unroll
        for (int row = 0; row < Shape::items; ++row) {
            if (const int i = placeIn<Shape>(row); i < size) {
                work(row, i);
            }
        }
    };
    // All values are loaded before one is stored, so that the loads do not wait for one another.
    [[maybe_unused]] Value values[Shape::items];
    if constexpr (hasValues<Value>) {
        forEachRow([&](int row, int /*i*/) { values[row] = originalValue(in.values, 0, origins[row]); });
        __syncthreads();
    }
    forEachRow([&](int row, int i) {
        out.keys[i] = coding.decode(keys[row]);
        if constexpr (hasValues<Value>) {
            out.values[i] = values[row];
        }
    });
}

/// The same as a launch of one block.
template <typename Shape, typename Bits, typename Value, typename Count>
__global__ void __launch_bounds__(Shape::threads)
    kernSortBlock(Count n, Elements<Bits, Value> out, Elements<const Bits, const Value> in, DigitRange range,
                  KeyCoding<Bits> coding) {
    const int size = static_cast<int>(numberOf(n));
    if (!isOnDevice<Count> || size > 0) {
        sortInBlock<Shape>(dynamicShared<TileStorage<Shape, Bits, OriginInBlock<Value>>>(), size, out, in, range,
                           coding, coding);
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

/// Adds up the counts of all blocks for digits of `bits` bits. There is one row of 16-bit counts per block. Each thread
/// adds up two columns.
template <int threads>
__device__ void addUpCounts(const std::uint16_t* rows, int bits, std::uint32_t (&before)[digitValues],
                            std::uint32_t (&all)[digitValues]) {
    const int columnBits = bits - 1;
    const unsigned rowsAtATime = threads >> columnBits;
    constexpr int batch = 8;  // loads in flight
    const auto* pairs = reinterpret_cast<const std::uint32_t*>(rows);
    const unsigned column = threadIdx.x & ((1u << columnBits) - 1);
    uint2 sumBefore{};
    uint2 sum{};
    for (unsigned first = threadIdx.x >> columnBits; first < gridDim.x; first += batch * rowsAtATime) {
        std::uint32_t pair[batch];
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const unsigned block = first + i * rowsAtATime;
            pair[i] = block < gridDim.x ? __ldcg(pairs + block * (digitValues / 2) + column) : 0;
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

/// The part of a block: block b has part b. Without elements if it lies behind the end.
struct ResidentTile {
    std::size_t begin;
    int size;

    /// Its part `i` if each has `elements`. nvcc 13.0 would miscompile max(0, min()) here.
    [[nodiscard]] __device__ ResidentTile part(int i, int elements) const {
        const int before = min(i * elements, size);
        return {begin + static_cast<std::size_t>(before), min(size - before, elements)};
    }
};

/// The block's part of n elements if each has `perBlock`.
template <typename Count>
[[nodiscard]] __device__ ResidentTile residentTile(std::size_t n, std::size_t perBlock) {
    const std::size_t begin = blockIdx.x * perBlock;
    // If only the device knows n, blocks may have no element. They take part in all barriers.
    const std::size_t left = isOnDevice<Count> ? n - min(begin, n) : n - begin;
    return {begin, static_cast<int>(min(left, perBlock))};
}

/// The keys of all blocks.
struct DigitCount {
    std::uint32_t smaller;  ///< with a digit smaller than threadIdx.x
    std::uint32_t equal;    ///< with this digit
    std::uint32_t next;     ///< the place of the first key with this digit behind those of the packed tile
};

/// Packs the loaded tile by a digit of `bits` bits, and finds the places of its keys in `to` among those of all blocks.
/// `uncounted` is how many places past the end would count as keys with the digit threadIdx.x. It may be 0 if only the
/// last tile is not full, because these places come behind all keys. The block has `inLaterTiles` more keys with that
/// digit, behind those of this tile.
///
/// A block publishes how often each digit occurs in its tiles, in its row of `rows`, and packs the tile while the other
/// blocks count: between the arrival at a barrier of all blocks and the wait for it. Then it adds up the rows of all
/// blocks. A barrier of the block has to follow.
template <typename Shape, typename Group, typename Bits, typename Value, typename DigitOf>
__device__ DigitCount packResident(const Group& blocks, ResidentStorage<Shape, Bits, Value>& storage,
                                   TileKeys<Shape, Bits>& keys, const Value* valuesIn, ResidentTile tile, bool isInput,
                                   DigitOf digit, int bits, std::uint32_t uncounted, std::uint32_t inLaterTiles,
                                   std::uint16_t* rows, const Elements<Bits, Value>& to) {
    DigitRank<Shape::threads, std::uint16_t> ranks(storage.tile.ranks, storage.tile.counts);
    keys.count(ranks, digit);
    const std::uint32_t total = ranks.total();
    if (threadIdx.x < digitValues) {
        rows[blockIdx.x * digitValues + threadIdx.x] = static_cast<std::uint16_t>(total - uncounted + inLaterTiles);
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

    addUpCounts<Shape::threads>(rows, bits, storage.before, storage.all);
    const std::uint32_t all = threadIdx.x < digitValues ? storage.all[threadIdx.x] : 0;
    const std::uint32_t start = Block::exclusiveScan<Shape::threads / Warp::lanes>(all, storage.slots, Sum{});
    const std::uint32_t place = start + (threadIdx.x < digitValues ? storage.before[threadIdx.x] : 0);
    if (threadIdx.x < digitValues) {
        storage.tile.setRun(static_cast<int>(threadIdx.x), to, std::int64_t{place} - std::int64_t{firstRank});
    }
    return {start, all, place + total - uncounted};
}

/// The arrays of a resident sort.
template <typename Bits, typename Value>
struct ResidentArrays {
    Elements<const Bits, const Value> in;
    Elements<Bits, Value> out;
    Elements<Bits, Value> spare;
    Elements<Bits, Value> otherSpare;
    std::uint16_t* counts;  ///< one row of digit values per block, for each time that the blocks count

    /// The rows of one of these times.
    [[nodiscard]] __device__ std::uint16_t* rows(int time) const {
        return counts + std::size_t{static_cast<unsigned>(time) * gridDim.x} * digitValues;
    }
};

/// Least-significant-digit radix sort by blocks that are resident together, each with a part of the keys. The blocks
/// have counted `before` times. `areFull` says that no tile but the last has places past the end.
///
/// A pass packs the parts, and moves the keys to the array that the next pass reads. So it has two barriers of all
/// blocks. If all keys share a digit, the pass ends after the counts. Only the last pass never does, because it moves
/// the keys to `out`.
template <typename Shape, bool areFull, typename Group, typename Bits, typename Value>
__device__ void sortByDigits(const Group& blocks, ResidentStorage<Shape, Bits, Value>& storage,
                             const ResidentArrays<Bits, Value>& arrays, std::size_t n, ResidentTile tile,
                             DigitRange range, const KeyCoding<Bits>& coding, int before) {
    Elements<const Bits, const Value> from = arrays.in;
    Elements<Bits, Value> next = arrays.spare;
    Elements<Bits, Value> afterNext = arrays.otherSpare;
    bool isFirst = true;
    for (int pass = 0; pass < range.count(); ++pass) {
        const Digit digit = range.digit(pass);
        const bool isLast = pass + 1 == range.count();

        TileKeys<Shape, Bits> keys;
        if (isFirst) {
            keys.loadAndEncode(from.keys + tile.begin, tile.size, coding);
        } else {
            keys.load(from.keys + tile.begin, tile.size);
        }
        const Elements<Bits, Value> to = isLast ? arrays.out : next;
        const std::uint32_t uncounted = areFull ? 0 : keys.countedPastTheEnd(digit, threadIdx.x);
        const DigitCount count = packResident<Shape>(blocks, storage, keys, from.values, tile, isFirst, digit,
                                                     digitBits, uncounted, 0, arrays.rows(before + pass), to);
        const std::size_t counted = areFull ? gridDim.x * Shape::elements : n;
        const bool isShared = __syncthreads_or(count.equal == counted) != 0;
        if (isShared && !isLast) {
            continue;
        }

        storeCoded(coding, isLast, [&](auto decode) { storePacked(storage.tile, tile.size, digit, decode); });
        if (!isLast) {
            blocks.sync();
        }
        from = to.readOnly();
        next = afterNext;
        afterNext = to;
        isFirst = false;
    }
}

/// Sorts by digits, with one tile per block.
///
/// Work O(n + blocks^2) per digit, steps O(log n). 8 bytes per 4-byte key and pass, in the second-level cache. The
/// latency of the barriers and of ranking a tile is the limit.
template <typename Blocks, typename Shape, typename Bits, typename Value, typename Count>
__global__ void __launch_bounds__(Shape::threads)
    kernSortResident(Count count, ResidentArrays<Bits, Value> arrays, DigitRange range, KeyCoding<Bits> coding) {
    const std::size_t n = numberOf(count);
    sortByDigits<Shape, true>(Blocks::group(), dynamicShared<ResidentStorage<Shape, Bits, Value>>(), arrays, n,
                              residentTile<Count>(n, Shape::elements), range, coding, 0);
}

}  // namespace StreamCompaction::Radix
