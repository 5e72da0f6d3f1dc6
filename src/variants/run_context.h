#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/gpu.h"
#include "measure/system_info.h"

namespace Bench {

/// The highest throughput of the card on arrays far larger than its caches, and its clock right after.
struct Ceilings {
    double copyGbps = 0;  ///< cudaMemcpyAsync within the device; bytes read and bytes written
    double readGbps = 0;  ///< cub::DeviceReduce
    double clockMHz = 0;
};

/// The arrays have a GiB each, if there is room for two of them.
[[nodiscard]] Ceilings measureCeilings(Gpu& gpu);

/// The machine and the program: what all rows of a run have in common.
struct RunContext {
    std::optional<GpuInfo> gpu;
    std::string gpuUnavailableReason;          ///< why there is no card
    std::optional<std::string> simulatedCard;  ///< description of the card that is simulated instead
    int gpus = 1;                              ///< that variants for several GPUs run on
    std::optional<Ceilings> ceilings;
    CpuInfo cpu;
    std::string compiler;
    std::string commit;
    std::vector<std::string> peers;  ///< the libraries that the run measures beside this one, with their versions
};

/// Everything but the ceilings.
[[nodiscard]] RunContext describeRun(const GpuAccess& access);

/// The head of a report: labels and texts.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe(const RunContext& context);

}  // namespace Bench
