#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>

namespace StreamCompaction {

/// Threads per block that every kernel with a free block size can use: the powers of two from a warp to the limit.
inline constexpr std::array powerOfTwoBlockSizes{32, 64, 128, 256, 512, 1024};

/// Throws std::invalid_argument, which lists the allowed sizes, unless `blockSize` is one of them.
void requireBlockSize(int blockSize, std::span<const int> allowed = powerOfTwoBlockSizes);

}  // namespace StreamCompaction

namespace StreamCompaction::Common {

/// The most blocks that a grid can have.
inline constexpr std::size_t mostBlocks = std::numeric_limits<int>::max();

}  // namespace StreamCompaction::Common
