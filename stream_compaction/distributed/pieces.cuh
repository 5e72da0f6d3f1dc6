#pragma once

#include "stream_compaction/distributed/buckets.cuh"

/// Sorts what lies in the memory of all ranks. Each rank fetches its part while it sorts.
///
/// A segment of a rank's result is what it gets of one bucket. It consists of pieces, up to three of each rank: the
/// classes that are sent (buckets.cuh), if any, and what lies before and behind these. Keys that are equal lie in the
/// same third. The keys of a segment differ only in the bits behind those of the bucket, so the rank sorts each segment
/// by these. The first pass reads the pieces where they are, over the link if that is the memory of another rank. If
/// keys that share one digit more are few, only the pass by that digit runs, and they are sorted in shared memory. A
/// rank that gets few keys fetches them, and then sorts them as a whole.
///
/// A pass needs to know how often each digit occurs in each segment. Each rank counts the digits in its pieces, and
/// then in those that it has got. Pieces are numbered by the sum of bucket and rank that gets them. No two that differ
/// in these share a number, because both only grow in the sorted order.
namespace StreamCompaction::Distributed {

inline constexpr int piecesPerRank = 3;                          ///< of a segment
inline constexpr int mostNumbers = digitValues + mostSplitters;  ///< of pieces

/// A third of what a rank gets of one bucket of one rank. In the order of the buckets, the thirds and the ranks.
struct Piece {
    std::uint64_t begin;  ///< in the order of `rank`, or behind it
    std::uint64_t size;
    std::uint64_t to;    ///< where it begins in the result, which the passes sort by segments
    int rank;            ///< in whose memory it lies
    unsigned firstTile;  ///< among those of its segment
};

inline constexpr int lineBytes = 128;

/// Keys of a piece before its first tile would begin, so that all other tiles begin where lines do in the memory of the
/// rank that has the piece. Links carry whole lines faster.
template <typename Bits>
[[nodiscard]] __device__ std::uint64_t leadOf(const Piece& piece) {
    return piece.begin % (lineBytes / sizeof(Bits));
}
/// The tiles of a piece.
template <typename Shape, typename Bits>
[[nodiscard]] __device__ unsigned tilesOf(const Piece& piece) {
    constexpr std::uint64_t tileElements = Shape::elements;  // known here, because a division takes long otherwise
    return piece.size == 0
               ? 0
               : static_cast<unsigned>(Common::divideRoundUp(leadOf<Bits>(piece) + piece.size, tileElements));
}

/// Keys in which a rank counts digits: in its order, or behind it.
struct CountedPiece {
    std::uint64_t begin;
    std::uint64_t size;
};

/// The pieces of a rank's order in which it counts.
inline constexpr int countedPerNumber = 2;
inline constexpr int mostCounted = countedPerNumber * mostNumbers;

/// What a rank sorts.
struct Segmentation {
    Radix::Plan plan;
    std::uint64_t begins[digitValues + 1];  ///< of the segments
    unsigned firstTiles[digitValues];       ///< of the segments
    unsigned tiles;
    unsigned neededPasses;  ///< one bit per pass
    unsigned plannedBlocks;
    bool hasGot;  ///< some pieces already lie in the spare array
    Radix::SpanState spans;
    CountedPiece counted[mostCounted];
    CountedPiece got[digitValues];  ///< of each bucket
};

/// Lists the pieces that this rank gets, and those in which it counts.
///
/// One block, one thread per bucket. Work O(ranks buckets), steps O(ranks).
template <typename Shape, typename Bits>
__global__ void __launch_bounds__(digitValues)
    kernListPieces(Segmentation* segmentation, Piece* pieces, const Buckets* buckets, const std::uint64_t* counts,
                   const Splitters* splitters, const ExchangePlan* plan, AllCounts all, int me) {
    static_assert(2 * mostRanks <= digitValues);
    constexpr int warps = digitValues / Warp::lanes;
    __shared__ std::uint64_t slots[warps];
    __shared__ unsigned tileSlots[warps];
    __shared__ Delivery given[mostRanks];  // to each rank, by this one
    __shared__ Delivery taken[mostRanks];  // by this rank, from each
    __shared__ std::uint64_t shareBegins[mostRanks];
    const auto bucket = static_cast<int>(threadIdx.x);
    const int ranks = all.ranks;
    const bool isBorder = buckets->isBorder[bucket];
    Piece* const mine = pieces + static_cast<std::size_t>(bucket) * piecesPerRank * ranks;
    for (int i = bucket; i < mostCounted; i += digitValues) {
        segmentation->counted[i] = {0, 0};
    }
    if (bucket == 0) {
        segmentation->neededPasses = 0;
        segmentation->spans.failed = 0;
        segmentation->spans.taken = 0;
        segmentation->plannedBlocks = 0;
    }
    if (bucket < ranks) {
        given[bucket] = deliveryOf(*plan, *splitters, ranks, me, bucket);
        shareBegins[bucket] = all.shareBegin(bucket);
    } else if (bucket < 2 * ranks) {
        taken[bucket - ranks] = deliveryOf(*plan, *splitters, ranks, bucket - ranks, me);
    }
    __syncthreads();
    const auto isSentTo = [&](int owner) {
        return isBorder ? areClassesSent(*buckets, bucket, shareBegins[owner], owner) : buckets->isSent[bucket];
    };
    const bool isSentToMe = isSentTo(me);

    // Cut each rank's part of the bucket.
    std::uint64_t size = 0;
    std::uint64_t got = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const BucketPlace place = placeOfBucket(counts + rank * digitValues, isBorder);
        const Range here{place.before, place.before + place.count};
        const Range outer = taken[rank].all.within(here);
        const Range inner = isSentToMe ? taken[rank].whole.within(here) : outer;
        const Range thirds[piecesPerRank] = {{outer.begin, inner.begin}, inner, {inner.end, outer.end}};
#pragma unroll
        for (int third = 0; third < piecesPerRank; ++third) {
            const bool isGot = third == 1 && rank != me && isSentToMe;
            Piece& piece = mine[third * ranks + rank];
            piece.rank = isGot ? me : rank;
            piece.begin = isGot ? all.of(me).n + got : place.indexOf(thirds[third].begin);
            piece.size = thirds[third].size();
            got += isGot ? piece.size : 0;
        }
        size += outer.size();
        for (int to = 0; rank == me && plan->needsSegments && to < ranks; ++to) {
            const Range whole = given[to].all.within(here);
            const Range sent = to != me && isSentTo(to) ? given[to].whole.within(here) : Range{whole.end, whole.end};
            if (whole.size() > 0) {
                CountedPiece* const counted = &segmentation->counted[countedPerNumber * (bucket + to)];
                counted[0] = {place.indexOf(whole.begin), sent.begin - whole.begin};
                counted[1] = {place.indexOf(sent.end), whole.end - sent.end};
            }
        }
    }

    // What the rank has got of a bucket lies together, where the segment begins in the spare array.
    const std::uint64_t segmentBegin = Block::exclusiveScan<warps>(size, slots, Sum{});
    std::uint64_t to = segmentBegin;
    unsigned tiles = 0;
    for (int i = 0; i < piecesPerRank * ranks; ++i) {
        Piece piece = mine[i];
        if (i / ranks == 1 && i % ranks != me && isSentToMe) {
            piece.begin += segmentBegin;
        }
        piece.to = to;
        piece.firstTile = tiles;
        mine[i] = piece;
        to += piece.size;
        tiles += tilesOf<Shape, Bits>(piece);
    }
    const unsigned firstTile = Block::exclusiveScan<warps>(tiles, tileSlots, Sum{});
    segmentation->got[bucket] = {all.of(me).n + segmentBegin, got};
    segmentation->begins[bucket] = segmentBegin;
    segmentation->firstTiles[bucket] = firstTile;
    const bool hasGot = __syncthreads_or(got > 0) != 0;
    if (bucket == digitValues - 1) {
        segmentation->begins[digitValues] = segmentBegin + size;
        segmentation->tiles = firstTile + tiles;
        segmentation->hasGot = hasGot;
    }
}

/// Lists the tiles of this rank's pieces. One block per bucket.
template <typename Shape, typename Bits, typename Value>
__global__ void kernListTiles(Radix::SegmentTile<Bits, Value>* tiles, const Segmentation* segmentation,
                              const Piece* pieces, AllCounts all, OrdersOfRanks<Bits, Value> orders) {
    const int piecesPerBucket = piecesPerRank * all.ranks;
    const Piece* const first = pieces + static_cast<std::size_t>(blockIdx.x) * piecesPerBucket;
    const std::uint64_t segmentBegin = segmentation->begins[blockIdx.x];
    if (segmentBegin == segmentation->begins[blockIdx.x + 1]) {
        return;
    }
    Radix::SegmentTile<Bits, Value>* const ofSegment = tiles + segmentation->firstTiles[blockIdx.x];
    for (int p = 0; p < piecesPerBucket; ++p) {
        const Piece piece = first[p];
        const unsigned count = tilesOf<Shape, Bits>(piece);
        const std::uint64_t lead = leadOf<Bits>(piece);
        const auto from = orders.of(piece.rank, all.of(piece.rank));
        const auto beginOf = [&](std::uint64_t tile) {  // in the piece
            return tile == 0 ? 0 : min(tile * Shape::elements - lead, piece.size);
        };
        for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
            const std::uint64_t begin = beginOf(i);
            const std::uint64_t at = piece.begin + begin;
            ofSegment[piece.firstTile + i] = {{from.keys + at, Radix::hasValues<Value> ? from.values + at : nullptr},
                                              piece.to + begin,
                                              static_cast<std::uint16_t>(beginOf(i + 1) - begin),
                                              static_cast<std::uint16_t>(blockIdx.x),
                                              piece.to + begin == segmentBegin ? 1u : 0u};
        }
    }
}

/// Fetches the tiles of this rank's pieces, and decodes them. One block per tile.
template <typename Bits, typename Value>
__global__ void kernFetchTiles(Radix::Elements<Bits, Value> to, const Radix::SegmentTile<Bits, Value>* tiles,
                               const unsigned* tileCount, KeyCoding<Bits> coding) {
    if (blockIdx.x >= *tileCount) {
        return;
    }
    const Radix::SegmentTile<Bits, Value> tile = tiles[blockIdx.x];
    for (unsigned i = threadIdx.x; i < tile.size; i += blockDim.x) {
        to.keys[tile.begin + i] = coding.decode(tile.from.keys[i]);
        if constexpr (Radix::hasValues<Value>) {
            to.values[tile.begin + i] = tile.from.values[i];
        }
    }
}

/// Counts the digits in pieces: counts[(number * digits + i) * digitValues + d] keys have the value d in digit i. The
/// numbers begin with `firstNumber`, and `piecesPerNumber` pieces share one. Each block has a part of the keys.
///
/// Work O(n) per digit. Reads 4 bytes per 4-byte key. DRAM bandwidth is the limit.
template <typename Shape, int replicas, typename Bits>
__global__ void __launch_bounds__(Shape::threads)
    kernCountDigitsOfPieces(std::uint64_t* countsOfPieces, const CountedPiece* pieces, int pieceCount, int firstNumber,
                            int piecesPerNumber, const Bits* codes, DigitRange range) {
    static_assert(Shape::threads >= mostCounted);
    static_assert(mostCounted * (sizeof(CountedPiece) + sizeof(int)) < 15 << 10);  // beside 32 KiB of counters
    constexpr int warps = Shape::threads / Warp::lanes;
    __shared__ std::uint64_t slots[warps];
    __shared__ std::uint64_t total;
    __shared__ CountedPiece found[mostCounted];
    __shared__ int numbers[mostCounted];
    __shared__ int foundCount;
    const ReplicatedCounters<Shape::threads> counts(&dynamicShared<std::uint32_t>(), replicas);

    // Find the pieces in this block's part.
    const auto thread = static_cast<int>(threadIdx.x);
    const CountedPiece piece = thread < pieceCount ? pieces[thread] : CountedPiece{0, 0};
    const std::uint64_t before = Block::exclusiveScan<warps>(piece.size, slots, Sum{});
    if (thread == Shape::threads - 1) {
        total = before + piece.size;
        foundCount = 0;
    }
    __syncthreads();
    const std::uint64_t perBlock = Common::divideRoundUp(total, std::uint64_t{gridDim.x});
    const std::uint64_t first = max(before, blockIdx.x * perBlock);
    const std::uint64_t last = min(before + piece.size, (blockIdx.x + 1) * perBlock);
    if (first < last) {
        const int i = atomicAdd(&foundCount, 1);
        found[i] = {piece.begin + (first - before), last - first};
        numbers[i] = firstNumber + thread / piecesPerNumber;
    }
    __syncthreads();

    for (int i = 0; i < foundCount; ++i) {
        counts.clear(range.count() * digitValues);
        __syncthreads();
        Radix::countDigits<Shape>(counts, codes + found[i].begin, found[i].size, range, KeyCoding<Bits>{}, 0, 1);
        __syncthreads();
        std::uint64_t* const sums = countsOfPieces + static_cast<std::size_t>(numbers[i]) * range.count() * digitValues;
        for (int c = thread; c < range.count() * digitValues; c += Shape::threads) {
            if (const std::uint32_t count = counts.sum(c); count > 0) {
                atomicAdd(reinterpret_cast<unsigned long long*>(sums + c), std::uint64_t{count});
            }
        }
        __syncthreads();
    }
}

/// Finds out where the digits begin in each segment of this rank, from the counts of all ranks in their windows. The
/// last block to finish plans the passes. One block per pass and segment, with one thread per digit value.
///
/// The keys of a segment that share their highest digit behind the segment's are a span. If none has more than
/// `mostInSpan`, only that pass is needed, and spans.cuh sorts the spans where they are. The digits of the last pass
/// begin where the spans do, and one more number tells where the last span ends. `spanBits` are the bits that they
/// share.
///
/// The first pass reads the spare array if the rank has got keys there. Then the number of passes is odd, so that it
/// writes the output. If need be, one more pass sorts by a digit that all keys of a segment share.
///
/// Work O(ranks) per pass, segment and digit value.
template <typename = void>
__global__ void __launch_bounds__(digitValues)
    kernPlanSegments(Segmentation* segmentation, std::uint64_t* starts, const ExchangePlan* plan, ncclWindow_t window,
                     int me, int ranks, int digits, std::uint64_t mostInSpan, Radix::SpanBits spanBits) {
    __shared__ std::uint64_t slots[digitValues / Warp::lanes];
    const int pass = static_cast<int>(blockIdx.x) / digitValues;
    const int segment = static_cast<int>(blockIdx.x) % digitValues;
    const std::uint64_t begin = segmentation->begins[segment];
    const std::uint64_t size = segmentation->begins[segment + 1] - begin;
    std::uint64_t start = begin;
    if (size > 0) {
        const std::size_t place = (static_cast<std::size_t>(segment + me) * digits + pass) * digitValues + threadIdx.x;
        std::uint64_t count = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            if (rank == me || plan->cuts.of[rank][ranks] > 0) {  // otherwise it may not even have counted
                count += reinterpret_cast<const std::uint64_t*>(windowOf(window, rank))[place];
            }
        }
        start += Block::exclusiveScan<digitValues / Warp::lanes>(count, slots, Sum{});
        const bool isNeeded = __syncthreads_or(count != 0 && count != size) != 0;
        const bool hasLargeSpan = __syncthreads_or(count > mostInSpan) != 0;
        if (threadIdx.x == 0 && isNeeded) {
            atomicOr(&segmentation->neededPasses, 1u << pass);
        }
        if (threadIdx.x == 0 && hasLargeSpan && pass == digits - 1) {
            atomicOr(&segmentation->spans.failed, 1u);
        }
    }
    starts[static_cast<std::size_t>(blockIdx.x) * digitValues + threadIdx.x] = start;
    if (!Block::isLastToFinish(&segmentation->plannedBlocks)) {
        return;
    }

    const std::uint64_t end = segmentation->begins[digitValues];
    const std::uint64_t mine = segmentation->begins[threadIdx.x];
    const std::uint64_t next = segmentation->begins[threadIdx.x + 1];
    Radix::SpanState& spans = segmentation->spans;
    if (mine == 0 && next > 0) {
        spans.firstSpan = threadIdx.x * digitValues;
    }
    if (mine < end && next == end) {
        spans.endSpan = (threadIdx.x + 1) * digitValues;
    }
    if (threadIdx.x > 0) {
        return;
    }
    unsigned needed = __ldcg(&segmentation->neededPasses);
    // If a sort by all digits has only one pass more, it takes less time.
    const bool endsInSpans = __popc(needed) > 2 && __ldcg(&spans.failed) == 0;
    if (endsInSpans) {
        needed = 1u << (digits - 1);
    }
    if (segmentation->hasGot && needed != 0 && __popc(needed) % 2 == 0) {
        needed |= needed + 1;
    }
    Radix::choosePasses(segmentation->plan, digits, needed, false, false);
    spans.mayEnd = endsInSpans;
    spans.bits = spanBits;
    if (endsInSpans) {
        segmentation->plan.passes[digits - 1].decodes = false;
        starts[static_cast<std::size_t>(gridDim.x) * digitValues] = end;
    }
}

}  // namespace StreamCompaction::Distributed
