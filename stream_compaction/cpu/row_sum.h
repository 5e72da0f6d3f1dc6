#pragma once

#include <cstdint>

#include "stream_compaction/cpu.h"

/// Row sums of a row-major matrix on the host: out[r] is the sum of the `cols` elements from in[r * cols] on, or zero
/// if there are none. Integers wrap. The error of floating-point sums is at most 2 log2(cols) epsilon times the sum of
/// the absolute values. Timed by CPU::timer(). A negative number or a null array throws std::invalid_argument. Only
/// oneTBB allocates.
namespace StreamCompaction::CPU {

/// Pairwise summation (Higham, Accuracy and Stability of Numerical Algorithms, 4.2) on one core.
void sumRows(int rows, int cols, float* out, const float* in);
/// The same for double.
void sumRows(int rows, int cols, double* out, const double* in);
/// The same for integers, whose order makes no difference.
void sumRows(int rows, int cols, std::int32_t* out, const std::int32_t* in);

/// The same on all cores, vectorised, and in the same order in every run on a machine.
void parallelSumRows(int rows, int cols, float* out, const float* in);
/// The same for double.
void parallelSumRows(int rows, int cols, double* out, const double* in);
/// The same for integers.
void parallelSumRows(int rows, int cols, std::int32_t* out, const std::int32_t* in);

}  // namespace StreamCompaction::CPU
