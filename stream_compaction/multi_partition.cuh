#pragma once

#include <stdexcept>
#include <string>

#include "stream_compaction/histogram.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/radix_sort/partition.cuh"

/// Stable partitions into up to 256 parts.
namespace StreamCompaction::Radix {

/// How an element is moved: as `Carried`, but as an integer if it has eight bytes.
template <typename K>
using CarriedKey = std::conditional_t<sizeof(K) == 8 && alignof(K) == 8, std::uint64_t, Carried<K>>;

/// Partitions by a histogram of the parts and one launch of the pass, on cards whose multiprocessors hold at least
/// `blocksPerMultiprocessor` blocks each. A way of a WayTable.
template <typename Shape, int blocksPerMultiprocessor = 1, std::size_t most = anyNumber>
struct InOnePass {
    static constexpr std::size_t mostElements = most;  ///< that it holds

    /// Counters, what the pass needs to know, and the statuses of its tiles.
    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool /*consumesInput*/) {
        return scratchBytesFor<Counters>(1) + scratchBytesFor<Plan>(1) +
               scratchBytesFor<std::uint64_t>(2 * DigitStatuses::wordsPerSet(passTiles<Shape>(n)));
    }

    /// Whether this card can launch the way.
    template <typename Bits, typename Value, typename DigitOf, typename Count>
    [[nodiscard]] static bool fits(const PartitionCall<Bits, Value, DigitOf, Count>& /*call*/) {
        return onCurrentDevice<kernel<Bits, Value, DigitOf, Count>>(Shape::threads, sharedBytes<Bits, Value>)
                   .blocksPerMultiprocessor >= blocksPerMultiprocessor;
    }

    /// Enqueues the partition.
    template <typename Bits, typename Value, typename DigitOf, typename Count>
    static void launch(const PartitionCall<Bits, Value, DigitOf, Count>& call) {
        const std::size_t tiles = passTiles<Shape>(capacityOf(call.n));
        ScratchArena rest = call.arena;
        auto* const counters = rest.take<Counters>(1);
        auto* const plan = rest.take<Plan>(1);
        const DigitStatuses statuses{rest.take<std::uint64_t>(2 * DigitStatuses::wordsPerSet(tiles)), tiles};
        Histogram{}(call.in.keys, counters->counts[0], call.n, digitValues, call.digit, {}, call.stream);
        StreamCompaction::launch<kernPlanPartition<Count>>({1, digitValues}, call.stream, call.n, plan, call.begins,
                                                           counters, call.parts);
        clearStatuses<Shape>(call.n, statuses, statuses.words, call.stream);
        const std::size_t blocks =
            blocksForTiles<kernel<Bits, Value, DigitOf, Count>, Count>(tiles, Shape::threads, sharedBytes<Bits, Value>);
        const SortArrays<Bits, Value> arrays{call.in, call.out, {}};
        StreamCompaction::launch<kernel<Bits, Value, DigitOf, Count>>(
            {blocks, Shape::threads, sharedBytes<Bits, Value>, Begin::Programmatic}, call.stream, call.n, arrays,
            statuses, plan, orderFor(call.order, blocks, tiles), 0, call.digit, NoCoding{},
            prefetchDistance<kernel<Bits, Value, DigitOf, Count>>(blocks, tiles, Shape::threads,
                                                                  sharedBytes<Bits, Value>),
            WholeArray{});
    }

  private:
    template <typename Bits, typename Value, typename DigitOf, typename Count>
    static constexpr auto kernel = kernSortByDigit<Shape, Bits, Value, Count, DigitOf, NoCoding>;
    template <typename Bits, typename Value>
    static constexpr std::size_t sharedBytes = sizeof(PassStorage<Shape, Bits, Value>);
};

/// The ways to partition, as `Ways` for sorts. Measured on an H200.
template <typename Bits, typename Value>
using PartitionWays = WayTable<                                  //
    InOneLaunch<Cluster, SortShape<256, 4>, mostClusterBlocks>,  // from compute capability 9.0 on
    InOneLaunch<Cluster, SortShape<256, 8>, mostClusterBlocks>, InOneLaunch<Grid, SortShape<512, 4>, 64>,
    InOneLaunch<Grid, SortShape<512, 8>, 128>, InOneLaunch<Grid, SortShape<1024, 8>, 128>,
    InOneLaunch<Grid, SortShape<1024, 16>, 128>,
    InOnePass<PassShape<Bits, Value, 64>, 2, mostSmallTileBytes<Value> / passElementSize<Bits, Value>>,
    InOnePass<PassShape<Bits, Value, 96>, 2>, InOnePass<PassShape<Bits, Value, 44>>>;

/// Partitions an array, stably, into parts that a function chooses. First come the elements x with partOf(x) == 0 in
/// their order, then those with partOf(x) == 1, and so on.
///
/// Up to 2^21 elements of 4 bytes, and fewer if they are larger, one launch reads each element once and writes it once.
/// Its blocks exchange their counts of the parts. Beyond, a histogram counts the parts, and one pass of the radix sort
/// moves the elements. Each element is then read twice and written once.
///
/// Elements, and the values that may go with them, are trivially copyable and have 1 to 16 bytes. `partOf` is a
/// function object that device code can call several times per element; its result depends on the element alone. It
/// returns an integer that fits into 32 bits, and may be `parts` or more: such elements are in the last part. `begins`
/// has parts + 1 elements: begins[p] is the index of the first element of part p, and begins[parts] is n.
///
/// No array may overlap another. Neither allocates nor synchronises. Numbers of parts other than 1 to 256 throw
/// std::invalid_argument. So do more elements than 2^23 tiles hold, which are tens of billions. A card with too little
/// shared memory throws CudaError. The scratch may hold anything and keeps nothing from call to call. It has room for
/// the counts of the blocks, at most 10 % of the size of the elements (20 % if they have one byte) and 40 KiB.
struct MultiPartition {
    static constexpr bool mayRunInPlace = false;             ///< whether the output may be the input
    static constexpr std::uint32_t mostParts = digitValues;  ///< of a partition

    TileOrder order = TileOrder::BlockIndex;  ///< how the blocks get their tiles

    /// The bytes of scratch that a call with these arguments needs.
    template <typename K, ElementCount N, typename PartOf>
    [[nodiscard]] std::size_t scratchBytes(const K* /*in*/, K* /*out*/, CountPointer /*begins*/, N n,
                                           std::uint32_t parts, PartOf /*partOf*/) const {
        return scratchOf<K, NoValue>(capacityOf(n), parts);
    }
    /// Partitions elements.
    template <typename K, ElementCount N, typename PartOf>
    void operator()(const K* in, K* out, CountPointer begins, N n, std::uint32_t parts, PartOf partOf, Scratch scratch,
                    cudaStream_t stream) const {
        const ScratchArena arena(scratch, scratchBytes(in, out, begins, n, parts, partOf));
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(number, {Arguments::array("in", in, most)},
                     {Arguments::array("out", out, most), Arguments::array("begins", begins, parts + std::size_t{1})});
        run<K, NoValue>(in, out, nullptr, nullptr, begins, number, parts, partOf, arena, stream);
    }

    /// Elements and values.
    template <typename K, typename V, ElementCount N, typename PartOf>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, K* /*keysOut*/, const V* /*valuesIn*/, V* /*valuesOut*/,
                                           CountPointer /*begins*/, N n, std::uint32_t parts, PartOf /*partOf*/) const {
        return scratchOf<K, V>(capacityOf(n), parts);
    }
    /// Partitions elements, and moves a value with each.
    template <typename K, typename V, ElementCount N, typename PartOf>
    void operator()(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut, CountPointer begins, N n,
                    std::uint32_t parts, PartOf partOf, Scratch scratch, cudaStream_t stream) const {
        const ScratchArena arena(scratch, scratchBytes(keysIn, keysOut, valuesIn, valuesOut, begins, n, parts, partOf));
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(number, {Arguments::array("keysIn", keysIn, most), Arguments::array("valuesIn", valuesIn, most)},
                     {Arguments::array("keysOut", keysOut, most), Arguments::array("valuesOut", valuesOut, most),
                      Arguments::array("begins", begins, parts + std::size_t{1})});
        run<K, V>(keysIn, keysOut, valuesIn, valuesOut, begins, number, parts, partOf, arena, stream);
    }

  private:
    template <typename K, typename V>
    [[nodiscard]] static std::size_t scratchOf(std::size_t n, std::uint32_t parts) {
        static_assert(std::is_trivially_copyable_v<K> && sizeof(K) <= 16, "elements of up to 16 bytes");
        static_assert(std::is_trivially_copyable_v<V>, "values are trivially copyable");
        static_assert(sizeof(V) <= 16, "values of up to 16 bytes");
        Arguments::requireSize<K, V>(n);
        if (parts < 1 || parts > mostParts) {
            throw std::invalid_argument("parts: expected 1 to " + std::to_string(mostParts) + ", got " +
                                        std::to_string(parts));
        }
        using Bits = CarriedKey<K>;
        using Value = Carried<V>;
        return n == 0 ? 0 : PartitionWays<Bits, Value>::template scratchBytes<Bits, Value>(n, false);
    }

    template <typename K, typename V, typename Count, typename PartOf>
    void run(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut, std::size_t* begins, Count n,
             std::uint32_t parts, PartOf partOf, ScratchArena arena, cudaStream_t stream) const {
        if (capacityOf(n) == 0) {
            tellExceeded(n, stream);
            Common::checkCUDAError(cudaMemsetAsync(begins, 0, (parts + std::size_t{1}) * sizeof(std::size_t), stream),
                                   "cudaMemsetAsync");
            return;
        }
        using Bits = CarriedKey<K>;
        using Value = Carried<V>;
        if constexpr (areElements<K, Value>() && isFunctionOf<PartOf, K>()) {
            using Digit = PartDigit<Bits, K, PartOf>;
            const PartitionCall<Bits, Value, Digit, Count> call{
                {reinterpret_cast<const Bits*>(keysIn), carried(valuesIn)},
                {reinterpret_cast<Bits*>(keysOut), carried(valuesOut)},
                begins,
                n,
                parts,
                Digit{partOf, parts - 1},
                order,
                arena,
                stream};
            if (!PartitionWays<Bits, Value>::launch(call)) {
                Common::throwTooLittleSharedMemory("partition");
            }
        }
    }
};

}  // namespace StreamCompaction::Radix
