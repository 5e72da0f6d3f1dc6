#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "measure/gpu.h"
#include "output/report.h"
#include "variants/variants.h"
#include "world/world.h"

namespace Bench {

/// What the program depends on; tests replace it.
struct Machine {
    std::vector<Variant> variants;
    std::function<GpuAccess(const GpuRequest& request)> openGpu;
    std::optional<std::size_t> hostMemory;  ///< bytes available, if the system reports them
    bool simulated = false;                 ///< whether GPU variants run in the simulator
    std::function<std::unique_ptr<const World>()> openWorld = [] { return std::make_unique<const World>(); };
};

/// This computer with all variants.
[[nodiscard]] Machine thisMachine();

/// The whole program. Returns its exit status: 0 if everything that could run has passed; 1 if a check failed, a
/// comparison found a regression, or an error occurred during the run; 2 if the request cannot be carried out; 130 if
/// it was interrupted. Of several ranks only rank 0 prints and writes files, unless another one fails: it says so and
/// ends all.
[[nodiscard]] int runProgram(std::span<const char* const> arguments, const std::vector<std::size_t>& defaultSizes,
                             const Machine& machine, Console console);

}  // namespace Bench
