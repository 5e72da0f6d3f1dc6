#pragma once

#include "stream_compaction/common.h"

/// Splits a run of bytes, which may begin and end anywhere, into aligned pieces.
namespace StreamCompaction {

/// The places that split a run: the head ends at `bulkBegin`, the whole pieces of 16 bytes end at `bulkEnd`, and the
/// rest is the tail. If there is no piece, `bulkBegin` is `bulkEnd`. Places are addresses, or positions that count from
/// an aligned address.
template <typename Place>
struct AlignedRun {
    static constexpr int width = 16;  ///< of a piece, and its alignment

    Place begin;
    Place bulkBegin;
    Place bulkEnd;
    Place end;

    [[nodiscard]] __host__ __device__ constexpr Place bulkBytes() const { return bulkEnd - bulkBegin; }

    [[nodiscard]] static __host__ __device__ constexpr Place roundDown(Place place) {
        return place & -static_cast<Place>(width);
    }
    [[nodiscard]] static __host__ __device__ constexpr Place roundUp(Place place) {
        return roundDown(place + width - 1);
    }
};

/// The pieces inside the run, which ends at or behind its begin. Head and tail are shorter than a piece.
template <typename Place>
[[nodiscard]] __host__ __device__ constexpr AlignedRun<Place> piecesInside(Place begin, Place end) {
    const Place from = Common::lesser(AlignedRun<Place>::roundUp(begin), end);
    return {begin, from, Common::greater(from, AlignedRun<Place>::roundDown(end)), end};
}

/// The pieces that overlap the run and lie inside the array around it. The outer pieces may also hold neighbours of the
/// run.
template <typename Place>
[[nodiscard]] __host__ __device__ constexpr AlignedRun<Place> piecesAround(Place begin, Place end, Place arrayBegin,
                                                                           Place arrayEnd) {
    using Run = AlignedRun<Place>;
    const Place down = Run::roundDown(begin);
    const Place up = Run::roundUp(end);
    const Place from = down >= arrayBegin ? down : down + Run::width;
    const Place to = up <= arrayEnd ? up : up - Run::width;
    return from < to ? Run{begin, from, to, end} : Run{begin, begin, begin, end};
}

}  // namespace StreamCompaction
