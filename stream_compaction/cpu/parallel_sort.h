#pragma once

#include <span>

namespace StreamCompaction::CPU {

/// Sorts ascending by the fastest library sort that the build found.
void sortInPlace(std::span<int> keys);

}  // namespace StreamCompaction::CPU
