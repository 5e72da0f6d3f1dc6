#pragma once

#include <cstddef>

/// Thrust's answers for arrays in device memory, too large to check on the host; compiled once for int, unsigned,
/// 64-bit integers, float and double. Each call waits for its result.
namespace StreamCompaction::Testing::Oracle {

template <typename T>
void scan(const T* in, T* out, std::size_t n);

/// Keeps the nonzero elements; returns how many.
template <typename T>
[[nodiscard]] std::size_t compact(const T* in, T* out, std::size_t n);

template <typename T>
void sort(const T* in, T* out, std::size_t n);

/// Whether the arrays hold the same bits.
template <typename T>
[[nodiscard]] bool equal(const T* a, const T* b, std::size_t n);

}  // namespace StreamCompaction::Testing::Oracle
