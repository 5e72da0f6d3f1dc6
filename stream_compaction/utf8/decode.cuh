#pragma once

#include <concepts>
#include <type_traits>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/row_counts.cuh"
#include "stream_compaction/utf8/chain.cuh"
#include "stream_compaction/utf8/decode_uniform.cuh"
#include "stream_compaction/utf8/report.cuh"
#include "stream_compaction/utf8/run_converter.cuh"
#include "stream_compaction/utf8/text_tile.cuh"
#include "stream_compaction/utf8/unit_finder.cuh"

namespace StreamCompaction::Utf8 {

/// The units that a thread finds in its groups of a tile, row by row.
template <typename Shape>
struct FoundUnits {
    using Counts = RowCounts<11>;  ///< a lane counts at most 32 per row
    static_assert(Shape::rows <= Counts::rowsPerWord);

    std::uint32_t emits[Shape::rows];         ///< the bytes that an element comes from, one bit per byte
    std::uint32_t illFormed[Shape::rows];     ///< the first bytes of ill-formed units
    std::uint32_t anyIllFormed = 0;           ///< in any row
    int firstIllFormed = Shape::Tile::bytes;  ///< its position
    std::uint32_t count = 0;                  ///< elements in all rows
    Counts counts{};                          ///< elements in each row
    std::uint32_t before = 0;                 ///< elements of the tile that the warps before this one emit

    /// The rank, among the elements of the tile, of the first element that a row of this lane emits.
    [[nodiscard]] __device__ std::uint32_t rankOf(int row) const {
        std::uint32_t rank = before + counts.before(row);
#pragma unroll
        for (int earlier = 0; earlier < row; ++earlier) {
            rank += counts.total(earlier);
        }
        return rank;
    }
};

/// Finds the units of a thread's groups, and writes a mask of their first bytes to shared memory.
template <Errors errors, typename To, typename Shape>
__device__ FoundUnits<Shape> findUnitsOfThread(UnitFinder<To, Shape>& finder, DecodeMemory<To, Shape>& shared) {
    FoundUnits<Shape> found;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        const GroupMasks group = finder.next(row, errors);
        found.emits[row] = group.emits;
        found.illFormed[row] = group.illFormed;
        found.anyIllFormed |= group.illFormed;
        shared.unitBegins[Shape::groupAt(row) / Shape::groupBytes] = group.begins;
        found.counts.mine |= FoundUnits<Shape>::Counts::wordOf(row, __popc(group.emits));
        found.count += __popc(group.emits);
    }
    if (threadIdx.x == Shape::threads - Warp::lanes) {
        shared.unitBegins[Shape::Tile::bytes / Shape::groupBytes] = ~finder.inside();
    }
    return found;
}

/// Tells the block what the thread has found: the first ill-formed unit, bytes that are not ASCII, sequences that
/// become surrogates.
template <typename To, typename Shape>
__device__ void shareWhatIsFound(const UnitFinder<To, Shape>& finder, FoundUnits<Shape>& found,
                                 DecodeMemory<To, Shape>& shared) {
    if (found.anyIllFormed != 0) {
        found.firstIllFormed = firstOf<Shape>(found.illFormed);
        atomicMin(&shared.firstIllFormed, found.firstIllFormed);
    }
    // Several threads may store a flag, but all of them store the same value.
    if (!finder.isAscii()) {
        __nv_atomic_store_n(&shared.isAscii, 0, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    }
    if (finder.hasPairs()) {
        __nv_atomic_store_n(&shared.hasPairs, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    }
}

/// Reports the tile's first error, by the thread that has found it. The last tile also reports the number of elements.
/// `before` is the number of elements that earlier tiles emit, `emitted` that of this tile.
template <Errors errors, typename To, typename Shape, typename Text>
__device__ void reportTile(const Text& text, const typename Shape::Tile& tile, const FoundUnits<Shape>& found,
                           const DecodeMemory<To, Shape>& shared, std::uint64_t before, int emitted, Result* result) {
    const int first = found.firstIllFormed;
    if (first < Shape::Tile::bytes && first == shared.firstIllFormed && !shared.isBehindError) {
        const std::size_t offset = tile.offsetOf(first);
        // Not from the tile, where the unit may have been marked.
        reportError(result, offset, [&] { return errorFor<To>(text.windowAt(offset)); });
        if constexpr (errors == Errors::Strict) {
#pragma unroll
            for (int row = 0; row < Shape::rows; ++row) {
                const int i = first - Shape::groupAt(row);
                if (i >= 0 && i < Shape::groupBytes) {
                    reportCount(result, before + found.rankOf(row) + __popc(found.emits[row] & ((1u << i) - 1)));
                }
            }
        }
    }
    if (tile.isLast() && threadIdx.x == 0) {
        reportEnd<errors>(result, before + emitted);
    }
}

/// The list, in shared memory, of the positions at which the runs of a tile begin. A tile with more runs than the list
/// holds is listed and converted in two parts, one for each half of the warps.
template <typename To, typename Shape>
class RunList {
  public:
    static constexpr bool holdsAnyTile = listedRuns<To, Shape> >= mostRuns<To, Shape>;

    __device__ RunList(DecodeMemory<To, Shape>& memory, const TileOutput<To>& out)
        : memory_(memory),
          out_(out),
          runs_(out.runsBefore(out.elements)),
          middleRun_(holdsAnyTile ? runs_ : out.runsBefore(memory.middleRank)),
          parts_(holdsAnyTile || runs_ <= listedRuns<To, Shape> ? 1 : 2) {}

    [[nodiscard]] __device__ int parts() const { return parts_; }
    [[nodiscard]] __device__ int firstRun(int part) const { return part == 0 ? 0 : middleRun_; }
    [[nodiscard]] __device__ int endRun(int part) const { return part + 1 == parts_ ? runs_ : middleRun_; }

    /// Lists the runs of a part that begin in the thread's groups. All threads call it; a barrier must follow.
    __device__ void list(int part, const FoundUnits<Shape>& found) {
        if (parts_ == 2 && Warp::index() / (Shape::warps / 2) != part) {
            return;
        }
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            listRuns(memory_, out_, firstRun(part), Shape::groupAt(row), found.emits[row], found.rankOf(row));
        }
        if (found.before == 0) {
#pragma unroll
            for (int row = 0; row < Shape::rows; ++row) {
                if (found.rankOf(row) == 0 && found.emits[row] != 0) {
                    listFirstRun(memory_, Shape::groupAt(row), found.emits[row]);
                }
            }
        }
    }

  private:
    DecodeMemory<To, Shape>& memory_;
    const TileOutput<To>& out_;
    int runs_;
    int middleRun_;
    int parts_;
};

/// Converts the runs of a part, by the fastest reader that can read all of the tile.
template <Errors errors, typename To, typename Shape>
__device__ void convertPart(const DecodeMemory<To, Shape>& shared, const typename Shape::Tile& tile,
                            const TileOutput<To>& out, int firstRun, int endRun) {
    const auto convert = [&](auto reader) {
        convertListed<typename decltype(reader)::type>(shared, tile, out, firstRun, endRun);
    };
    if (shared.isWellFormed()) {
        if (isUtf16<To> && shared.hasPairs != 0) {
            convert(std::type_identity<TwoElementsReader<To, Shape, true, isUtf16<To>>>{});
        } else {
            convert(std::type_identity<TwoElementsReader<To, Shape, true, false>>{});
        }
    } else if constexpr (errors != Errors::Skip) {
        convert(std::type_identity<TwoElementsReader<To, Shape, false, isUtf16<To>>>{});
    } else {
        convert(std::type_identity<SkippingReader<To, Shape>>{});
    }
}

/// The tiles of a TextGridChain are smaller, so that small texts occupy many multiprocessors.
template <typename Chain>
using DecodeShape = std::conditional_t<std::is_same_v<Chain, TextGridChain>, GroupShape<128, 3>, GroupShape<256, 3>>;

/// Decoding of UTF-8 in one pass (docs/utf8.md).
///
/// 1. Load the tile into shared memory. A tile of sequences that all have one length takes a shorter path from here
///    (decode_uniform.cuh).
/// 2. Find: each thread takes groups of 32 bytes, turns them into bit planes and finds with a few dozen instructions
///    where units begin.
/// 3. Publish the number of elements that the tile emits, for the tiles behind it.
/// 4. Wait for the number of elements of the tiles before. Meanwhile ill-formed units are marked.
/// 5. Report the first error, and the count.
/// 6. Convert: the output is cut into aligned runs of 16 bytes. The threads that found the units list where the runs
///    begin. Then each run is converted by one thread, two elements at a time (gather_table.h), or one at a time if
///    ill-formed units are skipped.
///
/// Work O(n), steps O(n / resident bytes). Reads each byte once. Writes 4 bytes per code point, 2 per element of
/// UTF-16, or 1 in Latin-1. A byte order costs a permutation of bytes per word that is stored. ASCII and text of one
/// length run near the speed of DRAM. For other text, the limit is the number of instructions and the wait for earlier
/// tiles.
template <typename To, Errors errors, typename Chain, typename Text = TextInMemory>
__global__ void __launch_bounds__(DecodeShape<Chain>::threads,
                                  blocksThatFit<Chain>(DecodeShape<Chain>::threads, 1536 / DecodeShape<Chain>::threads))
    kernDecode(Text counted, To* odata, Bom bomOfText, Chain chain) {
    using Shape = DecodeShape<Chain>;
    using Tile = typename Shape::Tile;
    __shared__ DecodeMemory<To, Shape> shared;
    const auto text = knownText(counted);
    unsigned parity = 0;
    shared.tile.copy.initialize(threadIdx.x == 0);
    const auto take = [&](int round) { return chain.takeTile(round); };
    forEachTile<TileCount<Text, Chain>>(tilesOf(text, Tile::bytes), take, [&](int tileIndex) {
        // 1. Load. Tables and flags are set up meanwhile.
        Tile tile(shared.tile, text, tileIndex);
        static_assert(Shape::threads >= GatherTable<To>::count);
        shared.gatherTable.fill();
        if constexpr (errors == Errors::Skip) {
            shared.leadRules.fill();
        }
        chain.begin(countAtBegin(errors));
        if (threadIdx.x == 0) {
            shared.beginFlags();
        }
        tile.finish(text, parity);
        const Bom bom = bomOfText == Bom::Drop && text.isBeginning() ? Bom::Drop : Bom::Keep;
        // A byte order mark that is to be dropped takes the general path. So does the end of a cut text, because the
        // last second surrogate may belong to what lies behind, and text in Latin-1, which has few such tiles.
        if (!isLatin1<To> && (bom == Bom::Keep || !tile.isFirst()) && !(Text::isCut && tile.isLast())) {
            const UniformTile<Shape> uniform(tile);
            switch (uniform.length()) {
                case 2:
                    return decodeUniform<To, errors, 2>(tile, uniform, odata, chain);
                case 3:
                    return decodeUniform<To, errors, 3>(tile, uniform, odata, chain);
                case 4:
                    return decodeUniform<To, errors, 4>(tile, uniform, odata, chain);
                default:
                    break;
            }
        }

        // 2. Find.
        UnitFinder<To, Shape> finder(tile, bom);
        FoundUnits<Shape> found = findUnitsOfThread<errors>(finder, shared);
        shareWhatIsFound(finder, found, shared);

        // 3. Publish.
        const auto place = Block::scanWarps<Shape::warps>(Warp::reduce(found.count, Sum{}), shared.warpCounts, Sum{});
        const auto emitted = static_cast<int>(place.all);
        found.before = place.before;
        if (!RunList<To, Shape>::holdsAnyTile && threadIdx.x == Shape::threads / 2) {
            shared.middleRank = static_cast<int>(place.before);
        }
        if (Warp::index() == 0) {
            chain.publish(emitted);
        }

        // 4. Wait. The readers of two elements at a time recognise ill-formed units by their mark.
        if (errors != Errors::Skip && found.anyIllFormed != 0) {
#pragma unroll
            for (int row = 0; row < Shape::rows; ++row) {
                markLongUnits(tile, shared, Shape::groupAt(row), found.illFormed[row]);
            }
        }
        // An error behind a known one is not reported. The last warp asks, because the first one looks back.
        if (threadIdx.x == Shape::threads - 1 && !shared.isWellFormed()) {
            shared.isBehindError = chain.knownError() < Result::errorAt(tile.offsetOf(tile.first()), ErrorKind::None);
        }
        found.counts = FoundUnits<Shape>::Counts::scanned(
            found.counts.mine);  // not earlier, because later tiles wait for the count
        const std::uint64_t before = chain.before(emitted);

        // 5. Report.
        reportTile<errors>(text, tile, found, shared, before, emitted, chain.result);

        // 6. Convert.
        if (emitted == 0) {
            return;
        }
        const TileOutput<To> out(odata + before, emitted);
        if (shared.isAscii != 0) {
            widenAscii<Shape>(tile, out);
            return;
        }
        RunList<To, Shape> runs(shared, out);
#pragma unroll 1
        for (int part = 0; part < runs.parts(); ++part) {
            if (part > 0) {
                __syncthreads();
            }
            runs.list(part, found);
            __syncthreads();
            convertPart<errors>(shared, tile, out, runs.firstRun(part), runs.endRun(part));
        }
    });
}

using ValidateShape = GroupShape<128, 6>;

/// Validation: finds the units as kernDecode does, and only counts them. Work O(n). Reads each byte once. DRAM
/// bandwidth and the 6 instructions per byte are equally the limit.
template <typename To, Errors errors, typename Chain, typename Text = TextInMemory>
__global__ void __launch_bounds__(ValidateShape::threads, blocksThatFit<Chain>(ValidateShape::threads, 8))
    kernValidate(Text counted, Chain chain) {
    using Shape = ValidateShape;
    using Tile = typename Shape::Tile;
    __shared__ typename Tile::Storage storage;
    __shared__ std::uint32_t warpCounts[Shape::warps];
    __shared__ int firstIllFormedOfTile;
    __shared__ int sharedTile;
    const auto text = knownText(counted);
    unsigned parity = 0;
    storage.copy.initialize(threadIdx.x == 0);
    chain.begin(0);
    const int tiles = tilesOf(text, Tile::bytes);
    forEachTileInAnyOrder<TileCount<Text, Chain>>(tiles, chain.ticketCounter(), sharedTile, [&](int tileIndex) {
        if (threadIdx.x == 0) {
            firstIllFormedOfTile = Tile::bytes;
        }
        Tile tile(storage, text, tileIndex);
        tile.finish(text, parity);

        UnitFinder<To, Shape> finder(tile, Bom::Keep);
        std::uint32_t count = 0;
        int firstIllFormed = Tile::bytes;
#pragma unroll 1
        for (int row = 0; row < Shape::rows; ++row) {
            const GroupMasks group = finder.next(row, errors);
            count += __popc(group.emits);
            if (group.illFormed != 0 && firstIllFormed == Tile::bytes) {
                firstIllFormed = Shape::groupAt(row) + __ffs(static_cast<int>(group.illFormed)) - 1;
            }
        }
        if (firstIllFormed < Tile::bytes) {
            atomicMin(&firstIllFormedOfTile, firstIllFormed);
        }
        const std::uint32_t warpCount = Warp::reduce(count, Sum{});
        const auto place = Block::scanWarps<Shape::warps>(warpCount, warpCounts, Sum{});
        chain.synchronize();
        if (threadIdx.x == 0) {
            atomicAdd(reinterpret_cast<unsigned long long*>(&chain.result->count), place.all);
        }
        if (firstIllFormed < Tile::bytes && firstIllFormed == firstIllFormedOfTile) {
            reportError(chain.result, tile.offsetOf(firstIllFormed),
                        [&] { return errorIn(windowAt(tile, firstIllFormed)); });
        }
    });
}

/// Decodes UTF-8 into UTF-32 (To is char32_t or BigEndian<char32_t>), UTF-16 (char16_t or BigEndian<char16_t>) or
/// Latin-1 (Latin1), and writes the number of elements and the first error to `result` in device memory. Ill-formed
/// units become U+FFFD, are dropped, or end the text. In Latin-1 so do code points above U+00FF, and `?` stands for
/// U+FFFD. In strict mode `result->count` is the number of elements before the first error, and later elements of `out`
/// are unspecified.
///
/// `in` holds n bytes at any address. At most n elements come out; nothing is written past them. In strict mode the
/// text after an error is converted, too, and what comes out of it also counts for `maxOut`. May not run in place.
/// Neither allocates nor synchronises. The scratch may hold anything and keeps nothing from call to call. Throws what
/// common.cuh says.
///
/// `SomeErrors` is Errors, or Always<...> for one treatment of errors alone.
template <typename SomeErrors>
struct DecodeWith {
    SomeErrors errors{};                          ///< what becomes of ill-formed units: U+FFFD unless set
    Bom bom = Bom::Keep;                          ///< whether a byte order mark at the beginning is kept
    TileOrder order = TileOrder::BlockIndex;      ///< how the blocks get their tiles
    std::size_t maxOut = noLimit;                 ///< the most elements that are written (common.cuh)
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// The bytes of scratch that a call with these arguments needs.
    template <Utf8Byte Byte, typename To, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const Byte*, const To*, const Result*, N n) const {
        const std::size_t most = capacityOf(n);
        Arguments::requireSize<std::uint8_t>(most);
        return most == 0 ? 0 : tiles([most](int bytes) { return TextInMemory::mostTiles(most, bytes); }).scratchBytes();
    }

    /// Decodes n bytes.
    template <Utf8Byte Byte, typename To, ElementCount N>
    void operator()(const Byte* in, To* out, Result* result, N n, Scratch scratch, cudaStream_t stream) const {
        decode(TextOf<N>(in, n), bytesOf(in), out, result, countOf(n), scratch, stream);
    }

    /// Decodes n bytes that are cut out of a larger text, anywhere, given what lies around them in device memory.
    /// Writes those elements of the decoded larger text that come from the n bytes: code points and first surrogates
    /// from the first byte of a unit, second surrogates from the second byte of four. The result is that of these
    /// elements, with offsets from the first of the n bytes.
    template <typename To>
    void operator()(const std::uint8_t* in, const TextAround* around, To* out, Result* result, std::size_t n,
                    Scratch scratch, cudaStream_t stream) const {
        Arguments::requireArray("around", around, 1);
        decode(CutText(in, n, around), in, out, result, n, scratch, stream);
    }

  private:
    template <typename Text, typename To, typename Count>
    void decode(const Text& text, const std::uint8_t* in, To* out, Result* result, Count n, Scratch scratch,
                cudaStream_t stream) const;

    /// `tilesOf(bytes)` is the number of tiles of `bytes` bytes.
    template <typename Count>
    [[nodiscard]] static ChainTiles tiles(const Count& tilesOf) {
        return {tilesOf(DecodeShape<TextGridChain>::bytes), tilesOf(DecodeShape<TextLookBackChain>::bytes)};
    }
};

/// Takes `errors` when it runs.
using Decode = DecodeWith<Errors>;

// Not inline, so that files of a program that decode alike can leave the kernels to one of them, by `extern template`.
template <typename SomeErrors>
template <typename Text, typename To, typename Count>
void DecodeWith<SomeErrors>::decode(const Text& text, const std::uint8_t* in, To* out, Result* result, Count n,
                                    Scratch scratch, cudaStream_t stream) const {
    requireConversionArrays(in, out, result, n, maxOut);
    ScratchArena arena(scratch, scratchBytes(in, out, result, n));
    if (capacityOf(n) == 0) {
        tellExceeded(n, stream);
        beginResult(result, 0, stream);
        return;
    }
    withErrors(errors, [&](auto mode) {
        constexpr auto together = kernDecode<To, mode(), TextGridChain, Text>;
        launchChain(tiles([&text](int bytes) { return text.tiles(bytes); }),
                    onCurrentDevice<together>(DecodeShape<TextGridChain>::threads).residentBlocks,
                    orderFor<Count>(order), result, countAtBegin(errors), arena, stream,
                    [&](auto chain, std::size_t tiles, Begin begin) {
                        using Chain = decltype(chain);
                        constexpr auto kernel = kernDecode<To, mode(), Chain, Text>;
                        constexpr int threads = DecodeShape<Chain>::threads;
                        return tryLaunch<kernel>(
                            {blocksForTiles<kernel, TileCount<Text, Chain>>(tiles, threads), threads, 0, begin}, stream,
                            text, out, bom, chain);
                    });
    });
}

/// Counts the elements that Decode would write, code points or code units of UTF-16, and finds the first error. Strict
/// mode counts as Replace does. Writes only the result. Everything else is as for Decode. Tiles do not wait for each
/// other, so there is no `order`.
template <typename SomeErrors>
struct ValidateWith {
    SomeErrors errors{};                          ///< what becomes of ill-formed units: U+FFFD unless set
    CountIn countIn = CountIn::Utf32;             ///< the elements to count
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// The bytes of scratch that a call with these arguments needs.
    template <Utf8Byte Byte, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const Byte*, const Result*, N n) const {
        const std::size_t most = capacityOf(n);
        Arguments::requireSize<std::uint8_t>(most);
        return most == 0 ? 0 : chainOf(TextInMemory::mostTiles(most, ValidateShape::bytes)).scratchBytes();
    }

    /// A template, so that only code that calls it compiles its kernels.
    template <Utf8Byte Byte, ElementCount N>
    void operator()(const Byte* in, Result* result, N n, Scratch scratch, cudaStream_t stream) const {
        validate(TextOf<N>(in, n), bytesOf(in), result, countOf(n), scratch, stream);
    }

    /// The same for n bytes of a larger text, as for Decode.
    template <std::same_as<std::uint8_t> Byte>
    void operator()(const Byte* in, const TextAround* around, Result* result, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        Arguments::requireArray("around", around, 1);
        validate(CutText(in, n, around), in, result, n, scratch, stream);
    }

  private:
    /// The tiles do not look back, so they have no statuses.
    [[nodiscard]] static ChainTiles chainOf(std::size_t tiles) {
        return {.together = tiles, .byLookBack = tiles, .statuses = 1};
    }

    template <typename Text, typename Count>
    void validate(const Text& text, const std::uint8_t* in, Result* result, Count n, Scratch scratch,
                  cudaStream_t stream) const {
        requireApart(n, {Arguments::array("in", in, capacityOf(n))}, {Arguments::array("result", result, 1)});
        ScratchArena arena(scratch, scratchBytes(in, result, n));
        if (capacityOf(n) == 0) {
            tellExceeded(n, stream);
            beginResult(result, 0, stream);
            return;
        }
        if (countIn == CountIn::Utf16) {
            count<char16_t>(text, result, arena, stream);
        } else {
            count<char32_t>(text, result, arena, stream);
        }
    }

    template <typename To, typename Text>
    void count(const Text& text, Result* result, const ScratchArena& arena, cudaStream_t stream) const {
        const std::size_t tiles = text.tiles(ValidateShape::bytes);
        withErrors(errors, [&](auto mode) {
            constexpr Errors counted = mode() == Errors::Skip ? Errors::Skip : Errors::Replace;
            constexpr auto together = kernValidate<To, counted, TextGridChain, Text>;
            launchChain(chainOf(tiles), onCurrentDevice<together>(ValidateShape::threads).residentBlocks,
                        TileOrder::BlockIndex, result, 0, arena, stream, [&](auto chain, std::size_t, Begin begin) {
                            using Chain = decltype(chain);
                            constexpr auto kernel = kernValidate<To, counted, Chain, Text>;
                            constexpr int threads = ValidateShape::threads;
                            return tryLaunch<kernel>(
                                {blocksForTiles<kernel, TileCount<Text, Chain>>(tiles, threads), threads, 0, begin},
                                stream, text, chain);
                        });
        });
    }
};

/// Takes `errors` when it runs.
using Validate = ValidateWith<Errors>;

}  // namespace StreamCompaction::Utf8
