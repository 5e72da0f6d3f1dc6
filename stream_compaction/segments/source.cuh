#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/open_run.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/tile.cuh"
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

/// A source of values, joined with the heads of the segments. Its tiles consist of pairs.
template <typename Values, typename Heads, typename T, typename Op>
struct SegmentedSource : Values {
    Heads heads;
    SegmentedOperator<T, Op> op;
};

/// The pairs of this thread's vector of a row.
template <typename Shape, typename T, typename Op, typename Value>
[[nodiscard]] __device__ auto pairsOf(const SegmentedOperator<T, Op>& op, const TileHeads<Shape>& heads, int row,
                                      const Vector<Value, Shape::vectorLength>& values) {
    Vector<OpenRun<T, bool>, Shape::vectorLength> pairs;
    const std::uint32_t headBits = heads.ofRow(row);
#pragma unroll
    for (int i = 0; i < Shape::vectorLength; ++i) {
        pairs.items[i] = op.pairOf((headBits >> i & 1) != 0, static_cast<T>(values.items[i]));
    }
    return pairs;
}

}  // namespace StreamCompaction::Segments

namespace StreamCompaction {

template <typename Values, typename Heads, typename T, typename Op, typename Shape>
class RegisterTile<Segments::SegmentedSource<Values, Heads, T, Op>, Shape> {
    using Source = Segments::SegmentedSource<Values, Heads, T, Op>;

  public:
    __device__ RegisterTile(const Source& source, int tile, std::size_t n) : values_(source, tile, n), op_(source.op) {
        heads_.load(source.heads, tile, n);
    }

    [[nodiscard]] __device__ auto row(int row) const { return pairsOf(op_, heads_, row, values_.row(row)); }

  private:
    RegisterTile<Values, Shape> values_;
    Segments::TileHeads<Shape> heads_;
    const Segments::SegmentedOperator<T, Op>& op_;
};

/// The values go through shared memory, as do the bits of the heads.
template <typename Values, typename Heads, typename T, typename Op, typename Shape, std::size_t room>
class SourceLoader<Segments::SegmentedSource<Values, Heads, T, Op>, Shape, room> {
    using Source = Segments::SegmentedSource<Values, Heads, T, Op>;

  public:
    using Storage = typename SourceLoader<Values, Shape, room>::Storage;

    __device__ SourceLoader(Storage& storage, const Source& source, std::size_t n)
        : values_(storage, source, n), source_(source), n_(n) {}

    __device__ void start(int tile) { values_.start(tile); }
    __device__ void finish(int tile) {
        heads_.load(source_.heads, tile, n_);
        values_.finish(tile);
    }
    [[nodiscard]] __device__ auto row(int row) const { return pairsOf(source_.op, heads_, row, values_.row(row)); }

  private:
    SourceLoader<Values, Shape, room> values_;
    Segments::TileHeads<Shape> heads_;
    const Source& source_;
    std::size_t n_;
};

}  // namespace StreamCompaction
