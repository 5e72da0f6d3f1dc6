#pragma once

#include "stream_compaction/distributed/exchange.cuh"
#include "stream_compaction/distributed/far_lines.cuh"
#include "stream_compaction/distributed/splitters.cuh"
#include "stream_compaction/radix_sort.cuh"

/// Puts a rank's keys in order by their highest bits and by the rank that sorts them.
///
/// The highest bits of a key are its bucket. The first splitter digit tells all ranks how many keys each has in each
/// bucket. A bucket with a splitter lies on the border between ranks. All others belong to one rank.
///
/// One pass of the radix sort puts a rank's keys in buckets. Those on the border are put aside. Among them the other
/// digits of the splitters are sought, and a second pass puts them in order by class. The splitters and the borders of
/// buckets divide the keys into classes. Keys equal to a splitter may belong to two or more ranks: the first of them,
/// in the order of ranks and indices, to the first rank.
///
/// Every second of the other buckets goes straight to the rank that sorts it, and so do classes of which one rank sorts
/// all keys, unless that rank puts keys aside there. Its first pass fetches the rest (pieces.cuh). So two passes share
/// the work of the link.
///
/// If all keys of a rank lie on the border, the second pass reads its input, and the first does not run. With few keys
/// there is only one bucket, and it lies on the border.
///
/// If ranks reach each other, their orders hold codes instead of keys. The last pass of a sort by segments decodes
/// them, and so does a rank that fetches all (pieces.cuh).
namespace StreamCompaction::Distributed {

/// The borders of classes: before and behind each splitter, and before its bucket.
inline constexpr int mostBorders = 3 * mostSplitters;
static_assert(mostBorders < digitValues);

/// The bits of the compared ones that tell the bucket of a key: as many as a pass sorts by, of the first splitter
/// digit.
[[nodiscard]] inline SplitterDigit bucketDigit(const SplitterDigits& digits) {
    const SplitterDigit first = digits.digit(0);
    const int bits = std::min(digitBits, first.bits);
    return {first.shift + first.bits - bits, bits};
}

/// The borders of classes, ascending. A key is behind a border if it is greater than the last key before it.
struct ClassBorders {
    std::uint64_t lastBefore[mostBorders];
    int count;
};

/// How the keys of a rank are put in order. In device memory.
struct Buckets {
    static constexpr int bucketPass = 0;  ///< from the input to buckets
    static constexpr int borderPass = 1;  ///< of the keys on the border, by class

    Radix::Plan plan;
    SplitterDigit digit;                ///< the bucket of a key; of no bits if there is only one
    std::uint64_t begins[digitValues];  ///< of the buckets in the result
    bool isBorder[digitValues];
    bool isSent[digitValues];           ///< whole, to the rank that sorts it
    std::uint64_t sendFrom[mostRanks];  ///< only what lies behind this position of the result may be sent to the rank
    BorderKeys border;
    ClassBorders classes;
};

/// The place of a bucket in a rank's order by bucket.
struct BucketPlace {
    std::uint64_t count;
    std::uint64_t before;        ///< keys in earlier buckets
    std::uint64_t borderBefore;  ///< those of them on the border
    std::uint64_t inside;        ///< the rank's keys that are not on the border
    bool isBorder;

    /// Where the key at a position of the rank's order lies: those on the border are behind all others.
    [[nodiscard]] __device__ std::uint64_t indexOf(std::uint64_t position) const {
        return isBorder ? inside + borderBefore + (position - before) : position - borderBefore;
    }
};

/// The place of this thread's bucket. Called by all threads of a block, one per bucket.
[[nodiscard]] __device__ inline BucketPlace placeOfBucket(const std::uint64_t* counts, bool isBorder) {
    constexpr int warps = digitValues / Warp::lanes;
    __shared__ std::uint64_t slots[2][warps];
    __shared__ std::uint64_t inside;
    const std::uint64_t count = counts[threadIdx.x];
    const std::uint64_t onBorder = isBorder ? count : 0;
    const std::uint64_t before = Block::exclusiveScan<warps>(count, slots[0], Sum{});
    const std::uint64_t borderBefore = Block::exclusiveScan<warps>(onBorder, slots[1], Sum{});
    if (threadIdx.x == digitValues - 1) {
        inside = before + count - borderBefore - onBorder;
    }
    __syncthreads();
    const BucketPlace place{count, before, borderBefore, inside, isBorder};
    __syncthreads();
    return place;
}

/// The elements for which there is room behind a rank's order: those that it puts aside, those that it gets, or those
/// that it sorts.
[[nodiscard]] __host__ __device__ inline std::size_t roomBehindOrder(std::size_t n, std::size_t nOut) {
    return n > nOut ? n : nOut;
}

/// Where the ranks have their orders: in a window, behind the counts.
template <typename Bits, typename Value>
struct OrdersOfRanks {
    ncclWindow_t window;
    std::size_t countBytes;

    /// `told` is what the rank told about its arrays.
    [[nodiscard]] __device__ Radix::Elements<Bits, Value> of(int rank, const DigitCounts& told) const {
        const std::uint64_t keys = windowOf(window, rank) + countBytes;
        const std::size_t keyBytes = (told.n + roomBehindOrder(told.n, told.nOut)) * sizeof(Bits);
        const std::size_t values = keys + Common::divideRoundUp(keyBytes, scratchAlignment) * scratchAlignment;
        return {reinterpret_cast<Bits*>(keys), reinterpret_cast<Value*>(values)};
    }
};

/// An array whose digits go to different arrays.
template <typename Bits, typename Value>
struct ScatteredArray : Radix::WholeArray {
    template <typename Shape>
    using Lines = FarLines<Shape>;

    const Radix::Elements<Bits, Value>* targets;  ///< one per digit

    [[nodiscard]] __device__ Radix::Elements<Bits, Value> target(const Radix::Pass& /*pass*/,
                                                                 const Radix::SortArrays<Bits, Value>& /*arrays*/,
                                                                 int digit) const {
        return targets[digit];
    }
};

/// Plans the two passes, once the first digit of the splitters is known. Writes how many keys each rank has in each
/// bucket, and to which array the first pass moves it. There are several buckets if all ranks together have at least
/// `leastInBuckets` keys and reach each other. `keysIn` is the rank's input, and `order` its array. Keys on the border
/// are put aside behind the rank's order.
///
/// Keys that a rank gets lie behind its order, where their segment (pieces.cuh) lies in its result. They are not sent
/// if the rank puts keys aside there.
///
/// One block, one thread per bucket. Work O(ranks 2^first.bits).
template <typename Bits, typename Value>
__global__ void __launch_bounds__(digitValues)
    kernPlanBuckets(Buckets* buckets, std::uint64_t* counts, Radix::Elements<Bits, Value>* targets,
                    const Splitters* splitters, AllCounts all, OrdersOfRanks<Bits, Value> orders, int me,
                    SplitterDigit first, SplitterDigit bucket, std::size_t leastInBuckets, bool reachesAllRanks,
                    const Bits* keysIn, Radix::Elements<Bits, Value> order) {
    __shared__ std::uint64_t sendFrom[mostRanks];
    __shared__ std::uint64_t slots[digitValues / Warp::lanes];
    const auto thread = static_cast<int>(threadIdx.x);
    const std::uint64_t n = all.of(me).n;
    if (!reachesAllRanks || all.n() < leastInBuckets) {
        bucket.bits = 0;
    }
    const int narrower = first.bits - bucket.bits;

    // The rank that sorts the bucket, or the first of several.
    const auto bucketOfSplitter = [&](int splitter) { return static_cast<int>(splitters->keys[splitter] >> narrower); };
    int owner = 0;
    while (owner < all.ranks - 1 && bucketOfSplitter(owner) < thread) {
        ++owner;
    }
    const bool isBorder = bucket.bits == 0 || (owner < all.ranks - 1 && bucketOfSplitter(owner) == thread);
    buckets->isBorder[thread] = isBorder;

    // The counts of all ranks.
    for (int rank = 0; rank < all.ranks; ++rank) {
        std::uint64_t count = 0;
        if (bucket.bits == 0) {
            count = thread == 0 ? all.of(rank).n : 0;
        } else if (thread < 1 << bucket.bits) {
            for (int i = 0; i < 1 << narrower; ++i) {
                count += all.of(rank).tables[(thread << narrower) + i];
            }
        }
        counts[rank * digitValues + thread] = count;
    }

    // Where the bucket lies in the result, and what may be sent there.
    BucketPlace place{};
    std::uint64_t total = 0;
    std::uint64_t sentBefore = 0;
    const bool mayBeSent = bucket.bits > 0 && all.areConsistent();
    for (int rank = 0; rank < all.ranks; ++rank) {
        const BucketPlace there = placeOfBucket(counts + rank * digitValues, isBorder);
        total += there.count;
        if (rank < me && rank != owner) {
            sentBefore += there.count;
        }
        if (rank == me) {
            place = there;
        }
        if (thread == rank) {
            const std::uint64_t aside = there.inside > 0 ? all.of(rank).n - there.inside : 0;
            sendFrom[rank] = mayBeSent ? all.shareBegin(rank) + aside : ~std::uint64_t{0};
            buckets->sendFrom[rank] = sendFrom[rank];
        }
    }
    const std::uint64_t begin = Block::exclusiveScan<digitValues / Warp::lanes>(total, slots, Sum{});
    const bool isSent = !place.isBorder && total > 0 && thread % 2 == 1 && begin >= sendFrom[owner];
    buckets->begins[thread] = begin;
    buckets->isSent[thread] = isSent;

    // The passes of this rank.
    if (isSent && owner != me) {
        targets[thread] = markedFar(orders.of(owner, all.of(owner)));
        buckets->plan.starts[Buckets::bucketPass][thread] =
            all.of(owner).n + (begin - all.shareBegin(owner)) + sentBefore;
    } else {
        targets[thread] = order;
        buckets->plan.starts[Buckets::bucketPass][thread] =
            place.isBorder ? n + place.borderBefore : place.before - place.borderBefore;
    }
    if (thread == digitValues - 1) {
        using Radix::Buffer;
        const std::size_t onBorder = place.before + place.count - place.inside;
        const bool hasBuckets = place.inside > 0;
        buckets->digit = bucket;
        buckets->border = {hasBuckets ? order.keys + n : keysIn, onBorder, hasBuckets};
        buckets->plan.passes[Buckets::bucketPass] = {.isNeeded = hasBuckets,
                                                     .isFirst = true,
                                                     .encodes = true,
                                                     .decodes = false,
                                                     .order = 0,
                                                     .from = Buffer::In,
                                                     .to = Buffer::Out};
        buckets->plan.passes[Buckets::borderPass] = {.isNeeded = onBorder > 0,
                                                     .isFirst = true,
                                                     .encodes = !hasBuckets,
                                                     .decodes = !reachesAllRanks,
                                                     .order = hasBuckets ? 1 : 0,
                                                     .from = hasBuckets ? Buffer::Spare : Buffer::In,
                                                     .to = Buffer::Out};
        buckets->plan.tickets[Buckets::bucketPass] = 0;
        buckets->plan.tickets[Buckets::borderPass] = 0;
    }
}

/// The classes of two ranks have at most three borders: before and behind the splitter, and before its bucket.
inline constexpr int bordersOfTwoRanks = 3;

/// The class of a key: the number of borders that it is behind. A digit of a pass.
///
/// Each key is compared more than once, by unrolled loops. So a thread keeps few borders, in the form of codes that
/// begin with the compared bits. Among more it searches, which takes far more code and time.
template <typename Bits, bool areFew>
struct ClassOfKey {
    int shift;
    Bits lastBefore[areFew ? bordersOfTwoRanks : 1];
    const ClassBorders* borders;
    ComparedBits<Bits> compared;
    int count;

    /// No key is behind a border that is missing.
    __device__ ClassOfKey(const ClassBorders* borders, const ComparedBits<Bits>& compared)
        : shift(8 * static_cast<int>(sizeof(Bits)) - compared.end),
          borders(borders),
          compared(compared),
          count(borders->count) {
        const auto behindCompared = static_cast<Bits>((Bits{1} << compared.begin) - 1);
#pragma unroll
        for (int i = 0; areFew && i < bordersOfTwoRanks; ++i) {
            const std::uint64_t last = i < count ? borders->lastBefore[i] : ~std::uint64_t{0};
            lastBefore[i] = static_cast<Bits>(((static_cast<Bits>(last) << compared.begin | behindCompared) << shift) +
                                              ((Bits{1} << shift) - 1));
        }
    }

    [[nodiscard]] __device__ std::uint32_t of(Bits code) const {
        std::uint32_t behind = 0;
        if constexpr (areFew) {
            const auto begin = static_cast<Bits>(code << shift);
#pragma unroll
            for (int i = 0; i < bordersOfTwoRanks; ++i) {
                behind += begin > lastBefore[i] ? 1 : 0;
            }
        } else {
            const std::uint64_t key = compared.ofCode(code);
            std::uint32_t end = count;
#pragma unroll 1
            while (behind < end) {
                const std::uint32_t middle = (behind + end) / 2;
                if (key > borders->lastBefore[middle]) {
                    behind = middle + 1;
                } else {
                    end = middle;
                }
            }
        }
        return behind;
    }
};

/// The class of a key, for borders that a kernel loads when it begins.
template <typename Bits, bool areFew>
struct ClassByBorders {
    const ClassBorders* borders;
    ComparedBits<Bits> compared;
};
template <typename Bits, bool areFew>
[[nodiscard]] __device__ ClassOfKey<Bits, areFew> loaded(const ClassByBorders<Bits, areFew>& digit) {
    return {digit.borders, digit.compared};
}

/// Where to cut the order of each rank. If not as many keys come out as go in, nothing moves.
struct ExchangePlan {
    bool needsSegments;            ///< at least one rank sorts by segments
    bool isBefore[mostSplitters];  ///< all keys equal to the splitter go to ranks before it
    bool isBehind[mostSplitters];  ///< all go to ranks behind it
    Cuts cuts;
};

/// A part of an order.
struct Range {
    std::uint64_t begin;
    std::uint64_t end;

    [[nodiscard]] __device__ std::uint64_t size() const { return end - begin; }
    [[nodiscard]] __device__ Range within(const Range& other) const {
        return {min(max(begin, other.begin), other.end), min(max(end, other.begin), other.end)};
    }
};

/// What one rank gets of the order of another one.
struct Delivery {
    Range all;
    Range whole;  ///< in classes of which no other rank gets keys
};

/// What `owner` gets of a rank's order.
[[nodiscard]] __device__ inline Delivery deliveryOf(const ExchangePlan& plan, const Splitters& splitters, int ranks,
                                                    int rank, int owner) {
    const Range all{plan.cuts.of[rank][owner], plan.cuts.of[rank][owner + 1]};
    Range whole = all;
    if (const int s = owner - 1; s >= 0 && !plan.isBehind[s]) {
        whole.begin = min(splitters.below[rank][s] + splitters.equal[rank][s], whole.end);
    }
    if (owner < ranks - 1 && !plan.isBefore[owner]) {
        whole.end = max(splitters.below[rank][owner], whole.begin);
    }
    return {all, whole};
}

/// Whether these classes of a bucket that lies on the border are sent. `shareBegin` is where the owner's share of the
/// result begins.
[[nodiscard]] __device__ inline bool areClassesSent(const Buckets& buckets, int bucket, std::uint64_t shareBegin,
                                                    int owner) {
    return max(buckets.begins[bucket], shareBegin) >= buckets.sendFrom[owner];
}

/// Plans the exchange once the splitters are known, and the pass of the keys on the border. If the numbers of keys do
/// not fit, this rank has failed. Ranks that get at least `leastInBuckets` keys sort by segments. Writes to which
/// array the pass moves each class.
///
/// One block, one thread per bucket. Work O(ranks^2), and O(ranks buckets).
template <typename Bits, typename Value>
__global__ void __launch_bounds__(digitValues)
    kernPlanExchange(ExchangePlan* plan, Buckets* buckets, Radix::Elements<Bits, Value>* targets,
                     const std::uint64_t* counts, const Splitters* splitters, AllCounts all,
                     OrdersOfRanks<Bits, Value> orders, int me, std::size_t leastInBuckets,
                     Radix::Elements<Bits, Value> order, std::uint32_t* failure) {
    __shared__ Range mine[digitValues];             // the buckets in this rank's order
    __shared__ Range there[digitValues];            // in that of another
    __shared__ std::uint64_t indices[digitValues];  // where those of this rank begin in memory
    // What earlier ranks send of a splitter's bucket to the rank before the splitter, and to the one behind it.
    __shared__ std::uint64_t earlierBefore[mostSplitters];
    __shared__ std::uint64_t earlierBehind[mostSplitters];
    const auto thread = static_cast<int>(threadIdx.x);
    const int ranks = all.ranks;
    const SplitterDigit digit = buckets->digit;
    const bool isPossible = all.areConsistent();
    const bool needsSegments = __syncthreads_or(thread < ranks && all.of(thread).nOut >= leastInBuckets) != 0;
    if (thread == 0) {
        plan->needsSegments = needsSegments;
        noteFailure(all, me, failure);
    }

    // Cut each rank's order at each splitter. Keys equal to it are taken in the order of the ranks.
    if (thread < ranks) {
        plan->cuts.of[thread][0] = 0;
        plan->cuts.of[thread][ranks] = isPossible ? all.of(thread).n : 0;
    }
    if (thread < ranks - 1) {
        std::uint64_t left = isPossible ? all.shareBegin(thread + 1) : 0;
        for (int rank = 0; isPossible && rank < ranks; ++rank) {
            left -= splitters->below[rank][thread];
        }
        plan->isBehind[thread] = left == 0;
        bool isBefore = true;
        for (int rank = 0; rank < ranks; ++rank) {
            const std::uint64_t taken = min(left, splitters->equal[rank][thread]);
            plan->cuts.of[rank][thread + 1] = isPossible ? splitters->below[rank][thread] + taken : 0;
            left -= taken;
            isBefore = isBefore && taken == splitters->equal[rank][thread];
        }
        plan->isBefore[thread] = isBefore;
        earlierBefore[thread] = 0;
        earlierBehind[thread] = 0;
    }

    // The buckets.
    for (int rank = 0; rank < ranks; ++rank) {
        const BucketPlace place = placeOfBucket(counts + rank * digitValues, buckets->isBorder[thread]);
        there[thread] = {place.before, place.before + place.count};
        if (rank == me) {
            mine[thread] = there[thread];
            indices[thread] = place.indexOf(place.before);
        }
        __syncthreads();
        if (thread < ranks - 1 && rank < me) {
            const auto sent = [&](int owner) {
                const Range bucket = there[digit.of(splitters->keys[thread])];
                return rank == owner ? 0
                                     : deliveryOf(*plan, *splitters, ranks, rank, owner).whole.within(bucket).size();
            };
            earlierBefore[thread] += sent(thread);
            earlierBehind[thread] += sent(thread + 1);
        }
        __syncthreads();
    }
    buckets->plan.starts[Buckets::borderPass][thread] = 0;
    targets[thread] = order;
    __syncthreads();
    if (thread > 0) {
        return;
    }

    // The classes, where those of this rank begin, and who sorts them: a rank, or no single one.
    constexpr int none = -1;
    ClassBorders& classes = buckets->classes;
    classes.count = 0;
    const auto add = [&](std::uint64_t key, int bucket, std::uint64_t position, int owner, std::uint64_t earlier) {
        // A class without keys may begin at the same border.
        if (key > 0 && (classes.count == 0 || key - 1 > classes.lastBefore[classes.count - 1])) {
            classes.lastBefore[classes.count++] = key - 1;
        }
        std::uint64_t& start = buckets->plan.starts[Buckets::borderPass][classes.count];
        const std::uint64_t shareBegin = owner == none ? 0 : all.shareBegin(owner);
        if (owner != none && owner != me && areClassesSent(*buckets, bucket, shareBegin, owner)) {
            const Range sent = deliveryOf(*plan, *splitters, ranks, me, owner).whole.within(mine[bucket]);
            start = all.of(owner).n + (max(buckets->begins[bucket], shareBegin) - shareBegin) + earlier +
                    (position - sent.begin);
            targets[classes.count] = markedFar(orders.of(owner, all.of(owner)));
        } else {
            start = indices[bucket] + (position - mine[bucket].begin);
            targets[classes.count] = order;  // a class without keys may have had another
        }
    };
    for (int first = 0, next = 0; first < ranks - 1; first = next) {
        const std::uint64_t key = splitters->keys[first];
        const int bucket = digit.of(key);
        const std::uint64_t below = splitters->below[me][first];
        while (next < ranks - 1 && splitters->keys[next] == key) {
            ++next;
        }
        int ownerOfEqual = none;
        for (int owner = first; owner <= next; ++owner) {
            if ((owner == first || plan->isBehind[owner - 1]) && (owner == next || plan->isBefore[owner])) {
                ownerOfEqual = owner;
            }
        }
        const auto earlierFor = [&](int owner) {
            return owner < next ? earlierBefore[owner] : earlierBehind[next - 1];
        };
        if (first == 0 || digit.of(splitters->keys[first - 1]) != bucket) {
            add(static_cast<std::uint64_t>(bucket) << digit.shift, bucket, mine[bucket].begin, first,
                earlierFor(first));
        }
        add(key, bucket, below, ownerOfEqual, ownerOfEqual == none ? 0 : earlierFor(ownerOfEqual));
        if (key + 1 != 0) {
            add(key + 1, bucket, below + splitters->equal[me][first], next, earlierFor(next));
        }
    }
}

}  // namespace StreamCompaction::Distributed
