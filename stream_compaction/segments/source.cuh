#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/open_run.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/tile_scan.cuh"
#include "stream_compaction/segments/heads.cuh"

namespace StreamCompaction::Segments {

/// The operator of a segmented scan, on pairs of a flag and a sum: the sum restarts at a flag (Blelloch, "Prefix Sums
/// and Their Applications", 1990; Sengupta et al., "Scan Primitives for GPU Computing", 2007).
template <typename T, typename Op>
struct SegmentedOperator : JoinParts<Op> {
    T initial;  ///< from which the sum of each segment starts

    /// The pair of an element.
    [[nodiscard]] __device__ OpenRun<T, bool> pairOf(bool isHead, const T& x) const {
        return {isHead, isHead ? this->op(initial, x) : x};
    }
};

/// What a segmented scan writes: the sum without its flag, and at the head of a segment the initial value.
template <typename T, typename Op>
__device__ T prefixAt(const SegmentedOperator<T, Op>& op, const OpenRun<T, bool>& before, const OpenRun<T, bool>& x,
                      const OpenRun<T, bool>& upTo, bool inclusive) {
    return inclusive ? upTo.sum : x.heads ? op.initial : before.sum;
}

/// Scans a row of pairs. A ballot tells each lane how far its segment reaches back, so only sums are shuffled.
template <typename T, typename Op>
__device__ void scanRow(OpenRun<T, bool>& sum, OpenRun<T, bool>& carry, const SegmentedOperator<T, Op>& op) {
    const std::uint32_t heads = __ballot_sync(Warp::allLanes, sum.heads);
    const std::uint32_t lanesBefore = (1u << Warp::lane()) - 1;
    const std::uint32_t headsUpTo = heads & (lanesBefore << 1 | 1);
    const int reach = headsUpTo == 0 ? Warp::lane() : __clz(headsUpTo) - (Warp::lanes - 1 - Warp::lane());
    T upTo = sum.sum;
#pragma unroll
    for (int distance = 1; distance < Warp::lanes; distance *= 2) {
        const T before = Warp::shiftUp(upTo, distance);
        upTo = distance <= reach ? op.op(before, upTo) : upTo;
    }
    const T before = Warp::shiftUp(upTo, 1);
    sum = op(carry, {(heads & lanesBefore) != 0, Warp::lane() == 0 ? op.op.template identity<T>() : before});
    carry = op(carry, {heads != 0, Warp::broadcast(upTo, Warp::lanes - 1)});
}

/// A source of values, joined with the heads of the segments. Its tiles consist of pairs.
template <typename Values, typename Heads, typename T, typename Op>
struct SegmentedSource : Values {
    Heads heads;
    SegmentedOperator<T, Op> op;
};

/// The pairs of a vector.
template <typename T, typename Op, typename Head, typename Value, int length>
[[nodiscard]] __device__ auto pairsOf(const SegmentedOperator<T, Op>& op, const Vector<Head, length>& heads,
                                      const Vector<Value, length>& values) {
    Vector<OpenRun<T, bool>, length> pairs;
#pragma unroll
    for (int i = 0; i < length; ++i) {
        pairs.items[i] = op.pairOf(static_cast<bool>(heads.items[i]), static_cast<T>(values.items[i]));
    }
    return pairs;
}

}  // namespace StreamCompaction::Segments

namespace StreamCompaction {

template <typename Values, typename Heads, typename T, typename Op, typename Shape>
class RegisterTile<Segments::SegmentedSource<Values, Heads, T, Op>, Shape> {
    using Source = Segments::SegmentedSource<Values, Heads, T, Op>;

  public:
    __device__ RegisterTile(const Source& source, int tile, std::size_t n)
        : values_(source, tile, n), heads_(source.heads, tile, n), op_(source.op) {}

    [[nodiscard]] __device__ auto row(int row) const { return pairsOf(op_, heads_.row(row), values_.row(row)); }

  private:
    RegisterTile<Values, Shape> values_;
    Segments::RegisterHeads<Heads, Shape> heads_;
    const Segments::SegmentedOperator<T, Op>& op_;
};

/// Values and heads go through shared memory.
template <typename Values, typename Heads, typename T, typename Op, typename Shape, std::size_t room>
class SourceLoader<Segments::SegmentedSource<Values, Heads, T, Op>, Shape, room> {
    using Source = Segments::SegmentedSource<Values, Heads, T, Op>;
    using ValueLoader = SourceLoader<Values, Shape, room>;
    using HeadLoader = Segments::HeadLoader<Heads, Shape>;

  public:
    struct Storage {
        typename ValueLoader::Storage values;
        typename HeadLoader::Storage heads;
    };

    __device__ SourceLoader(Storage& storage, const Source& source, const std::size_t& n)
        : values_(storage.values, source, n), heads_(storage.heads, source.heads, n), op_(source.op) {}

    __device__ void start(int tile) {
        values_.start(tile);
        heads_.start(tile);
    }
    __device__ void finish(int tile) {
        heads_.finish(tile);
        values_.finish(tile);
    }
    [[nodiscard]] __device__ auto row(int row) const { return pairsOf(op_, heads_.row(row), values_.row(row)); }

  private:
    ValueLoader values_;
    HeadLoader heads_;
    const Segments::SegmentedOperator<T, Op>& op_;
};

}  // namespace StreamCompaction
