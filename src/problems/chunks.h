#pragma once

#include <stream_compaction/common.h>

#include <cstddef>
#include <functional>

/// Large arrays are filled and checked in chunks, on all cores.
namespace Bench {

inline constexpr std::size_t defaultChunkSize = std::size_t{1} << 16;

[[nodiscard]] inline std::size_t chunksOf(std::size_t n, std::size_t chunkSize = defaultChunkSize) {
    return StreamCompaction::Common::divideRoundUp(n, chunkSize);
}

using ChunkWork = std::function<void(std::size_t chunk, std::size_t begin, std::size_t end)>;

/// Calls `work` for each chunk of n elements, on all cores.
void forEachChunk(std::size_t n, const ChunkWork& work, std::size_t chunkSize = defaultChunkSize);

}  // namespace Bench
