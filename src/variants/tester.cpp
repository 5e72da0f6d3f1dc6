#include "variants/tester.h"

#include <fmt/format.h>

#include <exception>
#include <limits>
#include <new>

#include "cli/values.h"

namespace Bench {
namespace {

constexpr std::size_t maxCpuSize = std::numeric_limits<int>::max();

/// Marks the timed work, and nothing else, for profilers.
class MarkingStopwatch final : public Stopwatch {
  public:
    MarkingStopwatch(Gpu& gpu, const Measurement& measurement, bool profile)
        : gpu_(gpu),
          stopwatch_(gpu.stopwatch(measurement.mode)),
          range_(fmt::format("{}/{}/{}", name(measurement.variant.operation), measurement.variant.name, measurement.n)),
          profile_(profile) {}

    [[nodiscard]] double microseconds(const Work& work) override {
        const Work marked = [&] { gpu_.mark(range_, work); };
        return stopwatch_.microseconds(profile_ ? [&] { gpu_.profile(marked); } : marked);
    }

  private:
    Gpu& gpu_;
    Stopwatch& stopwatch_;
    std::string range_;
    bool profile_;
};

}  // namespace

Tester::Tester(const GpuAccess& access, TrialPlan plan, bool profile)
    : access_(access), plan_(std::move(plan)), profile_(profile) {}

Outcome Tester::test(const Measurement& measurement, Problem& problem) {
    Outcome outcome;
    static_cast<Measurement&>(outcome) = measurement;
    if (auto reason = reasonToSkip(measurement.variant, problem)) {
        outcome.reason = std::move(*reason);
        return outcome;
    }
    try {
        run(outcome, problem);
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

std::optional<std::string> Tester::reasonToSkip(const Variant& variant, const Problem& problem) const {
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
    if (!access_.gpu) {
        return std::nullopt;
    }
    const std::size_t needed = variant.deviceBytes(problem, variant.defaultBlockSize);
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
    const auto prepared = variant.prepare(problem, variant.defaultBlockSize);
    const auto time = [&](Stopwatch& stopwatch) {
        return measure(
            stopwatch, plan_, [&] { prepared->poisonOutput(); }, [&] { prepared->launch(); });
    };
    if (untimed) {
        prepared->poisonOutput();
        prepared->launch();
    } else if (onCard) {
        MarkingStopwatch stopwatch(*access_.gpu, outcome, profile_);
        outcome.time = time(stopwatch);
        if (!profile_) {
            outcome.clockMHz = access_.gpu->measureClockMHz();
        }
    } else {
        outcome.time = time(cpuStopwatch_);
    }
    prepared->fetchResult();
    if (auto mismatch = problem.mismatch()) {
        outcome.status = Outcome::Status::Failed;
        outcome.reason = std::move(*mismatch);
    } else {
        outcome.status = Outcome::Status::Passed;
    }
}

double Tester::copyMedianUs(const Outcome& outcome, const Problem& problem) {
    Gpu& gpu = *access_.gpu;
    if (outcome.variant.prepareCopy) {
        const auto nothing = [] {};
        return measure(gpu.stopwatch(outcome.mode), plan_, nothing, outcome.variant.prepareCopy(problem)).us.median;
    }
    const auto known = copyMedianUs_.find({outcome.bytes, outcome.mode});
    if (known != copyMedianUs_.end()) {
        return known->second;
    }
    return copyMedianUs_[{outcome.bytes, outcome.mode}] = gpu.measureCopy(outcome.bytes, outcome.mode, plan_).us.median;
}

}  // namespace Bench
