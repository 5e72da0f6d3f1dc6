#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "measure/measure.h"

namespace Bench {

/// Whether GPU variants run in the simulator, on the CPU: on the same results, but without times.
#ifdef STREAM_COMPACTION_SIMULATED
inline constexpr bool isSimulated = true;
#else
inline constexpr bool isSimulated = false;
#endif

struct GpuInfo {
    std::string name;
    std::string computeCapability;
    std::size_t memoryBytes = 0;
    std::string driver;   ///< newest CUDA version that the installed driver supports
    std::string toolkit;  ///< CUDA version that this program was built with
    double boostMHz = 0;  ///< the highest clock that it is specified for
};

/// The card that variants run on.
class Gpu {
  public:
    virtual ~Gpu() = default;

    [[nodiscard]] virtual GpuInfo info() const = 0;
    [[nodiscard]] virtual std::size_t freeBytes() const = 0;
    /// By CUDA events. In a cold trial the L2 cache is emptied before the one run; a batch has as many runs as take
    /// some milliseconds.
    [[nodiscard]] virtual Stopwatch& stopwatch(Mode mode) = 0;
    /// A copy within the device that reads and writes `bytes` in all: the ceiling for an operation that moves as many.
    [[nodiscard]] virtual Timing measureCopy(std::size_t bytes, Mode mode, const TrialPlan& plan) = 0;
    /// A sum over `bytes`, cold: the ceiling for an operation that writes next to nothing.
    [[nodiscard]] virtual Timing measureRead(std::size_t bytes, const TrialPlan& plan) = 0;
    /// The clock of the multiprocessors as it is now.
    [[nodiscard]] virtual double measureClockMHz() = 0;

    /// Runs the work in an NVTX range of that name, as profilers show them.
    virtual void mark(const std::string& range, const Work& work) = 0;
    /// Runs the work, and waits for it, while profilers are told to collect.
    virtual void profile(const Work& work) = 0;
};

/// Which card is asked for.
struct GpuRequest {
    int device = 0;         ///< its number
    std::string simulator;  ///< in a simulated build what it is like, in the words of Simulator::configure
};

/// The card, or what is simulated in its place, or why there is neither.
struct GpuAccess {
    std::unique_ptr<Gpu> gpu;
    std::string unavailableReason;
    std::optional<std::string> simulatedCard;  ///< in words
};

/// Throws UsageError when there are cards but none with this number, or for settings that the simulator does not know.
[[nodiscard]] GpuAccess openGpu(const GpuRequest& request);

}  // namespace Bench
