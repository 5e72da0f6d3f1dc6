#pragma once

#include <algorithm>
#include <iterator>

#include "stream_compaction/primitives/run_copy.cuh"
#include "stream_compaction/primitives/shared_address.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/utf8/bit_planes.h"
#include "stream_compaction/utf8/gather_table.h"
#include "stream_compaction/utf8/lead_rule.h"
#include "stream_compaction/utf8/text_tile.cuh"
#include "stream_compaction/utf8/unit_finder.cuh"

/// From units to elements: the output of a tile is cut into aligned runs of 16 bytes. The threads that found the units
/// list where each run begins in the text. Then each run is converted by one thread.
namespace StreamCompaction::Utf8 {

/// The rules of all half bytes, in shared memory. There are two tables. In each, every entry has two of the 32 banks to
/// itself, so lanes that read different entries cause no bank conflicts.
template <typename To>
class LeadRules {
  public:
    /// Fills the tables, by the first threads of a block.
    __device__ void fill() {
        if (threadIdx.x < sizeof(sums_) / sizeof(sums_[0])) {
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

/// The table in global memory, from which blocks copy it.
template <typename To>
static __device__ constexpr auto gatherTableInMemory = gatherTable<To>();

/// The gather table in shared memory.
template <typename To>
class GatherTable {
  public:
    static constexpr int count = 1 << gatherBits;

    /// Fills the table, by the first threads of a block. The block has at least `count` threads.
    __device__ void fill() {
        if (threadIdx.x < count) {
            const GatherEntry rule = gatherTableInMemory<To>[threadIdx.x];
            rules_[threadIdx.x] = {rule.first.bits, rule.second.bits};
        }
    }

    [[nodiscard]] __device__ std::uint32_t address() const { return SharedAddress::of(rules_); }

    /// Turns the bits that say where units begin into an offset in bytes in the table. Bits beyond the table are for
    /// bytes further on.
    [[nodiscard]] __device__ static std::uint32_t offset(std::uint32_t begins) {
        return begins * (sizeof(uint2) >> firstGatherBit<To>);
    }
    /// The entry at an offset in the table at `address`.
    [[nodiscard]] __device__ static GatherEntry at(std::uint32_t address, std::uint32_t offset) {
        constexpr std::uint32_t lastOffset = (count - 1) * sizeof(uint2);
        const uint2 rule = SharedAddress::loadTwoWords(address | (offset & lastOffset));
        return {{rule.x}, {rule.y}};
    }

  private:
    alignas(count * sizeof(uint2)) uint2 rules_[count];  // so that an offset need not be added, only ORed
};

/// The most runs of a tile: those of one element per byte.
template <typename To, typename Shape>
inline constexpr int mostRuns = Shape::bytes / elementsPerVector<To> + 1;

/// The number of runs that are listed at a time. It lets six blocks of 256 threads fit into a multiprocessor. Only a
/// tile with more than three elements of UTF-32 in five bytes, most of them ASCII, has more. Its halves are listed one
/// after the other.
template <typename To, typename Shape>
inline constexpr int listedRuns = std::min(mostRuns<To, Shape>, Shape::bytes / 4 * 3 / 5);

/// The shared memory of a block that decodes a tile.
template <typename To, typename Shape>
struct DecodeMemory {
    using Tile = typename Shape::Tile;

    GatherTable<To> gatherTable;  // first, because it is aligned to its size
    typename Tile::Storage tile;
    std::uint16_t runBegins[listedRuns<To, Shape>];                 ///< position of each run's first element
    std::uint32_t unitBegins[Tile::bytes / Shape::groupBytes + 2];  ///< where units begin, one bit per byte
    LeadRules<To> leadRules;
    std::uint32_t warpCounts[Shape::warps];
    int firstIllFormed;
    int isAscii;
    int hasPairs;
    int isBehindError;
    int middleRank;  ///< rank of the first element of the tile's second half

    /// Called by one thread, before the tile is examined.
    __device__ void beginFlags() {
        firstIllFormed = Tile::bytes;
        isAscii = 1;
        hasPairs = 0;
    }
    [[nodiscard]] __device__ bool isWellFormed() const { return firstIllFormed == Tile::bytes; }

    /// The bits that say where units begin, from a position on.
    [[nodiscard]] __device__ std::uint32_t beginsFrom(int position) const {
        const std::uint32_t* const words = unitBegins + (position >> 5);
        return __funnelshift_r(words[0], words[1], position);
    }
};

/// The output of a tile, in runs. Some elements of the first run may belong to the previous tile.
template <typename To>
struct TileOutput {
    static constexpr int length = elementsPerVector<To>;

    To* begin;
    int elements;
    int phase;  ///< elements of the first run that are not this tile's

    __device__ TileOutput(To* to, int count)
        : begin(to),
          elements(count),
          phase(static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(To) % length)) {}

    /// The number of runs that begin before the element of rank `rank`.
    [[nodiscard]] __device__ int runsBefore(int rank) const { return wholeRuns(phase + rank + length - 1); }
    /// The runs [firstWhole, endWhole) belong to this tile alone.
    [[nodiscard]] __device__ int firstWhole() const { return phase > 0 ? 1 : 0; }
    [[nodiscard]] __device__ int endWhole() const { return wholeRuns(phase + elements); }
    /// The rank of the first element of a run.
    [[nodiscard]] __device__ int rankOf(int run) const { return run * length - phase; }

  private:
    [[nodiscard]] __device__ static int wholeRuns(int count) {
        return static_cast<int>(static_cast<unsigned>(count) / length);  // one shift
    }
};

/// If a bit is set, stores `base` plus the index of the highest one as 16 bits at `address` in shared memory, and
/// advances the address. Without a branch, because neighbouring lanes differ.
__device__ inline void putHighestBit(std::uint32_t& address, std::uint32_t bits, int base) {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "{\n\t"
        ".reg .pred isThere;\n\t"
        ".reg .u32 i;\n\t"
        "setp.ne.u32 isThere, %1, 0;\n\t"
        "bfind.u32 i, %1;\n\t"
        "add.u32 i, i, %2;\n\t"
        "@isThere st.shared.u16 [%0], i;\n\t"
        "@isThere add.u32 %0, %0, 2;\n\t"
        "}"
        : "+r"(address)
        : "r"(bits), "r"(base)
        : "memory");
#else
    if (bits != 0) {
        const auto entry = static_cast<std::uint16_t>(31 - std::countl_zero(bits) + base);
        memcpy(__cvta_shared_to_generic(address), &entry, sizeof(entry));
        address += sizeof(entry);
    }
#endif
}

/// Lists the runs that begin in the group at position `group`. The first entry of the list is for run `firstRun`.
/// `emits` marks the elements that the group emits, of which the first has rank `rank` in the tile.
template <typename To, typename Shape>
__device__ void listRuns(DecodeMemory<To, Shape>& memory, const TileOutput<To>& out, int firstRun, int group,
                         std::uint32_t emits, std::uint32_t rank) {
    // An element takes at least one byte, so at most one run begins in `length` bytes.
    constexpr int length = elementsPerVector<To>;
    const std::uint32_t begins = everyNth<length>(emits, out.phase + rank);
    const int run = out.runsBefore(static_cast<int>(rank)) - firstRun;
    std::uint32_t address = SharedAddress::of(memory.runBegins + run);
#pragma unroll
    for (int bytes = 0; bytes < Shape::groupBytes; bytes += length) {
        putHighestBit(address, begins & ((1u << length) - 1) << bytes, group);
    }
}

/// Lists the tile's first run, in the group that emits the tile's first element. The run begins with that element, or
/// in the previous tile.
template <typename To, typename Shape>
__device__ void listFirstRun(DecodeMemory<To, Shape>& memory, int group, std::uint32_t emits) {
    memory.runBegins[0] = static_cast<std::uint16_t>(group + __ffs(static_cast<int>(emits)) - 1);
}

/// Reads text two elements at a time. Ill-formed units, if there are any, must have been marked.
template <typename To, typename Shape, bool isWellFormed, bool withPairs>
class TwoElementsReader {
  public:
    static constexpr int elementsAtOnce = 2;

    __device__ TwoElementsReader(const typename Shape::Tile& tile, const DecodeMemory<To, Shape>& memory, int position)
        : memory_(memory),
          tile_(SharedAddress::of(tile.template pointerTo<std::byte>(0))),
          text_(SharedAddress::of(tile.template pointerTo<std::byte>(position - bytesBefore<To>))),
          rules_(memory.gatherTable.address()) {
        const std::uint32_t begins = memory.beginsFrom(position);
        begins_ = Rules::offset(begins);
        if constexpr (withPairs) {
            secondMark_ = (begins & 1) == 0 ? secondSurrogate : 0;
        }
    }

    template <int count>
    __device__ Array<std::uint32_t, count> next() {
        Array<std::uint32_t, count> elements;
#pragma unroll
        for (int i = 0; i < count; i += elementsAtOnce) {
            // 16 elements of Latin-1 may come from more bytes than there are bits, four never do.
            if (isLatin1<To> && i % 4 == 0) {
                begins_ = Rules::offset(memory_.beginsFrom(static_cast<int>(text_ - tile_)));
            }
            const auto sums = nextSums();
#pragma unroll
            for (int k = 0; k < elementsAtOnce; ++k) {
                elements[i + k] = isWellFormed ? sums[k] : replaceMarked<To>(sums[k]);
            }
        }
        if constexpr (withPairs) {
            elements[0] |= secondMark_;
            secondMark_ = 0;
#pragma unroll
            for (int i = 0; i < count; ++i) {
                finishSurrogate(elements[i], i + 1 < count ? elements[i + 1] : secondMark_);
            }
        }
        return elements;
    }

  private:
    using Rules = GatherTable<To>;

    __device__ Array<int, elementsAtOnce> nextSums() {
        const GatherEntry rule = Rules::at(rules_, begins_);
        const std::uint32_t word = text_ & ~3u;
        const std::uint32_t middle = SharedAddress::loadWord(word + 4);
        const auto sums = sumsOfTwo<To>({__funnelshift_r(SharedAddress::loadWord(word), middle, text_ * 8),
                                         __funnelshift_r(middle, SharedAddress::loadWord(word + 8), text_ * 8)},
                                        rule);
        moveOn<To>(rule, text_, begins_);
        return sums;
    }

    const DecodeMemory<To, Shape>& memory_;
    std::uint32_t tile_;            // address of the tile
    std::uint32_t text_;            // address of the next eight bytes
    std::uint32_t rules_;           // address of the table
    std::uint32_t begins_;          // where units begin from there on, as an offset in the table
    std::uint32_t secondMark_ = 0;  // mark of the next element, if that is a second surrogate
};

/// Reads text one element at a time. Skips ill-formed units, which are those whose length is not what their first byte
/// says, and units that To cannot hold.
template <typename To, typename Shape>
class SkippingReader {
  public:
    static constexpr int elementsAtOnce = 1;

    __device__ SkippingReader(const typename Shape::Tile& tile, const DecodeMemory<To, Shape>& memory, int position)
        : tile_(tile), memory_(memory), position_(position) {}

    template <int count>
    __device__ Array<std::uint32_t, count> next() {
        Array<std::uint32_t, count> elements;
#pragma unroll
        for (int i = 0; i < count; ++i) {
            elements[i] = static_cast<std::uint32_t>(nextElement());
        }
        return elements;
    }

  private:
    __device__ To nextElement() {
        while (const int length = skippedLength()) {
            position_ += length;
        }
        const std::uint32_t window = windowAt(tile_, position_);
        const LeadRule rule = memory_.leadRules.of(leadHalf(window));
        position_ += rule.length;
        return elementOf<To>(window, rule);
    }

    /// The length of the unit at the position if it is skipped, else 0. A second surrogate is read from the second
    /// of four bytes. The next unit is three bytes behind that byte, as it is behind the first of three bytes.
    [[nodiscard]] __device__ int skippedLength() const {
        const std::uint32_t begins = memory_.beginsFrom(position_);
        const std::uint32_t window = windowAt(tile_, position_);
        const std::uint32_t half = leadHalf(window);
        const int length = __ffs(static_cast<int>(begins >> 1));
        const bool isHeld = !isLatin1<To> || byteOf(window, 0) < firstLeadAboveLatin1;
        return isHeld && length == unitLength(half, memory_.leadRules.of(half)) ? 0 : length;
    }

    const typename Shape::Tile& tile_;
    const DecodeMemory<To, Shape>& memory_;
    int position_;
};

/// Converts listed runs that belong to this tile alone, and stores each as a vector.
template <typename Reader, typename To, typename Shape>
__device__ void convertRuns(const DecodeMemory<To, Shape>& memory, const typename Shape::Tile& tile,
                            const std::uint16_t* begins, int count, To* out) {
    const std::uint16_t* const end = begins + count;
    out += static_cast<int>(threadIdx.x) * elementsPerVector<To>;
#pragma unroll 2  // so that constants are loaded into registers half as often
    for (begins += threadIdx.x; begins < end; begins += Shape::threads) {
        const auto elements = Reader(tile, memory, *begins).template next<elementsPerVector<To>>();
        Array<std::uint32_t, 4> words;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            words[i] = wordOf<To>(elements, i);
        }
        // The compiler would split a plain store of 16 bytes into four.
        __stcg(reinterpret_cast<uint4*>(out), {words[0], words[1], words[2], words[3]});
        out += Shape::threads * elementsPerVector<To>;
    }
}

/// Converts `count` elements from a position on, by one thread.
template <typename Reader, typename To, typename Shape>
__device__ void convertSome(const DecodeMemory<To, Shape>& memory, const typename Shape::Tile& tile, int position,
                            int count, To* out) {
    Reader reader(tile, memory, position);
#pragma unroll 1
    for (int i = 0; i < count; i += Reader::elementsAtOnce) {
        const auto some = reader.template next<Reader::elementsAtOnce>();
#pragma unroll
        for (int k = 0; k < Reader::elementsAtOnce; ++k) {
            if (i + k < count) {
                out[i + k] = static_cast<To>(some[k]);
            }
        }
    }
}

/// Converts the listed runs [firstRun, endRun). Of the tile's first and last run, only the elements of this tile are
/// converted.
template <typename Reader, typename To, typename Shape>
__device__ void convertListed(const DecodeMemory<To, Shape>& memory, const typename Shape::Tile& tile,
                              const TileOutput<To>& out, int firstRun, int endRun) {
    const int firstWhole = max(firstRun, out.firstWhole());
    const int endWhole = min(endRun, out.endWhole());
    convertRuns<Reader>(memory, tile, memory.runBegins + (firstWhole - firstRun), endWhole - firstWhole,
                        out.begin + out.rankOf(firstWhole));
    const bool isFirst = threadIdx.x == 0;
    const bool isLast = threadIdx.x == 1;
    if ((isFirst && firstRun < firstWhole) || (isLast && firstWhole <= endWhole && endWhole < endRun)) {
        const int rank = isFirst ? 0 : out.rankOf(endWhole);
        const int end = isFirst ? min(out.rankOf(1), out.elements) : out.elements;
        convertSome<Reader>(memory, tile, memory.runBegins[isFirst ? 0 : endWhole - firstRun], end - rank,
                            out.begin + rank);
    }
}

/// Converts a tile that is all ASCII: one element per byte.
template <typename Shape, typename To>
__device__ void widenAscii(const typename Shape::Tile& tile, const TileOutput<To>& out) {
    if constexpr (isLatin1<To>) {
        copyRun(out.begin, tile.template pointerTo<std::byte>(0), tile.first(), out.elements);
        return;
    }
    constexpr int line = 128 / sizeof(To);
    const int misalignment = static_cast<int>(reinterpret_cast<std::uintptr_t>(out.begin) / sizeof(To) % line);
    const int first = (static_cast<int>(threadIdx.x) - misalignment) & (Shape::threads - 1);
    for (int i = first; i < out.elements; i += Shape::threads) {
        out.begin[i] = static_cast<To>(tile.template at<std::uint8_t>(tile.first() + i));
    }
}

/// Marks the group's ill-formed units of more than one byte, once their bytes are no longer read.
template <typename To, typename Shape>
__device__ void markLongUnits(const typename Shape::Tile& tile, const DecodeMemory<To, Shape>& memory, int group,
                              std::uint32_t illFormed) {
    std::uint32_t longUnits = illFormed & ~memory.beginsFrom(group + 1);
    for (; longUnits != 0; longUnits &= longUnits - 1) {
        *tile.template pointerTo<std::uint8_t>(group + __ffs(static_cast<int>(longUnits)) - 1) = illFormedMark;
    }
}

}  // namespace StreamCompaction::Utf8
