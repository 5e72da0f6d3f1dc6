#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/chain.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/sorting_network.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/runtime/early_launch.cuh"
#include "stream_compaction/segments/heads.cuh"

/// Kernels of a sort of segments.
namespace StreamCompaction::Segments {

using Radix::Elements;
using Radix::hasValues;

/// The elements [begin, end).
struct Range {
    std::size_t begin;
    std::size_t end;

    [[nodiscard]] __device__ std::size_t size() const { return end - begin; }
};

/// Segment s of count + 1: the offsets are the borders between them. Segments behind these are empty.
template <typename Offset>
[[nodiscard]] __device__ Range rangeOf(const SegmentsAt<Offset>& segments, std::size_t s, std::size_t n) {
    const auto border = [&](std::size_t i) { return min(static_cast<std::size_t>(segments.begins[i]), n); };
    if (s > segments.count) {
        return {n, n};
    }
    return {s == 0 ? 0 : border(s - 1), s == segments.count ? n : border(s)};
}

/// The tiles of blocks that sort long segments: a small one for the shorter of them, and one that fills the shared
/// memory that every card has.
using SmallTile = Radix::SortShape<256, 2>;
template <typename Bits, typename Value>
using LargeTile =
    Radix::SortShape<256, std::min<int>(16, (36 << 10) / (256 * static_cast<int>(Radix::elementSize<Bits, Value>)))>;

/// The least length of a huge segment, which all blocks sort together.
template <typename Bits, typename Value>
inline constexpr std::size_t leastHuge = 8 * std::size_t{LargeTile<Bits, Value>::elements};

/// Whether a segment of an array of n elements is huge. All blocks together sort one such segment after the other, and
/// meet several times for each. That pays off if the segment has more tiles than n elements have segments of its
/// length.
template <typename Bits, typename Value>
[[nodiscard]] __device__ bool isHuge(std::size_t length, std::size_t n) {
    return length >= leastHuge<Bits, Value> && length / LargeTile<Bits, Value>::elements > n / length;
}

/// The longest segment that a warp sorts.
template <typename Bits, typename Value>
inline constexpr int mostOfWarp = Warp::lanes*(sizeof(Radix::NetworkEntry<Bits, Value>) > 8 ? 4 : 16);

/// The segments that are too long for a warp, in any order: from the front those for one block, from the back the huge
/// ones. The counters are cleared before.
struct LongSegments {
    struct Counters {
        unsigned long long forBlocks;
        unsigned long long taken;  ///< of those for blocks
        unsigned long long huge;
    };

    Counters* counters;
    std::uint64_t* indices;
    std::size_t capacity;  ///< of `indices`

    /// The most that an array of n elements has.
    template <typename Bits, typename Value>
    [[nodiscard]] static constexpr std::size_t most(std::size_t n) {
        return n / (mostOfWarp<Bits, Value> + 1);
    }

    [[nodiscard]] __device__ std::uint64_t& forBlock(std::size_t i) const { return indices[i]; }
    [[nodiscard]] __device__ std::uint64_t& huge(std::size_t i) const { return indices[capacity - 1 - i]; }

    /// Adds the segments of the lanes where `isLong` or `isHuge` is true, never both. Called by all lanes of a warp.
    __device__ void add(std::uint64_t segment, bool isLong, bool isHuge) const {
        if (counters == nullptr) {
            return;  // the array is too short for a long segment
        }
        const unsigned long long place = numbered(counters->forBlocks, isLong);
        if (isLong) {
            forBlock(place) = segment;
        }
        const unsigned long long hugePlace = numbered(counters->huge, isHuge);
        if (isHuge) {
            huge(hugePlace) = segment;
        }
    }

  private:
    /// Counts the lanes where `isOne` is true, and numbers them from the old count on.
    [[nodiscard]] static __device__ unsigned long long numbered(unsigned long long& counter, bool isOne) {
        const std::uint32_t ones = __ballot_sync(Warp::allLanes, isOne);
        if (ones == 0) {
            return 0;
        }
        unsigned long long first = 0;
        if (Warp::lane() == 0) {
            first = atomicAdd(&counter, static_cast<unsigned long long>(__popc(ones)));
        }
        return Warp::broadcast(first, 0) + __popc(ones & ((1u << Warp::lane()) - 1));
    }
};

/// The first lane of this lane's segment in a window. Bit i of `heads` says whether a segment begins at lane i.
[[nodiscard]] __device__ inline int firstLaneOf(std::uint32_t heads) {
    const std::uint32_t lanesUpTo = (2u << Warp::lane()) - 1;
    return Warp::lanes - 1 - __clz(static_cast<int>(heads & lanesUpTo));
}

/// Sorts the segments of a window of `size` elements, at most 32: one per lane. `heads` is as above, and no segment is
/// longer than `longest`. A lane compares its key with the others of its segment; the number of those that come before
/// it is its place.
template <typename Bits, typename Value>
__device__ void sortWindow(const Elements<Bits, Value>& out, const Elements<const Bits, const Value>& in,
                           std::size_t begin, int size, std::uint32_t heads, int longest,
                           const KeyCoding<Bits>& coding) {
    const int lane = Warp::lane();
    const std::uint32_t headsBehind = heads & ~((2u << lane) - 1);
    const int first = firstLaneOf(heads);
    const int end = headsBehind == 0 ? size : __ffs(static_cast<int>(headsBehind)) - 1;
    const bool isInside = lane < size;
    const Bits key = isInside ? in.keys[begin + lane] : Bits{0};
    const Bits code = coding.encode(key);
    int place = first;
    for (int distance = 1; distance < longest; ++distance) {
        const int other = lane + distance < end ? lane + distance : lane + distance - (end - first);
        const Bits otherCode = Warp::broadcast(code, other % Warp::lanes);
        const bool isBefore = otherCode < code || (otherCode == code && other < lane);
        place += distance < end - first && isBefore ? 1 : 0;
    }
    if (isInside) {
        out.keys[begin + place] = key;
        if constexpr (hasValues<Value>) {
            out.values[begin + place] = in.values[begin + lane];
        }
    }
}

/// The same as sortWindow for codes of up to 32 bits. Each code stands between the first lane of its segment and its
/// own lane. So one sort does all segments, stably.
template <typename Bits, typename Value>
__device__ void sortNarrowWindow(const Elements<Bits, Value>& out, const Elements<const Bits, const Value>& in,
                                 std::size_t begin, int size, std::uint32_t heads, const KeyCoding<Bits>& coding) {
    static_assert(sizeof(Bits) <= sizeof(std::uint32_t));
    constexpr int laneBits = 5;
    const int lane = Warp::lane();
    std::uint64_t entry[1] = {~std::uint64_t{0}};
    if (lane < size) {
        entry[0] = std::uint64_t{static_cast<unsigned>(firstLaneOf(heads))} << (32 + laneBits) |
                   std::uint64_t{coding.encode(in.keys[begin + lane])} << laneBits | static_cast<unsigned>(lane);
    }
    sortByNetwork(entry);
    if (lane < size) {
        out.keys[begin + lane] = coding.decode(static_cast<Bits>(entry[0] >> laneBits));
        if constexpr (hasValues<Value>) {
            out.values[begin + lane] = in.values[begin + entry[0] % Warp::lanes];
        }
    }
}

/// The shared memory of a warp.
template <typename Bits, typename Value>
using WarpStorage = Radix::NetworkStorage<Warp::lanes, mostOfWarp<Bits, Value>, Bits, Value>;

/// Sorts a segment by a warp, with as few rows as it needs.
template <int rows = 2, typename Bits, typename Value>
__device__ void sortByWarp(const Elements<Bits, Value>& out, const Elements<const Bits, const Value>& in,
                           std::size_t begin, int size, WarpStorage<Bits, Value>& storage,
                           const KeyCoding<Bits>& coding) {
    if constexpr (rows * Warp::lanes < mostOfWarp<Bits, Value>) {
        if (size > rows * Warp::lanes) {
            return sortByWarp<2 * rows>(out, in, begin, size, storage, coding);
        }
    }
    Radix::sortInNetwork<Warp::lanes, rows>(storage, begin, size, out, in, coding, coding);
}

/// The threads of a block that sorts short segments.
inline constexpr int shortThreads = 256;

/// How many neighbouring segments a warp takes: a power of two, at most 32. Below that limit there are fewer than twice
/// as many warps as the card holds.
[[nodiscard]] __host__ __device__ inline int segmentsPerWarp(std::size_t segments, std::size_t residentWarps) {
    int perWarp = 1;
    while (perWarp < Warp::lanes && 2 * perWarp * residentWarps <= segments + residentWarps) {
        perWarp *= 2;
    }
    return perWarp;
}

/// At least as many as the segments that begin before the end of n elements, and at most about twice as many, if the
/// arrays have room for `capacity`. If the segments are spread evenly over the capacity, it reads one offset.
template <typename Offset>
[[nodiscard]] __device__ std::size_t segmentsBeforeEnd(const SegmentsAt<Offset>& segments, std::size_t n,
                                                       std::size_t capacity) {
    const double part = static_cast<double>(n) / static_cast<double>(capacity);
    auto some = static_cast<std::size_t>(part * static_cast<double>(segments.count));
    while (some < segments.count && static_cast<std::size_t>(segments.begins[some]) < n) {
        some = min(2 * some + 1, segments.count);
    }
    return some;
}

/// Sorts `perWarp` neighbouring segments from `first` on, and lists those that are too long for a warp. Called by all
/// lanes of a warp. Returns whether there may be elements behind them.
template <typename Bits, typename Value, typename Offset>
__device__ bool sortShortSegments(const Elements<Bits, Value>& out, const Elements<const Bits, const Value>& in,
                                  const SegmentsAt<Offset>& segments, std::size_t first, int perWarp, std::size_t n,
                                  WarpStorage<Bits, Value>& storage, const LongSegments& longSegments,
                                  const KeyCoding<Bits>& coding) {
    const std::size_t segment = first + Warp::lane();
    const Range mine = Warp::lane() < perWarp ? rangeOf(segments, segment, n) : Range{n, n};
    const bool mineIsHuge = isHuge<Bits, Value>(mine.size(), n);
    longSegments.add(segment, mine.size() > mostOfWarp<Bits, Value> && !mineIsHuge, mineIsHuge);

    // The lanes from `next` on have segments that are not done.
    for (int next = 0; next < perWarp;) {
        const std::size_t begin = Warp::broadcast(mine.begin, next);
        const bool isInWindow = Warp::lane() >= next && mine.end - begin <= Warp::lanes;
        const int count = __popc(__ballot_sync(Warp::allLanes, isInWindow));
        if (count == 0) {
            const std::size_t size = Warp::broadcast(mine.end, next) - begin;
            if (size <= mostOfWarp<Bits, Value>) {
                sortByWarp(out, in, begin, static_cast<int>(size), storage, coding);
            }
            ++next;
            continue;
        }
        next += count;
        const int size = isInWindow ? static_cast<int>(mine.size()) : 0;
        const std::uint32_t head = size > 0 ? 1u << (mine.begin - begin) : 0;
        const int all = Warp::reduce(size, Sum{});
        if (all == 0) {
            continue;
        }
        const std::uint32_t heads = Warp::reduce(head, Sum{});
        const int longest = Warp::reduce(size, Max{});
        if constexpr (sizeof(Bits) <= sizeof(std::uint32_t)) {
            constexpr int mostToCompare = 8;  // with all others
            if (longest > mostToCompare) {
                sortNarrowWindow(out, in, begin, all, heads, coding);
                continue;
            }
        }
        sortWindow(out, in, begin, all, heads, longest, coding);
    }
    return Warp::broadcast(mine.end, perWarp - 1) < n;
}

/// Sorts the segments that are not too long for a warp, and lists the others.
///
/// Each warp takes some neighbouring segments, at most 32. It goes through them in windows of up to 32 elements that
/// consist of whole segments, so short segments share a window. A longer segment is sorted alone, several elements per
/// lane. All comparisons are between registers.
///
/// If only the device knows the number of elements, the warps of a block take segments round by round, until none of
/// them finds elements behind its own. The fewer elements there are, the fewer segments a warp takes at a time, so that
/// all multiprocessors have some.
///
/// Work O(n log^2 m) for segments of up to m elements, steps O(log^2 m) per segment, but O(n m) and O(m) in windows of
/// wide codes or of very short segments. Reads and writes each key and each value once, and reads each offset: 8 bytes
/// per int. DRAM bandwidth is the bound; the limit is the integer pipe.
template <typename Bits, typename Value, typename Offset, typename Count>
__global__ void __launch_bounds__(shortThreads,
                                  blocksThatFit(shortThreads, sizeof(Radix::NetworkEntry<Bits, Value>) > 4 ? 4 : 5))
    kernSortShortSegments(Count number, Elements<Bits, Value> out, Elements<const Bits, const Value> in,
                          SegmentsAt<Offset> segments, std::size_t residentWarps, LongSegments longSegments,
                          KeyCoding<Bits> coding) {
    __shared__ WarpStorage<Bits, Value> storage[shortThreads / Warp::lanes];
    const std::size_t n = numberOf(number);
    const std::size_t warp = Common::globalThreadIndex() / Warp::lanes;
    const auto sort = [&](std::size_t first, int perWarp) {
        return sortShortSegments(out, in, segments, first, perWarp, n, storage[Warp::index()], longSegments, coding);
    };
    if constexpr (isOnDevice<Count>) {
        const int perWarp = segmentsPerWarp(segmentsBeforeEnd(segments, n, number.capacity), residentWarps);
        const std::size_t step = std::size_t{gridDim.x} * (shortThreads / Warp::lanes) * perWarp;
        std::size_t first = warp * perWarp;
        // Without the barriers the compiler would not know that the lanes of a warp run together, and would test that
        // before each shuffle.
        bool isMore = true;
        while (__syncthreads_or(isMore) != 0) {
            isMore = sort(first, perWarp);
            first += step;
        }
    } else {
        const int perWarp = segmentsPerWarp(segments.count, residentWarps);
        (void)sort(warp * perWarp, perWarp);
    }
}

/// The shared memory of such a block.
template <typename Bits, typename Value>
union LongStorage {
    Radix::TileStorage<SmallTile, Bits, Radix::OriginInBlock<Value>> small;
    Radix::TileStorage<LargeTile<Bits, Value>, Bits, Radix::OriginInBlock<Value>> large;
    Radix::TileStorage<LargeTile<Bits, Value>, Bits, Value> tile;
};

/// The elements from `begin` on.
template <typename Bits, typename Value>
[[nodiscard]] __device__ Elements<Bits, Value> elementsFrom(const Elements<Bits, Value>& elements, std::size_t begin) {
    return {elements.keys + begin, hasValues<Value> ? elements.values + begin : nullptr};
}

/// The blocks that sort a segment: one alone, or all of a cooperative grid.
struct Team {
    unsigned blocks;
    unsigned rank;          ///< of this block
    std::uint64_t* counts;  ///< of several blocks: per digit a row, with one count per block and their sum

    /// The memory for the counts of `blocks` blocks.
    [[nodiscard]] static constexpr std::size_t countsOf(std::size_t blocks) { return digitValues * (blocks + 1); }

    /// The part of `size` elements that this block has, in whole tiles but for the last one.
    [[nodiscard]] __device__ Range part(std::size_t size, std::size_t tile) const {
        const std::size_t tiles = (size + tile - 1) / tile;
        const std::size_t most = (tiles + blocks - 1) / blocks * tile;
        return {min(rank * most, size), min((rank + 1) * most, size)};
    }

    /// Thread d passes the number of this block's keys with digit d. Returns the place of the first of them among the
    /// keys of all blocks. `slots` is as for Block::exclusiveScan.
    [[nodiscard]] __device__ std::uint64_t firstPlace(std::uint64_t count, std::uint64_t* slots) const {
        constexpr int warps = digitValues / Warp::lanes;
        if (blocks == 1) {
            return Block::exclusiveScan<warps>(count, slots, Sum{});
        }
        std::uint64_t* const row = rowOf(threadIdx.x);
        row[rank] = count;
        meet();
        for (unsigned digit = rank * warps + Warp::index(); digit < digitValues; digit += blocks * warps) {
            scanRow(rowOf(digit));
        }
        meet();
        return Block::exclusiveScan<warps>(row[blocks], slots, Sum{}) + row[rank];
    }

    /// What a block has written before is visible to all blocks behind.
    __device__ void meet() const {
        if (blocks > 1) {
            meetInGrid();
        } else {
            __syncthreads();
        }
    }

  private:
    [[nodiscard]] __device__ std::uint64_t* rowOf(unsigned digit) const { return counts + digit * (blocks + 1); }

    /// Exclusive scan of a row by a warp. Each lane has neighbouring counts.
    __device__ void scanRow(std::uint64_t* row) const {
        const unsigned perLane = (blocks + Warp::lanes - 1) / Warp::lanes;
        const unsigned begin = min(Warp::lane() * perLane, blocks);
        const unsigned end = min(begin + perLane, blocks);
        std::uint64_t sum = 0;
        for (unsigned block = begin; block < end; ++block) {
            sum += row[block];
        }
        std::uint64_t before = Warp::inclusiveScan(sum, Sum{}) - sum;
        for (unsigned block = begin; block < end; ++block) {
            const std::uint64_t count = row[block];
            row[block] = before;
            before += count;
        }
        if (Warp::lane() == Warp::lanes - 1) {
            row[blocks] = before;
        }
    }
};

/// Sorts a segment of any length by a team: one pass per digit, tile by tile, back and forth between `out` and `spare`.
/// A pass counts the digits, then moves the elements. Each block has neighbouring tiles.
template <typename Shape, typename Bits, typename Value>
__device__ void sortInTiles(const Team& team, Radix::TileStorage<Shape, Bits, Value>& storage, std::uint64_t* slots,
                            std::size_t size, Elements<Bits, Value> out, Elements<Bits, Value> spare,
                            Elements<const Bits, const Value> in, DigitRange digits, const KeyCoding<Bits>& coding) {
    static_assert(Shape::threads == digitValues, "one thread per digit value");
    const Range mine = team.part(size, Shape::elements);
    const auto load = [&](Radix::TileKeys<Shape, Bits>& keys, const Bits* source, std::size_t begin, bool isFirst) {
        const int sizeOfTile = static_cast<int>(min(size - begin, std::size_t{Shape::elements}));
        if (isFirst) {
            keys.loadAndEncode(source + begin, sizeOfTile, coding);
        } else {
            keys.load(source + begin, sizeOfTile);
        }
        return sizeOfTile;
    };
    Elements<const Bits, const Value> source = in;
    for (int pass = 0; pass < digits.count(); ++pass) {
        const Digit digit = digits.digit(pass);
        const bool isFirst = pass == 0;
        const bool isLast = pass + 1 == digits.count();
        const Elements<Bits, Value> to = (digits.count() - pass) % 2 != 0 ? out : spare;

        // Count the digits. Thread d has those of value d.
        std::uint64_t count = 0;
        for (std::size_t begin = mine.begin; begin < mine.end; begin += Shape::elements) {
            Radix::TileKeys<Shape, Bits> keys;
            load(keys, source.keys, begin, isFirst);
            DigitRank<Shape::threads> ranks(storage.ranks, storage.counts);
            keys.count(ranks, digit);
            count += ranks.total();
            __syncthreads();
        }
        std::uint64_t start = team.firstPlace(count, slots);

        // Move the elements.
        for (std::size_t begin = mine.begin; begin < mine.end; begin += Shape::elements) {
            Radix::TileKeys<Shape, Bits> keys;
            const int sizeOfTile = load(keys, source.keys, begin, isFirst);
            DigitRank<Shape::threads> ranks(storage.ranks, storage.counts);
            keys.count(ranks, digit);
            const std::uint32_t total = ranks.total();
            const std::uint32_t firstRank = ranks.begin(total);
            storage.setRun(static_cast<int>(threadIdx.x), to, static_cast<std::int64_t>(start) - firstRank);
            start += total;
            keys.pack(ranks, digit, storage);
            if constexpr (hasValues<Value>) {
                keys.loadAndPackValues(source.values, begin, false, storage);
            }
            __syncthreads();
            Radix::storeCoded(coding, isLast,
                              [&](auto decode) { Radix::storePacked(storage, sizeOfTile, digit, decode); });
        }
        team.meet();
        source = to.readOnly();
    }
}

/// Sorts the listed segments. All blocks together sort one huge segment after the other, in `out` and `spare`. Then
/// each block takes one of the others after the other. It sorts a segment in shared memory if it fits, else in `out`
/// and `spare`. The launch is cooperative if there may be a huge segment, unless there is one block.
///
/// Work O(n) per digit. Steps O(m) per digit for segments of up to m elements that are not huge, and O(n / blocks) for
/// huge ones. Reads and writes 8 bytes per int if all segments fit. Otherwise it reads each key twice and writes it
/// once per digit: 48 bytes per int.
template <typename Bits, typename Value, typename Offset, typename Count>
__global__ void __launch_bounds__(SmallTile::threads, 2)
    kernSortLongSegments(Count number, Elements<Bits, Value> out, Elements<Bits, Value> spare,
                         Elements<const Bits, const Value> in, SegmentsAt<Offset> segments, LongSegments longSegments,
                         std::uint64_t* counts, DigitRange digits, KeyCoding<Bits> coding) {
    using Large = LargeTile<Bits, Value>;
    auto& storage = dynamicShared<LongStorage<Bits, Value>>();
    __shared__ std::uint64_t slots[SmallTile::threads / Warp::lanes];
    __shared__ unsigned long long taken;
    waitForEarlierKernels();
    const std::size_t n = numberOf(number);
    const LongSegments::Counters& counters = *longSegments.counters;
    const auto sortByTeam = [&](const Team& team, const Range& range) {
        sortInTiles(team, storage.tile, slots, range.size(), elementsFrom(out, range.begin),
                    elementsFrom(spare, range.begin), elementsFrom(in, range.begin), digits, coding);
    };

    const Team everyBlock{gridDim.x, blockIdx.x, counts};
    for (std::size_t i = 0; i < counters.huge; ++i) {
        sortByTeam(everyBlock, rangeOf(segments, longSegments.huge(i), n));
    }
    for (;;) {
        // All threads have read the last index, because each sort contains a barrier.
        if (threadIdx.x == 0) {
            taken = atomicAdd(&longSegments.counters->taken, 1ULL);
        }
        __syncthreads();
        if (taken >= counters.forBlocks) {
            return;
        }
        const Range range = rangeOf(segments, longSegments.forBlock(taken), n);
        const auto to = elementsFrom(out, range.begin);
        const auto source = elementsFrom(in, range.begin);
        const std::size_t size = range.size();
        if (size <= SmallTile::elements) {
            Radix::sortInBlock<SmallTile>(storage.small, static_cast<int>(size), to, source, digits, coding, coding);
        } else if (size <= Large::elements) {
            Radix::sortInBlock<Large>(storage.large, static_cast<int>(size), to, source, digits, coding, coding);
        } else {
            sortByTeam({1, 0, nullptr}, range);
        }
    }
}

}  // namespace StreamCompaction::Segments
