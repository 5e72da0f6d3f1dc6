#pragma once

#include <cstddef>

#include "annotations.h"

namespace Simulator {

/// Memory between shared arrays that no thread may access.
struct RedZone {
    RedZone() { allowAccess(bytes, 0, sizeof(bytes)); }

    std::byte bytes[64];  // NOLINT(modernize-avoid-c-arrays): plain memory
};

}  // namespace Simulator
