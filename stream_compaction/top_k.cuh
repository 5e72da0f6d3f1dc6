#pragma once

#include <algorithm>

#include "stream_compaction/common.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/radix_sort/select.cuh"
#include "stream_compaction/runtime/element_count.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// The k smallest or largest keys.
namespace StreamCompaction::Radix {

/// The k smallest or largest of n keys, or of keys and the values that go with them: the first k of what `Sort` writes,
/// but in the order of the input. Of equal keys at the border the first of the input are taken, so the result is the
/// same in every call. `Sort` of the k elements puts them in order.
///
/// A sample of the keys yields a bound that with near certainty has k keys and not many more below it. The blocks read
/// all keys once and keep those within the bound. The rest of the work is on these few. Up to 8 MiB of keys, or for k
/// of more than about a quarter of n, there is no filter, and the keys are read once per digit of eleven bits and once
/// more. The same happens if the bound was wrong, or if very many keys are equal to the k-th.
///
/// Keys are as for `Sort`, and in the same order. Values are trivially copyable and have 1 to 16 bytes; they are an
/// array, or a function of its elements or of the index (primitives/source.cuh). `indices()` gives the indices of the
/// keys. Only values of candidates are read. No output may overlap an input.
///
/// n may be a count in device memory (runtime/element_count.cuh). If that is less than k, all elements are written, and
/// what is behind them in the output is left as it is. Whether there is a filter depends on the actual number.
///
/// Neither allocates nor synchronises. k of more than n, or of more than the capacity of a count, and more than 2^36
/// elements throw std::invalid_argument. The scratch may hold anything and keeps nothing from call to call. With a
/// filter it has room for 1.5 n keys, with their values if there are any.
struct TopK {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    bool largest = false;  ///< the first k of the descending order, in which NaNs come first

    /// The bytes of scratch that a call with these arguments needs.
    template <typename K, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const K* /*in*/, K* /*out*/, N n, std::size_t k) const {
        return scratchOf<BitsOf<K>, NoValue>(countOf(n), k);
    }
    /// Selects keys.
    template <typename K, ElementCount N>
    void operator()(const K* in, K* out, N n, std::size_t k, Scratch scratch, cudaStream_t stream) const {
        using Bits = BitsOf<K>;
        const CountFor<N> number = countOf(n);
        const ScratchArena arena(scratch, scratchBytes(in, out, n, k));
        requireApart(number, {Arguments::array("in", in, capacityOf(number))}, {Arguments::array("out", out, k)});
        selectBySize<Bits, NoValue>({bitsOf(in), {}}, {bitsOf(out), nullptr}, number, k,
                                    KeyCoding<Bits>::template of<K>(largest), arena, stream);
    }

    /// Keys and values.
    template <typename K, typename In, typename V, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const K* /*keysIn*/, K* /*keysOut*/, const In& /*valuesIn*/,
                                           V* /*valuesOut*/, N n, std::size_t k) const {
        return scratchOf<BitsOf<K>, SourceOf<In>>(countOf(n), k);
    }
    /// Selects keys, and copies the value of each.
    template <typename K, typename In, typename V, ElementCount N>
    void operator()(const K* keysIn, K* keysOut, const In& valuesIn, V* valuesOut, N n, std::size_t k, Scratch scratch,
                    cudaStream_t stream) const {
        using Bits = BitsOf<K>;
        using Values = SourceOf<In>;
        static_assert(std::is_same_v<typename Values::Value, V>, "values come out as they go in");
        static_assert(sizeof(V) <= 16, "values of up to 16 bytes");
        const Values values = sourceOf(valuesIn);
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        const ScratchArena arena(scratch, scratchBytes(keysIn, keysOut, valuesIn, valuesOut, n, k));
        requireApart(number, {Arguments::array("keysIn", keysIn, most), arrayOf("valuesIn", values, most)},
                     {Arguments::array("keysOut", keysOut, k), Arguments::array("valuesOut", valuesOut, k)});
        if constexpr (areElements<Stored<Values>, V>()) {
            selectBySize<Bits, Values>({bitsOf(keysIn), values}, {bitsOf(keysOut), valuesOut}, number, k,
                                       KeyCoding<Bits>::template of<K>(largest), arena, stream);
        }
    }

    /// The rank of the bound in a sample.
    template <typename Bits, typename Count>
    [[nodiscard]] static RankFor<Count> rankOfBound(const Count& n, std::size_t k) {
        constexpr std::size_t mostBytes = std::size_t{1} << 23;
        const RankOfBound rank{.k = k, .mostUnfiltered = mostBytes / sizeof(Bits)};
        if constexpr (isOnDevice<Count>) {
            return rank;
        } else {
            return rank(n);
        }
    }

    /// Scratch for `select`.
    template <typename Bits, typename Values, typename Count>
    [[nodiscard]] static std::size_t scratchFor(const Count& n, const RankFor<Count>& rank) {
        const std::size_t most = capacityOf(n);
        std::size_t bytes = scratchBytesFor<SelectCounts<Bits>>(1) + scratchBytesFor<Sides>(mostSelectBlocks);
        if (rankFor(most, rank) > 0) {
            using Element = Candidate<Bits, Values>;
            bytes += scratchBytesFor<Bits>(sampleSize) + scratchBytesFor<Bits>(1) +
                     scratchBytesFor<std::uint64_t>(mostParts) + scratchBytesFor<Element>(most) +
                     scratchBytesFor<Element>(mostCandidates(most));
        }
        return bytes;
    }

    /// Selects with a bound of this rank in the sample, or without a filter if it is 0. Blocks have `threads` threads.
    /// There is at most one per multiprocessor. Each block reads and scans the counts of all blocks, so a second one
    /// would repeat that.
    template <typename Bits, typename Values, int threads = 512, typename Count>
    void select(const SelectionInput<Bits, Values>& in, Elements<Bits, ValueOfSource<Values>> out, const Count& n,
                std::size_t k, const RankFor<Count>& rank, const KeyCoding<Bits>& coding, ScratchArena arena,
                cudaStream_t stream) const {
        using Shape = TileShape<threads, 4, vectorLength<Bits>>;
        if (k == 0) {
            tellExceeded(n, stream);
            return;
        }
        const std::size_t most = capacityOf(n);
        const std::size_t tiles = Common::divideRoundUp(most, Shape::elements);
        const std::size_t leastBlocks = most / (std::size_t{1} << 31) + 1;  // a block counts its keys in 32 bits
        auto* const counts = arena.take<SelectCounts<Bits>>(1);
        const GridChain<Sides> chain{arena.take<Sides>(mostSelectBlocks)};
        const auto first = [&](auto filter) {
            constexpr auto kernel = kernSelect<Shape, Bits, Values, decltype(filter), Count>;
            constexpr std::size_t tilesOfOneBlock = 2;
            launchAtMost(tiles <= tilesOfOneBlock ? 1 : blocksFor(tiles), leastBlocks, [&](std::size_t blocks) {
                return launchTogether<kernel>({blocks, threads}, stream, n, std::uint64_t{k}, out, in, filter, coding,
                                              blocks > 1 ? counts : nullptr, chain);
            });
        };
        if (rankFor(most, rank) == 0) {
            first(NoFilter{});
            return;
        }
        constexpr auto kernel = kernFilter<Shape, Bits, Values, Count>;
        using Element = Candidate<Bits, Values>;
        FilterMemory<Bits, Values> filter{.sample = arena.take<Bits>(sampleSize),
                                          .greatest = arena.take<Bits>(1),
                                          .counts = arena.take<std::uint64_t>(mostParts),
                                          .kept = arena.take<Element>(most),
                                          .candidates = arena.take<Element>(mostCandidates(most)),
                                          .parts = 0};
        launchAtMost(blocksFor(tiles), leastBlocks, [&](std::size_t blocks) {
            filter.parts = static_cast<unsigned>(blocks * Shape::warps);
            return launchTogether<kernel>({blocks, threads}, stream, n, rank, in, filter, coding, counts);
        });
        first(filter);
    }

  private:
    static constexpr std::size_t mostParts = mostSelectBlocks * Warp::lanes;  // of a filter
    static constexpr std::size_t mostElements = std::size_t{1} << 36;

    [[nodiscard]] static std::size_t blocksFor(std::size_t tiles) {
        return std::min({tiles, mostSelectBlocks, std::size_t{currentDevice().multiprocessors}});
    }

    /// Selects by blocks of 512 or 1024 threads, whichever is faster for the capacity, measured on an H200. Large
    /// blocks have more keys under way. Without a filter they are faster for fewer keys, because all keys are read
    /// several times.
    template <typename Bits, typename Values, typename Count>
    void selectBySize(const SelectionInput<Bits, Values>& in, Elements<Bits, ValueOfSource<Values>> out, const Count& n,
                      std::size_t k, const KeyCoding<Bits>& coding, ScratchArena arena, cudaStream_t stream) const {
        const RankFor<Count> rank = rankOfBound<Bits>(n, k);
        const std::size_t most = capacityOf(n);
        const bool hasFilter = rankFor(most, rank) > 0;
        const std::size_t mostBytesOfSmall = hasFilter ? 1u << 19 : 1u << 16;
        if (most * sizeof(Bits) / currentDevice().multiprocessors <= mostBytesOfSmall) {
            select<Bits, Values, 512>(in, out, n, k, rank, coding, arena, stream);
        } else {
            select<Bits, Values, mostSelectThreads>(in, out, n, k, rank, coding, arena, stream);
        }
    }

    template <typename Bits, typename Values, typename Count>
    [[nodiscard]] static std::size_t scratchOf(const Count& n, std::size_t k) {
        const std::size_t most = capacityOf(n);
        if constexpr (hasValues<Values>) {
            Arguments::requireSize<Bits, ValueOfSource<Values>>(most);
        }
        Arguments::requireAtMost("n", most, std::min(mostElements, Arguments::mostElements<Bits>));
        Arguments::requireAtMost("k", k, most);
        return k == 0 ? 0 : scratchFor<Bits, Values>(n, rankOfBound<Bits>(n, k));
    }
};

}  // namespace StreamCompaction::Radix
