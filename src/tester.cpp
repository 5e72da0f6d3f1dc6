#include "tester.h"

#include <fmt/format.h>

#include <exception>
#include <limits>
#include <new>

#include "sizes.h"

namespace Bench {
namespace {

// Where a run takes seconds, as std::sort of 2^28 ints does (20), one trial has to do.
constexpr double budgetUs = 2e6;

constexpr std::size_t maxCpuSize = std::numeric_limits<int>::max();

}  // namespace

Tester::Tester(const GpuAccess& access, int warmup, int trials)
    : access_(access), plan_{.warmup = warmup, .trials = trials, .budgetUs = budgetUs} {}

Outcome Tester::test(const Variant& variant, Problem& problem) {
    Outcome outcome;
    outcome.variant = variant;
    outcome.n = problem.size();
    outcome.shape = problem.shape();
    if (auto reason = reasonToSkip(variant, problem)) {
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
    if (!access_.gpu) {
        return access_.unavailableReason;
    }
    const std::size_t needed = variant.deviceBytes(problem, variant.defaultBlockSize);
    const std::size_t free = access_.gpu->freeBytes();
    if (needed > free) {
        return fmt::format("needs {} of device memory, {} are free", formatBytes(needed), formatBytes(free));
    }
    return variant.reasonToSkip ? variant.reasonToSkip(problem) : std::nullopt;
}

void Tester::run(Outcome& outcome, Problem& problem) {
    const bool onGpu = outcome.variant.hardware == Hardware::Gpu;
    Stopwatch& stopwatch = onGpu ? access_.gpu->stopwatch() : cpuStopwatch_;
    outcome.bytes = problem.bytesMoved();
    if (onGpu) {
        // First, while the variant's own memory is not yet taken.
        outcome.copyUs = copyMedianUs(outcome.bytes);
    }
    const auto prepared = outcome.variant.prepare(problem, outcome.variant.defaultBlockSize);
    outcome.time = measure(
        stopwatch, plan_, [&] { prepared->poisonOutput(); }, [&] { prepared->launch(); });
    outcome.mode = stopwatch.mode();
    prepared->fetchResult();
    if (auto mismatch = problem.mismatch()) {
        outcome.status = Outcome::Status::Failed;
        outcome.reason = std::move(*mismatch);
    } else {
        outcome.status = Outcome::Status::Passed;
    }
}

double Tester::copyMedianUs(std::size_t bytes) {
    const auto known = copyMedianUs_.find(bytes);
    if (known != copyMedianUs_.end()) {
        return known->second;
    }
    return copyMedianUs_[bytes] = access_.gpu->measureCopy(bytes, plan_).us.median;
}

}  // namespace Bench
