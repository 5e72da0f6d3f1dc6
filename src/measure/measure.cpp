#include "measure/measure.h"

#include <stream_compaction/cpu.h>

#include <array>

#include "cli/nearest_names.h"

namespace Bench {

std::string_view name(Mode mode) {
    switch (mode) {
        case Mode::Cold:
            return "cold";
        case Mode::Batched:
            return "batched";
        case Mode::Untimed:
            return "untimed";
    }
    return {};
}

Mode parseMode(std::string_view text) { return parseName("mode", text, std::array{Mode::Cold, Mode::Batched}); }

double CpuStopwatch::microseconds(const Work& work) {
    work();
    return 1000.0 * StreamCompaction::CPU::timer().getCpuElapsedTimeForPreviousOperation();
}

Timing measure(Stopwatch& stopwatch, const TrialPlan& plan, const Work& reset, const Work& work) {
    for (int i = 0; i < plan.warmup; ++i) {
        work();
    }
    Samples times;
    Summary us;
    const double begin = plan.now();
    do {
        reset();
        times.add(stopwatch.microseconds(work));
        us = times.summary();
    } while ((static_cast<int>(times.size()) < plan.trials || us.noise > plan.maxNoise) &&
             plan.now() - begin < plan.budgetUs);
    return {us, static_cast<int>(times.size()), us.noise > plan.maxNoise};
}

}  // namespace Bench
