#include "measure/cpu_probe.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "measure/measure.h"

namespace Bench {
namespace {

/// Independent chains keep the arithmetic units busy, which sibling threads share.
[[nodiscard]] std::uint64_t compute(std::uint64_t seed) {
    constexpr int rounds = 20'000;
    std::array<std::uint64_t, 4> chains{seed, seed + 1, seed + 2, seed + 3};
    for (int i = 0; i < rounds; ++i) {
        for (std::uint64_t& chain : chains) {
            chain = chain * 6364136223846793005u + 1442695040888963407u;
        }
    }
    return chains[0] ^ chains[1] ^ chains[2] ^ chains[3];
}

}  // namespace

double CpuProbe::microseconds() {
    if (workers_.empty()) {
        constexpr std::size_t words = std::size_t{1} << 17;  // a MiB
        workers_.resize(static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
        for (Worker& worker : workers_) {
            worker.from.assign(words, 1);
            worker.to.assign(words, 0);
        }
        (void)once();
    }
    return std::min({once(), once(), once()});
}

double CpuProbe::once() {
    const double begin = steadyMicroseconds();
    tbb::parallel_for(
        std::size_t{0}, workers_.size(),
        [this](std::size_t i) {
            Worker& worker = workers_[i];
            worker.result = compute(worker.result);
            std::ranges::copy(worker.from, worker.to.begin());
        },
        tbb::static_partitioner());
    return steadyMicroseconds() - begin;
}

}  // namespace Bench
