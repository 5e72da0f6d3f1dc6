#pragma once

#include <cstddef>

/// Reference results by Thrust for arrays in device memory that are too large to check on the host. Compiled once for
/// int, unsigned, 64-bit integers, float and double. Each call waits for its result.
namespace StreamCompaction::Testing::Oracle {

template <typename T>
void scan(const T* in, T* out, std::size_t n);

/// Keeps the nonzero elements. Returns their number.
template <typename T>
[[nodiscard]] std::size_t compact(const T* in, T* out, std::size_t n);

template <typename T>
void sort(const T* in, T* out, std::size_t n);

/// Whether the arrays have the same bits.
template <typename T>
[[nodiscard]] bool equal(const T* a, const T* b, std::size_t n);

}  // namespace StreamCompaction::Testing::Oracle
