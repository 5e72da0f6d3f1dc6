#pragma once

#include <cstddef>
#include <span>

namespace Bench {

/// Fills device memory with varied data, because memory and buses may be faster on zeros.
void fillWithNoise(std::span<std::byte> memory);

}  // namespace Bench
