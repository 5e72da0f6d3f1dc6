#pragma once

#include "stream_compaction/primitives/block.cuh"
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
            return {text, 0};
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
            emits |= (units.fourth << 1 | inside >> 2) & text;
        }
        if (bom_ == Bom::Drop && tile_.isFirst() && group == 0 &&
            codePointOf(reversedWindow(tile_, tile_.first())) == byteOrderMark) {
            emits &= ~(1u << tile_.first());
        }
        return {emits, starts & ~units.wellFormed};
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
};

/// Where the elements of a tile's output come from: a position each, in order. Entries that a power of two of others
/// lies between are kept in different banks.
template <int capacity>
class Sources {
  public:
    __device__ std::uint16_t& operator[](int rank) {
        const int bytes = rank * 2;
        return *reinterpret_cast<std::uint16_t*>(reinterpret_cast<std::byte*>(positions_) +
                                                 (bytes ^ (bytes >> 4 & 0x3C)));
    }

  private:
    alignas(64) std::uint16_t positions_[capacity];
};

/// An element of the output.
template <typename To>
[[nodiscard]] __device__ To elementOf(std::uint32_t reversedWindow) {
    if constexpr (sizeof(To) == sizeof(char16_t)) {
        return utf16Of(reversedWindow);
    } else {
        return codePointOf(reversedWindow);
    }
}

using DecodeShape = GroupShape<128, 2>;

/// Decoding of UTF-8 in one pass (docs/utf8.md).
///
/// A tile's bytes come into shared memory. Every thread takes groups of 32, turns them into bit planes and finds with a
/// few dozen instructions where units begin; their number, scanned within the block and by look-back over the tiles,
/// says where each goes. Meanwhile the places of the units are listed in shared memory, so that then all threads, one
/// an element, can gather the bytes and write side by side.
///
/// Work O(n), steps O(n / resident bytes). A byte read, and 4 bytes a code point (2 an element of UTF-16) written.
/// ASCII runs at the speed of DRAM; elsewhere the instructions, some 6 a byte and 30 a character, limit it.
template <typename To, Errors errors, typename Chain>
__global__ void __launch_bounds__(DecodeShape::threads, SinglePass::blocksThatFit(DecodeShape::threads, 9))
    kernDecode(TextInMemory text, To* odata, Bom bom, Chain chain) {
    using Shape = DecodeShape;
    using Tile = typename Shape::Tile;
    constexpr int rowBits = 16;  // of the counts of two rows in a word
    static_assert(Shape::rows * rowBits <= 32);
    __shared__ struct {
        typename Tile::Storage tile;
        Sources<Tile::bytes> sources;
        std::uint32_t warpCounts[Shape::warps];
        int firstIllFormed;
    } shared;
    auto& sources = shared.sources;
    chain.begin(errors == Errors::Strict ? Result::noError : 0);
    Tile tile(shared.tile, text, static_cast<int>(blockIdx.x));
    if (threadIdx.x == 0) {
        shared.firstIllFormed = Tile::bytes;
    }
    tile.finish();

    // Find the units, and count what they emit.
    UnitFinder<To, Shape> finder(tile, bom);
    GroupMasks groups[Shape::rows];
    std::uint32_t counts = 0;
    int illFormedAt = Tile::bytes;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        groups[row] = finder.next(row, errors);
        counts |= __popc(groups[row].emits) << row * rowBits;
        if (groups[row].illFormed != 0 && illFormedAt == Tile::bytes) {
            illFormedAt = Shape::groupAt(row) + __ffs(static_cast<int>(groups[row].illFormed)) - 1;
        }
    }
    if (illFormedAt < Tile::bytes) {
        atomicMin(&shared.firstIllFormed, illFormedAt);
    }
    const std::uint32_t upTo = Warp::inclusiveScan(counts, Sum{});
    const std::uint32_t totals = Warp::broadcast(upTo, Warp::lanes - 1);
    const auto place =
        Block::scanWarps<Shape::warps>((totals & 0xFFFF) + (totals >> rowBits), shared.warpCounts, Sum{});
    const auto emitted = static_cast<int>(place.all);
    chain.publish(emitted);

    const int firstIllFormed = shared.firstIllFormed;
    const bool isAscii = emitted == tile.end() - tile.first() && firstIllFormed == Tile::bytes;

    // List where the elements come from, from the last of each row on.
    std::uint32_t errorRank = 0;
    if (!isAscii) {
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            const GroupMasks& group = groups[row];
            const int at = Shape::groupAt(row);
            const std::uint32_t end = place.before + (row == 0 ? upTo & 0xFFFF : (totals & 0xFFFF) + (upTo >> rowBits));
            std::uint32_t rank = end;
            for (std::uint32_t rest = group.emits; rest != 0;) {
                const int i = 31 - __clz(static_cast<int>(rest));
                rest ^= 1u << i;
                sources[--rank] = static_cast<std::uint16_t>(at + i);
            }
            for (std::uint32_t rest = group.illFormed; rest != 0; rest &= rest - 1) {
                const int i = __ffs(static_cast<int>(rest)) - 1;
                const std::uint32_t illFormedRank = end - __popc(group.emits >> i);
                if constexpr (errors != Errors::Skip) {
                    sources[illFormedRank] = Tile::replacement;
                }
                errorRank = at + i == illFormedAt ? illFormedRank : errorRank;
            }
        }
    }

    const std::uint64_t before = chain.before(emitted);

    // Report: the first error of the tile, and by the last tile the number of elements.
    if (illFormedAt < Tile::bytes && illFormedAt == firstIllFormed) {
        reportError(chain.result, tile.offsetOf(illFormedAt),
                    errorIn(selectBytes(reversedWindow(tile, illFormedAt), 0, 0x0123)));
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

    // Convert and store; warps write whole lines.
    To* const out = odata + before;
    constexpr int line = 128 / sizeof(To);
    const int misalignment = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / sizeof(To) % line);
    const int first = (static_cast<int>(threadIdx.x) - misalignment) & (Shape::threads - 1);
    if (isAscii) {
        for (int i = first; i < emitted; i += Shape::threads) {
            out[i] = static_cast<To>(tile.template at<std::uint8_t>(tile.first() + i));
        }
    } else {
        for (int i = first; i < emitted; i += Shape::threads) {
            out[i] = elementOf<To>(reversedWindow(tile, sources[i]));
        }
    }
}

using ValidateShape = GroupShape<256, 4>;

/// Validation: finds the units as kernDecode does, and only counts them. A byte read; DRAM bandwidth and the 6
/// instructions that a byte takes limit it alike.
template <typename To, Errors errors, typename Chain>
__global__ void __launch_bounds__(ValidateShape::threads, SinglePass::blocksThatFit(ValidateShape::threads, 6))
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
        reportError(chain.result, tile.offsetOf(firstIllFormed),
                    errorIn(selectBytes(reversedWindow(tile, firstIllFormed), 0, 0x0123)));
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
