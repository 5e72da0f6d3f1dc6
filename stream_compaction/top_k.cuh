#pragma once

#include <algorithm>
#include <cmath>

#include "stream_compaction/common.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/radix_sort/select.cuh"
#include "stream_compaction/runtime/launch.cuh"
#include "stream_compaction/single_pass.cuh"

/// The k smallest or largest keys.
namespace StreamCompaction::Radix {

/// The k smallest or largest of n keys, or of keys and the values that go with them: the first k of what `Sort` writes,
/// but in the order of the input. Of equal keys at the border the first of the input are taken, so the result is the
/// same in every call. `Sort` of the k elements puts them in order.
///
/// A sample of the keys yields a bound that with near certainty has k keys and not many more below it. One pass of
/// `SinglePass::CompactFlagged` reads all keys and collects those within the bound. The rest of the work is on these
/// few. Up to 16 MiB of keys, or for k of more than about a quarter of n, there is no filter, and the keys are read
/// once per digit of eleven bits and once more. The same happens if the bound was wrong, or if very many keys are equal
/// to the k-th.
///
/// Keys are as for `Sort`, and in the same order. Values are trivially copyable and have 1 to 16 bytes; they are an
/// array, or a function of its elements or of the index (primitives/source.cuh). `generated` with the identity gives
/// the indices of the keys. Only values of candidates are read. No output may overlap an input.
///
/// Neither allocates nor synchronises. k of more than n, and more than 2^36 elements, throw std::invalid_argument. The
/// scratch may hold anything and keeps nothing from call to call. With a filter it has room for n elements.
struct TopK {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    bool largest = false;                     ///< the first k of the descending order
    TileOrder order = TileOrder::BlockIndex;  ///< how the blocks of the filter get their tiles

    /// The bytes of scratch that a call with these arguments needs.
    template <typename K>
    [[nodiscard]] std::size_t scratchBytes(const K* /*in*/, K* /*out*/, std::size_t n, std::size_t k) const {
        return scratchOf<BitsOf<K>, NoValue>(n, k);
    }
    /// Selects keys.
    template <typename K>
    void operator()(const K* in, K* out, std::size_t n, std::size_t k, Scratch scratch, cudaStream_t stream) const {
        using Bits = BitsOf<K>;
        const ScratchArena arena(scratch, scratchBytes(in, out, n, k));
        requireKeys(in, out, n, k);
        select<Bits, NoValue>({bitsOf(in), {}}, {bitsOf(out), nullptr}, n, k, rankOfBound<Bits>(n, k),
                              KeyCoding<Bits>::template of<K>(largest), arena, stream);
    }

    /// Keys and values.
    template <typename K, typename In, typename V>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, K* /*keysOut*/, const In& /*valuesIn*/,
                                           V* /*valuesOut*/, std::size_t n, std::size_t k) const {
        return scratchOf<BitsOf<K>, SourceOf<In>>(n, k);
    }
    /// Selects keys, and copies the value of each.
    template <typename K, typename In, typename V>
    void operator()(const K* keysIn, K* keysOut, const In& valuesIn, V* valuesOut, std::size_t n, std::size_t k,
                    Scratch scratch, cudaStream_t stream) const {
        using Bits = BitsOf<K>;
        using Values = SourceOf<In>;
        static_assert(std::is_same_v<typename Values::Value, V>, "values come out as they go in");
        static_assert(std::is_trivially_copyable_v<V> && sizeof(V) <= 16, "values of up to 16 bytes");
        const Values values = sourceOf(valuesIn);
        const ScratchArena arena(scratch, scratchBytes(keysIn, keysOut, valuesIn, valuesOut, n, k));
        requireKeys(keysIn, keysOut, n, k);
        Arguments::requireArray("valuesOut", valuesOut, k);
        Arguments::requireDisjoint(keysIn, n * sizeof(K), valuesOut, k * sizeof(V));
        Arguments::requireDisjoint(keysOut, k * sizeof(K), valuesOut, k * sizeof(V));
        if constexpr (readsArray<Values>) {
            using Element = Stored<Values>;
            Arguments::requireArray("valuesIn", values.elements, n);
            Arguments::requireDisjoint(values.elements, n * sizeof(Element), keysOut, k * sizeof(K));
            Arguments::requireDisjoint(values.elements, n * sizeof(Element), valuesOut, k * sizeof(V));
        }
        select<Bits, Values>({bitsOf(keysIn), values}, {bitsOf(keysOut), valuesOut}, n, k, rankOfBound<Bits>(n, k),
                             KeyCoding<Bits>::template of<K>(largest), arena, stream);
    }

    /// The rank in a sample of the key that is to bound the first k of n keys, or 0 if there is to be no filter.
    ///
    /// The number of keys in the sample that are among the first k is binomial. Its mean plus six standard deviations
    /// and twelve is exceeded less than once in 10^8 calls.
    template <typename Bits>
    [[nodiscard]] static std::uint64_t rankOfBound(std::size_t n, std::size_t k) {
        constexpr std::size_t leastBytes = std::size_t{1} << 24;
        const double mean = static_cast<double>(k) / static_cast<double>(n) * sampleSize;
        const double rank = mean + 6 * std::sqrt(mean) + 12;
        return n > leastBytes / sizeof(Bits) && rank <= mostOfSample ? static_cast<std::uint64_t>(rank) : 0;
    }

    /// Scratch for `select`.
    template <typename Bits, typename Values>
    [[nodiscard]] static std::size_t scratchFor(std::size_t n, std::uint64_t rank) {
        std::size_t bytes = scratchBytesFor<SelectCounts<Bits>>(1) + scratchBytesFor<Sides>(mostBlocks);
        if (rank > 0) {
            using Element = Candidate<Bits, Values>;
            bytes += scratchBytesFor<Element>(n) + scratchBytesFor<std::size_t>(1) + scratchBytesFor<Bound<Bits>>(1) +
                     scratchBytesFor<Bits>(sampleSize) +
                     SinglePass::CompactFlagged{}.scratchBytes(noArray<Element>, noArray<Bits>, noArray<Element>,
                                                               noArray<std::size_t>, n);
        }
        return bytes;
    }

    /// Selects with a bound of this rank in the sample, or without a filter if it is 0. Blocks have `threads` threads.
    template <typename Bits, typename Values, int threads = 512>
    void select(const SelectionInput<Bits, Values>& in, Elements<Bits, ValueOfSource<Values>> out, std::size_t n,
                std::size_t k, std::uint64_t rank, const KeyCoding<Bits>& coding, ScratchArena arena,
                cudaStream_t stream) const {
        using Shape = TileShape<threads, 4, vectorLength<Bits>>;
        if (k == 0) {
            return;
        }
        auto* const counts = arena.take<SelectCounts<Bits>>(1);
        const GridChain<Sides> chain{arena.take<Sides>(mostBlocks)};
        Candidates<Bits, Values> candidates{};
        if (rank > 0) {
            candidates = filter(in, n, rank, coding, arena, stream);
        }
        constexpr auto kernel = kernSelect<Shape, Bits, Values>;
        constexpr std::size_t tilesOfOneBlock = 2;
        const std::size_t tiles = Common::divideRoundUp(n, Shape::elements);
        const std::size_t blocks =
            tiles <= tilesOfOneBlock
                ? 1
                : std::min<std::size_t>({tiles, mostBlocks, onCurrentDevice<kernel>(Shape::threads).residentBlocks});
        launch<kernel>({blocks, Shape::threads, 0, blocks > 1 ? Begin::Cooperative : Begin::Normal}, stream, n,
                       std::uint64_t{k}, out, in, candidates, coding, counts, chain);
    }

  private:
    static constexpr std::size_t mostBlocks = 1024;  // of a cooperative launch
    static constexpr std::size_t mostElements = std::size_t{1} << 36;

    template <typename Bits, typename Values>
    [[nodiscard]] static std::size_t scratchOf(std::size_t n, std::size_t k) {
        if constexpr (hasValues<Values>) {
            Arguments::requireSize<Bits, ValueOfSource<Values>>(n);
        }
        Arguments::requireAtMost("n", n, std::min(mostElements, Arguments::mostElements<Bits>));
        Arguments::requireAtMost("k", k, n);
        return k == 0 ? 0 : scratchFor<Bits, Values>(n, rankOfBound<Bits>(n, k));
    }

    template <typename K>
    static void requireKeys(const K* in, K* out, std::size_t n, std::size_t k) {
        Arguments::requireArray("in", in, n);
        Arguments::requireArray("out", out, k);
        Arguments::requireDisjoint(in, n * sizeof(K), out, k * sizeof(K));
    }

    /// Collects the candidates.
    template <typename Bits, typename Values>
    [[nodiscard]] Candidates<Bits, Values> filter(const SelectionInput<Bits, Values>& in, std::size_t n,
                                                  std::uint64_t rank, const KeyCoding<Bits>& coding, ScratchArena arena,
                                                  cudaStream_t stream) const {
        using Shape = TileShape<1024, 4, vectorLength<Bits>>;
        const Candidates<Bits, Values> candidates{arena.take<Candidate<Bits, Values>>(n), arena.take<std::size_t>(1)};
        auto* const bound = arena.take<Bound<Bits>>(1);
        launch<kernChooseBound<Shape, Bits>>({1, Shape::threads}, stream, n, rank, bound, arena.take<Bits>(sampleSize),
                                             in.keys, coding);
        const auto compact = [&](const auto& source) {
            SinglePass::CompactFlagged{order}(source, in.keys, candidates.elements, candidates.count, n,
                                              IsWithin<Bits>{bound, coding}, arena.rest(), stream);
        };
        if constexpr (hasValues<Values>) {
            compact(generated(CandidateAt<Bits, Values>{in}));
        } else {
            compact(in.keys);
        }
        return candidates;
    }
};

}  // namespace StreamCompaction::Radix
