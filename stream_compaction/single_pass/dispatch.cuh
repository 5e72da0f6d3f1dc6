#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/runtime/clear_words.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// What the launches of the single-pass kernels share: shapes of blocks and how many suit.
namespace StreamCompaction::SinglePass {

/// Threads a block and rows a warp.
template <int threadCount, int rowCount>
struct BlockShape {
    static constexpr int threads = threadCount;
    static constexpr int rows = rowCount;
    static constexpr std::size_t vectors = std::size_t{threads} * rows;
};

using TinyBlock = BlockShape<256, 1>;
using SmallBlock = BlockShape<256, 4>;
using MediumBlock = BlockShape<512, 4>;
using LargeBlock = BlockShape<256, 8>;

/// The largest grids of such blocks, in 16-byte vectors, that beat what comes next; measured on an H200.
struct ResidentLimits {
    std::size_t ofTiny;
    std::size_t ofSmall;
    std::size_t ofLarge;
};

/// Calls `launch(shape)` with the shape that suits so many vectors, one block where they fit. Returns false where there
/// are too many, or when `launch` says that the blocks would not be resident together.
template <typename Launch>
[[nodiscard]] bool launchResident(std::size_t vectors, const ResidentLimits& most, Launch&& launch) {
    if (vectors <= TinyBlock::vectors) {
        return launch(TinyBlock{});
    }
    if (vectors <= SmallBlock::vectors) {
        return launch(SmallBlock{});
    }
    if (vectors <= MediumBlock::vectors) {
        return launch(MediumBlock{});
    }
    if (vectors <= most.ofTiny) {
        return launch(TinyBlock{});
    }
    if (vectors <= most.ofSmall) {
        return launch(SmallBlock{});
    }
    return vectors <= most.ofLarge && launch(LargeBlock{});
}

/// Blocks that such a grid has at most, each of which needs a place in scratch.
[[nodiscard]] constexpr std::size_t residentBlocksFor(std::size_t vectors, const ResidentLimits& most) {
    return vectors <= most.ofTiny    ? Common::divideRoundUp(vectors, TinyBlock::vectors)
           : vectors <= most.ofSmall ? Common::divideRoundUp(vectors, SmallBlock::vectors)
           : vectors <= most.ofLarge ? Common::divideRoundUp(vectors, LargeBlock::vectors)
                                     : 0;
}

}  // namespace StreamCompaction::SinglePass
