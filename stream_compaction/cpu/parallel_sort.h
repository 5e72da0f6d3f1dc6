#pragma once

#include <span>

namespace StreamCompaction::CPU {

/// Sorts in ascending order, in place, by the fastest library sort that the build found.
void sortInPlace(std::span<int> keys);

}  // namespace StreamCompaction::CPU
