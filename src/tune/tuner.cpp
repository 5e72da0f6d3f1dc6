#include "tuner.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <optional>

#include "csv.h"
#include "usage_error.h"
#include "version_info.h"

namespace Bench::Tune {
namespace {

constexpr TrialPlan plan{.warmup = 1, .trials = 11, .budgetUs = 5e4};

[[nodiscard]] std::string describe(const Candidate& candidate) {
    if (candidate.threads == 0) {
        return candidate.kernel;
    }
    return fmt::format("{} {} threads x {} rows {}", candidate.kernel, candidate.threads, candidate.rows,
                       candidate.order);
}

}  // namespace

Tuner::Tuner(Gpu& gpu, const std::filesystem::path& csv) : gpu_(gpu), info_(gpu.info()), csv_(csv) {
    if (!csv_) {
        throw UsageError("cannot open " + csv.string());
    }
    fmt::print(csv_,
               "gpu,toolkit,commit,timestamp,operation,type,n,kernel,threads,rows,order,trials,median_us,min_us,"
               "max_us,gbps,percent_of_copy,verified\n");
}

void Tuner::run(const Contest& contest, std::span<const Candidate> candidates) {
    const double copyUs = gpu_.measureCopy(contest.bytes, plan).us.median;
    const Candidate* fastest = nullptr;
    double shortest = 0;
    double peer = 0;
    for (const Candidate& candidate : candidates) {
        contest.poison();
        if (!candidate.launch()) {
            continue;
        }
        const bool correct = contest.isCorrect();
        allCorrect_ = allCorrect_ && correct;
        if (!correct) {
            fmt::print("WRONG: {} of {}, n = {}: {}\n", contest.operation, contest.type, contest.n,
                       describe(candidate));
            continue;
        }
        const Timing time = measure(
            gpu_.stopwatch(), plan, [] {}, [&] { candidate.launch(); });
        const double us = time.us.median;
        fmt::print(csv_, "{},{},{},{},{},{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},true\n", info_.name,
                   info_.toolkit, BuildInfo::gitCommit, timestampNow(), contest.operation, contest.type, contest.n,
                   candidate.kernel, candidate.threads, candidate.rows, candidate.order, time.trials, us, time.us.min,
                   time.us.max, static_cast<double>(contest.bytes) / us / 1e3, 100 * copyUs / us);
        if (&candidate == candidates.data()) {
            peer = us;
        } else if (fastest == nullptr || us < shortest) {
            fastest = &candidate;
            shortest = us;
        }
    }
    csv_.flush();
    if (fastest != nullptr) {
        fmt::print("{:8} {:12} n = {:10}  {:9.1f} us  {:5.1f} % of copy  {:5.2f} x {}  {}\n", contest.operation,
                   contest.type, contest.n, shortest, 100 * copyUs / shortest, peer / shortest, candidates[0].kernel,
                   describe(*fastest));
    }
}

}  // namespace Bench::Tune
