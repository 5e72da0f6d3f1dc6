#pragma once

#include "stream_compaction/primitives/warp.cuh"
#include "stream_compaction/utf8/bit_planes.h"
#include "stream_compaction/utf8/text_tile.cuh"
#include "stream_compaction/utf8/unit.h"

/// Finds where units begin in a tile, by the threads of a block.
namespace StreamCompaction::Utf8 {

/// How the bytes of a tile are divided. Each warp owns consecutive rows. Each lane has a group of 32 bytes per row.
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

/// The units that begin in a group of 32 bytes, one bit per byte.
struct GroupMasks {
    std::uint32_t emits;      ///< where an element of the output comes from
    std::uint32_t illFormed;  ///< where an ill-formed unit begins
    std::uint32_t begins;     ///< where any unit begins, also outside the text
};

/// Finds the units of a warp's groups, row by row.
template <typename To, typename Shape>
class UnitFinder {
    using Tile = typename Shape::Tile;

  public:
    /// Prepares for the warp's first row.
    __device__ UnitFinder(const Tile& tile, Bom bom) : tile_(tile), bom_(bom) {
        const int first = Shape::groupAt(0) - Warp::lane() * Shape::groupBytes;
        inside_ = insideOf(tile.template at<std::uint32_t>(first - 4), tile.template at<std::uint32_t>(first));
    }

    /// Called by all lanes, for each row in turn.
    __device__ GroupMasks next(int row, Errors errors) {
        const int group = Shape::groupAt(row);
        alignas(uint4) std::uint32_t words[8];
        *reinterpret_cast<uint4*>(words) = tile_.template at<uint4>(group + firstHalf_);
        *reinterpret_cast<uint4*>(words + 4) = tile_.template at<uint4>(group + secondHalf_);
        const std::uint32_t text = textIn(group);
        const std::uint32_t any = words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7];
        if (!__any_sync(Warp::allLanes, (any & 0x80808080) != 0)) {
            inside_ = 0;
            return {text, 0, ~0u};
        }
        isAscii_ = false;
        std::uint32_t behind = __shfl_down_sync(Warp::allLanes, order_ == inOrder ? words[0] : words[4], 1);
        if (Warp::lane() == Warp::lanes - 1) {
            behind = tile_.template at<std::uint32_t>(group + Shape::groupBytes);
        }
        const BitPlanes planes = bitPlanes(words, order_);
        UnitMasks units = findUnits(planes, behind);
        if constexpr (isLatin1<To>) {
            units.wellFormed &= ~leadsAboveLatin1(planes);
        }

        // A unit that reaches into a lane's group comes from the lane before. Into the first lane's group it comes from
        // the row before.
        const std::uint32_t fromBefore =
            __shfl_sync(Warp::allLanes, units.insideBehind(), Warp::lane() - 1);  // lane 0 reads lane 31
        const std::uint32_t inside = Warp::lane() == 0 ? inside_ : fromBefore;
        inside_ = fromBefore;

        const std::uint32_t begins = units.starts(inside);
        const std::uint32_t starts = begins & text;
        std::uint32_t emits = errors == Errors::Skip ? starts & units.wellFormed : starts;
        if constexpr (isUtf16<To>) {
            // The second surrogate of a pair comes from the second byte of four. A text that is cut may have only one
            // of the two.
            const std::uint32_t seconds = units.fourth << 1 | inside >> 2;
            emits |= seconds & text;
            pairs_ |= seconds;
        }
        // The mark is in one of the first groups, which are in row 0. The compiler knows the row.
        if (row == 0 && bom_ == Bom::Drop && tile_.isFirst() && group == (tile_.first() & -Shape::groupBytes) &&
            beginsWithMark(windowAt(tile_, tile_.first()))) {
            const std::uint32_t mark = 1u << tile_.first() % Shape::groupBytes;
            emits &= ~mark;
            if constexpr (isLatin1<To>) {
                units.wellFormed |= mark;
            }
        }
        return {emits, starts & ~units.wellFormed, begins};
    }

    /// After the last row, in the warp's first lane: the bytes behind the row that belong to a unit that begins in it.
    [[nodiscard]] __device__ std::uint32_t inside() const { return inside_; }
    /// After the last row: whether all rows of the warp are ASCII.
    [[nodiscard]] __device__ bool isAscii() const { return isAscii_; }
    /// After the last row: whether a surrogate comes from this lane's groups, or from the byte just before its
    /// inside().
    [[nodiscard]] __device__ bool hasPairs() const { return isUtf16<To> && (pairs_ | inside_ >> 2) != 0; }

  private:
    /// The bytes of the group that are text.
    [[nodiscard]] __device__ std::uint32_t textIn(int group) const {
        if (tile_.isWhole()) {
            return ~0u;
        }
        const auto below = [](int n) { return n <= 0 ? 0u : n >= 32 ? ~0u : (1u << n) - 1; };
        return below(tile_.end() - group) & ~below(tile_.first() - group);
    }

    /// Eight lanes are served together. Four of them read the second half of their groups first, so that all eight read
    /// different banks.
    [[nodiscard]] __device__ static bool isExchanged() { return Warp::lane() % 8 >= 4; }

    const Tile& tile_;
    Bom bom_;
    int firstHalf_ = isExchanged() ? Shape::groupBytes / 2 : 0;
    int secondHalf_ = Shape::groupBytes / 2 - firstHalf_;
    std::uint32_t order_ = isExchanged() ? halvesExchanged : inOrder;
    std::uint32_t inside_;  // of the next row's first group
    std::uint32_t pairs_ = 0;
    bool isAscii_ = true;
};

/// The position of the first bit in the masks of a thread's rows, or that of the tile's end if there is none.
template <typename Shape>
[[nodiscard]] __device__ int firstOf(const std::uint32_t (&masks)[Shape::rows]) {
    int first = Shape::bytes;
#pragma unroll
    for (int row = Shape::rows - 1; row >= 0; --row) {
        if (masks[row] != 0) {
            first = Shape::groupAt(row) + __ffs(static_cast<int>(masks[row])) - 1;
        }
    }
    return first;
}

}  // namespace StreamCompaction::Utf8
