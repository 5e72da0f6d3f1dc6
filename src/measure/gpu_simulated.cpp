// Replaces gpu.cpp and gpu_probe.cu in a simulated build, which has no card to time.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <simulator/simulator.h>
#include <stream_compaction/runtime/cuda_check.h>

#include <stdexcept>

#include "cli/values.h"
#include "measure/gpu.h"

namespace Bench {
namespace {

[[nodiscard]] std::string describe(const Simulator::Settings& settings) {
    const Simulator::Card& card = settings.card;
    const std::string seed = settings.seed == 0 ? "" : fmt::format(", seed {}", settings.seed);
    return fmt::format("compute capability {}.{}, {} multiprocessors{}", card.capability / 10, card.capability % 10,
                       card.multiprocessors, seed);
}

}  // namespace

GpuAccess openGpu(const GpuRequest& request) {
    try {
        Simulator::configure(request.simulator);
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }
    const int devices = Simulator::settings().devices;
    requireDevice(request, devices);
    StreamCompaction::Common::checkCUDAError(cudaSetDevice(request.device), "cudaSetDevice");
    return {nullptr, {}, describe(Simulator::settings()), devices, request.gpus.value_or(devices), [] {
                Simulator::configure("trace=");
            }};
}

}  // namespace Bench
