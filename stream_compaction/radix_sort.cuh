#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <stdexcept>
#include <string>

#include "stream_compaction/common.cuh"
#include "stream_compaction/histogram.cuh"
#include "stream_compaction/radix_sort/counting.cuh"
#include "stream_compaction/radix_sort/ways.cuh"

/// Least-significant-digit radix sort with digits of eight bits.
///
/// The size of the array decides where the keys are between the passes:
///
///   one block      in registers and shared memory, all passes in one launch (radix_sort/resident.cuh);
///   up to 2^20     in the second-level cache, all passes in one launch, whose blocks exchange their counts around
///                  barriers of a cluster or a cooperative grid;
///   beyond         in global memory, one launch per pass with decoupled look-back (radix_sort/onesweep.cuh). From 12
///                  to 287 million keys of 4 bytes, and from 2 million keys or 4 million pairs with keys of 8 bytes on,
///                  only the highest bits have passes, and keys that share these are sorted in shared memory
///                  (radix_sort/spans.cuh).
///
/// Some arrays need no passes, or fewer: up to 2048 keys of 4 or 8 bytes without values are sorted by a network
/// (radix_sort/network.cuh), up to 2^20 integers of 4 bytes (2^22 without values) in buckets (radix_sort/buckets.cuh),
/// large arrays of keys of 8 or 16 bits without values by counting (radix_sort/counting.cuh).
namespace StreamCompaction::Radix {

/// An input that the call may write to. Its contents are undefined afterwards.
template <typename T>
struct Consumed {
    T* elements;  ///< in device memory
};
/// `Consumed{pointer}` needs no type.
template <typename T>
Consumed(T*) -> Consumed<T>;

/// How a value is moved: as a machine word if there is one of its size, so that types of one size share code.
template <typename V>
using Carried = std::conditional_t<hasValues<V> && !isOwnIndex<V> && isAccessSize(sizeof(V)) && alignof(V) == sizeof(V),
                                   AccessWord<sizeof(V)>, V>;

/// The bytes of a key and its value.
template <typename Bits, typename Value>
inline constexpr std::size_t elementSize = sizeof(Bits) + (hasValues<Value> ? sizeof(Value) : 0);

/// The shared memory of an element in a pass, in bytes. Values use that of the keys.
template <typename Bits, typename Value>
inline constexpr std::size_t passElementSize = hasValues<Value> ? std::max(sizeof(Bits), sizeof(Value)) : sizeof(Bits);

/// A pass whose tile takes at most `kibibytes` KiB, and 44 of the 64 registers that a thread has if keys have 4 bytes.
template <typename Bits, typename Value, std::size_t kibibytes>
using PassShape = SortShape<512, std::min<int>(44, (kibibytes << 10) / (512 * passElementSize<Bits, Value>))>;

/// The most bytes of keys, or of values if these are larger, for which a pass has small tiles, so that all
/// multiprocessors have some. If only the device knows the number of pairs, they always have small tiles. Blocks then
/// take several tiles each, which takes less time with small ones.
template <typename Value, typename Count = std::size_t>
inline constexpr std::size_t mostSmallTileBytes = !hasValues<Value>   ? std::size_t{16} << 20
                                                  : isOnDevice<Count> ? anyNumber
                                                                      : std::size_t{32} << 20;

/// The KiB of a large tile.
template <typename Value, typename Count>
inline constexpr std::size_t largeTile = mostSmallTileBytes<Value, Count> == anyNumber ? 66 : 96;

/// Sorts by counting, from `leastElements` elements on. For keys of at most 16 bits without values, all bits of which
/// count. A way of a WayTable.
template <std::size_t leastElements>
struct ByCounting {
    static constexpr std::size_t mostElements = anyNumber;  ///< that it holds

    /// The places where runs begin.
    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool /*consumesInput*/) {
        if constexpr (isCounted<Bits, Value>) {
            return n >= leastElements ? scratchBytesFor<std::uint64_t>(codes<Bits> + 1) : 0;
        } else {
            return 0;
        }
    }

    /// Whether the way serves this sort.
    template <typename Bits, typename Value, typename Count>
    [[nodiscard]] static bool fits(const SortCall<Bits, Value, Count>& sort) {
        return isCounted<Bits, Value> && sort.capacity() >= leastElements && sort.sortsByAllBits();
    }

    /// Enqueues the sort.
    template <typename Bits, typename Value, typename Count>
    static void launch(const SortCall<Bits, Value, Count>& sort) {
        if constexpr (isCounted<Bits, Value>) {
            using Shape = TileShape<512, 1, vectorLength<Bits>>;
            ScratchArena rest = sort.arena;
            auto* const runs = rest.take<std::uint64_t>(codes<Bits> + 1);
            Histogram{}(sort.in.keys, runs, sort.n, codes<Bits>, CodeOf<Bits>{sort.coding}, {}, sort.stream);
            StreamCompaction::launch<kernBeginRuns<Bits>>({1, beginThreads<Bits>, 0, Begin::Programmatic}, sort.stream,
                                                          runs);
            constexpr auto write = kernWriteRuns<Shape, Bits, Count>;
            const std::size_t blocks = std::min<std::size_t>(onCurrentDevice<write>(Shape::threads).residentBlocks,
                                                             Common::divideRoundUp(sort.capacity(), Shape::elements));
            StreamCompaction::launch<write>({blocks, Shape::threads, 0, Begin::Programmatic}, sort.stream, sort.n,
                                            sort.out.keys, runs, sort.coding);
        }
    }

  private:
    template <typename Bits, typename Value>
    static constexpr bool isCounted = isCountable<Bits> && !hasValues<Value>;
};

/// From how many elements on a sort ends in spans. With fewer, planning and finding the spans costs more than it saves.
template <typename Bits, typename Value>
inline constexpr std::size_t leastInSpans = sizeof(Bits) <= 4  ? std::size_t{3} << 22
                                            : hasValues<Value> ? std::size_t{1} << 22
                                                               : std::size_t{1} << 21;

/// What a block sorts if a sort ends in spans.
using SpanShape = SortShape<320, 16>;

/// What is tried with more keys than one tile per block.
using TwoTiles = BucketAttempt<SortShape<1024, 16>, 2, 128>;

/// The ways to sort. The first row that holds the array and that the card can launch is taken. Measured on an H200 and
/// an H100 (tools/tune), those of InGroups and InBuckets on an H200 alone. The last row fits every card. If another
/// shape suits a card better, add a row before those that it replaces.
template <typename Bits, typename Value, typename Count>
using Ways = WayTable<  //
    ByCopy,             // of an empty range of bits
    ByNetwork<SortShape<256, 4>>, ByNetwork<SortShape<512, 4>>, ByBlock<SortShape<256, 4>>, ByBlock<SortShape<256, 8>>,
    // Clusters exist from compute capability 9.0 on.
    BucketsByCluster<SortShape<256, 1>, InLargeGroups>, BucketsByCluster<SortShape<256, 2>, InGroups>,
    BucketsByCluster<SortShape<256, 2>>, ByBlock<SortShape<512, 8>>, BucketsByCluster<SortShape<256, 4>, InGroups>,
    BucketsByCluster<SortShape<256, 4>>, BucketsByGrid<SortShape<256, 4>, 128, InGroups>,
    BucketsByGrid<SortShape<256, 4>, 128>, BucketsByGrid<SortShape<512, 4>, 128, InGroups>,
    BucketsByGrid<SortShape<512, 4>, 128>, BucketsByGrid<SortShape<512, 8>, 128, InGroups>,
    BucketsByGrid<SortShape<512, 8>, 128>, BucketsByGrid<SortShape<1024, 8>, 128, InGroups>,
    BucketsByGrid<SortShape<512, 16>, 128>, BucketsByGrid<SortShape<1024, 16>, 128, InGroups>,
    BucketsByGrid<SortShape<hasValues<Value> ? 512 : 1024, 16>, 128>, ByCluster<SortShape<256, 4>>,
    ByCluster<SortShape<512, 4>>, ByBlock<SortShape<512, 16>>,  // for cards without clusters
    ByGrid<SortShape<256, 8>, hasValues<Value> ? 64 : 32>, ByGrid<SortShape<512, 8>, 128>,
    ByGrid<SortShape<1024, 8>, 128>, ByCounting<sizeof(Bits) == 1 ? 1 : std::size_t{1} << 24>,
    InBuckets<TwoTiles, InPasses<PassShape<Bits, Value, 66>, 2>>,
    InSpans<InPasses<PassShape<Bits, Value, largeTile<Value, Count>>, 2>, SpanShape, leastInSpans<Bits, Value>,
            TwoTiles>,
    // With 33 keys per thread, the runs of a sorted input begin in different banks. With 32 they do not.
    InPasses<PassShape<Bits, Value, 66>, 2, mostSmallTileBytes<Value, Count> / passElementSize<Bits, Value>>,
    InPasses<PassShape<Bits, Value, 96>, 2>,  // two blocks per multiprocessor, as on compute capability 9.0
    InPasses<PassShape<Bits, Value, 44>>>;

template <typename K>
[[nodiscard]] const BitsOf<K>* bitsOf(const K* keys) {
    return reinterpret_cast<const BitsOf<K>*>(keys);
}
template <typename K>
[[nodiscard]] BitsOf<K>* bitsOf(K* keys) {
    return reinterpret_cast<BitsOf<K>*>(keys);
}
template <typename V>
[[nodiscard]] const Carried<V>* carried(const V* values) {
    return reinterpret_cast<const Carried<V>*>(values);
}
template <typename V>
[[nodiscard]] Carried<V>* carried(V* values) {
    return reinterpret_cast<Carried<V>*>(values);
}

/// Enqueues the kernels of a sort. Not inline, so that files of a program that sort the same types can leave the
/// kernels to one of them, by `extern template`. Throws CudaError if the card has too little shared memory.
template <typename Bits, typename Value, typename Count>
void launchSort(const SortCall<Bits, Value, Count>& call) {
    if (!Ways<Bits, Value, Count>::launch(call)) {
        Common::throwTooLittleSharedMemory("radix sort");
    }
}

/// Sorts keys, or keys and the values that go with them, stably.
///
/// Keys are integers of 8 to 64 bits, float and double. Among floating-point keys, -0 precedes +0, and NaNs are last,
/// positive before negative ones. Descending order is the reverse, so NaNs are first; equal keys keep their order.
/// Values are trivially copyable and have 1 to 16 bytes. No array may overlap another. An input is never written,
/// unless it is passed as `Consumed{pointer}`.
///
/// Neither allocates nor synchronises. A range of bits that the key does not have throws std::invalid_argument. So do
/// more elements than 2^23 tiles hold, which are tens of billions (passTiles). A card with too little shared memory
/// throws CudaError. The scratch may hold anything and keeps nothing from call to call. It has room for an array of
/// keys and one of values, for two of each up to 2^20 elements (2^21 keys of 4 bytes without values), and for the
/// counts of the blocks and the places of the spans. What n elements take is enough for fewer, so larger arrays take no
/// less than at that border.
struct Sort {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    bool descending = false;  ///< greatest key first; equal keys keep their order

    /// The bits to sort by, of the key in its order-preserving form (KeyCoding): [beginBit, endBit). Other bits are
    /// carried along. If there are none, all keys are equal, and the sort is a copy.
    int beginBit = 0;
    int endBit = allBits;  ///< after the last bit

    /// How the blocks of a pass get their tiles.
    TileOrder order = TileOrder::BlockIndex;

    /// The bytes of scratch that a call with these arguments needs.
    template <typename K, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const K* /*in*/, K* /*out*/, N n) const {
        return scratchOf<K, NoValue>(n, false);
    }
    /// Sorts keys.
    template <typename K, ElementCount N>
    void operator()(const K* in, K* out, N n, Scratch scratch, cudaStream_t stream) const {
        sortKeys(in, {}, out, countOf(n), ScratchArena(scratch, scratchBytes(in, out, n)), stream);
    }

    /// The same, and the sort may write to its input. Beyond 2^21 elements the scratch for arrays then grows no more.
    /// If the number of passes turns out even, it costs a copy of the input.
    template <typename K, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(Consumed<K> /*in*/, K* /*out*/, N n) const {
        return scratchOf<K, NoValue>(n, true);
    }
    /// Sorts keys that may be overwritten.
    template <typename K, ElementCount N>
    void operator()(Consumed<K> in, K* out, N n, Scratch scratch, cudaStream_t stream) const {
        sortKeys(in.elements, {bitsOf(in.elements), nullptr}, out, countOf(n),
                 ScratchArena(scratch, scratchBytes(in, out, n)), stream);
    }

    /// Keys and values.
    template <typename K, typename V, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, K* /*keysOut*/, const V* /*valuesIn*/, V* /*valuesOut*/,
                                           N n) const {
        return scratchOf<K, V>(n, false);
    }
    /// Sorts keys and their values.
    template <typename K, typename V, ElementCount N>
    void operator()(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut, N n, Scratch scratch,
                    cudaStream_t stream) const {
        sortPairs(keysIn, keysOut, valuesIn, valuesOut, {}, countOf(n),
                  ScratchArena(scratch, scratchBytes(keysIn, keysOut, valuesIn, valuesOut, n)), stream);
    }

    /// The same, and the sort may write to its inputs.
    template <typename K, typename V, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(Consumed<K> /*keysIn*/, K* /*keysOut*/, Consumed<V> /*valuesIn*/,
                                           V* /*valuesOut*/, N n) const {
        return scratchOf<K, V>(n, true);
    }
    /// Sorts keys and values that may be overwritten.
    template <typename K, typename V, ElementCount N>
    void operator()(Consumed<K> keysIn, K* keysOut, Consumed<V> valuesIn, V* valuesOut, N n, Scratch scratch,
                    cudaStream_t stream) const {
        sortPairs(keysIn.elements, keysOut, valuesIn.elements, valuesOut,
                  {bitsOf(keysIn.elements), carried(valuesIn.elements)}, countOf(n),
                  ScratchArena(scratch, scratchBytes(keysIn, keysOut, valuesIn, valuesOut, n)), stream);
    }

    /// The bits to sort by, of keys of `keyBits` bits; 0 to 0 if there are none. Throws std::invalid_argument if the
    /// keys do not have them.
    [[nodiscard]] DigitRange digitRange(int keyBits) const {
        const int end = endBit == allBits ? keyBits : endBit;
        if (beginBit < 0 || beginBit > end || end > keyBits) {
            throw std::invalid_argument("bits: expected a range within 0 to " + std::to_string(keyBits) + ", got " +
                                        std::to_string(beginBit) + " to " + std::to_string(end));
        }
        return beginBit == end ? DigitRange{0, 0} : DigitRange{beginBit, end};
    }

  private:
    friend struct ArgSort;

    template <typename K, typename V, ElementCount N>
    [[nodiscard]] static std::size_t scratchOf(const N& n, bool consumesInput) {
        const std::size_t most = capacityOf(n);
        Arguments::requireSize<K, V>(most);
        using Bits = BitsOf<K>;
        using Value = Carried<V>;
        return most == 0 ? 0 : Ways<Bits, Value, CountFor<N>>::template scratchBytes<Bits, Value>(most, consumesInput);
    }

    template <typename K, typename Count>
    void sortKeys(const K* in, Elements<BitsOf<K>, NoValue> consumed, K* out, Count n, ScratchArena arena,
                  cudaStream_t stream) const {
        const std::size_t most = capacityOf(n);
        requireApart(n, {Arguments::array("in", in, most)}, {Arguments::array("out", out, most)});
        run<K, NoValue>({bitsOf(in), nullptr}, {bitsOf(out), nullptr}, consumed, n, arena, stream);
    }

    template <typename K, typename V, typename Count>
    void sortPairs(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut,
                   Elements<BitsOf<K>, Carried<V>> consumed, Count n, ScratchArena arena, cudaStream_t stream) const {
        static_assert(std::is_trivially_copyable_v<V>, "values are trivially copyable");
        static_assert(sizeof(V) <= 16, "values of up to 16 bytes");
        const std::size_t most = capacityOf(n);
        requireApart(n, {Arguments::array("keysIn", keysIn, most), Arguments::array("valuesIn", valuesIn, most)},
                     {Arguments::array("keysOut", keysOut, most), Arguments::array("valuesOut", valuesOut, most)});
        if constexpr (areElements<Carried<V>>()) {
            run<K, Carried<V>>({bitsOf(keysIn), carried(valuesIn)}, {bitsOf(keysOut), carried(valuesOut)}, consumed, n,
                               arena, stream);
        }
    }

    template <typename K, typename Value, typename Count>
    void run(Elements<const BitsOf<K>, const Value> in, Elements<BitsOf<K>, Value> out,
             Elements<BitsOf<K>, Value> consumed, Count n, ScratchArena arena, cudaStream_t stream) const {
        using Bits = BitsOf<K>;
        const DigitRange range = digitRange(8 * sizeof(K));
        if (capacityOf(n) == 0) {
            tellExceeded(n, stream);
            return;
        }
        const auto coding = KeyCoding<Bits>::template of<K>(descending);
        launchSort(SortCall<Bits, Value, Count>{in, out, n, range, coding, order, consumed, arena, stream});
    }
};

/// Sorts keys, stably, and writes where each was: keysOut[i] is keysIn[indicesOut[i]].
///
/// The same as `Sort` with an array of 0, 1, 2, ... for values, but without that array: the first pass makes the
/// indices. Indices are integers of 4 or 8 bytes. More elements than they can count throw std::invalid_argument.
/// Everything else is as for `Sort`.
struct ArgSort {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    bool descending = false;                  ///< greatest key first; equal keys keep their order
    int beginBit = 0;                         ///< as for `Sort`
    int endBit = allBits;                     ///< as for `Sort`
    TileOrder order = TileOrder::BlockIndex;  ///< how the blocks get their tiles

    /// The bytes of scratch that a call with these arguments needs.
    template <typename K, std::integral Index, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, K* /*keysOut*/, Index* /*indicesOut*/, N n) const {
        static_assert(sizeof(Index) == 4 || sizeof(Index) == 8, "indices of 4 or 8 bytes");
        Arguments::requireAtMost("n", capacityOf(n), std::numeric_limits<Index>::max());
        return Sort::scratchOf<K, OwnIndex<Index>>(n, false);
    }

    /// Sorts keys and writes their indices.
    template <typename K, std::integral Index, ElementCount N>
    void operator()(const K* keysIn, K* keysOut, Index* indicesOut, N n, Scratch scratch, cudaStream_t stream) const {
        const ScratchArena arena(scratch, scratchBytes(keysIn, keysOut, indicesOut, n));
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(number, {Arguments::array("keysIn", keysIn, most)},
                     {Arguments::array("keysOut", keysOut, most), Arguments::array("indicesOut", indicesOut, most)});
        const Sort sort{descending, beginBit, endBit, order};
        sort.run<K, OwnIndex<Index>>({bitsOf(keysIn), nullptr},
                                     {bitsOf(keysOut), reinterpret_cast<OwnIndex<Index>*>(indicesOut)}, {}, number,
                                     arena, stream);
    }
};

}  // namespace StreamCompaction::Radix
