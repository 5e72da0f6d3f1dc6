#pragma once

#include "stream_compaction/distributed/exchange.cuh"
#include "stream_compaction/distributed/splitters.cuh"
#include "stream_compaction/primitives/look_back.cuh"
#include "stream_compaction/primitives/look_back_device.cuh"
#include "stream_compaction/primitives/run_copy.cuh"
#include "stream_compaction/primitives/sort_tile.cuh"

/// Sends each key to the rank that sorts it, in one pass over the rank's keys.
///
/// The splitters divide the keys into classes: those before the first splitter, those equal to it, those between it and
/// the second, and so on. A stable partition by class puts a rank's keys in an order in which each rank's share is one
/// run. Keys equal to a splitter may belong to two or more ranks: the first of them, in the order of ranks and indices,
/// to the first rank.
namespace StreamCompaction::Distributed {

inline constexpr int mostClasses = 2 * mostSplitters + 1;
static_assert(mostClasses <= digitValues);

/// What goes where.
struct ExchangePlan {
    bool isPossible;                         ///< as many keys come out as go in; otherwise nothing moves
    Cuts cuts;                               ///< of each rank's order by class
    std::uint64_t classStarts[digitValues];  ///< where this rank's classes begin in its order

    /// Addresses such that key q of this rank's order goes to address[d] + q * sizeof(key) if it goes to rank d.
    std::uint64_t keys[mostRanks];
    std::uint64_t values[mostRanks];
};

/// Where a rank receives: at the beginning of its scratch, keys first.
template <typename Bits>
[[nodiscard]] __host__ __device__ std::size_t receivedKeyBytes(std::size_t n) {
    return Common::divideRoundUp(n * sizeof(Bits), scratchAlignment) * scratchAlignment;
}

/// The memory of this rank in which it sorts its elements by class, to send them later.
template <typename Bits, typename Value>
using SendBuffers = Radix::Elements<Bits, Value>;

/// Plans the exchange once the splitters are known. One block, one thread per rank. Work O(ranks^2). If the numbers of
/// keys do not fit, this rank has failed.
template <typename Bits, typename Value>
__global__ void kernPlanExchange(ExchangePlan* plan, const Splitters* splitters, AllCounts all, int me,
                                 bool reachesAllRanks, ncclWindow_t window, SendBuffers<Bits, Value> send,
                                 std::uint32_t* failure) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int ranks = all.ranks;
    const bool isPossible = all.areConsistent();
    if (thread == 0) {
        plan->isPossible = isPossible;
        noteFailure(all, me, failure);
    }
    if (!isPossible) {
        for (int to = 0; thread < ranks && to <= ranks; ++to) {
            plan->cuts.of[thread][to] = 0;
        }
        return;
    }

    // Cut each rank's order at each splitter. Keys equal to it are taken in the order of the ranks.
    if (thread < ranks) {
        plan->cuts.of[thread][0] = 0;
        plan->cuts.of[thread][ranks] = all.of(thread).n;
    }
    if (thread < ranks - 1) {
        std::uint64_t left = all.shareBegin(thread + 1);
        for (int rank = 0; rank < ranks; ++rank) {
            left -= splitters->below[rank][thread];
        }
        for (int rank = 0; rank < ranks; ++rank) {
            const std::uint64_t taken = min(left, splitters->equal[rank][thread]);
            plan->cuts.of[rank][thread + 1] = splitters->below[rank][thread] + taken;
            left -= taken;
        }
    }
    __syncthreads();

    // Where this rank's classes begin, and where its elements go.
    if (thread < ranks - 1) {
        int less = 0;
        int notGreater = 0;
        for (int s = 0; s < ranks - 1; ++s) {
            less += splitters->keys[s] < splitters->keys[thread] ? 1 : 0;
            notGreater += splitters->keys[s] <= splitters->keys[thread] ? 1 : 0;
        }
        if (less == thread) {  // the first of equal splitters
            const std::uint64_t below = splitters->below[me][thread];
            plan->classStarts[less + notGreater] = below;
            plan->classStarts[2 * notGreater] = below + splitters->equal[me][thread];
        }
    }
    if (thread == 0) {
        plan->classStarts[0] = 0;
    }
    if (thread < ranks) {
        if (!reachesAllRanks) {
            plan->keys[thread] = reinterpret_cast<std::uint64_t>(send.keys);
            plan->values[thread] = reinterpret_cast<std::uint64_t>(send.values);
        } else {
            const std::uint64_t place = plan->cuts.placeOf(me, thread) - plan->cuts.of[me][thread];
            const std::uint64_t base = windowOf(window, thread);
            plan->keys[thread] = base + place * sizeof(Bits);
            plan->values[thread] = base + receivedKeyBytes<Bits>(all.of(thread).nOut) + place * sizeof(Value);
        }
    }
}

/// The class of a key. A digit for Radix::TileKeys.
template <typename Bits>
struct ClassOfKey {
    const Bits* splitters;
    int count;
    ComparedBits<Bits> compared;

    [[nodiscard]] __device__ std::uint32_t of(Bits code) const {
        const Bits key = compared.ofCode(code);
        std::uint32_t classOfKey = 0;
        for (int s = 0; s < count; ++s) {
            classOfKey += (splitters[s] < key ? 1 : 0) + (splitters[s] <= key ? 1 : 0);
        }
        return classOfKey;
    }
};

/// The elements of a class in a tile. They are neighbours there and in the rank's order.
struct ClassRun {
    std::uint64_t place;  ///< of the first one in the rank's order
    int begin;            ///< in the tile
    int end;              ///< in the tile; not beyond `begin` if there are none
};

template <typename Shape, typename Bits, typename Value>
struct PartitionStorage {
    Radix::TileStorage<Shape, Bits, Value> tile;
    ClassRun runs[mostClasses];
    Bits splitters[mostSplitters];
    std::uint64_t cuts[mostRanks + 1];
    std::uint64_t keys[mostRanks];
    std::uint64_t values[mostRanks];
};

/// Partitions the keys by class, and writes each to where its rank sorts it, over the link if that is another one.
///
/// As in a pass of the radix sort, a block ranks its tile by class, looks back for the number of earlier elements of
/// each class, and writes run after run. No block waits for its writes: the exchange that tells other ranks that they
/// may read begins on the stream when all of them are done.
///
/// Work O(n ranks), steps O(n / resident elements). Reads 4 bytes and writes 4 bytes per 4-byte key. The link is the
/// limit for (ranks - 1) / ranks of them.
template <typename Shape, typename Bits, typename Value>
__global__ void __launch_bounds__(Shape::threads)
    kernPartition(std::size_t n, Radix::Elements<const Bits, const Value> in, std::uint64_t* statuses,
                  const Splitters* splitters, const ExchangePlan* plan, int me, int ranks,
                  ComparedBits<Bits> compared) {
    using LookBack::Count;
    using LookBack::State;
    const LookBack::ColumnPlatform platform;
    if (!plan->isPossible) {
        return;
    }
    auto& storage = dynamicShared<PartitionStorage<Shape, Bits, Value>>();
    const LookBack::Statuses<Count> set(statuses);
    const int tile = static_cast<int>(blockIdx.x);
    const int column = static_cast<int>(threadIdx.x);
    const int classes = 2 * ranks - 1;
    const std::size_t begin = static_cast<std::size_t>(tile) * Shape::elements;
    const int size = static_cast<int>(min(n - begin, std::size_t{Shape::elements}));

    // Load the tile and the plan.
    Radix::TileKeys<Shape, Bits> keys;
    keys.loadAndEncode(in.keys + begin, size, compared.coding);
    Value values[Shape::items];
    if constexpr (Radix::hasValues<Value>) {
        Radix::loadRows<Shape>(values, in.values + begin, size, Value{});
    }
    if (column < ranks) {
        storage.keys[column] = plan->keys[column];
        storage.values[column] = plan->values[column];
        storage.cuts[column + 1] = plan->cuts.of[me][column + 1];
    }
    if (column < ranks - 1) {
        storage.splitters[column] = static_cast<Bits>(splitters->keys[column]);
    }
    __syncthreads();

    // Count the classes, publish the counts, pack the tile by class.
    const ClassOfKey<Bits> classOf{storage.splitters, ranks - 1, compared};
    DigitRank<Shape::threads> rankOf(storage.tile.ranks, storage.tile.counts);
    keys.count(rankOf, classOf);
    const std::uint32_t total = rankOf.total();
    if (column < classes) {
        set.publish(platform, tile * classes + column, State::Aggregate, Count{total});
    }
    const std::uint32_t firstRank = rankOf.begin(total);
    keys.pack(rankOf, classOf, storage.tile,
              [&](int row, std::uint32_t place) { storage.tile.keys[place] = compared.coding.decode(keys[row]); });
    keys.packValues(values, storage.tile);

    // Look back.
    if (column < classes) {
        const Count before = LookBack::lookBackInColumn<4>(platform, set, tile, column, classes, LookBack::AddCounts{});
        set.publish(platform, tile * classes + column, State::Prefix, Count{before.value + total});
        const int first = static_cast<int>(firstRank);
        storage.runs[column] = {plan->classStarts[column] + before.value, first,
                                min(first + static_cast<int>(total), size)};
    }
    __syncthreads();

    // Store, run after run: what goes from a class to a rank. Links carry whole vectors faster than single keys.
    for (int c = 0; c < classes; ++c) {
        const ClassRun run = storage.runs[c];
        int begin = run.begin;
        for (int to = 0; begin < run.end; ++to) {
            const std::uint64_t place = run.place + (begin - run.begin);
            const std::uint64_t room = max(storage.cuts[to + 1], place) - place;
            const int count = static_cast<int>(min(static_cast<std::uint64_t>(run.end - begin), room));
            copyRun(reinterpret_cast<Bits*>(storage.keys[to] + place * sizeof(Bits)),
                    reinterpret_cast<const std::byte*>(storage.tile.keys), begin, count);
            if constexpr (Radix::hasValues<Value>) {
                copyRun(reinterpret_cast<Value*>(storage.values[to] + place * sizeof(Value)),
                        reinterpret_cast<const std::byte*>(storage.tile.values), begin, count);
            }
            begin += count;
        }
    }
}

}  // namespace StreamCompaction::Distributed
