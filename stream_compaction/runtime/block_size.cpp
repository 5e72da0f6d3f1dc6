#include "stream_compaction/runtime/block_size.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace StreamCompaction {

void requireBlockSize(int blockSize, std::span<const int> allowed) {
    if (std::ranges::find(allowed, blockSize) != allowed.end()) {
        return;
    }
    std::string message = "block size: expected one of";
    for (const int size : allowed) {
        message += ' ';
        message += std::to_string(size);
    }
    throw std::invalid_argument(message + ", got " + std::to_string(blockSize));
}

}  // namespace StreamCompaction
