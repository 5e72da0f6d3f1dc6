#include "variants/tester.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <thread>

#include "cli/values.h"

namespace Bench {
namespace {

constexpr std::size_t maxCpuSize = std::numeric_limits<int>::max();

/// Marks the timed work, and nothing else, for profilers.
class MarkingStopwatch final : public Stopwatch {
  public:
    MarkingStopwatch(Gpu& gpu, const Measurement& measurement, bool profile)
        : gpu_(gpu),
          stopwatch_(gpu.stopwatch(measurement.mode, !profile)),
          range_(fmt::format("{}/{}/{}", name(measurement.variant.operation), measurement.variant.name, measurement.n)),
          profile_(profile) {}

    [[nodiscard]] Trial time(const Work& work) override {
        const Work marked = [&] { gpu_.mark(range_, work); };
        return stopwatch_->time(profile_ ? [&] { gpu_.profile(marked); } : marked);
    }

  private:
    Gpu& gpu_;
    std::unique_ptr<Stopwatch> stopwatch_;
    std::string range_;
    bool profile_;
};

/// Why the trials between these readings of the clock are not to be kept; empty if they are.
[[nodiscard]] std::string throttling(const Gpu& gpu, double beforeMHz, double afterMHz) {
    constexpr double tooLow = 0.75;
    if (std::min(beforeMHz, afterMHz) >= tooLow * gpu.info().boostMHz) {
        return "";
    }
    const std::string reason = gpu.throttleReason();
    return reason.empty() ? "unknown reason" : reason;
}

/// Whether the time is too short for the work, as that of work on another stream is. A card reads faster than it
/// copies, but not by this factor.
[[nodiscard]] bool missesWork(const Outcome& outcome) {
    constexpr double factor = 4;
    return outcome.copyUs && factor * outcome.time.us.median < *outcome.copyUs;
}

}  // namespace

Tester::Tester(const GpuAccess& access, TrialPlan plan, bool profile, const World& world)
    : access_(access), plan_(std::move(plan)), profile_(profile), world_(world) {
    // All ranks have the same samples, those of the slowest. With the same clock they decide alike when to stop.
    plan_.now = [now = plan_.now, &world] { return world.ofFirst(now()); };
}

Outcome Tester::test(const Measurement& measurement, Problem& problem) {
    Outcome outcome;
    static_cast<Measurement&>(outcome) = measurement;
    if (!world_.isAlone()) {
        tryToRun(outcome, problem);
        return outcome;
    }
    try {
        tryToRun(outcome, problem);
    } catch (const std::bad_alloc&) {
        outcome.reason = "ran out of memory: it allocates inside the call";
    } catch (const CannotTakeInput& unsuitable) {
        outcome.reason = unsuitable.what();
    } catch (const std::exception& error) {
        outcome.status = Outcome::Status::Failed;
        outcome.reason = error.what();
    }
    return outcome;
}

void Tester::tryToRun(Outcome& outcome, Problem& problem) {
    if (auto reason = world_.firstText(reasonToSkip(outcome, problem))) {
        outcome.reason = std::move(*reason);
    } else {
        run(outcome, problem);
    }
}

std::optional<std::string> Tester::reasonToSkip(const Measurement& measurement, const Problem& problem) const {
    const Variant& variant = measurement.variant;
    if (variant.hardware == Hardware::Cpu) {
        return problem.size() > maxCpuSize ? std::optional(fmt::format("takes at most {} elements", maxCpuSize))
                                           : std::nullopt;
    }
    if (!access_.gpu && !access_.simulatedCard) {
        return access_.unavailableReason;
    }
    if (variant.reasonToSkip) {
        if (auto reason = variant.reasonToSkip(problem)) {
            return reason;
        }
    }
    if (needsSeveral(variant.gpuUse) && measurement.gpus == 1) {
        return "runs on several GPUs: --gpus N";
    }
    if (measurement.gpus > access_.devices) {
        return fmt::format("needs {} GPUs, {} found", measurement.gpus, access_.devices);
    }
    if (!access_.gpu) {
        return std::nullopt;
    }
    const std::size_t needed = variant.deviceBytes(problem, measurement.setting(world_));
    const std::size_t free = access_.gpu->freeBytes();
    return needed > free ? std::optional(fmt::format("needs {} of device memory, {} are free", formatBytes(needed),
                                                     formatBytes(free)))
                         : std::nullopt;
}

void Tester::run(Outcome& outcome, Problem& problem) {
    const Variant& variant = outcome.variant;
    const bool untimed = outcome.mode == Mode::Untimed;
    const bool onCard = variant.hardware == Hardware::Gpu && !untimed;
    outcome.bytes = problem.bytesMoved();
    if (onCard && !profile_) {
        // Before the variant allocates its own memory.
        outcome.copyUs = copyMedianUs(outcome, problem);
    }
    auto prepared = variant.prepare(problem, outcome.setting(world_));
    try {
        if (untimed) {
            prepared->poisonOutput();
            prepared->launch();
        } else if (onCard) {
            measureOnCard(outcome, *prepared);
        } else {
            outcome.probeBeforeUs = cpuProbe_.microseconds();
            outcome.time = timed(cpuStopwatch_, *prepared);
            outcome.probeAfterUs = cpuProbe_.microseconds();
        }
        prepared->fetchResult();
    } catch (...) {
        if (!world_.isAlone()) {
            // Its destructor would wait for the other ranks, which wait for this one. The program ends now.
            static_cast<void>(prepared.release());
        }
        throw;
    }
    judge(outcome, problem);
    if (outcome.status == Outcome::Status::Passed && missesWork(outcome)) {
        outcome.status = Outcome::Status::Failed;
        outcome.reason = fmt::format("{:.4g} us cannot be its time, because a copy of its bytes takes {:.4g} us",
                                     outcome.time.us.median, *outcome.copyUs);
    }
}

void Tester::judge(Outcome& outcome, const Problem& problem) const {
    auto mismatch = world_.firstText(problem.mismatch());
    if (!mismatch) {
        outcome.status = Outcome::Status::Passed;
        return;
    }
    outcome.status = Outcome::Status::Failed;
    outcome.reason = std::move(*mismatch);
    if (outcome.variant.library.empty()) {
        return;
    }
    const auto worst = problem.roundingError();
    if (worst && worst->error <= worst->anyOrderBound) {
        outcome.status = Outcome::Status::Inexact;
        outcome.reason = fmt::format("rounds too much at index {}: error {:.3g}, bound {:.3g}", worst->index,
                                     worst->error, worst->bound);
    }
}

void Tester::measureOnCard(Outcome& outcome, PreparedRun& prepared) {
    Gpu& gpu = *access_.gpu;
    MarkingStopwatch stopwatch(gpu, outcome, profile_);
    if (profile_) {
        outcome.time = timed(stopwatch, prepared);
        return;
    }
    constexpr int attempts = 3;
    constexpr std::chrono::milliseconds pause(50);
    for (int attempt = 1; attempt <= attempts; ++attempt) {
        outcome.clockBeforeMHz = gpu.measureClockMHz();
        outcome.time = timed(stopwatch, prepared);
        outcome.clockAfterMHz = gpu.measureClockMHz();
        const std::string throttled = throttling(gpu, *outcome.clockBeforeMHz, *outcome.clockAfterMHz);
        outcome.throttled = world_.firstText(throttled).value_or("");
        if (outcome.throttled.empty()) {
            return;
        }
        std::this_thread::sleep_for(pause);
    }
}

Timing Tester::timed(Stopwatch& stopwatch, PreparedRun& prepared) const {
    return measure(
        stopwatch, plan_, [&] { prepared.poisonOutput(); }, [&] { prepared.launch(); });
}

double Tester::copyMedianUs(const Outcome& outcome, const Problem& problem) {
    Gpu& gpu = *access_.gpu;
    if (outcome.variant.prepareCopy) {
        const auto nothing = [] {};
        return measure(*gpu.stopwatch(outcome.mode, true), plan_, nothing,
                       outcome.variant.prepareCopy(problem, outcome.setting(world_)))
            .us.median;
    }
    const std::size_t bytes = outcome.bytes / static_cast<std::size_t>(outcome.gpus);  // each GPU copies its share
    const auto known = copyMedianUs_.find({bytes, outcome.mode});
    if (known != copyMedianUs_.end()) {
        return known->second;
    }
    return copyMedianUs_[{bytes, outcome.mode}] = gpu.measureCopy(bytes, outcome.mode, plan_).us.median;
}

}  // namespace Bench
