#pragma once

#include "stream_compaction/distributed/gathered_sort.cuh"
#include "stream_compaction/distributed/pieces.cuh"
#include "stream_compaction/histogram.cuh"
#include "stream_compaction/radix_sort.cuh"

namespace StreamCompaction::Distributed {

/// One rank's share of a sort.
template <typename K, typename V>
struct SortPart {
    const K* keysIn;        ///< in device memory, like all arrays
    K* keysOut;             ///< the rank's part of the sorted keys
    const V* valuesIn;      ///< null for a sort of keys alone
    V* valuesOut;           ///< null for a sort of keys alone
    std::size_t n;          ///< the rank's number of keys, 0 included
    std::size_t nOut;       ///< the rank's number of sorted keys, 0 included
    SharedScratch scratch;  ///< of the same size on all ranks
    const Rank* rank;       ///< of this process
    cudaStream_t stream;    ///< of the rank's device
};

/// What a rank keeps in Rank::state.
struct SortState {
    Splitters splitters;
    ExchangePlan plan;
};

/// What a rank's own sort takes.
template <typename K, typename V>
[[nodiscard]] std::size_t localSortBytes(std::size_t n) {
    if constexpr (Radix::hasValues<V>) {
        return Radix::Sort{}.scratchBytes(noArray<K>, noArray<K>, noArray<V>, noArray<V>, n);
    } else {
        return Radix::Sort{}.scratchBytes(noArray<K>, noArray<K>, n);
    }
}

/// Calls `work(shape)` with the tiles of a pass that suit the card, as Radix::Sort has them for large arrays.
template <typename Bits, typename Value, typename Work>
void withPassShape(const Work& work) {
    using Large = Radix::PassShape<Bits, Value, 96>;
    using Small = Radix::PassShape<Bits, Value, 44>;
    constexpr std::size_t sharedBytes = sizeof(Radix::PassStorage<Large, Bits, Value, FarLines<Large>>);
    constexpr auto kernel = Radix::kernSortByDigit<Large, Bits, Value, std::size_t>;
    if (onCurrentDevice<kernel>(Large::threads, sharedBytes).blocksPerMultiprocessor >= 2) {
        work(Large{});
    } else {
        work(Small{});
    }
}

/// The arrays of a rank in its scratch. Other ranks read the first two, and write to the third.
template <typename K, typename V>
struct SortMemory {
    using Bits = BitsOf<K>;
    using Value = Radix::Carried<V>;
    using Elements = Radix::Elements<Bits, Value>;
    using Tile = Radix::SegmentTile<Bits, Value>;

    std::uint64_t* pieceCounts;  ///< of the digits in the pieces of the order
    Elements order;              ///< the rank's elements, by bucket and class; codes if ranks reach each other
    Elements spare;              ///< behind them: the elements put aside, and then a second array for the passes
    Buckets* buckets;
    std::uint64_t* bucketCounts;
    Elements* targets;  ///< per bucket, and per class
    Segmentation* segmentation;
    Piece* pieces;
    Tile* tiles;
    std::uint64_t* starts;
    Radix::DigitStatuses statuses;
    Elements received;  ///< keys, if the rank sorts by itself
    Scratch rest;

    SortMemory(Scratch scratch, std::size_t n, std::size_t nOut, std::size_t mostReceived, const Rank& rank) {
        ScratchArena arena(scratch, 0);
        pieceCounts = arena.take<std::uint64_t>(pieceCountsFor(rank));
        order = Radix::takeElements<Bits, Value>(arena, orderedFor(n, nOut, rank));
        spare = {order.keys + n, nullptr};
        if constexpr (Radix::hasValues<Value>) {
            spare.values = order.values + n;
        }
        buckets = arena.take<Buckets>(1);
        bucketCounts = arena.take<std::uint64_t>(rank.count() * digitValues);
        targets = arena.take<Elements>(2 * digitValues);
        segmentation = arena.take<Segmentation>(1);
        pieces = arena.take<Piece>(piecesFor(rank));
        tiles = arena.take<Tile>(tilesFor(n, nOut, rank));
        starts = arena.take<std::uint64_t>(sizeof(K) * digitValues * digitValues);
        statuses = {arena.take<std::uint64_t>(2 * statusWordsFor(n, nOut, rank)), tilesFor(n, nOut, rank)};
        received = Radix::takeElements<Bits, Value>(arena, mostReceived);
        rest = arena.rest();
    }

    [[nodiscard]] static std::size_t bytes(std::size_t n, std::size_t nOut, std::size_t mostReceived,
                                           const Rank& rank) {
        Arguments::requireSize<K, V>(n);
        Arguments::requireSize<K, V>(nOut);
        return scratchBytesFor<std::uint64_t>(pieceCountsFor(rank)) +
               Radix::elementBytes<Bits, Value>(orderedFor(n, nOut, rank)) + scratchBytesFor<Buckets>(1) +
               scratchBytesFor<std::uint64_t>(rank.count() * digitValues) + scratchBytesFor<Elements>(2 * digitValues) +
               scratchBytesFor<Segmentation>(1) + scratchBytesFor<Piece>(piecesFor(rank)) +
               scratchBytesFor<Tile>(tilesFor(n, nOut, rank)) +
               scratchBytesFor<std::uint64_t>(sizeof(K) * digitValues * digitValues) +
               scratchBytesFor<std::uint64_t>(2 * statusWordsFor(n, nOut, rank)) +
               Radix::elementBytes<Bits, Value>(mostReceived) + localSortBytes<K, V>(mostReceived);
    }

    [[nodiscard]] static std::size_t pieceCountsFor(const Rank& rank) {
        return (digitValues + rank.count() - 1) * sizeof(K) * digitValues;
    }
    [[nodiscard]] static std::size_t piecesFor(const Rank& rank) {
        return static_cast<std::size_t>(piecesPerRank) * rank.count() * digitValues;
    }

    /// The most tiles of a pass. Each piece may end within one, and has a lead. The buckets in which a rank's share
    /// begins and ends may have several pieces per rank. The smaller tiles are the default.
    template <typename Shape = Radix::PassShape<Bits, Value, 44>>
    [[nodiscard]] static std::size_t tilesFor(std::size_t n, std::size_t nOut, const Rank& rank) {
        const std::size_t elements = std::max(n, nOut);
        const std::size_t pieces =
            rank.reachesAllRanks()
                ? std::min((digitValues + 2 * (piecesPerRank - 1)) * std::size_t(rank.count()), elements)
                : 0;
        return Radix::passTiles<Shape>(elements + pieces * lineBytes / sizeof(K)) + pieces;
    }

  private:
    [[nodiscard]] static std::size_t orderedFor(std::size_t n, std::size_t nOut, const Rank& rank) {
        return rank.reachesAllRanks() ? n + roomBehindOrder(n, nOut) : n;
    }
    [[nodiscard]] static std::size_t statusWordsFor(std::size_t n, std::size_t nOut, const Rank& rank) {
        return Radix::DigitStatuses::wordsPerSet(tilesFor(n, nOut, rank));
    }
};

/// The arrays of a rank that sorts the elements of all ranks, n at most.
template <typename K, typename V>
struct GatheredMemory {
    using Bits = BitsOf<K>;
    using Value = Radix::Carried<V>;

    Radix::Elements<Bits, Value> gathered;
    Radix::Elements<Bits, Value> sorted;
    Scratch rest;

    GatheredMemory(Scratch scratch, std::size_t n) {
        ScratchArena arena(scratch, 0);
        gathered = Radix::takeElements<Bits, Value>(arena, n);
        sorted = Radix::takeElements<Bits, Value>(arena, n);
        rest = arena.rest();
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) {
        return 2 * Radix::elementBytes<Bits, Value>(n) + localSortBytes<K, V>(n);
    }
};

/// Sorts keys, or keys and the values that go with them, that are spread over the ranks: `sort(keysIn, keysOut, n,
/// nOut, scratch, rank, stream)` and `sort(keysIn, keysOut, valuesIn, valuesOut, n, nOut, scratch, rank, stream)`.
/// Afterwards the arrays, one behind the other in the order of the ranks, are sorted. The sort is stable over the
/// whole.
///
/// A rank brings n keys and gets nOut of the sorted ones, exactly, whatever the keys: as many as it brought, an even
/// share, or what it has room for. Over all ranks as many must come out as go in. Otherwise no rank's output is
/// defined, and `Rank::synchronize` throws std::invalid_argument. Keys, values, directions and ranges of bits are as
/// for Radix::Sort. No array may overlap another.
///
/// The ranks find the keys that divide the sorted order (splitters.cuh), up to 12 bits at a time, or fewer with many
/// ranks, with one exchange for each. Once the first of these digits is known, each rank puts its elements in buckets
/// by their highest bits, and then those that may lie on either side of a splitter in order (buckets.cuh). Passes by
/// the other bits follow (pieces.cuh). The passes also carry the elements over NVLink or PCIe: those that put them in
/// order send about half of them to the memory of their ranks, and the first of the others reads the rest. If a rank
/// cannot reach the memory of another, all keys are put in order by rank, NCCL sends them in one group, and each rank
/// sorts what it has received. So there is no phase of merging, and each element crosses a link at most once.
///
/// Bytes moved per 4-byte key, besides those of Radix::Sort: 4 to count the first digit, and (ranks - 1) / ranks of 4
/// over the link. There are as many passes as in Radix::Sort, or one or two more: for keys on the border, and if the
/// number of the others would be even. Sorts of many keys that are distributed evenly end in spans, too (spans.cuh).
/// Keys on the border are read again for each other splitter digit. All keys are if they begin alike, if they are few,
/// or if ranks cannot reach each other.
///
/// Scratch is a SharedBuffer. How a call enqueues and fails is as for Distributed::Scan. Where ranks cannot reach each
/// other's memory, the call waits for the stream once, because NCCL's host interface needs the numbers of elements to
/// send, and it cannot be captured.
struct Sort {
    bool descending = false;  ///< greatest key first; equal keys keep their order
    int beginBit = 0;         ///< as for Radix::Sort
    int endBit = allBits;     ///< as for Radix::Sort

    /// How the blocks of a pass get their tiles.
    TileOrder order = TileOrder::BlockIndex;

    /// The most elements that any rank brings or gets, the same number on all ranks; 0 if they do not know it. If all
    /// ranks together can have few, up to 5 MiB, each of them sorts all elements, after a single exchange. Then no
    /// window is needed.
    std::size_t mostPerRank = 0;

    /// The fewest elements per bucket, on average over all ranks, with which they put their elements in 256 buckets;
    /// the same number on all ranks. A rank that gets fewer than 256 times as many fetches them before it sorts them.
    std::size_t leastPerBucket = std::size_t{1} << 14;

    /// The fewest elements of a rank whose sort by segments may end in spans, as Radix::Sort does. Ranks may differ.
    std::size_t leastInSpans = std::size_t{1} << 25;

    /// The bytes of scratch that a rank needs for keys. All ranks allocate as much as the one that needs most. With the
    /// same options, scratch for the largest `n` and the largest `nOut` is enough for every rank and call.
    template <typename K>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, K* /*keysOut*/, std::size_t n, std::size_t nOut,
                                           const Rank& rank) const {
        return bytesFor<K, Radix::NoValue>(n, nOut, rank);
    }
    /// The same for keys and values.
    template <typename K, typename V>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, K* /*keysOut*/, const V* /*valuesIn*/, V* /*valuesOut*/,
                                           std::size_t n, std::size_t nOut, const Rank& rank) const {
        return bytesFor<K, V>(n, nOut, rank);
    }

    /// Sorts keys, for one rank of this process.
    template <typename K>
    void operator()(const K* keysIn, K* keysOut, std::size_t n, std::size_t nOut, const SharedScratch& scratch,
                    const Rank& rank, cudaStream_t stream) const {
        (*this)(std::vector<SortPart<K, Radix::NoValue>>{
            {keysIn, keysOut, nullptr, nullptr, n, nOut, scratch, &rank, stream}});
    }
    /// Sorts keys and their values, for one rank of this process.
    template <typename K, typename V>
    void operator()(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut, std::size_t n, std::size_t nOut,
                    const SharedScratch& scratch, const Rank& rank, cudaStream_t stream) const {
        (*this)(std::vector<SortPart<K, V>>{{keysIn, keysOut, valuesIn, valuesOut, n, nOut, scratch, &rank, stream}});
    }

    /// For several ranks of this process, by one thread.
    template <typename K, typename V>
    void operator()(const std::vector<SortPart<K, V>>& parts) const {
        using Part = SortPart<K, V>;
        (void)local().digitRange(8 * sizeof(K));  // throws for an invalid range of bits
        const Call<Part> call(parts, [&](const Part& part) { requireValid(part); });
        if (gathers<K, V>(*parts.front().rank)) {
            sortGathered(call);
        } else {
            sortBySplitters(call, parts.front().rank->count());
        }
        call.finish();
    }

  private:
    [[nodiscard]] Radix::Sort local() const {
        return {.descending = descending, .beginBit = beginBit, .endBit = endBit, .order = order};
    }

    /// Whether every rank sorts all elements. All ranks decide the same, even those with invalid arguments.
    template <typename K, typename V>
    [[nodiscard]] bool gathers(const Rank& rank) const {
        return mostPerRank > 0 && mostPerRank <= rank.mostBytesTold() / sizeof(K) &&
               slotOf<K, V>().bytes() <= rank.mostBytesTold();
    }
    template <typename K, typename V>
    [[nodiscard]] ElementSlot<BitsOf<K>, Radix::Carried<V>> slotOf() const {
        return {mostPerRank};
    }

    template <typename K, typename V>
    [[nodiscard]] std::size_t bytesFor(std::size_t n, std::size_t nOut, const Rank& rank) const {
        return gathers<K, V>(rank) ? GatheredMemory<K, V>::bytes(rank.count() * mostPerRank)
                                   : SortMemory<K, V>::bytes(n, nOut, mostReceived<K>(nOut, rank), rank);
    }

    /// The fewest elements in buckets. A rank that gets as many sorts by segments (pieces.cuh). Without bits to
    /// compare, there are no buckets.
    template <typename K>
    [[nodiscard]] std::size_t leastInBuckets() const {
        return comparedBits<K>().count() == 0 ? Radix::anyNumber : digitValues * leastPerBucket;
    }
    template <typename K>
    [[nodiscard]] bool sortsBySegments(std::size_t nOut, const Rank& rank) const {
        return rank.reachesAllRanks() && nOut >= leastInBuckets<K>();
    }
    /// The elements that a rank may sort by itself, if it gets at most nOut.
    template <typename K>
    [[nodiscard]] std::size_t mostReceived(std::size_t nOut, const Rank& rank) const {
        return rank.reachesAllRanks() ? std::min(nOut, leastInBuckets<K>()) : nOut;
    }
    template <typename K, typename V>
    [[nodiscard]] SortMemory<K, V> memoryOf(const SortPart<K, V>& part) const {
        return {part.scratch.memory, part.n, part.nOut, mostReceived<K>(part.nOut, *part.rank), *part.rank};
    }

    template <typename K, typename V>
    void sortGathered(const Call<SortPart<K, V>>& call) const {
        using Part = SortPart<K, V>;
        using Memory = GatheredMemory<K, V>;
        using Bits = typename Memory::Bits;
        using Value = typename Memory::Value;
        using In = Radix::Elements<const Bits, const Value>;
        constexpr int threads = 256;
        const auto slot = slotOf<K, V>();

        call.forEach([&](const Part& part) {
            launch<kernTellElements<Bits, Value>>({std::max(1U, Common::blocksFor(part.n, threads)), threads},
                                                  part.stream, part.n, part.nOut,
                                                  part.rank->template mine<ToldElements>(), slot,
                                                  In{Radix::bitsOf(part.keysIn), Radix::carried(part.valuesIn)});
        });
        call.exchange(slot.bytes());
        call.forEachValid([&](const Part& part) {
            const Rank& rank = *part.rank;
            const std::size_t n = rank.count() * mostPerRank;
            const Memory memory(part.scratch.memory, n);
            const ToldBy<ToldElements> all{rank.template all<std::byte>(), slot.bytes(), rank.count()};
            launch<kernGatherElements<Bits, Value>>({Common::blocksFor(n, threads), threads}, part.stream,
                                                    memory.gathered, all, slot, comparedBits<K>().coding, rank.index(),
                                                    rank.failure());
            sortLocally<K, V>(memory.gathered, memory.sorted, n, memory.rest, part.stream);
            if (part.nOut > 0) {
                launch<kernKeepShare<Bits, Value>>(
                    {Common::blocksFor(part.nOut, threads), threads}, part.stream, part.nOut,
                    Radix::Elements<Bits, Value>{Radix::bitsOf(part.keysOut), Radix::carried(part.valuesOut)},
                    In{memory.sorted.keys, memory.sorted.values}, all, rank.index());
            }
        });
    }

    template <typename K, typename V>
    void sortBySplitters(const Call<SortPart<K, V>>& call, int ranks) const {
        using Part = SortPart<K, V>;
        const auto compared = comparedBits<K>();
        const SplitterDigits digits{compared.count(), ranks};

        // Find the splitters. Once the first digit is known, put the elements in buckets.
        call.forEach([&](const Part& part) { clear(&part.rank->template state<SortState>()->splitters, part.stream); });
        for (int i = 0; i < digits.count(); ++i) {
            const SplitterDigit digit = digits.digit(i);
            const std::size_t bytes = DigitCounts::bytesFor(i == 0 ? 1 : std::max(1, ranks - 1), digit);
            call.forEach([&](const Part& part) {
                if (i == 0) {
                    countFirstDigit(part, compared, digit);
                } else {
                    countDigit(part, compared, digit, bytes);
                }
            });
            call.exchange(bytes);
            call.forEach([&](const Part& part) {
                launch<kernFindSplitterDigit<>>({1, splitterThreads}, part.stream,
                                                &part.rank->template state<SortState>()->splitters,
                                                allCounts(*part.rank, bytes), digit, i == 0);
            });
            call.forEachValid([&](const Part& part) {
                if (i == 0) {
                    putInBuckets(part, allCounts(*part.rank, bytes), compared, digits);
                }
                if (i + 1 == digits.count()) {
                    planExchange(part, allCounts(*part.rank, bytes), compared);
                }
            });
        }

        // Sort what all ranks have, or send it first.
        if (call.reachesAllRanks()) {
            const DigitRange range = digitsOfSegments(compared);
            call.forEachValid([&](const Part& part) { countOrder(part, range); });
            call.exchange(sizeof(Header));
            call.forEachValid([&](const Part& part) { sortPieces(part, range, compared.coding); });
            call.exchange(sizeof(Header));
            return;
        }
        completeExchange(
            call, [](const Part& part) { return &part.rank->template state<SortState>()->plan.cuts; },
            [this](const Part& part, const Cuts& cuts) {
                const SortMemory<K, V> memory = memoryOf(part);
                sendAndReceive(*part.rank, cuts, memory.order.keys, memory.received.keys, part.stream);
                if constexpr (Radix::hasValues<V>) {
                    sendAndReceive(*part.rank, cuts, memory.order.values, memory.received.values, part.stream);
                }
            });
        call.forEachValid([&](const Part& part) { sortReceived(part, memoryOf(part)); });
    }

    template <typename K>
    [[nodiscard]] ComparedBits<BitsOf<K>> comparedBits() const {
        const DigitRange bits = local().digitRange(8 * sizeof(K));
        return {KeyCoding<BitsOf<K>>::template of<K>(descending), bits.begin, bits.end};
    }

    /// The digits by which segments are sorted. All keys of a segment share the highest one, because it has no more
    /// bits than a bucket. It is left out if the number of the others is odd. Otherwise it may be needed for one more
    /// pass (kernPlanSegments).
    template <typename Bits>
    [[nodiscard]] static DigitRange digitsOfSegments(const ComparedBits<Bits>& compared) {
        const DigitRange all{compared.begin, compared.end};
        const int others = all.count() - 1;
        return {all.begin, others % 2 == 1 ? all.digit(others).shift : all.end};
    }

    template <typename K, typename V>
    void requireValid(const SortPart<K, V>& part) const {
        Arguments::requireArray("keysIn", part.keysIn, part.n);
        Arguments::requireArray("keysOut", part.keysOut, part.nOut);
        std::vector<std::span<const std::byte>> arrays{std::as_bytes(std::span(part.keysIn, part.n)),
                                                       std::as_bytes(std::span(part.keysOut, part.nOut)),
                                                       part.scratch.memory};
        if constexpr (Radix::hasValues<V>) {
            Arguments::requireArray("valuesIn", part.valuesIn, part.n);
            Arguments::requireArray("valuesOut", part.valuesOut, part.nOut);
            arrays.push_back(std::as_bytes(std::span(part.valuesIn, part.n)));
            arrays.push_back(std::as_bytes(std::span(part.valuesOut, part.nOut)));
        }
        for (std::size_t a = 0; a < arrays.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                Arguments::requireDisjoint(arrays[a].data(), arrays[a].size(), arrays[b].data(), arrays[b].size());
            }
        }
        if (mostPerRank > 0) {
            Arguments::requireAtMost("n", part.n, mostPerRank);
            Arguments::requireAtMost("nOut", part.nOut, mostPerRank);
        }
        if (!gathers<K, V>(*part.rank)) {
            requireWindow(part.scratch, *part.rank);
        }
        (void)ScratchArena(part.scratch.memory, bytesFor<K, V>(part.n, part.nOut, *part.rank));
    }

    template <typename T>
    static void clear(T* object, cudaStream_t stream, std::size_t bytes = sizeof(T)) {
        Common::checkCUDAError(cudaMemsetAsync(object, 0, bytes, stream), "cudaMemsetAsync");
    }

    [[nodiscard]] static AllCounts allCounts(const Rank& rank, std::size_t bytes) {
        return {rank.all<std::byte>(), bytes, rank.count()};
    }

    /// Counts the first digit of the splitters among all keys.
    template <typename K, typename V>
    void countFirstDigit(const SortPart<K, V>& part, const ComparedBits<BitsOf<K>>& compared,
                         SplitterDigit digit) const {
        auto* const mine = part.rank->template mine<DigitCounts>();
        launch<kernTellSizes<>>({1, 1}, part.stream, mine, part.n, part.nOut);
        Histogram{}(Radix::bitsOf(part.keysIn), mine->tables, part.n, 1u << digit.bits,
                    FirstDigit<BitsOf<K>>{compared, digit}, {}, part.stream);
    }
    /// Counts another one among the keys on the border.
    template <typename K, typename V>
    void countDigit(const SortPart<K, V>& part, const ComparedBits<BitsOf<K>>& compared, SplitterDigit digit,
                    std::size_t bytes) const {
        using Tile = TileShape<512, 4, vectorLength<BitsOf<K>>>;
        constexpr auto kernel = kernCountSplitterDigit<Tile, BitsOf<K>>;
        const Rank& rank = *part.rank;
        auto* const mine = rank.mine<DigitCounts>();
        clear(mine->tables, part.stream, bytes - offsetof(DigitCounts, tables));
        if (part.n > 0) {
            const std::size_t blocks = std::min<std::size_t>(Common::divideRoundUp(part.n, Tile::elements),
                                                             onCurrentDevice<kernel>(Tile::threads).residentBlocks);
            launch<kernel>({blocks, Tile::threads}, part.stream, mine, &rank.state<SortState>()->splitters,
                           &memoryOf(part).buckets->border, compared, digit);
        }
    }

    template <typename K, typename V>
    void putInBuckets(const SortPart<K, V>& part, const AllCounts& all, const ComparedBits<BitsOf<K>>& compared,
                      const SplitterDigits& digits) const {
        using Memory = SortMemory<K, V>;
        using Bits = typename Memory::Bits;
        using Value = typename Memory::Value;
        const Rank& rank = *part.rank;
        const Memory memory = memoryOf(part);
        const SplitterDigit bucket = bucketDigit(digits);
        launch<kernPlanBuckets<Bits, Value>>({1, digitValues}, part.stream, memory.buckets, memory.bucketCounts,
                                             memory.targets, &rank.state<SortState>()->splitters, all, ordersOf(part),
                                             rank.index(), digits.digit(0), bucket, leastInBuckets<K>(),
                                             rank.reachesAllRanks(), Radix::bitsOf(part.keysIn), memory.order);
        if (part.n > 0) {
            const Digit digit{compared.begin + bucket.shift, (1u << bucket.bits) - 1};
            const ScatteredArray<Bits, Value> array{{}, memory.targets};
            withPassShape<Bits, Value>([&](auto shape) {
                using Shape = decltype(shape);
                clearFirstStatuses(memory, Radix::passTiles<Shape>(part.n), part.stream);
                if (rank.reachesAllRanks()) {
                    runPass<Shape>(part, memory, part.n, Buckets::bucketPass, digit, compared.coding, array);
                }
            });
        }
    }

    template <typename K, typename V>
    void planExchange(const SortPart<K, V>& part, const AllCounts& all, const ComparedBits<BitsOf<K>>& compared) const {
        using Memory = SortMemory<K, V>;
        using Bits = typename Memory::Bits;
        using Value = typename Memory::Value;
        const Rank& rank = *part.rank;
        auto* const state = rank.state<SortState>();
        const Memory memory = memoryOf(part);
        launch<kernPlanExchange<Bits, Value>>({1, digitValues}, part.stream, &state->plan, memory.buckets,
                                              memory.targets + digitValues, memory.bucketCounts, &state->splitters, all,
                                              ordersOf(part), rank.index(), leastInBuckets<K>(), memory.order,
                                              rank.failure());
        if (part.n > 0) {
            const CountInDeviceMemory onBorder{&memory.buckets->border.count, part.n};
            const ScatteredArray<Bits, Value> array{{}, memory.targets + digitValues};
            const auto run = [&](const auto& digit) {
                withPassShape<Bits, Value>([&](auto shape) {
                    runPass<decltype(shape)>(part, memory, onBorder, Buckets::borderPass, digit, compared.coding,
                                             array);
                });
            };
            if (rank.count() <= 2 && compared.count() > 0) {
                run(ClassByBorders<Bits, true>{&memory.buckets->classes, compared});
            } else {
                run(ClassByBorders<Bits, false>{&memory.buckets->classes, compared});
            }
        }
        if (rank.reachesAllRanks()) {
            withPassShape<Bits, Value>([&](auto shape) {
                using Shape = decltype(shape);
                launch<kernListPieces<Shape, Bits>>({1, digitValues}, part.stream, memory.segmentation, memory.pieces,
                                                    memory.buckets, memory.bucketCounts, &state->splitters,
                                                    &state->plan, all, rank.index());
                launch<kernListTiles<Shape, Bits, Value>>({digitValues, 256}, part.stream, memory.tiles,
                                                          memory.segmentation, memory.pieces, all, ordersOf(part));
            });
        }
    }

    template <typename K, typename V>
    static void clearFirstStatuses(const SortMemory<K, V>& memory, std::size_t tiles, cudaStream_t stream) {
        clear(memory.statuses.words, stream, sizeof(std::uint64_t) * Radix::DigitStatuses::wordsPerSet(tiles));
    }

    template <typename K, typename V>
    [[nodiscard]] static OrdersOfRanks<BitsOf<K>, Radix::Carried<V>> ordersOf(const SortPart<K, V>& part) {
        return {part.scratch.window,
                alignedForScratch(sizeof(std::uint64_t) * SortMemory<K, V>::pieceCountsFor(*part.rank))};
    }

    /// Enqueues a pass that puts elements of the rank in order. There is a block for each tile, also if only the device
    /// knows how many there are, because in some inputs all keys lie on the border.
    template <typename Shape, typename K, typename V, typename Count, typename DigitOf, typename Array>
    void runPass(const SortPart<K, V>& part, const SortMemory<K, V>& memory, const Count& n, int pass,
                 const DigitOf& digit, const KeyCoding<BitsOf<K>>& coding, const Array& array) const {
        using Bits = typename SortMemory<K, V>::Bits;
        using Value = typename SortMemory<K, V>::Value;
        constexpr auto kernel = Radix::kernSortByDigit<Shape, Bits, Value, Count, DigitOf, KeyCoding<Bits>, Array>;
        constexpr std::size_t sharedBytes =
            sizeof(Radix::PassStorage<Shape, Bits, Value, typename Array::template Lines<Shape>>);
        const Radix::SortArrays<Bits, Value> arrays{
            {Radix::bitsOf(part.keysIn), Radix::carried(part.valuesIn)}, memory.order, memory.spare};
        const std::size_t tiles = Radix::passTiles<Shape>(capacityOf(n));
        launch<kernel>({tiles, Shape::threads, sharedBytes, Begin::Programmatic}, part.stream, n, arrays,
                       memory.statuses, &memory.buckets->plan, order, pass, digit, coding,
                       Radix::prefetchDistance<kernel>(tiles, tiles, Shape::threads, sharedBytes), array);
    }

    /// Counts the digits in pieces.
    template <typename K, typename V>
    static void countDigits(const SortPart<K, V>& part, const SortMemory<K, V>& memory, const CountedPiece* pieces,
                            int pieceCount, int firstNumber, int piecesPerNumber, DigitRange range) {
        using Bits = BitsOf<K>;
        Radix::withDigitCounters<Bits>([&](auto shape, auto replicas, std::size_t sharedBytes) {
            using Shape = decltype(shape);
            constexpr auto kernel = kernCountDigitsOfPieces<Shape, replicas(), Bits>;
            const unsigned resident = onCurrentDevice<kernel>(Shape::threads, sharedBytes).residentBlocks;
            if (resident == 0) {
                return false;
            }
            const auto blocks = std::min<std::size_t>(
                resident, Common::divideRoundUp(std::max(part.n, part.nOut), std::size_t{Shape::elements}));
            launch<kernel>({blocks, Shape::threads, sharedBytes}, part.stream, memory.pieceCounts, pieces, pieceCount,
                           firstNumber, piecesPerNumber, memory.order.keys, range);
            return true;
        });
    }

    /// Counts the digits in what remains of the rank's order, for all ranks.
    template <typename K, typename V>
    void countOrder(const SortPart<K, V>& part, DigitRange range) const {
        using Memory = SortMemory<K, V>;
        if (part.n > 0 || part.nOut > 0) {
            const Memory memory = memoryOf(part);
            clear(memory.pieceCounts, part.stream, Memory::pieceCountsFor(*part.rank) * sizeof(std::uint64_t));
            countDigits(part, memory, memory.segmentation->counted, mostCounted, 0, countedPerNumber, range);
        }
    }

    /// Sorts what the rank gets. The first pass fetches it.
    template <typename K, typename V>
    void sortPieces(const SortPart<K, V>& part, DigitRange range, const KeyCoding<BitsOf<K>>& coding) const {
        using Memory = SortMemory<K, V>;
        using Bits = typename Memory::Bits;
        using Value = typename Memory::Value;
        using Parts = Radix::Segments<Bits, Value>;
        if (part.nOut == 0) {
            return;
        }
        const Rank& rank = *part.rank;
        const Memory memory = memoryOf(part);
        if (!sortsBySegments<K>(part.nOut, rank)) {
            constexpr int threads = 256;
            launch<kernFetchTiles<Bits, Value>>({Memory::tilesFor(0, part.nOut, rank), threads}, part.stream,
                                                memory.received, memory.tiles, &memory.segmentation->tiles, coding);
            sortReceived(part, memory);
            return;
        }
        const bool mayEndInSpans = this->mayEndInSpans(part);
        countDigits(part, memory, memory.segmentation->got, digitValues, rank.index(), 1, range);
        launch<kernPlanSegments<>>({static_cast<std::size_t>(digitValues) * range.count(), digitValues}, part.stream,
                                   memory.segmentation, memory.starts, &rank.state<SortState>()->plan,
                                   part.scratch.window, rank.index(), rank.count(), range.count(),
                                   mayEndInSpans ? std::uint64_t{Radix::SpanShape::elements} : 0, spanBits<Bits>);
        withPassShape<Bits, Value>([&](auto shape) {
            using Shape = decltype(shape);
            constexpr auto kernel =
                Radix::kernSortByDigit<Shape, Bits, Value, std::size_t, Digit, KeyCoding<Bits>, Parts>;
            constexpr std::size_t sharedBytes = sizeof(Radix::PassStorage<Shape, Bits, Value>);
            const std::size_t tiles = Memory::template tilesFor<Shape>(0, part.nOut, rank);
            clearFirstStatuses(memory, tiles, part.stream);
            const Radix::SortArrays<Bits, Value> arrays{
                {}, {Radix::bitsOf(part.keysOut), Radix::carried(part.valuesOut)}, memory.spare};
            const int distance = Radix::prefetchDistance<kernel>(tiles, tiles, Shape::threads, sharedBytes);
            for (int i = 0; i < range.count(); ++i) {
                launch<kernel>({tiles, Shape::threads, sharedBytes, Begin::Programmatic}, part.stream, part.nOut,
                               arrays, memory.statuses, &memory.segmentation->plan, order, i, range.digit(i), coding,
                               distance,
                               Parts{{}, memory.tiles, &memory.segmentation->tiles, memory.starts, digitValues});
            }
        });
        if (mayEndInSpans) {
            constexpr std::size_t numbersPerPass = std::size_t{digitValues} * digitValues;
            sortSpans(part, memory, memory.starts + (range.count() - 1) * numbersPerPass, coding);
        }
    }

    /// The keys of a span share the bits of their segment and those of one pass.
    template <typename Bits>
    static constexpr Radix::SpanBits spanBits{2 * digitBits, static_cast<int>(sizeof(Bits)) - 2,
                                              static_cast<int>(sizeof(Bits))};
    template <typename K, typename V>
    using SpanSort = Radix::SpanSort<Radix::SpanShape, BitsOf<K>, Radix::Carried<V>>;

    /// Whether the sort by segments may need one pass alone. If the keys of all ranks are distributed evenly, their
    /// spans must not have too many.
    template <typename K, typename V>
    [[nodiscard]] bool mayEndInSpans(const SortPart<K, V>& part) const {
        if constexpr (sizeof(K) < sizeof(std::uint32_t)) {
            return false;
        } else {
            using Spans = SpanSort<K, V>;
            const auto compared = comparedBits<K>();
            return part.nOut >= leastInSpans && compared.count() == 8 * static_cast<int>(sizeof(K)) &&
                   part.nOut * part.rank->count() <= Spans::mostEven << spanBits<BitsOf<K>>.bits &&
                   onCurrentDevice<Radix::kernSortSpans<Spans, CountInDeviceMemory>>(Spans::threads,
                                                                                     sizeof(typename Spans::Storage))
                           .residentBlocks > 0;
        }
    }

    /// Sorts the spans, where the pass has put them.
    template <typename K, typename V>
    static void sortSpans(const SortPart<K, V>& part, const SortMemory<K, V>& memory, const std::uint64_t* begins,
                          const KeyCoding<BitsOf<K>>& coding) {
        if constexpr (sizeof(K) >= sizeof(std::uint32_t)) {
            using Spans = SpanSort<K, V>;
            const typename Spans::Array out{Radix::bitsOf(part.keysOut), Radix::carried(part.valuesOut)};
            constexpr auto kernel = Radix::kernSortSpans<Spans, CountInDeviceMemory>;
            constexpr std::size_t bytes = sizeof(typename Spans::Storage);
            const std::size_t blocks =
                blocksForTiles<kernel, CountInDeviceMemory>(spanBits<BitsOf<K>>.spans(), Spans::threads, bytes);
            launch<kernel>({blocks, Spans::threads, bytes, Begin::Programmatic}, part.stream, out,
                           typename Spans::ConstArray{out.keys, out.values}, begins, &memory.segmentation->spans,
                           spanBits<BitsOf<K>>.bits, coding);
        }
    }

    template <typename K, typename V>
    void sortReceived(const SortPart<K, V>& part, const SortMemory<K, V>& memory) const {
        sortLocally<K, V>(memory.received, {Radix::bitsOf(part.keysOut), Radix::carried(part.valuesOut)}, part.nOut,
                          memory.rest, part.stream);
    }

    template <typename K, typename V>
    void sortLocally(Radix::Elements<BitsOf<K>, Radix::Carried<V>> in,
                     Radix::Elements<BitsOf<K>, Radix::Carried<V>> out, std::size_t n, Scratch scratch,
                     cudaStream_t stream) const {
        const auto* const keysIn = reinterpret_cast<const K*>(in.keys);
        auto* const keysOut = reinterpret_cast<K*>(out.keys);
        if constexpr (Radix::hasValues<V>) {
            local()(keysIn, keysOut, reinterpret_cast<const V*>(in.values), reinterpret_cast<V*>(out.values), n,
                    scratch, stream);
        } else {
            local()(keysIn, keysOut, n, scratch, stream);
        }
    }
};

}  // namespace StreamCompaction::Distributed
