#pragma once

#include <algorithm>
#include <array>
#include <iterator>

#include "stream_compaction/primitives/shared_address.cuh"
#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/utf8/bit_planes.h"
#include "stream_compaction/utf8/gather_table.h"
#include "stream_compaction/utf8/lead_rule.h"
#include "stream_compaction/utf8/text_tile.cuh"
#include "stream_compaction/utf8/unit_finder.cuh"

/// From units to elements: the output of a tile is cut into aligned runs of 16 bytes; where each begins in the text is
/// listed by those who found the units, and then each is converted by one thread.
namespace StreamCompaction::Utf8 {

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

/// In global memory, to be copied from.
template <typename To>
static __device__ constexpr auto gatherTableInMemory = gatherTable<To>();

/// The rules of any two elements in shared memory.
template <typename To>
class GatherTable {
  public:
    static constexpr int count = 1 << gatherBits;

    /// By the first threads of a block, which has as many at least.
    __device__ void fill() {
        if (threadIdx.x < count) {
            const GatherEntry rule = gatherTableInMemory<To>[threadIdx.x];
            rules_[threadIdx.x] = {rule.first.bits, rule.second.bits};
        }
    }

    [[nodiscard]] __device__ std::uint32_t address() const { return SharedAddress::of(rules_); }

    /// Where units begin, a bit a byte, as a number of bytes into a table; what is beyond it are bits for bytes further
    /// on.
    [[nodiscard]] __device__ static std::uint32_t offset(std::uint32_t begins) {
        return begins * (sizeof(uint2) >> firstGatherBit<To>);
    }
    /// The rule at such a number in the table at an address.
    [[nodiscard]] __device__ static GatherEntry at(std::uint32_t address, std::uint32_t offset) {
        constexpr std::uint32_t lastOffset = (count - 1) * sizeof(uint2);
        const uint2 rule = SharedAddress::loadTwoWords(address | (offset & lastOffset));
        return {{rule.x}, {rule.y}};
    }

  private:
    alignas(count * sizeof(uint2)) uint2 rules_[count];  // so that an offset need not be added
};

/// Runs of a tile, if there are as many elements as bytes.
template <typename To, typename Shape>
inline constexpr int mostRuns = Shape::bytes / elementsPerVector<To> + 1;

/// Runs that are listed at a time, so that six blocks of 256 threads fit into a multiprocessor. Only a tile with more
/// than three elements of UTF-32 in five bytes, most of them ASCII, has more: its halves are listed one after the
/// other.
template <typename To, typename Shape>
inline constexpr int listedRuns = std::min(mostRuns<To, Shape>, Shape::bytes / 4 * 3 / 5);

/// The shared memory of a block that decodes a tile.
template <typename To, typename Shape>
struct DecodeMemory {
    using Tile = typename Shape::Tile;

    GatherTable<To> gatherTable;  // first, for it is aligned to its size
    typename Tile::Storage tile;
    std::uint16_t runBegins[listedRuns<To, Shape>];                 ///< positions of what the runs begin with
    std::uint32_t unitBegins[Tile::bytes / Shape::groupBytes + 2];  ///< where units begin, a bit a byte
    LeadRules<To> leadRules;
    std::uint32_t warpCounts[Shape::warps];
    int firstIllFormed;
    int isAscii;
    int hasPairs;
    int isBehindError;
    int middleRank;  ///< of the first element of the tile's second half

    /// By one thread, before anything is known of the tile.
    __device__ void beginFlags() {
        firstIllFormed = Tile::bytes;
        isAscii = 1;
        hasPairs = 0;
    }
    [[nodiscard]] __device__ bool isWellFormed() const { return firstIllFormed == Tile::bytes; }

    /// Where units begin from a position on.
    [[nodiscard]] __device__ std::uint32_t beginsFrom(int position) const {
        const std::uint32_t* const words = unitBegins + (position >> 5);
        return __funnelshift_r(words[0], words[1], position);
    }
};

/// The output of a tile, in runs: its elements, some of the first run perhaps being the tile's before.
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

    /// How many runs begin before the element of that rank.
    [[nodiscard]] __device__ int runsBefore(int rank) const { return wholeRuns(phase + rank + length - 1); }
    /// From which to before which run all is this tile's.
    [[nodiscard]] __device__ int firstWhole() const { return phase > 0 ? 1 : 0; }
    [[nodiscard]] __device__ int endWhole() const { return wholeRuns(phase + elements); }
    /// The rank of the first element of a run.
    [[nodiscard]] __device__ int rankOf(int run) const { return run * length - phase; }

  private:
    [[nodiscard]] __device__ static int wholeRuns(int count) {
        return static_cast<int>(static_cast<unsigned>(count) / length);  // one shift
    }
};

/// If a bit is set, stores `base` and the number of the highest one as 16 bits at an address in shared memory, and
/// moves the address on. Without a branch, for neighbouring lanes differ.
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

/// Lists the runs, the first in the list being number `firstRun`, that begin in the group at a position: of those that
/// it emits, elements `rank` and following of the tile.
template <typename To, typename Shape>
__device__ void listRuns(DecodeMemory<To, Shape>& memory, const TileOutput<To>& out, int firstRun, int group,
                         std::uint32_t emits, std::uint32_t rank) {
    // As an element takes a byte at least, no more than one run begins in as many bytes as it has elements.
    constexpr int length = elementsPerVector<To>;
    const std::uint32_t begins = everyNth<length>(emits, out.phase + rank);
    const int run = out.runsBefore(static_cast<int>(rank)) - firstRun;
    std::uint32_t address = SharedAddress::of(memory.runBegins + run);
#pragma unroll
    for (int bytes = 0; bytes < Shape::groupBytes; bytes += length) {
        putHighestBit(address, begins & ((1u << length) - 1) << bytes, group);
    }
}

/// Lists the tile's first run in the group that emits the first element: with that it begins, if not in the tile
/// before.
template <typename To, typename Shape>
__device__ void listFirstRun(DecodeMemory<To, Shape>& memory, int group, std::uint32_t emits) {
    memory.runBegins[0] = static_cast<std::uint16_t>(group + __ffs(static_cast<int>(emits)) - 1);
}

/// Reads text two elements at a time. Ill-formed units must have been marked, if there are any.
template <typename To, typename Shape, bool isWellFormed, bool withPairs>
class TwoElementsReader {
  public:
    static constexpr int elementsAtOnce = 2;

    __device__ TwoElementsReader(const typename Shape::Tile& tile, const DecodeMemory<To, Shape>& memory, int position)
        : text_(SharedAddress::of(tile.template pointerTo<std::byte>(position - bytesBefore<To>))),
          rules_(memory.gatherTable.address()) {
        const std::uint32_t begins = memory.beginsFrom(position);
        begins_ = Rules::offset(begins);
        if constexpr (withPairs) {
            secondMark_ = (begins & 1) == 0 ? secondSurrogate : 0;
        }
    }

    template <int count>
    __device__ std::array<std::uint32_t, count> next() {
        std::array<std::uint32_t, count> elements;
#pragma unroll
        for (int i = 0; i < count; i += elementsAtOnce) {
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

    __device__ std::array<int, elementsAtOnce> nextSums() {
        const GatherEntry rule = Rules::at(rules_, begins_);
        const std::uint32_t word = text_ & ~3u;
        const std::uint32_t middle = SharedAddress::loadWord(word + 4);
        const auto sums = sumsOfTwo<To>({__funnelshift_r(SharedAddress::loadWord(word), middle, text_ * 8),
                                         __funnelshift_r(middle, SharedAddress::loadWord(word + 8), text_ * 8)},
                                        rule);
        moveOn<To>(rule, text_, begins_);
        return sums;
    }

    std::uint32_t text_;            // where the eight bytes lie that are next
    std::uint32_t rules_;           // where the table does
    std::uint32_t begins_;          // where units begin from there on, as an offset in the table
    std::uint32_t secondMark_ = 0;  // what is still to be put into the next element
};

/// Reads text an element at a time, and skips ill-formed units: those that are not as long as their first byte says.
template <typename To, typename Shape>
class SkippingReader {
  public:
    static constexpr int elementsAtOnce = 1;

    __device__ SkippingReader(const typename Shape::Tile& tile, const DecodeMemory<To, Shape>& memory, int position)
        : tile_(tile), memory_(memory), position_(position) {}

    template <int count>
    __device__ std::array<std::uint32_t, count> next() {
        std::array<std::uint32_t, count> elements;
#pragma unroll
        for (int i = 0; i < count; ++i) {
            elements[i] = nextElement();
        }
        return elements;
    }

  private:
    __device__ To nextElement() {
        while (const int length = illFormedLength()) {
            position_ += length;
        }
        const std::uint32_t window = windowAt(tile_, position_);
        const LeadRule rule = memory_.leadRules.of(leadHalf(window));
        position_ += rule.length;
        return elementOf<To>(window, rule);
    }

    /// The bytes of the unit at the position if it is ill-formed, else 0. The second of two surrogates comes from the
    /// second byte of four, behind which the next unit is as far as behind the first of three.
    [[nodiscard]] __device__ int illFormedLength() const {
        const std::uint32_t begins = memory_.beginsFrom(position_);
        const std::uint32_t half = leadHalf(windowAt(tile_, position_));
        const int length = __ffs(static_cast<int>(begins >> 1));
        return length == unitLength(half, memory_.leadRules.of(half)) ? 0 : length;
    }

    const typename Shape::Tile& tile_;
    const DecodeMemory<To, Shape>& memory_;
    int position_;
};

/// Converts listed runs that are all the tile's, and stores each as a vector.
template <typename Reader, typename To, typename Shape>
__device__ void convertRuns(const DecodeMemory<To, Shape>& memory, const typename Shape::Tile& tile,
                            const std::uint16_t* begins, int count, To* out) {
    const std::uint16_t* const end = begins + count;
    out += static_cast<int>(threadIdx.x) * elementsPerVector<To>;
#pragma unroll 2  // so that what is constant comes into registers half as often
    for (begins += threadIdx.x; begins < end; begins += Shape::threads) {
        const auto elements = Reader(tile, memory, *begins).template next<elementsPerVector<To>>();
        std::array<std::uint32_t, 4> words;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            words[i] = sizeof(To) == sizeof(char32_t) ? elements[i]
                                                      : selectBytes(elements[2 * i], elements[2 * i + 1], 0x5410);
        }
        // A plain store of 16 bytes the compiler would split into four.
        __stcg(reinterpret_cast<uint4*>(out), {words[0], words[1], words[2], words[3]});
        out += Shape::threads * elementsPerVector<To>;
    }
}

/// Converts elements from a position on, so many, by one thread.
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

/// Converts the runs from one to before another, which the list has; of the tile's first and last what is the tile's.
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

/// Converts a tile that is all ASCII: an element a byte.
template <typename Shape, typename To>
__device__ void widenAscii(const typename Shape::Tile& tile, const TileOutput<To>& out) {
    constexpr int line = 128 / sizeof(To);
    const int misalignment = static_cast<int>(reinterpret_cast<std::uintptr_t>(out.begin) / sizeof(To) % line);
    const int first = (static_cast<int>(threadIdx.x) - misalignment) & (Shape::threads - 1);
    for (int i = first; i < out.elements; i += Shape::threads) {
        out.begin[i] = static_cast<To>(tile.template at<std::uint8_t>(tile.first() + i));
    }
}

/// Marks those of the group's ill-formed units that have more than one byte, once nobody looks at their bytes any more.
template <typename To, typename Shape>
__device__ void markLongUnits(const typename Shape::Tile& tile, const DecodeMemory<To, Shape>& memory, int group,
                              std::uint32_t illFormed) {
    std::uint32_t longUnits = illFormed & ~memory.beginsFrom(group + 1);
    for (; longUnits != 0; longUnits &= longUnits - 1) {
        *tile.template pointerTo<std::uint8_t>(group + __ffs(static_cast<int>(longUnits)) - 1) = illFormedMark;
    }
}

}  // namespace StreamCompaction::Utf8
