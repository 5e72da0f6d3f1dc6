#pragma once

#include "stream_compaction/distributed/gathered_sort.cuh"
#include "stream_compaction/distributed/partition.cuh"
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

/// The arrays of a rank in its scratch. What it receives comes first, where other ranks write it.
template <typename K, typename V>
struct SortMemory {
    using Bits = BitsOf<K>;
    using Value = Radix::Carried<V>;
    /// Of the partition: at most 20 KiB per tile.
    using Shape =
        Radix::SortShape<256,
                         std::min<int>(20, (20 << 10) / (256 * static_cast<int>(Radix::elementSize<Bits, Value>)))>;

    Radix::Elements<Bits, Value> received;
    std::uint64_t* statuses;
    std::size_t statusWords;
    SendBuffers<Bits, Value> send{};  ///< null if kernels reach all ranks
    Scratch rest;

    SortMemory(Scratch scratch, std::size_t n, std::size_t nOut, const Rank& rank) : statusWords(wordsFor(n, rank)) {
        ScratchArena arena(scratch, 0);
        received = Radix::takeElements<Bits, Value>(arena, nOut);
        statuses = arena.take<std::uint64_t>(statusWords);
        if (!rank.reachesAllRanks()) {
            send = Radix::takeElements<Bits, Value>(arena, n);
        }
        rest = arena.rest();
    }

    [[nodiscard]] static std::size_t bytes(std::size_t n, std::size_t nOut, const Rank& rank) {
        Arguments::requireSize<K, V>(n);
        Arguments::requireSize<K, V>(nOut);
        Arguments::requireAtMost("n", n, Common::mostBlocks / mostClasses * Shape::elements);  // an int counts statuses
        return Radix::elementBytes<Bits, Value>(nOut) +
               (rank.reachesAllRanks() ? 0 : Radix::elementBytes<Bits, Value>(n)) +
               scratchBytesFor<std::uint64_t>(wordsFor(n, rank)) + localSortBytes<K, V>(nOut);
    }

    [[nodiscard]] static std::size_t tilesOf(std::size_t n) { return Common::blocksFor(n, Shape::elements); }

  private:
    [[nodiscard]] static std::size_t wordsFor(std::size_t n, const Rank& rank) {
        return LookBack::Statuses<LookBack::Count>::wordsFor(tilesOf(n) * (2 * rank.count() - 1));
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
/// The ranks find the keys that divide the sorted order (splitters.cuh), 11 bits at a time or fewer with many ranks,
/// with one exchange for each. A partition then writes each element straight into the memory of its rank, over NVLink
/// or PCIe (partition.cuh), and each rank sorts what it has received. If a rank cannot reach the memory of another, the
/// partition goes to a buffer, and NCCL sends it in one group. So there is no phase of merging, and each element
/// crosses a link at most once.
///
/// Bytes moved per 4-byte key, besides those of Radix::Sort: 4 per splitter digit, 8 in the partition, and (ranks - 1)
/// / ranks of 4 over the link.
///
/// Scratch is a SharedBuffer. How a call enqueues and fails is as for Distributed::Scan. Where ranks cannot reach each
/// other's memory, the call waits for the stream once, because NCCL's host interface needs the numbers of elements to
/// send, and it cannot be captured. Blocks rely on the card to begin them in the order of their index, as
/// TileOrder::BlockIndex does.
struct Sort {
    bool descending = false;  ///< greatest key first; equal keys keep their order
    int beginBit = 0;         ///< as for Radix::Sort
    int endBit = 0;           ///< as for Radix::Sort

    /// The most elements that any rank brings or gets, the same number on all ranks; 0 if they do not know it. If all
    /// ranks together can have few, up to 5 MiB, each of them sorts all elements, after a single exchange. Then no
    /// window is needed.
    std::size_t mostPerRank = 0;

    /// The bytes of scratch that a rank needs for keys. All ranks allocate as much as the one that needs most. With the
    /// same `mostPerRank`, scratch for the largest `n` and the largest `nOut` is enough for every rank and call.
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
        return {.descending = descending, .beginBit = beginBit, .endBit = endBit};
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
                                   : SortMemory<K, V>::bytes(n, nOut, rank);
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

        // Find the splitters.
        call.forEach([&](const Part& part) { clear(&part.rank->template state<SortState>()->splitters, part.stream); });
        for (int i = 0; i < digits.count(); ++i) {
            const SplitterDigit digit = digits.digit(i);
            const std::size_t bytes = DigitCounts::bytesFor(i == 0 ? 1 : std::max(1, ranks - 1), digit);
            call.forEach([&](const Part& part) { countDigit(part, compared, digit, i == 0, bytes); });
            call.exchange(bytes);
            call.forEach([&](const Part& part) {
                const Rank& rank = *part.rank;
                launch<kernFindSplitterDigit>({1, splitterThreads}, part.stream,
                                              &rank.template state<SortState>()->splitters, allCounts(rank, bytes),
                                              rank.index(), candidates(part).capacity, digit, i == 0);
            });
            if (i + 1 == digits.count()) {
                call.forEachValid([&](const Part& part) { plan(part, allCounts(*part.rank, bytes)); });
            }
        }

        // Exchange the elements.
        call.forEachValid([&](const Part& part) { partition(part, compared); });
        completeExchange(
            call, [](const Part& part) { return &part.rank->template state<SortState>()->plan.cuts; },
            [](const Part& part, const Cuts& cuts) {
                const SortMemory<K, V> memory(part.scratch.memory, part.n, part.nOut, *part.rank);
                sendAndReceive(*part.rank, cuts, memory.send.keys, memory.received.keys, part.stream);
                if constexpr (Radix::hasValues<V>) {
                    sendAndReceive(*part.rank, cuts, memory.send.values, memory.received.values, part.stream);
                }
            });

        // Sort what has been received.
        call.forEachValid([&](const Part& part) {
            const SortMemory<K, V> memory(part.scratch.memory, part.n, part.nOut, *part.rank);
            sortLocally<K, V>(memory.received, {Radix::bitsOf(part.keysOut), Radix::carried(part.valuesOut)}, part.nOut,
                              memory.rest, part.stream);
        });
    }

    template <typename K>
    [[nodiscard]] ComparedBits<BitsOf<K>> comparedBits() const {
        return {KeyCoding<BitsOf<K>>::template of<K>(descending), beginBit,
                endBit == 0 ? static_cast<int>(8 * sizeof(K)) : endBit};
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

    /// The rank's room for candidates: a part of the scratch that its own sort uses later. Collecting more than one key
    /// in 512 would take longer than reading all keys again.
    template <typename K, typename V>
    [[nodiscard]] static Candidates<BitsOf<K>> candidates(const SortPart<K, V>& part) {
        const std::size_t most = part.n / 512;
        if (most == 0) {
            return {nullptr, 0};
        }
        const SortMemory<K, V> memory(part.scratch.memory, part.n, part.nOut, *part.rank);
        return {reinterpret_cast<BitsOf<K>*>(memory.rest.data()), std::min(most, memory.rest.size() / sizeof(K))};
    }

    template <typename K, typename V>
    static void countDigit(const SortPart<K, V>& part, const ComparedBits<BitsOf<K>>& compared, SplitterDigit digit,
                           bool isFirst, std::size_t bytes) {
        using Tile = TileShape<512, 4, vectorLength<BitsOf<K>>>;
        constexpr auto kernel = kernCountSplitterDigit<Tile, BitsOf<K>>;
        const Rank& rank = *part.rank;
        auto* const mine = rank.mine<DigitCounts>();
        clear(&mine->n, part.stream, bytes - offsetof(DigitCounts, n));
        const std::size_t blocks = std::clamp<std::size_t>(Common::divideRoundUp(part.n, Tile::elements), 1,
                                                           onCurrentDevice<kernel>(Tile::threads).residentBlocks);
        launch<kernel>({blocks, Tile::threads}, part.stream, part.n, part.nOut, mine,
                       &rank.state<SortState>()->splitters, candidates(part).keys, Radix::bitsOf(part.keysIn), compared,
                       digit, isFirst);
    }

    template <typename K, typename V>
    static void plan(const SortPart<K, V>& part, const AllCounts& all) {
        using Arrays = SortMemory<K, V>;
        const Rank& rank = *part.rank;
        SortState* const state = rank.state<SortState>();
        launch<kernPlanExchange<typename Arrays::Bits, typename Arrays::Value>>(
            {1, mostRanks}, part.stream, &state->plan, &state->splitters, all, rank.index(), rank.reachesAllRanks(),
            part.scratch.window, Arrays(part.scratch.memory, part.n, part.nOut, rank).send, rank.failure());
    }

    template <typename K, typename V>
    static void partition(const SortPart<K, V>& part, const ComparedBits<BitsOf<K>>& compared) {
        using Arrays = SortMemory<K, V>;
        using Bits = typename Arrays::Bits;
        using Value = typename Arrays::Value;
        using Tile = typename Arrays::Shape;
        constexpr auto kernel = kernPartition<Tile, Bits, Value>;
        constexpr std::size_t sharedBytes = sizeof(PartitionStorage<Tile, Bits, Value>);
        if (part.n == 0) {
            return;
        }
        const Rank& rank = *part.rank;
        const SortState* const state = rank.state<SortState>();
        const Arrays memory(part.scratch.memory, part.n, part.nOut, rank);
        clear(memory.statuses, part.stream, memory.statusWords * sizeof(std::uint64_t));
        if (onCurrentDevice<kernel>(Tile::threads, sharedBytes).residentBlocks == 0) {
            throw CudaError("distributed sort: the device has too little shared memory");
        }
        launch<kernel>(
            {Arrays::tilesOf(part.n), Tile::threads, sharedBytes}, part.stream, part.n,
            Radix::Elements<const Bits, const Value>{Radix::bitsOf(part.keysIn), Radix::carried(part.valuesIn)},
            memory.statuses, &state->splitters, &state->plan, rank.index(), rank.count(), compared);
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
