#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/gpu.h"

namespace Bench {

/// The fastest that the card moves bytes, in arrays far larger than its caches, and its clock while it does.
struct Ceilings {
    double copyGbps = 0;  ///< cudaMemcpyAsync within the device; bytes read and bytes written
    double readGbps = 0;  ///< cub::DeviceReduce
    double clockMHz = 0;
};

/// Arrays have a GiB where there is room for two of them.
[[nodiscard]] Ceilings measureCeilings(Gpu& gpu);

/// Where and how a run is made: what all of its rows have in common.
struct RunContext {
    std::optional<GpuInfo> gpu;
    std::string gpuUnavailableReason;          ///< of the card that is missing
    std::optional<std::string> simulatedCard;  ///< in its place, in words
    std::optional<Ceilings> ceilings;
    std::string cpu;
    std::string compiler;
    std::string commit;
};

/// All but the ceilings.
[[nodiscard]] RunContext describeRun(const GpuAccess& access);

/// As reports begin: a label and what there is to say.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe(const RunContext& context);

}  // namespace Bench
