#include "problems/chunks.h"

#include <tbb/parallel_for.h>

#include <algorithm>

namespace Bench {

void forEachChunk(std::size_t n, const ChunkWork& work, std::size_t chunkSize) {
    tbb::parallel_for(std::size_t{0}, chunksOf(n, chunkSize), [&](std::size_t chunk) {
        const std::size_t begin = chunk * chunkSize;
        work(chunk, begin, std::min(n, begin + chunkSize));
    });
}

}  // namespace Bench
