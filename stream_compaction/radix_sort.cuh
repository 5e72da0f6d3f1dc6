#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "stream_compaction/common.cuh"
#include "stream_compaction/kernel_launch.cuh"
#include "stream_compaction/radix_passes.cuh"
#include "stream_compaction/radix_resident.cuh"

/// Least-significant-digit radix sort with digits of eight bits.
///
/// What is known of the array's size decides where keys are between the passes:
///
///   one block      in registers and shared memory, all passes in one launch (radix_resident.cuh);
///   up to 2^20     in the second-level cache, all passes in one cooperative launch, whose blocks exchange their counts
///                  around barriers of the grid;
///   beyond         in global memory, a launch a pass with decoupled look-back (radix_passes.cuh).
namespace StreamCompaction::Radix {

/// How a value travels: as a machine word where there is one of its size, so that types share code.
template <typename V>
using Carried =
    std::conditional_t<hasValues<V> && isAccessSize(sizeof(V)) && alignof(V) == sizeof(V), AccessWord<sizeof(V)>, V>;

/// Sorts keys, or keys and the values that go with them, stably.
///
/// Keys are integers of 8 to 64 bits, float and double. Of floating-point keys -0 precedes +0, and NaNs are last, the
/// positive before the negative ones; descending order is the exact reverse. Values are trivially copyable, of 1 to 16
/// bytes. No array may overlap another. The scratch may hold anything and keeps nothing from call to call.
struct Sort {
    bool descending = false;

    /// The bits to sort by, of the key in its order-preserving form (KeyCoding): [beginBit, endBit), to the highest
    /// where endBit is 0. Others are carried along.
    int beginBit = 0;
    int endBit = 0;

    /// Whether the call may write to its input, whose contents are undefined then: saves scratch for a copy of the
    /// array, at the price of copying it where the number of passes turns out even.
    bool mayDestroyInput = false;

    template <typename K, typename V = NoValue>
    [[nodiscard]] std::size_t scratchBytes(std::size_t n) const {
        return n == 0 ? 0 : std::max(gridScratchBytes<K, V>(n), passesScratchBytes<K, V>(n));
    }

    template <typename K>
    void operator()(const K* in, K* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireDisjointArrays(in, out, n);
        sort<K, NoValue>({bitsOf(in), nullptr}, {bitsOf(out), nullptr}, n, ScratchArena(scratch, scratchBytes<K>(n)),
                         stream);
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
                            ScratchArena(scratch, scratchBytes<K, V>(n)), stream);
    }

  private:
    /// What all launches of a call are about.
    template <typename Bits, typename Value>
    struct Call {
        Elements<const Bits, const Value> in;
        Elements<Bits, Value> out;
        std::size_t n;
        DigitRange range;
        KeyCoding<Bits> coding;
        ScratchArena arena;
        cudaStream_t stream;
    };

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
        const Call<BitsOf<K>, Value> call{in,    out,   n, range, KeyCoding<BitsOf<K>>::template of<K>(descending),
                                          arena, stream};
        if (!sortByBlock(call) && !sortByGrid(call)) {
            sortInPasses(call);
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

    // One block.

    template <typename Bits, typename Value>
    [[nodiscard]] static bool sortByBlock(const Call<Bits, Value>& call) {
        return launchBlock<SortShape<256, 4>>(call) || launchBlock<SortShape<256, 8>>(call) ||
               launchBlock<SortShape<512, 8>>(call) || launchBlock<SortShape<512, 16>>(call);
    }

    template <typename Shape, typename Bits, typename Value>
    [[nodiscard]] static bool launchBlock(const Call<Bits, Value>& call) {
        constexpr auto kernel = kernSortBlock<Shape, Bits, Value>;
        using Place = std::conditional_t<hasValues<Value>, std::uint16_t, NoValue>;
        constexpr std::size_t sharedBytes = sizeof(TileStorage<Shape, Bits, Place>);
        if (call.n > Shape::elements || onCurrentDevice<kernel>(Shape::threads, sharedBytes).residentBlocks == 0) {
            return false;
        }
        launch<kernel>("kernSortBlock", {1, Shape::threads, sharedBytes}, call.stream, call.n, call.out, call.in,
                       call.range, call.coding);
        return true;
    }

    // A grid whose blocks hold a tile each.

    /// The shapes of such grids and the most blocks of each that beat the next, measured on an H200.
    using TinyTile = SortShape<256, 4>;
    using SmallTile = SortShape<256, 8>;
    using MediumTile = SortShape<512, 8>;
    using LargeTile = SortShape<1024, 8>;
    static constexpr std::size_t mostTinyTiles = 16;
    static constexpr std::size_t mostSmallTiles = 32;
    static constexpr std::size_t mostTiles = 128;

    /// Calls `use(shape)` with the shape that suits n elements; nothing where there are too many.
    template <typename Use>
    static void withGridShape(std::size_t n, Use&& use) {
        if (n <= mostTinyTiles * TinyTile::elements) {
            use(TinyTile{});
        } else if (n <= mostSmallTiles * SmallTile::elements) {
            use(SmallTile{});
        } else if (n <= mostTiles * MediumTile::elements) {
            use(MediumTile{});
        } else if (n <= mostTiles * LargeTile::elements) {
            use(LargeTile{});
        }
    }

    /// Two arrays that passes write to in turn, and a count a block, pass and digit value.
    template <typename K, typename V>
    [[nodiscard]] static std::size_t gridScratchBytes(std::size_t n) {
        std::size_t bytes = 0;
        withGridShape(n, [&]<typename Shape>(Shape) {
            bytes = 2 * elementBytes<K, V>(n) +
                    scratchBytesFor<std::uint16_t>(sizeof(K) * Common::divideRoundUp(n, Shape::elements) * digitValues);
        });
        return bytes;
    }

    template <typename Bits, typename Value>
    [[nodiscard]] static bool sortByGrid(const Call<Bits, Value>& call) {
        bool isLaunched = false;
        withGridShape(call.n, [&]<typename Shape>(Shape) { isLaunched = launchGrid<Shape>(call); });
        return isLaunched;
    }

    template <typename Shape, typename Bits, typename Value>
    [[nodiscard]] static bool launchGrid(const Call<Bits, Value>& call) {
        constexpr auto kernel = kernSortGrid<Shape, Bits, Value>;
        constexpr std::size_t sharedBytes = sizeof(GridStorage<Shape, Bits, Value>);
        const std::size_t blocks = Common::divideRoundUp(call.n, Shape::elements);
        if (blocks > onCurrentDevice<kernel>(Shape::threads, sharedBytes).residentBlocks) {
            return false;
        }
        ScratchArena arena = call.arena;
        const auto spare = takeElements<Bits, Value>(arena, call.n);
        const auto otherSpare = takeElements<Bits, Value>(arena, call.n);
        auto* const counts = arena.take<std::uint16_t>(call.range.count() * blocks * digitValues);
        launch<kernel>("kernSortGrid", {blocks, Shape::threads, sharedBytes, Begin::Together}, call.stream, call.n,
                       call.out, spare, otherSpare, counts, call.in, call.range, call.coding);
        return true;
    }

    // A launch a pass.

    /// As many elements a thread as registers and `tileBytes` of shared memory have room for. Values take registers on
    /// their way, so that fewer threads have enough.
    template <typename Bits, typename Value, std::size_t tileBytes>
    [[nodiscard]] static constexpr auto passTile() {
        constexpr std::size_t threads = hasValues<Value> ? 384 : 448;
        constexpr std::size_t elementBytes = sizeof(Bits) + (hasValues<Value> ? sizeof(Value) : 0);
        constexpr std::size_t items =
            std::min({std::size_t{24}, 112 / sizeof(Bits), tileBytes / (threads * elementBytes)});
        return SortShape<static_cast<int>(threads), static_cast<int>(items)>{};
    }

    /// Two blocks of the larger share a multiprocessor of compute capability 9.0; the smaller fits every card.
    template <typename Bits, typename Value>
    using LargePassTile = decltype(passTile<Bits, Value, (std::size_t{88} << 10)>());
    template <typename Bits, typename Value>
    using SmallPassTile = decltype(passTile<Bits, Value, (std::size_t{43} << 10)>());

    /// An array as large as the input, unless that serves for it; the plan and what leads to it; the statuses.
    template <typename K, typename V>
    [[nodiscard]] std::size_t passesScratchBytes(std::size_t n) const {
        using Tile = SmallPassTile<BitsOf<K>, Carried<V>>;
        return (mayDestroyInput ? 0 : elementBytes<K, V>(n)) + scratchBytesFor<Plan>(1) + scratchBytesFor<Counters>(1) +
               scratchBytesFor<std::uint64_t>(2 * DigitStatuses::wordsPerSet(Common::divideRoundUp(n, Tile::elements)));
    }

    template <typename Bits, typename Value>
    void sortInPasses(const Call<Bits, Value>& call) const {
        if (!launchPasses<LargePassTile<Bits, Value>>(call) && !launchPasses<SmallPassTile<Bits, Value>>(call)) {
            throw CudaError("radix sort: the device has too little shared memory");
        }
    }

    template <typename Shape, typename Bits, typename Value>
    [[nodiscard]] bool launchPasses(const Call<Bits, Value>& call) const {
        constexpr auto kernel = kernSortByDigit<Shape, Bits, Value>;
        constexpr std::size_t sharedBytes = sizeof(TileStorage<Shape, Bits, Value>);
        if (onCurrentDevice<kernel>(Shape::threads, sharedBytes).residentBlocks == 0) {
            return false;
        }
        // What has to be cleared lies side by side: the counters and the first set of statuses.
        const std::size_t tiles = Common::divideRoundUp(call.n, Shape::elements);
        ScratchArena arena = call.arena;
        auto* const counters = arena.take<Counters>(1);
        const DigitStatuses statuses{arena.take<std::uint64_t>(2 * DigitStatuses::wordsPerSet(tiles)), tiles};
        auto* const plan = arena.take<Plan>(1);
        auto* const clearedEnd = reinterpret_cast<std::byte*>(statuses.words + DigitStatuses::wordsPerSet(tiles));
        Common::checkCUDAError(
            cudaMemsetAsync(counters, 0, clearedEnd - reinterpret_cast<std::byte*>(counters), call.stream),
            "cudaMemsetAsync");

        SortArrays<Bits, Value> arrays{call.in, call.out, {}};
        if (mayDestroyInput) {
            arrays.spare = {const_cast<Bits*>(call.in.keys), const_cast<Value*>(call.in.values)};
        } else {
            arrays.spare = takeElements<Bits, Value>(arena, call.n);
        }
        if (!launchCount<128>(call, plan, counters) && !launchCount<32>(call, plan, counters)) {
            return false;
        }
        if (mayDestroyInput) {
            constexpr int threads = 256;
            launch<kernCopyFirst<Bits, Value>>("kernCopyFirst", {Common::blocksFor(call.n, threads), threads},
                                               call.stream, call.n, call.out, call.in, plan);
        }
        for (int i = 0; i < call.range.count(); ++i) {
            launch<kernel>("kernSortByDigit", {tiles, Shape::threads, sharedBytes, Begin::Early}, call.stream, call.n,
                           arrays, statuses, plan, i, call.range.digit(i), call.coding);
        }
        return true;
    }

    /// Takes the histograms, in so much shared memory, if the card has as much.
    template <std::size_t kibibytes, typename Bits, typename Value>
    [[nodiscard]] bool launchCount(const Call<Bits, Value>& call, Plan* plan, Counters* counters) const {
        using Shape = TileShape<1024, 4, vectorLength<Bits>>;
        constexpr std::size_t bytesOfAReplica = sizeof(Bits) * digitValues * sizeof(std::uint32_t);
        constexpr int replicas = static_cast<int>(std::min<std::size_t>(32, (kibibytes << 10) / bytesOfAReplica));
        constexpr auto kernel = kernCountDigits<Shape, replicas, Bits>;
        constexpr std::size_t sharedBytes = replicas * bytesOfAReplica;
        const unsigned resident = onCurrentDevice<kernel>(Shape::threads, sharedBytes).residentBlocks;
        if (resident == 0) {
            return false;
        }
        const auto blocks = std::min<std::size_t>(resident, Common::divideRoundUp(call.n, Shape::elements));
        launch<kernel>("kernCountDigits", {blocks, Shape::threads, sharedBytes}, call.stream, call.n, plan, counters,
                       call.in.keys, call.range, call.coding, mayDestroyInput);
        return true;
    }

    // Arrays in scratch.

    template <typename K, typename V>
    [[nodiscard]] static std::size_t elementBytes(std::size_t n) {
        return scratchBytesFor<K>(n) + (hasValues<V> ? scratchBytesFor<V>(n) : 0);
    }

    template <typename Bits, typename Value>
    [[nodiscard]] static Elements<Bits, Value> takeElements(ScratchArena& arena, std::size_t n) {
        Elements<Bits, Value> elements{arena.take<Bits>(n), nullptr};
        if constexpr (hasValues<Value>) {
            elements.values = arena.take<Value>(n);
        }
        return elements;
    }
};

}  // namespace StreamCompaction::Radix
