#include <fmt/format.h>

#include "cli/values.h"
#include "measure/gpu.h"

namespace Bench {

void requireDevice(const GpuRequest& request, int devices) {
    if (request.device < devices) {
        return;
    }
    if (!request.world.isAlone()) {
        throw UsageError(
            fmt::format("mpirun: each process needs a GPU of its own; this machine has {} for {} processes", devices,
                        request.world.onMachine().size));
    }
    throw UsageError(fmt::format("--device: expected a number from 0 to {}, got {}", devices - 1, request.device));
}

}  // namespace Bench
