#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "measure/measure.h"
#include "world/world.h"

namespace Bench {

/// Whether GPU variants run in the simulator, on the CPU. Results are the same; there are no times.
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
    double boostMHz = 0;  ///< the highest clock in the card's specification
};

/// The card that variants run on.
class Gpu {
  public:
    virtual ~Gpu() = default;

    [[nodiscard]] virtual GpuInfo info() const = 0;
    [[nodiscard]] virtual std::size_t freeBytes() const = 0;
    /// Measures by CUDA events. A cold trial empties the L2 cache before one run; with `ahead` all of the run's work is
    /// enqueued before any of it begins. A batch has as many runs as fit in some milliseconds. All ranks begin a trial
    /// together, and its time is that of the slowest one.
    [[nodiscard]] virtual std::unique_ptr<Stopwatch> stopwatch(Mode mode, bool ahead) = 0;
    /// A copy within the device that reads and writes `bytes` in total: the ceiling for an operation that moves
    /// `bytes`.
    [[nodiscard]] virtual Timing measureCopy(std::size_t bytes, Mode mode, const TrialPlan& plan) = 0;
    /// A sum over `bytes`, cold: the ceiling for an operation that writes very little.
    [[nodiscard]] virtual Timing measureRead(std::size_t bytes, const TrialPlan& plan) = 0;
    /// The present clock of the multiprocessors.
    [[nodiscard]] virtual double measureClockMHz() = 0;
    /// What holds the clock down now, in the driver's words; empty if nothing does or the driver does not say.
    [[nodiscard]] virtual std::string throttleReason() const = 0;

    /// Runs the work in an NVTX range with that name.
    virtual void mark(const std::string& range, const Work& work) = 0;
    /// Runs the work while profilers collect, and waits for it.
    virtual void profile(const Work& work) = 0;
};

/// The requested card.
struct GpuRequest {
    int device = 0;               ///< its number
    std::optional<int> gpus = 1;  ///< how many the run uses, from that one on; all if empty
    std::string simulator;        ///< in a simulated build its settings, in the syntax of Simulator::configure
    const World& world = alone;   ///< the ranks whose trials go together
};

/// Throws UsageError if the machine does not have the requested card, or not one for each of its ranks.
void requireDevice(const GpuRequest& request, int devices);

/// The card or the simulated card, or the reason why there is neither.
struct GpuAccess {
    std::unique_ptr<Gpu> gpu;
    std::string unavailableReason;
    std::optional<std::string> simulatedCard;  ///< its description
    int devices = 1;                           ///< how many cards there are
    int gpus = 1;                              ///< how many the run is to use
    /// Completes what is recorded of a run. Throws std::runtime_error if it could not be written.
    std::function<void()> finish = [] {};
};

/// Throws UsageError if there are cards but not the requested ones, or if the simulator does not know a setting.
[[nodiscard]] GpuAccess openGpu(const GpuRequest& request);

}  // namespace Bench
