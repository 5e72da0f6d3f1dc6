#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/last_block.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/runtime/launch.cuh"

namespace StreamCompaction::Distributed {

/// The sum of the elements in the tiles [firstTile, endTile), by all threads of a block. The result is that of thread
/// 0. `warpSums` is shared memory.
template <typename Shape, typename T, typename Source, typename Op>
[[nodiscard]] __device__ T addUpTiles(const Source& source, std::size_t n, std::size_t firstTile, std::size_t endTile,
                                      T* warpSums, const Op& op) {
    const T identity = op.template identity<T>();
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
        sum = op(sum, isCommutative<Op>() ? warpSum : Block::scanWarps<Shape::warps>(warpSum, warpSums, op).all);
        if constexpr (!isCommutative<Op>()) {
            __syncthreads();
        }
    }
    if constexpr (isCommutative<Op>()) {
        sum = Block::reduce<Shape::warps>(sum, warpSums, op);
    }
    return sum;
}

/// The sum of an array. Each block adds up a span of `tilesPerSpan` tiles, and the last one to finish adds up the sums
/// of the spans. The order of additions depends only on n. `finishedBlocks` is zero before and afterwards.
///
/// The last span begins first, so that the second-level cache holds the beginning of the array when a scan follows.
///
/// Work O(n), steps O(tilesPerSpan + log(block) + spans / block). Reads 4 bytes per int. DRAM bandwidth is the limit.
template <typename Shape, typename SumsShape, typename Source, typename T, typename Op>
__global__ void __launch_bounds__(Shape::threads) kernAddUp(std::size_t n, T* total, T* sums, unsigned* finishedBlocks,
                                                            std::size_t tilesPerSpan, Source source, Op op) {
    static_assert(Shape::threads == SumsShape::threads);
    __shared__ SharedArray<T, Shape::warps> warpSums;
    const std::size_t span = gridDim.x - 1 - blockIdx.x;
    const std::size_t firstTile = span * tilesPerSpan;
    const std::size_t endTile = min(firstTile + tilesPerSpan, Common::divideRoundUp(n, std::size_t{Shape::elements}));
    const T sum = addUpTiles<Shape>(source, n, firstTile, endTile, warpSums.data(), op);
    if (gridDim.x == 1) {
        if (threadIdx.x == 0) {
            *total = sum;
        }
        return;
    }

    if (threadIdx.x == 0) {
        sums[span] = sum;
    }
    if (Block::isLastToFinish(finishedBlocks)) {
        const std::size_t spans = gridDim.x;
        const T all =
            addUpTiles<SumsShape>(ArraySource<T>{sums}, spans, 0,
                                  Common::divideRoundUp(spans, std::size_t{SumsShape::elements}), warpSums.data(), op);
        if (threadIdx.x == 0) {
            *total = all;
            atomicAdd(finishedBlocks, 0u - gridDim.x);
        }
    }
}

/// The sum of an array, in one launch.
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

    /// Writes the sum to `sum`, in device memory. The sum of no elements is the identity. `finishedBlocks` is zero
    /// before and afterwards.
    static void enqueue(const Source& in, T* sum, std::size_t n, Op op, unsigned* finishedBlocks, ScratchArena arena,
                        cudaStream_t stream) {
        const std::size_t spans = spansOf(n);
        T* const sums = arena.take<T>(spans);
        launch<kernAddUp<Shape, ShapeFor<T>, Source, T, Op>>({std::max<std::size_t>(spans, 1), Shape::threads}, stream,
                                                             n, sum, sums, finishedBlocks, tilesPerSpan, in, op);
    }
};

}  // namespace StreamCompaction::Distributed
