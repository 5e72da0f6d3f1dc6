#include "variants/run_context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/values.h"
#include "cli/version_info.h"

namespace Bench {

Ceilings measureCeilings(Gpu& gpu) {
    constexpr std::size_t gibibyte = std::size_t{1} << 30;
    const std::size_t bytes = std::min(gibibyte, gpu.freeBytes() / 4);
    const TrialPlan plan;
    const auto gbps = [](std::size_t moved, const Timing& time) {
        return static_cast<double>(moved) / time.us.median / 1e3;
    };
    Ceilings ceilings;
    ceilings.copyGbps = gbps(2 * bytes, gpu.measureCopy(2 * bytes, Mode::Cold, plan));
    ceilings.readGbps = gbps(bytes, gpu.measureRead(bytes, plan));
    ceilings.clockMHz = gpu.measureClockMHz();
    return ceilings;
}

RunContext describeRun(const GpuAccess& access) {
    return {.gpu = access.gpu ? std::optional(access.gpu->info()) : std::nullopt,
            .gpuUnavailableReason = access.unavailableReason,
            .simulatedCard = access.simulatedCard,
            .gpus = access.gpus,
            .ceilings = std::nullopt,
            .cpu = cpuInfo(),
            .compiler = std::string(BuildInfo::compiler),
            .commit = std::string(BuildInfo::gitCommit),
            .peers = {}};
}

std::vector<std::pair<std::string, std::string>> describe(const RunContext& context) {
    std::vector<std::pair<std::string, std::string>> lines;
    if (context.gpu) {
        const GpuInfo& gpu = *context.gpu;
        lines.emplace_back("GPU", fmt::format("{}, compute capability {}, {} memory", gpu.name, gpu.computeCapability,
                                              formatBytes(gpu.memoryBytes)));
        lines.emplace_back("CUDA", fmt::format("driver {}, toolkit {}", gpu.driver, gpu.toolkit));
    } else if (context.simulatedCard) {
        lines.emplace_back("GPU", fmt::format("simulated, {}; results are checked, not timed: times need a card and "
                                              "scripts/run.sh --cuda",
                                              *context.simulatedCard));
    } else {
        lines.emplace_back("GPU", "none: " + context.gpuUnavailableReason);
    }
    if (context.gpus > 1) {
        lines.emplace_back("GPUs", std::to_string(context.gpus));
    }
    if (context.gpu && context.ceilings) {
        lines.emplace_back("Clock", fmt::format("{:.0f} MHz, nominally up to {:.0f}", context.ceilings->clockMHz,
                                                context.gpu->boostMHz));
        lines.emplace_back("Ceilings", fmt::format("copy {:.0f} GB/s, read {:.0f} GB/s", context.ceilings->copyGbps,
                                                   context.ceilings->readGbps));
    }
    lines.emplace_back("CPU", describe(context.cpu));
    lines.emplace_back("Compiler", context.compiler);
    lines.emplace_back("Commit", context.commit);
    if (!context.peers.empty()) {
        lines.emplace_back("Peers", fmt::format("{}", fmt::join(context.peers, ", ")));
    }
    return lines;
}

}  // namespace Bench
