#include "tune/tuner.h"

#include <fmt/format.h>

#include "version_info.h"

namespace Bench::Tune {
namespace {

constexpr std::string_view header =
    "gpu,toolkit,commit,timestamp,operation,type,n,kernel,threads,rows,order,trials,median_us,min_us,max_us,gbps,"
    "percent_of_copy,verified";

const TrialPlan plan{.warmup = 1, .trials = 11, .budgetUs = 5e4};

[[nodiscard]] std::string describe(const Candidate& candidate) {
    if (candidate.threads == 0) {
        return candidate.kernel;
    }
    return fmt::format("{} {} threads x {} rows {}", candidate.kernel, candidate.threads, candidate.rows,
                       candidate.order);
}

}  // namespace

Tuner::Tuner(Gpu& gpu, const std::filesystem::path& csv)
    : gpu_(gpu), info_(gpu.info()), csv_(csv, std::string(header)) {}

void Tuner::run(const Contest& contest, std::span<const Candidate> candidates) {
    const double copyUs = gpu_.measureCopy(contest.bytes, Mode::Cold, plan).us.median;
    const Candidate* fastest = nullptr;
    double shortest = 0;
    double peer = 0;
    for (const Candidate& candidate : candidates) {
        if (!candidate.launch()) {
            continue;
        }
        const Timing time =
            measure(*gpu_.stopwatch(Mode::Cold, true), plan, contest.poison, [&] { candidate.launch(); });
        const bool correct = contest.isCorrect();
        allCorrect_ = allCorrect_ && correct;
        const double us = time.us.median;
        const auto number = [](double value) { return fmt::format("{:.3f}", value); };
        csv_.append(csvLine(std::vector<std::string>{
            info_.name, info_.toolkit, std::string(BuildInfo::gitCommit), timestampNow(),
            std::string(contest.operation), std::string(contest.type), std::to_string(contest.n), candidate.kernel,
            std::to_string(candidate.threads), std::to_string(candidate.rows), candidate.order,
            std::to_string(time.trials), number(us), number(time.us.min), number(time.us.max),
            number(static_cast<double>(contest.bytes) / us / 1e3), number(100 * copyUs / us),
            correct ? "true" : "false"}));
        if (!correct) {
            fmt::print("WRONG: {} of {}, n = {}: {}\n", contest.operation, contest.type, contest.n,
                       describe(candidate));
        } else if (&candidate == candidates.data()) {
            peer = us;
        } else if (fastest == nullptr || us < shortest) {
            fastest = &candidate;
            shortest = us;
        }
    }
    if (fastest != nullptr) {
        fmt::print("{:8} {:12} n = {:10}  {:9.1f} us  {:5.1f} % of copy  {:5.2f} x {}  {}\n", contest.operation,
                   contest.type, contest.n, shortest, 100 * copyUs / shortest, peer / shortest, candidates[0].kernel,
                   describe(*fastest));
    }
}

}  // namespace Bench::Tune
