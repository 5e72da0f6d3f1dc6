// Stands in for mpi.cpp in a build without MPI or NCCL, or for one GPU.
#include "cli/values.h"
#include "world/world.h"

namespace Bench {

std::unique_ptr<const World> openWorld() {
    if (startedProcesses() > 1) {
        throw UsageError(
            "mpirun: this program was built without MPI and NCCL, or for one GPU, so each process would run alone");
    }
    return std::make_unique<const World>();
}

}  // namespace Bench
