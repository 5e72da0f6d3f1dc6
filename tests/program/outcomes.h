#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "variants/tester.h"

namespace Bench {

/// Made-up outcomes for tests of the output.
[[nodiscard]] inline Outcome passed(Operation operation, Hardware hardware, std::string_view variant,
                                    std::string_view title, std::size_t n, double us) {
    Outcome outcome;
    outcome.variant.operation = operation;
    outcome.variant.hardware = hardware;
    outcome.variant.name = variant;
    outcome.variant.title = title;
    outcome.n = n;
    outcome.status = Outcome::Status::Passed;
    outcome.time = {{us, us / 2, us * 2, 0.01}, 15};
    outcome.input = "mod:50";
    outcome.mode = hardware == Hardware::Gpu ? Mode::Cold : Mode::Warm;
    outcome.bytes = 2 * n * sizeof(int);
    return outcome;
}

/// The same in the simulator.
[[nodiscard]] inline Outcome untimed(Outcome outcome) {
    outcome.mode = Mode::Untimed;
    outcome.time = {};
    return outcome;
}

[[nodiscard]] inline Outcome failed(Outcome outcome, std::string reason) {
    outcome.status = Outcome::Status::Failed;
    outcome.reason = std::move(reason);
    return outcome;
}

[[nodiscard]] inline Outcome skipped(Outcome outcome, std::string reason) {
    outcome.status = Outcome::Status::Skipped;
    outcome.reason = std::move(reason);
    return outcome;
}

}  // namespace Bench
