#pragma once

#include <iterator>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/utf8_chain.cuh"
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
            __shfl_sync(Warp::allLanes, units.insideBehind(), (Warp::lane() + Warp::lanes - 1) % Warp::lanes);
        const std::uint32_t inside = Warp::lane() == 0 ? inside_ : fromBefore;
        inside_ = fromBefore;

        const std::uint32_t starts = units.starts(inside) & text;
        std::uint32_t emits = errors == Errors::Skip ? starts & units.wellFormed : starts;
        if constexpr (sizeof(To) == sizeof(char16_t)) {
            // The second surrogate of a pair comes from the second byte of four.
            const std::uint32_t seconds = (units.fourth << 1 | inside >> 2) & text;
            emits |= seconds;
            hasPairs_ |= seconds != 0;
        }
        if (bom_ == Bom::Drop && tile_.isFirst() && group == 0 &&
            codePointOf(windowAt(tile_, tile_.first())) == byteOrderMark) {
            emits &= ~(1u << tile_.first());
        }
        return {emits, starts & ~units.wellFormed, starts | ~text};
    }

    /// After the last row, to the warp's first lane: which bytes behind it belong to a unit that begins in it.
    [[nodiscard]] __device__ std::uint32_t inside() const { return inside_; }
    /// Whether a pair of surrogates comes from this lane's groups.
    [[nodiscard]] __device__ bool hasPairs() const { return hasPairs_; }

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
    bool hasPairs_ = false;
};

/// A count for each row of a warp's, scanned over its lanes: at most 16 bits, so that two rows share a word and a scan.
template <int rows>
class RowCounts {
  public:
    __device__ void set(int row, std::uint32_t count) { words_[row / 2] |= count << shiftOf(row); }

    /// By all lanes, once all are set. Returns the sum over the rows and lanes.
    __device__ std::uint32_t scan() {
        std::uint32_t sum = 0;
#pragma unroll
        for (int word = 0; word < words; ++word) {
            words_[word] = Warp::inclusiveSum(words_[word]);
            totals_[word] = Warp::broadcast(words_[word], Warp::lanes - 1);
            sum += (totals_[word] & 0xFFFF) + (totals_[word] >> 16);
        }
        return sum;
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

using DecodeShape = GroupShape<128, 3>;

/// Aligned 16 bytes of the output, which one thread converts.
template <typename To>
inline constexpr int runLength = static_cast<int>(16 / sizeof(To));
template <typename To>
using Run = Vector<To, runLength<To>>;

/// The shared memory of a block that decodes a tile.
template <typename To>
struct DecodeMemory {
    using Tile = DecodeShape::Tile;

    Tile::Storage tile;
    std::uint16_t runBegins[Tile::bytes / runLength<To> + 1];             ///< positions of what the runs begin with
    std::uint32_t unitBegins[Tile::bytes / DecodeShape::groupBytes + 1];  ///< where units begin, a bit a byte
    int biases[5];                                                        ///< as of stepAt
    std::uint32_t warpCounts[DecodeShape::warps];
    int firstIllFormed;
    int hasPairs;
};

/// What is known of a tile's text when it is converted.
enum class TextKind { WellFormedWithoutPairs, WellFormed, Any };

/// The runs that begin in the group at a position: of those that it emits, elements `rank` and following of the tile.
template <typename To>
__device__ void listRuns(DecodeMemory<To>& memory, int group, std::uint32_t emits, std::uint32_t rank, int phase) {
    std::uint32_t begins = everyNth<runLength<To>>(emits, phase + rank);
    begins |= rank == 0 ? emits & -emits : 0;  // of the tile before
    for (std::uint32_t run = (phase + rank + __popc(emits) - 1) / runLength<To>; begins != 0; --run) {
        const int i = 31 - __clz(static_cast<int>(begins));
        begins ^= 1u << i;
        memory.runBegins[run] = static_cast<std::uint16_t>(group + i);
    }
}

/// Goes through the text that a run comes from, element by element. Where the text may be ill-formed it asks how long
/// each unit is: an ill-formed one is shorter than its first byte says.
template <typename To, Errors errors, TextKind kind>
class Reader {
  public:
    __device__ Reader(const DecodeShape::Tile& tile, const DecodeMemory<To>& memory, int position)
        : tile_(tile), memory_(memory), position_(position) {}

    __device__ To next() {
        Place place = placeHere();
        while (errors == Errors::Skip && place.isIllFormed) {
            position_ += place.length;
            place = placeHere();
        }
        const Step<To> step =
            stepAt<To, withPairs>(place.isIllFormed ? replacementWindow : place.window,
                                  place.isIllFormed ? leadOnes(replacementWindow) : place.ones, memory_.biases);
        position_ += place.isIllFormed ? place.length : step.length;
        return step.element;
    }

  private:
    static constexpr bool withPairs = sizeof(To) == sizeof(char16_t) && kind != TextKind::WellFormedWithoutPairs;

    /// What begins at the position: a unit, or the second of two surrogates.
    struct Place {
        std::uint32_t window;
        int ones;
        bool isIllFormed = false;
        int length = 0;  ///< of a unit that is ill-formed
    };
    [[nodiscard]] __device__ Place placeHere() const {
        const std::uint32_t window = windowAt(tile_, position_);
        const int ones = leadOnes(window);
        if constexpr (kind != TextKind::Any) {
            return {window, ones};
        }
        const std::uint32_t* const words = memory_.unitBegins + (position_ >> 5);
        const std::uint32_t begins = __funnelshift_r(words[0], words[1], position_);
        const bool isUnit = !withPairs || (begins & 1) != 0;
        const int length = __ffs(static_cast<int>(begins >> 1));
        const bool isCut = !isWhole(ones, length);
        return {window, ones, isUnit && isCut, length};
    }

    const DecodeShape::Tile& tile_;
    const DecodeMemory<To>& memory_;
    int position_;
};

/// Converts a tile's runs; of the first and the last only what is of this tile.
template <typename To, Errors errors, TextKind kind>
__device__ void convertRuns(const DecodeShape::Tile& tile, const DecodeMemory<To>& memory, int phase, To* out,
                            int emitted) {
    constexpr int length = runLength<To>;
    for (int run = static_cast<int>(threadIdx.x); run * length - phase < emitted; run += DecodeShape::threads) {
        Reader<To, errors, kind> reader(tile, memory, memory.runBegins[run]);
        const int first = run * length - phase;
        if (first >= 0 && first + length <= emitted) {
            Run<To> elements;
#pragma unroll
            for (To& element : elements.items) {
                element = reader.next();
            }
            copyVector(reinterpret_cast<Run<To>*>(out + first), &elements);
        } else {
#pragma unroll 1
            for (int i = max(first, 0); i < min(first + length, emitted); ++i) {
                out[i] = reader.next();
            }
        }
    }
}

/// Decoding of UTF-8 in one pass (docs/utf8.md).
///
/// A tile's bytes come into shared memory. Every thread takes groups of 32, turns them into bit planes and finds with a
/// few dozen instructions where units begin; their number, scanned within the block and by look-back over the tiles,
/// says where each goes. Then the output is shared out among the threads in aligned runs of 16 bytes: the threads that
/// found the units list where the runs begin, and each is converted from there on, one character after the other.
///
/// Work O(n), steps O(n / resident bytes). A byte read, and 4 bytes a code point (2 an element of UTF-16) written.
/// ASCII runs at the speed of DRAM; elsewhere the instructions limit it.
template <typename To, Errors errors, typename Chain>
__global__ void __launch_bounds__(DecodeShape::threads, SinglePass::blocksThatFit(DecodeShape::threads, 10))
    kernDecode(TextInMemory text, To* odata, Bom bom, Chain chain) {
    using Shape = DecodeShape;
    using Tile = typename Shape::Tile;
    __shared__ DecodeMemory<To> shared;
    if (threadIdx.x < std::size(shared.biases)) {
        shared.biases[threadIdx.x] = signBias(static_cast<int>(threadIdx.x));
    }
    chain.begin(errors == Errors::Strict ? Result::noError : 0);
    Tile tile(shared.tile, text, static_cast<int>(blockIdx.x));
    if (threadIdx.x == 0) {
        shared.firstIllFormed = Tile::bytes;
        shared.hasPairs = 0;
    }
    tile.finish();

    // Find the units, and count what they emit.
    UnitFinder<To, Shape> finder(tile, bom);
    std::uint32_t emits[Shape::rows];
    RowCounts<Shape::rows> counts;
    int illFormedAt = Tile::bytes;
    std::uint32_t errorRank = 0;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        const GroupMasks group = finder.next(row, errors);
        emits[row] = group.emits;
        shared.unitBegins[Shape::groupAt(row) / Shape::groupBytes] = group.begins;
        counts.set(row, __popc(group.emits));
        if (group.illFormed != 0 && illFormedAt == Tile::bytes) {
            illFormedAt = Shape::groupAt(row) + __ffs(static_cast<int>(group.illFormed)) - 1;
        }
    }
    if (illFormedAt < Tile::bytes) {
        atomicMin(&shared.firstIllFormed, illFormedAt);
    }
    if (finder.hasPairs()) {
        atomicOr(&shared.hasPairs, 1);
    }
    if (threadIdx.x == Shape::threads - Warp::lanes) {
        shared.unitBegins[Tile::bytes / Shape::groupBytes] = ~finder.inside();
    }
    const auto place = Block::scanWarps<Shape::warps>(counts.scan(), shared.warpCounts, Sum{});
    const auto emitted = static_cast<int>(place.all);
    chain.publish(emitted);
    const std::uint64_t before = chain.before(emitted);

    // List where the runs begin.
    To* const out = odata + before;
    const int phase = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / sizeof(To) % runLength<To>);
    const int firstIllFormed = shared.firstIllFormed;
    const bool isAscii = emitted == tile.end() - tile.first() && firstIllFormed == Tile::bytes;
    if (!isAscii) {
        std::uint32_t rowBegin = place.before;
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            const std::uint32_t rank = rowBegin + counts.upTo(row) - __popc(emits[row]);
            rowBegin += counts.total(row);
            listRuns(shared, Shape::groupAt(row), emits[row], rank, phase);
            if (errors == Errors::Strict &&
                illFormedAt / Shape::groupBytes == Shape::groupAt(row) / Shape::groupBytes) {
                errorRank = rank + __popc(emits[row] & ((1u << illFormedAt % Shape::groupBytes) - 1));
            }
        }
    }

    // Report: the first error of the tile, and by the last tile the number of elements.
    if (illFormedAt < Tile::bytes && illFormedAt == firstIllFormed) {
        reportError(chain.result, tile.offsetOf(illFormedAt), errorIn(windowAt(tile, illFormedAt)));
        if constexpr (errors == Errors::Strict) {
            reportCount(chain.result, before + errorRank);
        }
    }
    if (tile.isLast() && threadIdx.x == 0) {
        if constexpr (errors == Errors::Strict) {
            reportCount(chain.result, before + emitted);
        } else {
            chain.result->count = before + emitted;
        }
    }

    // Convert.
    if (isAscii) {
        constexpr int line = 128 / sizeof(To);
        const int misalignment = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / sizeof(To) % line);
        const int first = (static_cast<int>(threadIdx.x) - misalignment) & (Shape::threads - 1);
        for (int i = first; i < emitted; i += Shape::threads) {
            out[i] = static_cast<To>(tile.template at<std::uint8_t>(tile.first() + i));
        }
        return;
    }
    __syncthreads();
    if (firstIllFormed < Tile::bytes) {
        convertRuns<To, errors, TextKind::Any>(tile, shared, phase, out, emitted);
    } else if (shared.hasPairs != 0) {
        convertRuns<To, errors, TextKind::WellFormed>(tile, shared, phase, out, emitted);
    } else {
        convertRuns<To, errors, TextKind::WellFormedWithoutPairs>(tile, shared, phase, out, emitted);
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
