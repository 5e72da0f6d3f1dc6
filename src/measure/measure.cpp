#include "measure/measure.h"

#include <stream_compaction/cpu.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "cli/nearest_names.h"

namespace Bench {

double steadyMicroseconds() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Samples::add(double sample) {
    measured_.push_back(sample);
    sorted_.insert(std::ranges::upper_bound(sorted_, sample), sample);
}

// The interval lies between two of the samples and holds for any distribution. The number of samples below the true
// median is that of heads in n coin tosses: n / 2 ± 1.96 sqrt(n) / 2 in 95 of 100 cases (Le Boudec, Performance
// Evaluation of Computer and Communication Systems, section 2.2).
double Samples::noise(double median) const {
    constexpr std::size_t fewest = 6;
    if (size() < fewest) {
        return std::numeric_limits<double>::infinity();
    }
    const auto n = static_cast<double>(size());
    const auto lower = static_cast<std::size_t>(std::max(0.0, n / 2 - 0.98 * std::sqrt(n)));
    return (sorted_[size() - 1 - lower] - sorted_[lower]) / 2 / median;
}

Summary Samples::summary() const {
    if (sorted_.empty()) {
        throw std::logic_error("Samples: a summary of nothing");
    }
    const double median = (sorted_[(size() - 1) / 2] + sorted_[size() / 2]) / 2;
    return {median, sorted_.front(), sorted_.back(), noise(median)};
}

std::string_view name(Mode mode) {
    switch (mode) {
        case Mode::Cold:
            return "cold";
        case Mode::Batched:
            return "batched";
        case Mode::Warm:
            return "warm";
        case Mode::Untimed:
            return "untimed";
    }
    return {};
}

Mode parseMode(std::string_view text) { return parseName("mode", text, timedModes); }

Trial CpuStopwatch::time(const Work& work) {
    work();
    return {1000.0 * StreamCompaction::CPU::timer().getCpuElapsedTimeForPreviousOperation()};
}

Timing measure(Stopwatch& stopwatch, const TrialPlan& plan, const Work& reset, const Work& work) {
    for (int i = 0; i < plan.warmup; ++i) {
        work();
    }
    Samples times;
    Samples enqueueing;
    Summary us;
    const double begin = plan.now();
    do {
        reset();
        const Trial trial = stopwatch.time(work);
        times.add(trial.us);
        if (trial.enqueueUs) {
            enqueueing.add(*trial.enqueueUs);
        }
        us = times.summary();
    } while ((static_cast<int>(times.size()) < plan.trials || us.noise > plan.maxNoise) &&
             plan.now() - begin < plan.budgetUs);
    return {.us = us,
            .trials = static_cast<int>(times.size()),
            .samples = times.measured(),
            .enqueueUs = enqueueing.size() > 0 ? std::optional(enqueueing.summary().median) : std::nullopt,
            .noisy = us.noise > plan.maxNoise,
            .wanted = plan.trials};
}

}  // namespace Bench
