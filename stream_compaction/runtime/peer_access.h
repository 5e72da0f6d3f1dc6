#pragma once

#include <span>

namespace StreamCompaction {

/// Lets kernels and copies of each device reach the memory of the others, wherever there is a link, until the process
/// ends. Returns whether all reach all. A device may be named twice. Throws CudaError.
[[nodiscard]] bool connectDevices(std::span<const int> devices);

}  // namespace StreamCompaction
