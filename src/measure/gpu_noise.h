#pragma once

#include <cstddef>
#include <span>

namespace Bench {

/// Fills device memory with data that is not all alike: memory and buses may be faster on zeros.
void fillWithNoise(std::span<std::byte> memory);

}  // namespace Bench
