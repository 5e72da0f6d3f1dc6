#pragma once

#include <cstdint>
#include <vector>

namespace Bench {

/// The time of a fixed amount of work on all processors at once: arithmetic, then a copy. It grows with whatever takes
/// the processors away from a measurement: other programs, sibling threads of a core, a lower clock.
class CpuProbe {
  public:
    /// The fastest of three, because only a lasting disturbance counts.
    [[nodiscard]] double microseconds();

  private:
    struct Worker {
        std::vector<std::uint64_t> from, to;
        std::uint64_t result = 0;
    };

    [[nodiscard]] double once();

    std::vector<Worker> workers_;  ///< one per processor; empty before the first probe
};

}  // namespace Bench
