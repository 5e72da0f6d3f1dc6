#pragma once

#include "variants/implementation.h"

namespace Bench {

/// Conversions of text on the host: the library's reference, and what the build found to compare it with.
[[nodiscard]] Implementations cpuConversions();

}  // namespace Bench
