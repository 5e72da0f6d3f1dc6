#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <stdexcept>
#include <string>

#include "stream_compaction/common.cuh"
#include "stream_compaction/radix_sort/launcher.cuh"

/// Least-significant-digit radix sort with digits of eight bits.
///
/// What is known of the array's size decides where keys are between the passes:
///
///   one block      in registers and shared memory, all passes in one launch (radix_resident.cuh);
///   up to 2^20     in the second-level cache, all passes in one launch, whose blocks exchange their counts around
///                  barriers of a cluster or a cooperative grid;
///   beyond         in global memory, a launch a pass with decoupled look-back (radix_passes.cuh).
namespace StreamCompaction::Radix {

/// How a value travels: as a machine word where there is one of its size, so that types share code.
template <typename V>
using Carried = std::conditional_t<hasValues<V> && !isOwnIndex<V> && isAccessSize(sizeof(V)) && alignof(V) == sizeof(V),
                                   AccessWord<sizeof(V)>, V>;

/// Sorts keys, or keys and the values that go with them, stably.
///
/// Keys are integers of 8 to 64 bits, float and double. Of floating-point keys -0 precedes +0, and NaNs are last, the
/// positive before the negative ones; descending order is the exact reverse. Values are trivially copyable, of 1 to 16
/// bytes. No array may overlap another. A range of bits that the key has not throws std::invalid_argument, and so do
/// more elements than 2^23 tiles hold, which are tens of billions (passTiles). The scratch may hold anything and keeps
/// nothing from call to call; it takes another array of keys and of values, two up to 2^20 elements, and the blocks'
/// counts.
struct Sort {
    static constexpr bool mayRunInPlace = false;

    bool descending = false;

    /// The bits to sort by, of the key in its order-preserving form (KeyCoding): [beginBit, endBit), to the highest
    /// where endBit is 0. Others are carried along.
    int beginBit = 0;
    int endBit = 0;

    /// Whether the call may write to its input, whose contents are undefined then: saves, beyond 2^20 elements, scratch
    /// for a copy of the array, at the price of copying it where the number of passes turns out even.
    bool mayDestroyInput = false;

    template <typename K>
    [[nodiscard]] std::size_t scratchBytes(const K* /*in*/, K* /*out*/, std::size_t n) const {
        return scratchFor<K, NoValue>(n);
    }
    template <typename K, typename V>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, K* /*keysOut*/, const V* /*valuesIn*/, V* /*valuesOut*/,
                                           std::size_t n) const {
        return scratchFor<K, V>(n);
    }

    template <typename K>
    void operator()(const K* in, K* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireDisjointArrays(in, out, n);
        sort<K, NoValue>({bitsOf(in), nullptr}, {bitsOf(out), nullptr}, n,
                         ScratchArena(scratch, scratchFor<K, NoValue>(n)), stream);
    }

    template <typename K, typename V>
    void operator()(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        static_assert(std::is_trivially_copyable_v<V> && sizeof(V) <= 16, "values of up to 16 bytes");
        requireDisjointArrays(keysIn, keysOut, n);
        requireDisjointArrays(valuesIn, valuesOut, n);
        Arguments::requireDisjoint(keysIn, n * sizeof(K), valuesOut, n * sizeof(V));
        Arguments::requireDisjoint(valuesIn, n * sizeof(V), keysOut, n * sizeof(K));
        Arguments::requireDisjoint(keysOut, n * sizeof(K), valuesOut, n * sizeof(V));
        sort<K, Carried<V>>({bitsOf(keysIn), reinterpret_cast<const Carried<V>*>(valuesIn)},
                            {bitsOf(keysOut), reinterpret_cast<Carried<V>*>(valuesOut)}, n,
                            ScratchArena(scratch, scratchFor<K, V>(n)), stream);
    }

  private:
    friend struct ArgSort;

    template <typename K, typename V>
    [[nodiscard]] std::size_t scratchFor(std::size_t n) const {
        using Bits = BitsOf<K>;
        using Value = Carried<V>;
        Arguments::requireSize<K, V>(n);
        return n == 0 ? 0
                      : std::max(residentScratch<Bits, Value>(n),
                                 passesScratchBytes<SmallPassTile<Bits, Value>, Bits, Value>(n, mayDestroyInput));
    }

    template <typename K>
    [[nodiscard]] static const BitsOf<K>* bitsOf(const K* keys) {
        return reinterpret_cast<const BitsOf<K>*>(keys);
    }
    template <typename K>
    [[nodiscard]] static BitsOf<K>* bitsOf(K* keys) {
        return reinterpret_cast<BitsOf<K>*>(keys);
    }

    template <typename K, typename Value>
    void sort(Elements<const BitsOf<K>, const Value> in, Elements<BitsOf<K>, Value> out, std::size_t n,
              ScratchArena arena, cudaStream_t stream) const {
        const DigitRange range = digitRange(8 * sizeof(K));
        if (n == 0) {
            return;
        }
        const auto coding = KeyCoding<BitsOf<K>>::template of<K>(descending);
        const Launcher<BitsOf<K>, Value> launcher{in, out, n, range, coding, mayDestroyInput, arena, stream};
        if (!whileResident(launcher) && !inPasses(launcher)) {
            throw CudaError("radix sort: the device has too little shared memory");
        }
    }

    [[nodiscard]] DigitRange digitRange(int keyBits) const {
        const int end = endBit == 0 ? keyBits : endBit;
        if (beginBit < 0 || beginBit >= end || end > keyBits) {
            throw std::invalid_argument("bits: expected a range within 0 to " + std::to_string(keyBits) + ", got " +
                                        std::to_string(beginBit) + " to " + std::to_string(end));
        }
        return {beginBit, end};
    }

    // What is launched for how many elements: the first that holds them, in an order measured on an H200.

    static constexpr std::size_t smallestTile = SortShape<256, 2>::elements;
    static constexpr std::size_t mostTiles = 128;
    static constexpr std::size_t mostResident = mostTiles * SortShape<1024, 8>::elements;

    template <typename Bits, typename Value>
    [[nodiscard]] static bool whileResident(const Launcher<Bits, Value>& sort) {
        return sort.byBlock(SortShape<256, 4>{}) || sort.byBlock(SortShape<256, 8>{}) ||
               sort.byBlock(SortShape<512, 8>{}) || sort.byCluster(SortShape<256, 2>{}) ||
               sort.byCluster(SortShape<256, 4>{}) || sort.byCluster(SortShape<512, 4>{}) ||
               sort.byBlock(SortShape<512, 16>{}) || byGrid<32>(sort, SortShape<256, 8>{}) ||
               byGrid<mostTiles>(sort, SortShape<512, 8>{}) || byGrid<mostTiles>(sort, SortShape<1024, 8>{});
    }

    template <std::size_t most, typename Shape, typename Bits, typename Value>
    [[nodiscard]] static bool byGrid(const Launcher<Bits, Value>& sort, Shape shape) {
        return sort.n <= most * Shape::elements && sort.byGrid(shape);
    }

    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t residentScratch(std::size_t n) {
        const std::size_t tiles = std::min(Common::divideRoundUp(n, smallestTile), mostTiles);
        return n <= mostResident ? residentScratchBytes<Bits, Value>(n, tiles) : 0;
    }

    /// As many elements a thread as `tileBytes` of shared memory and the registers have room for. Values that are not
    /// copied straight to shared memory take registers, too.
    template <typename Bits, typename Value, std::size_t tileBytes>
    [[nodiscard]] static constexpr auto passTile() {
        constexpr std::size_t threads = 512;
        constexpr std::size_t valueBytes = hasValues<Value> ? sizeof(Value) : 0;
        constexpr std::size_t byRegisters = hasValues<Value> && !isElementCopySize<Value>
                                                ? std::min<std::size_t>(12, 96 / sizeof(Value))
                                            : sizeof(Bits) < 4 ? 24
                                                               : 40;
        constexpr std::size_t items = std::min(byRegisters, tileBytes / (threads * (sizeof(Bits) + valueBytes)));
        return SortShape<static_cast<int>(threads), static_cast<int>(items)>{};
    }

    /// The larger where two blocks of it share a multiprocessor, as on compute capability 9.0; the smaller fits every
    /// card.
    template <typename Bits, typename Value>
    using LargePassTile = decltype(passTile<Bits, Value, (std::size_t{94} << 10)>());
    template <typename Bits, typename Value>
    using SmallPassTile = decltype(passTile<Bits, Value, (std::size_t{44} << 10)>());

    template <typename Bits, typename Value>
    [[nodiscard]] static bool inPasses(const Launcher<Bits, Value>& sort) {
        return sort.inPasses(LargePassTile<Bits, Value>{}, 2) || sort.inPasses(SmallPassTile<Bits, Value>{}, 1);
    }
};

/// Sorts keys, stably, and tells where each was: `indicesOut[i]` is the index that `keysOut[i]` had in the input. No
/// array of indices is read: the first pass makes them.
///
/// Keys, order, scratch and errors are those of Sort; the options are, too. Indices are integers of 4 or 8 bytes; more
/// elements than they count throw std::invalid_argument. No array may overlap another.
struct ArgSort {
    static constexpr bool mayRunInPlace = false;

    bool descending = false;
    int beginBit = 0;
    int endBit = 0;

    template <typename K, std::integral Index>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, K* /*keysOut*/, Index* /*indicesOut*/,
                                           std::size_t n) const {
        return sort().template scratchFor<K, OwnIndex<Index>>(n);
    }

    template <typename K, std::integral Index>
    void operator()(const K* keysIn, K* keysOut, Index* indicesOut, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        static_assert(sizeof(Index) == 4 || sizeof(Index) == 8, "indices of 4 or 8 bytes");
        Arguments::requireAtMost("n", n, std::numeric_limits<Index>::max());
        requireDisjointArrays(keysIn, keysOut, n);
        Arguments::requireArray("indicesOut", indicesOut, n);
        Arguments::requireDisjoint(keysIn, n * sizeof(K), indicesOut, n * sizeof(Index));
        Arguments::requireDisjoint(keysOut, n * sizeof(K), indicesOut, n * sizeof(Index));
        sort().template sort<K, OwnIndex<Index>>(
            {Sort::bitsOf(keysIn), nullptr}, {Sort::bitsOf(keysOut), reinterpret_cast<OwnIndex<Index>*>(indicesOut)}, n,
            ScratchArena(scratch, scratchBytes(keysIn, keysOut, indicesOut, n)), stream);
    }

  private:
    [[nodiscard]] Sort sort() const { return {.descending = descending, .beginBit = beginBit, .endBit = endBit}; }
};

}  // namespace StreamCompaction::Radix
