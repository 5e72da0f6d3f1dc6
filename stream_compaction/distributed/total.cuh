#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/runtime/launch.cuh"

namespace StreamCompaction::Distributed {

/// The sums of spans of `tilesPerSpan` tiles, one block per span. The order of additions depends only on n.
///
/// The last span begins first, so that the second-level cache holds the beginning of the array when a scan follows.
///
/// Work O(n), steps O(tilesPerSpan + log(block)). Reads 4 bytes per int. DRAM bandwidth is the limit.
template <typename Shape, typename Source, typename T, typename Op>
__global__ void __launch_bounds__(Shape::threads)
    kernAddUpSpans(std::size_t n, T* sums, std::size_t tilesPerSpan, Source source, Op op) {
    __shared__ SharedArray<T, Shape::warps> warpSums;
    const T identity = op.template identity<T>();
    const std::size_t span = gridDim.x - 1 - blockIdx.x;
    const std::size_t firstTile = span * tilesPerSpan;
    const std::size_t endTile = min(firstTile + tilesPerSpan, Common::divideRoundUp(n, std::size_t{Shape::elements}));
    T sum = identity;
    for (std::size_t i = firstTile; i < endTile; ++i) {
        const int tile = static_cast<int>(i);
        const int size = Shape::sizeOf(tile, n);
        const RegisterTile<Source, Shape> in(source, tile, n);
        T warpSum = identity;
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            const auto vector = in.row(row);
            T rowSum = identity;
#pragma unroll
            for (int item = 0; item < Shape::vectorLength; ++item) {
                if (Shape::offset(row) + item < size) {
                    rowSum = op(rowSum, static_cast<T>(vector.items[item]));
                }
            }
            warpSum = op(warpSum, isCommutative<Op>() ? rowSum : Warp::reduce(rowSum, op));
        }
        // Lanes, and then warps, add up once per tile if the order matters, and once per span if it does not.
        sum = op(sum, isCommutative<Op>() ? warpSum : Block::scanWarps<Shape::warps>(warpSum, warpSums.data(), op).all);
        if constexpr (!isCommutative<Op>()) {
            __syncthreads();
        }
    }
    if constexpr (isCommutative<Op>()) {
        sum = Block::reduce<Shape::warps>(sum, warpSums.data(), op);
    }
    if (threadIdx.x == 0) {
        sums[span] = sum;
    }
}

/// The sum of an array, by two launches: of spans, and of their sums.
template <typename Source, typename T, typename Op>
struct Total {
    template <typename In>
    using ShapeFor = TileShape<256, 4, vectorLength<In>>;
    using Shape = ShapeFor<Stored<Source>>;
    static constexpr std::size_t tilesPerSpan = 4;

    [[nodiscard]] static std::size_t spansOf(std::size_t n) {
        return Common::divideRoundUp(n, tilesPerSpan * Shape::elements);
    }

    [[nodiscard]] static std::size_t scratchBytes(std::size_t n) { return scratchBytesFor<T>(spansOf(n)); }

    /// Writes the sum to `sum`, in device memory. The sum of no elements is the identity.
    static void enqueue(const Source& in, T* sum, std::size_t n, Op op, ScratchArena arena, cudaStream_t stream) {
        const std::size_t spans = spansOf(n);
        T* const sums = arena.take<T>(spans);
        if (spans > 0) {
            launch<kernAddUpSpans<Shape, Source, T, Op>>({spans, Shape::threads}, stream, n, sums, tilesPerSpan, in,
                                                         op);
        }
        using SumsShape = ShapeFor<T>;
        const std::size_t tiles = Common::divideRoundUp(spans, SumsShape::elements);
        launch<kernAddUpSpans<SumsShape, ArraySource<T>, T, Op>>({1, SumsShape::threads}, stream, spans, sum, tiles,
                                                                 ArraySource<T>{sums}, op);
    }
};

}  // namespace StreamCompaction::Distributed
