#include "measure.h"

#include <stream_compaction/cpu.h>

#include <vector>

namespace Bench {

double CpuStopwatch::microseconds(const Work& work) {
    work();
    return 1000.0 * StreamCompaction::CPU::timer().getCpuElapsedTimeForPreviousOperation();
}

const char* CpuStopwatch::mode() const { return "batched"; }

Timing measure(Stopwatch& stopwatch, const TrialPlan& plan, const Work& reset, const Work& work) {
    for (int i = 0; i < plan.warmup; ++i) {
        work();
    }
    std::vector<double> times;
    double total = 0;
    do {
        reset();
        times.push_back(stopwatch.microseconds(work));
        total += times.back();
    } while (static_cast<int>(times.size()) < plan.trials && total < plan.budgetUs);
    return {summarize(times), static_cast<int>(times.size())};
}

}  // namespace Bench
