#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/radix_sort.cuh"
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

/// The segments that are too long for a warp, in any order. Their number, and the number of those that blocks have
/// taken, are cleared before.
struct LongSegments {
    struct Counters {
        unsigned long long found;
        unsigned long long taken;
    };

    Counters* counters;
    std::uint64_t* indices;

    /// The most that an array of n elements has.
    [[nodiscard]] static constexpr std::size_t most(std::size_t n) { return n / (Warp::lanes + 1); }

    /// Adds the segments of the lanes where `isLong` is true. Called by all lanes of a warp.
    __device__ void add(std::size_t segment, bool isLong) const {
        const std::uint32_t longOnes = __ballot_sync(Warp::allLanes, isLong);
        if (longOnes == 0) {
            return;
        }
        unsigned long long first = 0;
        if (Warp::lane() == 0) {
            first = atomicAdd(&counters->found, static_cast<unsigned long long>(__popc(longOnes)));
        }
        first = Warp::broadcast(first, 0);
        if (isLong) {
            indices[first + __popc(longOnes & ((1u << Warp::lane()) - 1))] = segment;
        }
    }
};

/// Sorts the segments of a window of `size` elements, at most 32: one per lane. Bit i of `heads` says whether a segment
/// begins at element i, and none is longer than `longest`. A lane compares its key with the others of its segment; the
/// number of those that come before it is its place.
template <typename Bits, typename Value>
__device__ void sortWindow(const Elements<Bits, Value>& out, const Elements<const Bits, const Value>& in,
                           std::size_t begin, int size, std::uint32_t heads, int longest,
                           const KeyCoding<Bits>& coding) {
    const int lane = Warp::lane();
    const std::uint32_t lanesUpTo = (2u << lane) - 1;
    const std::uint32_t headsBehind = heads & ~lanesUpTo;
    const int first = Warp::lanes - 1 - __clz(static_cast<int>(heads & lanesUpTo));
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

/// Sorts the segments of up to 32 elements, and lists the others.
///
/// Each warp takes 32 neighbouring segments. It goes through them in windows of up to 32 elements that consist of whole
/// segments, so short segments share a window. All comparisons are between registers.
///
/// Work O(n m) for segments of up to m elements, steps O(m). Reads and writes each key and each value once, and reads
/// each offset: 8 bytes per int. DRAM bandwidth is the bound.
template <typename Bits, typename Value, typename Offset, typename Count>
__global__ void __launch_bounds__(256)
    kernSortShortSegments(Count number, Elements<Bits, Value> out, Elements<const Bits, const Value> in,
                          SegmentsAt<Offset> segments, LongSegments longSegments, KeyCoding<Bits> coding) {
    const std::size_t segment = Common::globalThreadIndex();
    const std::size_t n = numberOf(number);
    const Range mine = rangeOf(segments, segment, n);
    longSegments.add(segment, mine.size() > Warp::lanes);

    // The lanes from `next` on have segments that are not done.
    for (int next = 0; next < Warp::lanes;) {
        const std::size_t begin = Warp::broadcast(mine.begin, next);
        const bool isInWindow = Warp::lane() >= next && mine.end - begin <= Warp::lanes;
        const int count = __popc(__ballot_sync(Warp::allLanes, isInWindow));
        if (count == 0) {
            ++next;  // a long segment
            continue;
        }
        next += count;
        const int size = isInWindow ? static_cast<int>(mine.size()) : 0;
        const std::uint32_t head = size > 0 ? 1u << (mine.begin - begin) : 0;
        const int all = Warp::reduce(size, Sum{});
        if (all > 0) {
            sortWindow(out, in, begin, all, Warp::reduce(head, Sum{}), Warp::reduce(size, Max{}), coding);
        }
    }
}

/// The tiles of blocks that sort long segments: a small one for the shorter of them, and one that fills the shared
/// memory that every card has.
using SmallTile = Radix::SortShape<256, 2>;
template <typename Bits, typename Value>
using LargeTile =
    Radix::SortShape<256, std::min<int>(16, (36 << 10) / (256 * static_cast<int>(Radix::elementSize<Bits, Value>)))>;

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

/// Sorts a segment of any length by one block: one pass per digit, tile by tile, back and forth between `out` and
/// `spare`. A pass counts the digits, then moves the elements.
template <typename Shape, typename Bits, typename Value>
__device__ void sortInTiles(Radix::TileStorage<Shape, Bits, Value>& storage, std::uint64_t* slots, std::size_t size,
                            Elements<Bits, Value> out, Elements<Bits, Value> spare,
                            Elements<const Bits, const Value> in, DigitRange digits, const KeyCoding<Bits>& coding) {
    static_assert(Shape::threads == digitValues, "one thread per digit value");
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
        for (std::size_t begin = 0; begin < size; begin += Shape::elements) {
            Radix::TileKeys<Shape, Bits> keys;
            load(keys, source.keys, begin, isFirst);
            DigitRank<Shape::threads> ranks(storage.ranks);
            keys.count(ranks, digit);
            count += ranks.total();
            __syncthreads();
        }
        std::uint64_t start = Block::exclusiveScan<Shape::threads / Warp::lanes>(count, slots, Sum{});

        // Move the elements.
        for (std::size_t begin = 0; begin < size; begin += Shape::elements) {
            Radix::TileKeys<Shape, Bits> keys;
            const int sizeOfTile = load(keys, source.keys, begin, isFirst);
            DigitRank<Shape::threads> ranks(storage.ranks);
            keys.count(ranks, digit);
            const std::uint32_t total = ranks.total();
            const std::uint32_t firstRank = ranks.begin(total);
            storage.starts[threadIdx.x] = static_cast<std::int64_t>(start) - firstRank;
            start += total;
            keys.pack(ranks, digit, storage);
            if constexpr (hasValues<Value>) {
                Value values[Shape::items];
                Radix::loadRows<Shape>(values, source.values + begin, sizeOfTile, Value{});
                keys.packValues(values, storage);
            }
            __syncthreads();
            Radix::storePacked(storage, sizeOfTile, digit, to, coding, isLast);
            __syncthreads();
        }
        source = to.readOnly();
    }
}

/// Sorts the listed segments. A block takes one after the other. It sorts a segment in shared memory if it fits, else
/// in `out` and `spare`.
///
/// Work O(n) per digit, steps O(length of the longest segment). Reads and writes 8 bytes per int if all segments fit.
/// Otherwise it reads each key twice and writes it once per digit: 48 bytes per int.
template <typename Bits, typename Value, typename Offset, typename Count>
__global__ void __launch_bounds__(SmallTile::threads)
    kernSortLongSegments(Count number, Elements<Bits, Value> out, Elements<Bits, Value> spare,
                         Elements<const Bits, const Value> in, SegmentsAt<Offset> segments, LongSegments longSegments,
                         DigitRange digits, KeyCoding<Bits> coding) {
    using Large = LargeTile<Bits, Value>;
    auto& storage = dynamicShared<LongStorage<Bits, Value>>();
    __shared__ std::uint64_t slots[SmallTile::threads / Warp::lanes];
    __shared__ unsigned long long taken;
    const std::size_t n = numberOf(number);
    for (;;) {
        // All threads have read the last index, because each sort contains a barrier.
        if (threadIdx.x == 0) {
            taken = atomicAdd(&longSegments.counters->taken, 1ULL);
        }
        __syncthreads();
        if (taken >= longSegments.counters->found) {
            return;
        }
        const Range range = rangeOf(segments, longSegments.indices[taken], n);
        const auto to = elementsFrom(out, range.begin);
        const auto source = elementsFrom(in, range.begin);
        const std::size_t size = range.size();
        if (size <= SmallTile::elements) {
            Radix::sortInBlock<SmallTile>(storage.small, static_cast<int>(size), to, source, digits, coding);
        } else if (size <= Large::elements) {
            Radix::sortInBlock<Large>(storage.large, static_cast<int>(size), to, source, digits, coding);
        } else {
            sortInTiles(storage.tile, slots, size, to, elementsFrom(spare, range.begin), source, digits, coding);
        }
    }
}

}  // namespace StreamCompaction::Segments
