#pragma once

#include <algorithm>
#include <iterator>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/utf8_chain.cuh"
#include "stream_compaction/utf8_decode_alike.cuh"
#include "stream_compaction/utf8_tile.cuh"

namespace StreamCompaction::Utf8 {

/// How the bytes of a tile are shared out: a warp owns consecutive rows; of a row every lane has a group of 32 bytes.
template <int threadCount, int rowCount>
struct GroupShape {
    static constexpr int threads = threadCount;
    static constexpr int warps = threads / Warp::lanes;
    static constexpr int rows = rowCount;
    static constexpr int groupBytes = 32;
    static constexpr int bytes = threads * rows * groupBytes;
    using Tile = TextTile<threads, bytes>;

    /// The position of this lane's group in a row of its warp.
    [[nodiscard]] __device__ static int groupAt(int row) {
        return ((Warp::index() * rows + row) * Warp::lanes + Warp::lane()) * groupBytes;
    }
};

/// What the units that begin in a group of 32 bytes come to, a bit a byte.
struct GroupMasks {
    std::uint32_t emits;      ///< where an element of the output comes from
    std::uint32_t illFormed;  ///< where an ill-formed unit begins
    std::uint32_t begins;     ///< where any unit begins, or the text ends
};

/// Finds the units of a warp's groups, row by row.
template <typename To, typename Shape>
class UnitFinder {
    using Tile = typename Shape::Tile;

  public:
    /// For the warp's first row.
    __device__ UnitFinder(const Tile& tile, Bom bom) : tile_(tile), bom_(bom) {
        const int first = Shape::groupAt(0) - Warp::lane() * Shape::groupBytes;
        inside_ = insideOf(tile.template at<std::uint32_t>(first - 4), tile.template at<std::uint32_t>(first));
    }

    /// By all lanes, for each row in turn.
    __device__ GroupMasks next(int row, Errors errors) {
        const int group = Shape::groupAt(row);
        std::uint32_t words[8];
        *reinterpret_cast<uint4*>(words) = tile_.template at<uint4>(group);
        *reinterpret_cast<uint4*>(words + 4) = tile_.template at<uint4>(group + 16);
        const std::uint32_t text = textIn(group);
        const std::uint32_t any = words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7];
        if (!__any_sync(Warp::allLanes, (any & 0x80808080) != 0)) {
            inside_ = 0;
            return {text, 0, ~0u};
        }
        const UnitMasks units = findUnits(bitPlanes(words), tile_.template at<std::uint32_t>(group + 32));

        // What reaches into a lane's group comes from the lane before; into the first lane's, from the row before.
        const std::uint32_t fromBefore =
            __shfl_sync(Warp::allLanes, units.insideBehind(), Warp::lane() - 1);  // round from 31 to 0
        const std::uint32_t inside = Warp::lane() == 0 ? inside_ : fromBefore;
        inside_ = fromBefore;

        const std::uint32_t starts = units.starts(inside) & text;
        std::uint32_t emits = errors == Errors::Skip ? starts & units.wellFormed : starts;
        if constexpr (sizeof(To) == sizeof(char16_t)) {
            // The second surrogate of a pair comes from the second byte of four.
            const std::uint32_t seconds = (units.fourth << 1 | inside >> 2) & text;
            emits |= seconds;
            pairs_ |= seconds;
        }
        // In one of the first groups. The row is known to the compiler.
        if (row == 0 && bom_ == Bom::Drop && tile_.isFirst() && group == (tile_.first() & -Shape::groupBytes) &&
            beginsWithMark(windowAt(tile_, tile_.first()))) {
            emits &= ~(1u << tile_.first() % Shape::groupBytes);
        }
        return {emits, starts & ~units.wellFormed, starts | ~text};
    }

    /// After the last row, to the warp's first lane: which bytes behind it belong to a unit that begins in it.
    [[nodiscard]] __device__ std::uint32_t inside() const { return inside_; }
    /// After the last row: whether a surrogate comes from this lane's groups, or from the byte just before its
    /// inside().
    [[nodiscard]] __device__ bool hasPairs() const {
        return sizeof(To) == sizeof(char16_t) && (pairs_ | inside_ >> 2) != 0;
    }

  private:
    /// Which bytes of the group are text.
    [[nodiscard]] __device__ std::uint32_t textIn(int group) const {
        if (tile_.isWhole()) {
            return ~0u;
        }
        const auto below = [](int n) { return n <= 0 ? 0u : n >= 32 ? ~0u : (1u << n) - 1; };
        return below(tile_.end() - group) & ~below(tile_.first() - group);
    }

    const Tile& tile_;
    Bom bom_;
    std::uint32_t inside_;  // of the next row's first group
    std::uint32_t pairs_ = 0;
};

/// A count for each row of a warp's, scanned over its lanes: at most 16 bits, so that two rows share a word and a scan.
template <int rows>
class RowCounts {
  public:
    __device__ void set(int row, std::uint32_t count) { words_[row / 2] |= count << shiftOf(row); }

    /// By all lanes, once all are set.
    __device__ void scan() {
#pragma unroll
        for (int word = 0; word < words; ++word) {
            words_[word] = Warp::inclusiveSum(words_[word]);
            totals_[word] = Warp::broadcast(words_[word], Warp::lanes - 1);
        }
    }
    /// The sum of the row's counts up to and including this lane's.
    [[nodiscard]] __device__ std::uint32_t upTo(int row) const { return words_[row / 2] >> shiftOf(row) & 0xFFFF; }
    [[nodiscard]] __device__ std::uint32_t total(int row) const { return totals_[row / 2] >> shiftOf(row) & 0xFFFF; }

  private:
    static constexpr int words = (rows + 1) / 2;
    [[nodiscard]] __device__ static int shiftOf(int row) { return row % 2 * 16; }

    std::uint32_t words_[words] = {};
    std::uint32_t totals_[words] = {};
};

using DecodeShape = GroupShape<256, 3>;

/// The rules of all half bytes in shared memory. In two tables, in each of which every entry has two of the 32 banks to
/// itself, so that lanes which read different ones do not wait for each other.
template <typename To>
class LeadRules {
  public:
    /// By the first threads of a block.
    __device__ void fill() {
        if (threadIdx.x < std::size(sums_)) {
            const LeadRule rule = leadRule<To>(threadIdx.x * 16);
            sums_[threadIdx.x] = {rule.weights, static_cast<std::uint32_t>(rule.addend)};
            highs_[threadIdx.x] = {rule.highWeights, static_cast<std::uint32_t>(rule.length)};
        }
    }
    [[nodiscard]] __device__ LeadRule of(std::uint32_t half) const {
        const uint2 sum = at(sums_, half);
        const uint2 high = at(highs_, half);
        return {sum.x, static_cast<int>(sum.y), high.x, static_cast<int>(high.y)};
    }

  private:
    [[nodiscard]] __device__ static uint2 at(const uint2* table, std::uint32_t half) {
        // `half` is 16 times the index, and an entry has 8 bytes.
        return *reinterpret_cast<const uint2*>(reinterpret_cast<const std::byte*>(table) + half / 2);
    }

    uint2 sums_[16];
    uint2 highs_[16];
};

/// Runs that are listed at a time, so that six blocks fit into a multiprocessor. Only a tile with fewer than 1.4 bytes
/// an element of UTF-32, most of them ASCII, has more.
template <typename To>
inline constexpr int listedRuns = std::min(DecodeShape::bytes / runLength<To> + 1, 4600);

/// The shared memory of a block that decodes a tile.
template <typename To>
struct DecodeMemory {
    using Tile = DecodeShape::Tile;

    Tile::Storage tile;
    std::uint16_t runBegins[listedRuns<To>];                              ///< positions of what the runs begin with
    std::uint32_t unitBegins[Tile::bytes / DecodeShape::groupBytes + 2];  ///< where units begin, a bit a byte
    LeadRules<To> rules;
    std::uint32_t warpCounts[DecodeShape::warps];
    int firstIllFormed;
    int hasPairs;
};

/// What is known of a tile's text when it is converted.
enum class TextKind { WellFormedWithoutPairs, WellFormed, Any };

/// Lists the runs, from `firstRun` on, that begin in the group at a position: of those that it emits, elements `rank`
/// and following of the tile. `areAll` says that the list has room for all of the tile's.
template <bool areAll, typename To>
__device__ void listRuns(DecodeMemory<To>& memory, int firstRun, int group, std::uint32_t emits, std::uint32_t rank,
                         int phase) {
    std::uint32_t begins = everyNth<runLength<To>>(emits, phase + rank);
    // With its first element the tile begins its part of a run that may be the tile's before as well.
    begins |= rank == 0 ? emits & -emits : 0;
    const std::uint32_t last = (phase + rank + __popc(emits) - 1) / runLength<To> - firstRun;
    std::uint16_t* run = memory.runBegins + static_cast<int>(last);
    for (; begins != 0; --run) {
        const int i = 31 - __clz(static_cast<int>(begins));
        begins ^= 1u << i;
        if (areAll || (run >= memory.runBegins && run < std::end(memory.runBegins))) {
            *run = static_cast<std::uint16_t>(group + i);
        }
    }
}

/// Goes through the text that a run comes from, element by element. Where the text may be ill-formed it asks how long
/// each unit is: an ill-formed one is shorter than its first byte says.
template <typename To, Errors errors, TextKind kind>
class Reader {
  public:
    __device__ Reader(const DecodeShape::Tile& tile, const DecodeMemory<To>& memory, int position)
        : memory_(memory), position_(position), ahead_(tile.pointerTo<std::uint32_t>(position & ~3)) {
        low_ = *ahead_++;
        high_ = *ahead_++;
        begins_ = beginsFrom(position);
    }

    __device__ To next() {
        Place place = placeHere();
        while (errors == Errors::Skip && place.isIllFormed) {
            moveBy(place.length);
            place = placeHere();
        }
        moveBy(place.length);
        return place.element;
    }

  private:
    static constexpr bool withPairs = sizeof(To) == sizeof(char16_t) && kind != TextKind::WellFormedWithoutPairs;

    /// What begins at the position: a unit, or the second of two surrogates.
    struct Place {
        To element;
        int length;  ///< to the next one
        bool isIllFormed;
    };
    [[nodiscard]] __device__ Place placeHere() const {
        const std::uint32_t window = __funnelshift_r(low_, high_, position_ * 8);
        const std::uint32_t half = leadHalf(window);
        const LeadRule rule = memory_.rules.of(half);
        const To element = elementOf<To, withPairs>(window, rule);
        if constexpr (kind != TextKind::Any) {
            return {element, rule.length, false};
        }
        const bool isUnit = !withPairs || (begins_ & 1) != 0;
        const int length = __ffs(static_cast<int>(begins_ >> 1));
        const bool isIllFormed = isUnit && length != unitLength(half, rule);
        return isIllFormed ? Place{static_cast<To>(replacementCharacter), length, true}
                           : Place{element, rule.length, false};
    }

    __device__ void moveBy(int length) {
        const int before = position_;
        position_ += length;
        if (((position_ ^ before) & 4) != 0) {
            low_ = high_;
            high_ = *ahead_++;
        }
        // A run and the beginning of what is behind it lie within 25 bytes, if nothing is skipped.
        begins_ = errors == Errors::Skip ? beginsFrom(position_) : begins_ >> length;
    }

    /// Where units begin from a position on, a bit a byte.
    [[nodiscard]] __device__ std::uint32_t beginsFrom(int position) const {
        if constexpr (kind != TextKind::Any) {
            return 0;
        }
        const std::uint32_t* const words = memory_.unitBegins + (position >> 5);
        return __funnelshift_r(words[0], words[1], position);
    }

    const DecodeMemory<To>& memory_;
    int position_;
    const std::uint32_t* ahead_;  // at the word behind the two that hold the window
    std::uint32_t low_;
    std::uint32_t high_;
    std::uint32_t begins_;
};

/// The next element, or the next two.
template <typename To, typename ReaderOf>
[[nodiscard]] __device__ std::uint32_t nextWord(ReaderOf& reader) {
    const std::uint32_t first = reader.next();
    return sizeof(To) == sizeof(char32_t) ? first : first | std::uint32_t{reader.next()} << 16;
}

/// Stores a run; streamed, for nobody reads it here again. A plain store of 16 bytes the compiler would split into
/// four.
template <typename To>
__device__ void storeRun(To* out, const std::array<std::uint32_t, 4>& words) {
    __stcs(reinterpret_cast<uint4*>(out), {words[0], words[1], words[2], words[3]});
}

/// Converts the run whose first element is number `first` of the tile; of the tile's first and last run only what is of
/// this tile.
template <typename To, Errors errors, TextKind kind>
__device__ void convertRun(const DecodeShape::Tile& tile, const DecodeMemory<To>& memory, int position, int first,
                           To* out, int emitted) {
    Reader<To, errors, kind> reader(tile, memory, position);
    const int end = first + runLength<To>;
    if (first >= 0 && end <= emitted) {
        std::array<std::uint32_t, 4> words;
#pragma unroll
        for (std::uint32_t& word : words) {
            word = nextWord<To>(reader);
        }
        storeRun(out + first, words);
    } else {
#pragma unroll 1
        for (int i = max(first, 0); i < min(end, emitted); ++i) {
            out[i] = reader.next();
        }
    }
}

/// Converts listed runs, from `firstRun` to before `end`.
template <typename To, Errors errors, TextKind kind>
__device__ void convertRuns(const DecodeShape::Tile& tile, const DecodeMemory<To>& memory, int firstRun, int end,
                            int phase, To* out, int emitted) {
    for (int run = firstRun + static_cast<int>(threadIdx.x); run < end; run += DecodeShape::threads) {
        convertRun<To, errors, kind>(tile, memory, memory.runBegins[run - firstRun], run * runLength<To> - phase, out,
                                     emitted);
    }
}

/// Decoding of UTF-8 in one pass (docs/utf8.md).
///
/// A tile's bytes come into shared memory. Every thread takes groups of 32, turns them into bit planes and finds with a
/// few dozen instructions where units begin; their number, scanned within the block and by look-back over the tiles,
/// says where each goes. Then the output is shared out among the threads in aligned runs of 16 bytes: the threads that
/// found the units list where the runs begin, and each is converted from there on, one character after the other.
///
/// A tile of sequences that all have one length goes a shorter way (utf8_decode_alike.cuh).
///
/// Work O(n), steps O(n / resident bytes). A byte read, and 4 bytes a code point (2 an element of UTF-16) written.
/// ASCII and text of one length run near the speed of DRAM; elsewhere instructions limit it, and the wait for the tiles
/// before.
template <typename To, Errors errors, typename Chain>
__global__ void __launch_bounds__(DecodeShape::threads, SinglePass::blocksThatFit(DecodeShape::threads, 6))
    kernDecode(TextInMemory text, To* odata, Bom bom, Chain chain) {
    using Shape = DecodeShape;
    using Tile = typename Shape::Tile;
    __shared__ DecodeMemory<To> shared;
    Tile tile(shared.tile, text, static_cast<int>(blockIdx.x));
    // While it loads:
    shared.rules.fill();
    chain.begin(errors == Errors::Strict ? Result::noError : 0);
    if (threadIdx.x == 0) {
        shared.firstIllFormed = Tile::bytes;
        shared.hasPairs = 0;
    }
    tile.finish();

    // Sequences of one length are told at once. A mark that is to be dropped is for the general way.
    if (bom == Bom::Keep || !tile.isFirst()) {
        const AlikeTile<Shape> alike(tile);
        switch (alike.length()) {
            case 2:
                return decodeAlike<To, errors, 2>(tile, alike, odata, chain);
            case 3:
                return decodeAlike<To, errors, 3>(tile, alike, odata, chain);
            case 4:
                return decodeAlike<To, errors, 4>(tile, alike, odata, chain);
            default:
                break;
        }
    }

    // Find the units, and count what they emit.
    UnitFinder<To, Shape> finder(tile, bom);
    std::uint32_t emits[Shape::rows];
    RowCounts<Shape::rows> counts;
    std::uint32_t count = 0;
    std::uint32_t illFormed[Shape::rows];
    std::uint32_t anyIllFormed = 0;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        const GroupMasks group = finder.next(row, errors);
        emits[row] = group.emits;
        illFormed[row] = group.illFormed;
        anyIllFormed |= group.illFormed;
        shared.unitBegins[Shape::groupAt(row) / Shape::groupBytes] = group.begins;
        counts.set(row, __popc(group.emits));
        count += __popc(group.emits);
    }
    int illFormedAt = Tile::bytes;
    if (anyIllFormed != 0) {
#pragma unroll
        for (int row = Shape::rows - 1; row >= 0; --row) {
            if (illFormed[row] != 0) {
                illFormedAt = Shape::groupAt(row) + __ffs(static_cast<int>(illFormed[row])) - 1;
            }
        }
        atomicMin(&shared.firstIllFormed, illFormedAt);
    }
    if (finder.hasPairs()) {
        atomicOr(&shared.hasPairs, 1);
    }
    if (threadIdx.x == Shape::threads - Warp::lanes) {
        shared.unitBegins[Tile::bytes / Shape::groupBytes] = ~finder.inside();
    }
    const auto place = Block::scanWarps<Shape::warps>(Warp::reduce(count, Sum{}), shared.warpCounts, Sum{});
    const auto emitted = static_cast<int>(place.all);
    if (Warp::index() == 0) {
        chain.publish(emitted);
    }
    counts.scan();  // not before others may know the sum
    const std::uint64_t before = chain.before(emitted);

    const int firstIllFormed = shared.firstIllFormed;
    const auto rankOf = [&](int row) {
        std::uint32_t rank = place.before + counts.upTo(row) - __popc(emits[row]);
#pragma unroll
        for (int earlier = 0; earlier < row; ++earlier) {
            rank += counts.total(earlier);
        }
        return rank;
    };

    // Report: the first error of the tile, and by the last tile the number of elements.
    if (illFormedAt < Tile::bytes && illFormedAt == firstIllFormed) {
        reportError(chain.result, tile.offsetOf(illFormedAt), errorIn(windowAt(tile, illFormedAt)));
        if constexpr (errors == Errors::Strict) {
#pragma unroll
            for (int row = 0; row < Shape::rows; ++row) {
                const int i = illFormedAt - Shape::groupAt(row);
                if (i >= 0 && i < Shape::groupBytes) {
                    reportCount(chain.result, before + rankOf(row) + __popc(emits[row] & ((1u << i) - 1)));
                }
            }
        }
    }
    if (tile.isLast() && threadIdx.x == 0) {
        reportEnd<errors>(chain.result, before + emitted);
    }

    // Convert ASCII: an element a byte, unless the last byte leads a sequence that goes on in the next tile.
    To* const out = odata + before;
    if (emitted == tile.end() - tile.first() && firstIllFormed == Tile::bytes &&
        tile.template at<std::int8_t>(tile.end() - 1) >= 0) {
        constexpr int line = 128 / sizeof(To);
        const int misalignment = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / sizeof(To) % line);
        const int first = (static_cast<int>(threadIdx.x) - misalignment) & (Shape::threads - 1);
        for (int i = first; i < emitted; i += Shape::threads) {
            out[i] = static_cast<To>(tile.template at<std::uint8_t>(tile.first() + i));
        }
        return;
    }

    // List where the runs begin, and convert them.
    const int phase = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / sizeof(To) % runLength<To>);
    const int runs = emitted == 0 ? 0 : (phase + emitted + runLength<To> - 1) / runLength<To>;
    const bool isWellFormed = firstIllFormed == Tile::bytes;
    const bool hasPairs = sizeof(To) == sizeof(char16_t) && shared.hasPairs != 0;
#pragma unroll 1
    for (int firstRun = 0; firstRun < runs; firstRun += listedRuns<To>) {
        if (firstRun > 0) {
            __syncthreads();
        }
        const auto list = [&](auto areAll) {
#pragma unroll
            for (int row = 0; row < Shape::rows; ++row) {
                listRuns<areAll()>(shared, firstRun, Shape::groupAt(row), emits[row], rankOf(row), phase);
            }
        };
        if (runs <= listedRuns<To>) {
            list(std::true_type{});
        } else {
            list(std::false_type{});
        }
        __syncthreads();
        const int end = min(runs, firstRun + listedRuns<To>);
        if (!isWellFormed) {
            convertRuns<To, errors, TextKind::Any>(tile, shared, firstRun, end, phase, out, emitted);
        } else if (hasPairs) {
            convertRuns<To, errors, TextKind::WellFormed>(tile, shared, firstRun, end, phase, out, emitted);
        } else {
            convertRuns<To, errors, TextKind::WellFormedWithoutPairs>(tile, shared, firstRun, end, phase, out, emitted);
        }
    }
}

using ValidateShape = GroupShape<128, 6>;

/// Validation: finds the units as kernDecode does, and only counts them. A byte read; DRAM bandwidth and the 6
/// instructions that a byte takes limit it alike.
template <typename To, Errors errors, typename Chain>
__global__ void __launch_bounds__(ValidateShape::threads, SinglePass::blocksThatFit(ValidateShape::threads, 8))
    kernValidate(TextInMemory text, Chain chain) {
    using Shape = ValidateShape;
    using Tile = typename Shape::Tile;
    __shared__ typename Tile::Storage storage;
    __shared__ std::uint32_t warpCounts[Shape::warps];
    chain.begin(0);
    Tile tile(storage, text, static_cast<int>(blockIdx.x));
    tile.finish();

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
    const std::uint32_t warpCount = Warp::reduce(count, Sum{});
    const auto place = Block::scanWarps<Shape::warps>(warpCount, warpCounts, Sum{});
    chain.synchronize();
    if (threadIdx.x == 0) {
        atomicAdd(reinterpret_cast<unsigned long long*>(&chain.result->count), place.all);
    }
    if (firstIllFormed < Tile::bytes) {
        reportError(chain.result, tile.offsetOf(firstIllFormed), errorIn(windowAt(tile, firstIllFormed)));
    }
}

/// Calls `work` with the errors as a type, std::integral_constant<Errors, errors>.
template <typename Work>
void withErrors(Errors errors, Work&& work) {
    switch (errors) {
        case Errors::Replace:
            return work(std::integral_constant<Errors, Errors::Replace>{});
        case Errors::Skip:
            return work(std::integral_constant<Errors, Errors::Skip>{});
        case Errors::Strict:
            return work(std::integral_constant<Errors, Errors::Strict>{});
    }
    throw std::invalid_argument("errors: expected Replace, Skip or Strict");
}

/// Decodes UTF-8 into UTF-32 (To is char32_t) or UTF-16 (char16_t, native byte order), and writes the number of
/// elements and the first error to `result` in device memory. Ill-formed units become U+FFFD, are dropped, or end the
/// text: in strict mode `result->count` is what stands before the first error, and elements of `out` behind it are
/// unspecified.
///
/// `in` holds n bytes at any address; `out` must have room for what comes out, which is at most n elements, and is not
/// written past it, but in strict mode for n. Not in place. Allocates nothing, does not synchronise; the scratch may
/// hold anything and keeps nothing from call to call. n == 0 is valid. Null or overlapping arrays and too little
/// scratch throw std::invalid_argument.
struct Decode {
    Errors errors = Errors::Replace;
    Bom bom = Bom::Keep;

    [[nodiscard]] std::size_t scratchBytes(std::size_t n) const {
        return n == 0 ? 0 : chainBytes(TextInMemory::mostTiles(n, DecodeShape::bytes));
    }

    template <typename To>
    void operator()(const std::uint8_t* in, To* out, Result* result, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        requireConversionArrays(in, out, result, n);
        ScratchArena arena(scratch, scratchBytes(n));
        if (n == 0) {
            beginResult(result, 0, stream);
            return;
        }
        const TextInMemory text(in, n);
        const std::size_t tiles = text.tiles(DecodeShape::bytes);
        withErrors(errors, [&](auto mode) {
            constexpr auto together = kernDecode<To, mode(), Together>;
            launchChain(tiles, onCurrentDevice<together>(DecodeShape::threads).residentBlocks, result,
                        errors == Errors::Strict ? Result::noError : 0, arena, stream, [&](auto chain, Begin begin) {
                            launch<kernDecode<To, mode(), decltype(chain)>>(
                                "kernDecode", {tiles, DecodeShape::threads, 0, begin}, stream, text, out, bom, chain);
                        });
        });
    }
};

/// Counts the elements that Decode would write to an output of type To, in the given mode (strict counts as Replace
/// does), and finds the first error; like Decode in everything else.
struct Validate {
    Errors errors = Errors::Replace;

    [[nodiscard]] std::size_t scratchBytes(std::size_t n) const {
        return n == 0 ? 0 : chainBytes(TextInMemory::mostTiles(n, ValidateShape::bytes));
    }

    template <typename To = char32_t>
    void operator()(const std::uint8_t* in, Result* result, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        Arguments::requireArray("in", in, n);
        Arguments::requireArray("result", result, 1);
        ScratchArena arena(scratch, scratchBytes(n));
        if (n == 0) {
            beginResult(result, 0, stream);
            return;
        }
        const TextInMemory text(in, n);
        const std::size_t tiles = text.tiles(ValidateShape::bytes);
        withErrors(errors, [&](auto mode) {
            constexpr auto together = kernValidate<To, mode(), Together>;
            launchChain(tiles, onCurrentDevice<together>(ValidateShape::threads).residentBlocks, result, 0, arena,
                        stream, [&](auto chain, Begin begin) {
                            launch<kernValidate<To, mode(), decltype(chain)>>(
                                "kernValidate", {tiles, ValidateShape::threads, 0, begin}, stream, text, chain);
                        });
        });
    }
};

}  // namespace StreamCompaction::Utf8
