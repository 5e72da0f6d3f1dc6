#pragma once

#include <algorithm>
#include <array>
#include <iterator>

#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/utf8_alike.h"
#include "stream_compaction/utf8_find.cuh"
#include "stream_compaction/utf8_tile.cuh"
#include "stream_compaction/utf8_two_units.h"
#include "stream_compaction/utf8_units.h"

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
static __device__ constexpr auto everyTwoUnitsRule = twoUnitsRules();

/// The rules of any two units in shared memory.
class TwoUnitsRules {
  public:
    static constexpr int count = 1 << twoUnitsAhead;

    /// By the first threads of a block, which has as many at least.
    __device__ void fill() {
        if (threadIdx.x < count) {
            const TwoUnitsRule rule = everyTwoUnitsRule[threadIdx.x];
            rules_[threadIdx.x] = {rule.first, rule.second};
        }
    }
    /// By where units begin, a bit a byte, the lowest for the first unit.
    [[nodiscard]] __device__ TwoUnitsRule of(std::uint32_t begins) const {
        constexpr std::uint32_t lastEntry = (count - 1) * sizeof(uint2);
        const auto* const entry =
            reinterpret_cast<const std::byte*>(rules_) + (begins * (sizeof(uint2) / 2) & lastEntry);
        const uint2 rule = *reinterpret_cast<const uint2*>(entry);
        return {rule.x, rule.y};
    }

  private:
    uint2 rules_[count];
};

/// Runs that are listed at a time, so that six blocks of 256 threads fit into a multiprocessor. Only a tile with fewer
/// than 1.5 bytes an element of UTF-32, most of them ASCII, has more: its halves are listed one after the other.
template <typename To, typename Shape>
inline constexpr int listedRuns = std::min(Shape::bytes / runLength<To> + 1, Shape::bytes / 6);

/// The shared memory of a block that decodes a tile.
template <typename To, typename Shape>
struct DecodeMemory {
    using Tile = typename Shape::Tile;

    typename Tile::Storage tile;
    std::uint16_t runBegins[listedRuns<To, Shape>];                 ///< positions of what the runs begin with
    std::uint32_t unitBegins[Tile::bytes / Shape::groupBytes + 2];  ///< where units begin, a bit a byte
    TwoUnitsRules twoUnitsRules;
    LeadRules<To> leadRules;
    std::uint32_t warpCounts[Shape::warps];
    int firstIllFormed;
    int hasPairs;
    int middleRank;  ///< of the first element of the tile's second half

    /// Where units begin from a position on.
    [[nodiscard]] __device__ std::uint32_t beginsFrom(int position) const {
        const std::uint32_t* const words = unitBegins + (position >> 5);
        return __funnelshift_r(words[0], words[1], position);
    }
};

/// The output of a tile, in runs: its elements, some of the first run perhaps being the tile's before.
template <typename To>
struct TileOutput {
    static constexpr int length = runLength<To>;

    To* begin;
    int elements;
    int phase;  ///< elements of the first run that are not this tile's

    __device__ TileOutput(To* to, int count)
        : begin(to),
          elements(count),
          phase(static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(To) % length)) {}

    /// How many runs begin before the element of that rank.
    [[nodiscard]] __device__ int runsBefore(int rank) const { return (phase + rank + length - 1) / length; }
    /// From which to before which run all is this tile's.
    [[nodiscard]] __device__ int firstWhole() const { return phase > 0 ? 1 : 0; }
    [[nodiscard]] __device__ int endWhole() const { return (phase + elements) / length; }
    /// The rank of the first element of a run.
    [[nodiscard]] __device__ int rankOf(int run) const { return run * length - phase; }
};

/// If a bit is set, stores `base` and the number of the highest one as 16 bits at an address in shared memory, and
/// moves the address on. Without a branch, for neighbouring lanes differ.
__device__ inline void putHighestBit(std::uint32_t& address, std::uint32_t bits, int base) {
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
}

/// Lists the runs, the first in the list being number `firstRun`, that begin in the group at a position: of those that
/// it emits, elements `rank` and following of the tile.
template <typename To, typename Shape>
__device__ void listRuns(DecodeMemory<To, Shape>& memory, const TileOutput<To>& out, int firstRun, int group,
                         std::uint32_t emits, std::uint32_t rank) {
    // As an element takes a byte at least, no more than one run begins in as many bytes as it has elements.
    constexpr int length = runLength<To>;
    const std::uint32_t begins = everyNth<length>(emits, out.phase + rank);
    const int run = out.runsBefore(static_cast<int>(rank)) - firstRun;
    auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory.runBegins + run));
#pragma unroll
    for (int bytes = 0; bytes < Shape::groupBytes; bytes += length) {
        putHighestBit(address, begins & ((1u << length) - 1) << bytes, group);
    }
    // The first run may have begun in the tile before; here it begins with the first element.
    if (rank == 0 && emits != 0) {
        memory.runBegins[0] = static_cast<std::uint16_t>(group + __ffs(static_cast<int>(emits)) - 1);
    }
}

/// Reads text two units at a time. Ill-formed ones must have been marked, if there are any; and there are no sequences
/// that become two elements.
template <typename To, typename Shape, bool isWellFormed>
class TwoUnitsReader {
  public:
    static constexpr int elementsAtOnce = 2;

    __device__ TwoUnitsReader(const typename Shape::Tile& tile, const DecodeMemory<To, Shape>& memory, int position)
        : tile_(tile), memory_(memory), position_(position), begins_(memory.beginsFrom(position)) {}

    __device__ std::array<std::uint32_t, elementsAtOnce> next() {
        const TwoUnitsRule rule = memory_.twoUnitsRules.of(begins_);
        const auto codePoints = decodeTwo(twoWindowsAt(tile_, position_), rule);
        position_ += rule.length();
        begins_ >>= rule.length();
        return {elementOf(codePoints[0]), elementOf(codePoints[1])};
    }

  private:
    [[nodiscard]] __device__ static std::uint32_t elementOf(int codePoint) {
        return isWellFormed || codePoint >= 0 ? codePoint : replacementCharacter;
    }

    const typename Shape::Tile& tile_;
    const DecodeMemory<To, Shape>& memory_;
    int position_;
    std::uint32_t begins_;
};

/// Reads any text, an element at a time. Where it may be ill-formed it asks how long each unit is: an ill-formed one is
/// shorter than its first byte says.
template <typename To, typename Shape, Errors errors, bool isWellFormed>
class ElementReader {
  public:
    static constexpr int elementsAtOnce = 1;

    __device__ ElementReader(const typename Shape::Tile& tile, const DecodeMemory<To, Shape>& memory, int position)
        : memory_(memory), position_(position), ahead_(tile.template pointerTo<std::uint32_t>(position & ~3)) {
        low_ = *ahead_++;
        high_ = *ahead_++;
        if constexpr (!isWellFormed) {
            begins_ = memory_.beginsFrom(position_);
        }
    }

    __device__ std::array<std::uint32_t, elementsAtOnce> next() {
        Place place = placeHere();
        while (errors == Errors::Skip && place.isIllFormed) {
            moveBy(place.length);
            place = placeHere();
        }
        moveBy(place.length);
        return {place.element};
    }

  private:
    /// What begins at the position: a unit, or the second of two surrogates.
    struct Place {
        To element;
        int length;  ///< to the next one
        bool isIllFormed;
    };
    [[nodiscard]] __device__ Place placeHere() const {
        const std::uint32_t window = __funnelshift_r(low_, high_, position_ * 8);
        const std::uint32_t half = leadHalf(window);
        const LeadRule rule = memory_.leadRules.of(half);
        const To element = elementOf<To>(window, rule);
        if constexpr (isWellFormed) {
            return {element, rule.length, false};
        }
        const bool isUnit = sizeof(To) == sizeof(char32_t) || (begins_ & 1) != 0;
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
        if constexpr (!isWellFormed) {
            // A run and the beginning of what is behind it lie within 25 bytes, if nothing is skipped.
            begins_ = errors == Errors::Skip ? memory_.beginsFrom(position_) : begins_ >> length;
        }
    }

    const DecodeMemory<To, Shape>& memory_;
    int position_;
    const std::uint32_t* ahead_;  // at the word behind the two that hold the window
    std::uint32_t low_;
    std::uint32_t high_;
    std::uint32_t begins_ = 0;
};

/// Converts listed runs that are all the tile's, and stores each as a vector.
template <typename Reader, typename To, typename Shape>
__device__ void convertRuns(const DecodeMemory<To, Shape>& memory, const typename Shape::Tile& tile,
                            const std::uint16_t* begins, int count, To* out) {
    const std::uint16_t* const end = begins + count;
    out += static_cast<int>(threadIdx.x) * runLength<To>;
#pragma unroll 1
    for (begins += threadIdx.x; begins < end; begins += Shape::threads) {
        Reader reader(tile, memory, *begins);
        std::array<std::uint32_t, runLength<To>> elements;
#pragma unroll
        for (int i = 0; i < runLength<To>; i += Reader::elementsAtOnce) {
            const auto some = reader.next();
#pragma unroll
            for (int k = 0; k < Reader::elementsAtOnce; ++k) {
                elements[i + k] = some[k];
            }
        }
        std::array<std::uint32_t, 4> words;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            words[i] = sizeof(To) == sizeof(char32_t) ? elements[i] : elements[2 * i] | elements[2 * i + 1] << 16;
        }
        // A plain store of 16 bytes the compiler would split into four.
        __stcg(reinterpret_cast<uint4*>(out), {words[0], words[1], words[2], words[3]});
        out += Shape::threads * runLength<To>;
    }
}

/// Converts elements from a position on, so many, by one thread.
template <typename Reader, typename To, typename Shape>
__device__ void convertSome(const DecodeMemory<To, Shape>& memory, const typename Shape::Tile& tile, int position,
                            int count, To* out) {
    Reader reader(tile, memory, position);
#pragma unroll 1
    for (int i = 0; i < count; i += Reader::elementsAtOnce) {
        const auto some = reader.next();
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
    if (threadIdx.x == 0 && firstRun < firstWhole) {
        convertSome<Reader>(memory, tile, memory.runBegins[0], min(out.rankOf(1), out.elements), out.begin);
    }
    if (threadIdx.x == Warp::lanes && firstWhole <= endWhole && endWhole < endRun) {
        const int rank = out.rankOf(endWhole);
        convertSome<Reader>(memory, tile, memory.runBegins[endWhole - firstRun], out.elements - rank, out.begin + rank);
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
