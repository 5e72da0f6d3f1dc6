#pragma once

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"

/// The sum of each row of a row-major matrix, by every step from the textbook's kernel to a mapping for each shape.
///
/// Course layer: a matrix of `rows` times `cols` floats and `rows` sums, in host memory. A call allocates, copies to
/// the device and back, and synchronises. A negative number of rows or columns or a null array throws
/// std::invalid_argument; a failing device throws CudaError. The device layer is in row_sum.cuh.
namespace StreamCompaction::RowSum {

/// The steps of the study. In all but the last, a block of 256 threads adds up each row.
enum class Rung {
    BlockPerRow,       ///< one accumulator per thread, then a tree in shared memory
    BlockPerRowFixed,  ///< the same compiled for 2048 or for 2047 columns; others throw std::invalid_argument
    Ilp2,              ///< with 2 independent accumulators per thread
    Ilp3,
    Ilp5,
    Ilp10,
    Shuffle,   ///< with 2 accumulators, and the last 32 partials added by shuffles
    Vectors,   ///< the same with loads of 16 bytes
    Adaptive,  ///< the mapping that suits the shape of the matrix and the card
};

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// out[r] = in[r * cols] + ... + in[r * cols + cols - 1]; zero if there are no columns. The bits are the same in
/// every run on a card. The error is at most 2 log2(cols) epsilon times the sum of the absolute values.
void sum(int rows, int cols, float* out, const float* in);

/// The same by one step of the study. In all but the last the error grows with cols / 256 instead.
void sum(Rung rung, int rows, int cols, float* out, const float* in);

}  // namespace StreamCompaction::RowSum
