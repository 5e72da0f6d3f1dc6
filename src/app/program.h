#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "measure/gpu.h"
#include "output/report.h"
#include "variants/variants.h"

namespace Bench {

/// What the program works with; tests put in their own.
struct Machine {
    std::vector<Variant> variants;
    std::function<GpuAccess(const GpuRequest& request)> openGpu;
    std::optional<std::size_t> hostMemory;  ///< bytes available, where the system tells
    bool simulated = false;                 ///< whether GPU variants run in the simulator
};

/// This computer, with every variant there is.
[[nodiscard]] Machine thisMachine();

/// The whole program: returns its exit status, 0 when all that could run has passed, 1 when a check failed, a
/// comparison found a regression or something went wrong on the way, 2 when it was asked for something it cannot do,
/// 130 when it was interrupted.
[[nodiscard]] int runProgram(std::span<const char* const> arguments, const std::vector<std::size_t>& defaultSizes,
                             const Machine& machine, Console console);

}  // namespace Bench
