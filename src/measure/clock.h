#pragma once

#include <chrono>
#include <functional>

namespace Bench {

/// Microseconds since some moment; tests put in their own.
using Clock = std::function<double()>;

[[nodiscard]] inline double steadyMicroseconds() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace Bench
