#pragma once

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"

/// The sum of each row of a row-major matrix, in every step from the textbook's kernel to a mapping for each shape.
/// Course layer: matrices in host memory, copied to the device and back around the timed work; allocates and
/// synchronises. A negative number of rows or columns or a null array throws std::invalid_argument, a failing device
/// CudaError. The device layer is in row_sum.cuh.
namespace StreamCompaction::RowSum {

/// The steps of the study. All but the last have a block of 256 threads add up a row.
enum class Rung {
    BlockPerRow,       ///< each thread in one accumulator, then a tree in shared memory
    BlockPerRowFixed,  ///< the same compiled for 2048 or for 2047 columns; others throw std::invalid_argument
    Ilp2,              ///< with 2 independent accumulators per thread
    Ilp3,
    Ilp5,
    Ilp10,
    Shuffle,   ///< with 2 accumulators, and the last 32 partials added by shuffles
    Vectors,   ///< and loads of 16 bytes
    Adaptive,  ///< the mapping that suits the shape of the matrix and the card
};

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// out[r] = in[r * cols] + ... + in[r * cols + cols - 1]; zeros where there are no columns. The bits are the same in
/// every run on a card. The error is at most 2 log2(cols) epsilon times the sum of the absolute values.
void sum(int rows, int cols, float* out, const float* in);

/// By that step of the study. For those before the last the error grows with cols / 256 instead.
void sum(Rung rung, int rows, int cols, float* out, const float* in);

}  // namespace StreamCompaction::RowSum
