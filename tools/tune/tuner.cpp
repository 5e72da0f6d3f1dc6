#include "tune/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/version_info.h"

namespace Bench::Tune {
namespace {

constexpr std::string_view header =
    "gpu,toolkit,commit,timestamp,operation,type,n,kernel,threads,rows,order,trials,median_us,min_us,max_us,gbps,"
    "percent_of_copy,verified";

const TrialPlan plan{.warmup = 1, .trials = 11, .budgetUs = 5e4};

/// By how much a chosen shape may be slower than the fastest.
constexpr double tolerance = 0.03;

[[nodiscard]] std::string describe(const Candidate& candidate) {
    if (candidate.threads == 0) {
        return candidate.kernel;
    }
    return fmt::format("{} {} threads x {} rows {}", candidate.kernel, candidate.threads, candidate.rows,
                       candidate.order);
}

[[nodiscard]] Timing timed(Gpu& gpu, const Contest& contest, const Candidate& candidate) {
    return measure(*gpu.stopwatch(Mode::Cold, true), plan, contest.poison, [&] { candidate.launch(); });
}

}  // namespace

Tuner::Tuner(Gpu& gpu, const std::filesystem::path& csv)
    : gpu_(gpu), info_(gpu.info()), csv_(csv, std::string(header)) {}

void Tuner::run(const Contest& contest, std::span<const Candidate> candidates) {
    const double copyUs = gpu_.measureCopy(contest.bytes, Mode::Cold, plan).us.median;
    const std::optional<Result> fastest = fastestOf(contest, candidates, copyUs);
    const Candidate chosen{"chosen", 0, 0, "", [&contest] {
                               contest.chosen();
                               return true;
                           }};
    const std::optional<double> chosenUs = measured(contest, chosen, copyUs);
    if (!fastest || !chosenUs) {
        return;
    }
    // The fastest of many candidates owes something to luck, so a choice that looks slow is measured again.
    double excess = *chosenUs / fastest->us - 1;
    if (excess > tolerance) {
        excess = ratio(contest, chosen, *fastest->candidate) - 1;
    }
    const bool misses = excess > tolerance;
    misses_ += misses ? 1 : 0;
    fmt::print("{:8} {:12} n = {:10}  {:9.1f} us  {:5.1f} % of copy  {}; chosen: {:+.1f} %{}\n", contest.operation,
               contest.type, contest.n, fastest->us, 100 * copyUs / fastest->us, describe(*fastest->candidate),
               100 * excess, misses ? " MISSES" : "");
}

std::optional<Tuner::Result> Tuner::fastestOf(const Contest& contest, std::span<const Candidate> candidates,
                                              double copyUs) {
    std::optional<Result> fastest;
    for (const Candidate& candidate : candidates) {
        const std::optional<double> us = measured(contest, candidate, copyUs);
        if (us && (!fastest || *us < fastest->us)) {
            fastest = {&candidate, *us};
        }
    }
    return fastest;
}

std::optional<double> Tuner::measured(const Contest& contest, const Candidate& candidate, double copyUs) {
    if (!candidate.launch()) {
        return std::nullopt;
    }
    const Timing time = timed(gpu_, contest, candidate);
    const bool correct = contest.isCorrect();
    const double us = time.us.median;
    const auto number = [](double value) { return fmt::format("{:.3f}", value); };
    csv_.append(csvLine(std::vector<std::string>{
        info_.name, info_.toolkit, std::string(BuildInfo::gitCommit), timestampNow(), std::string(contest.operation),
        std::string(contest.type), std::to_string(contest.n), candidate.kernel, std::to_string(candidate.threads),
        std::to_string(candidate.rows), candidate.order, std::to_string(time.trials), number(us), number(time.us.min),
        number(time.us.max), number(static_cast<double>(contest.bytes) / us / 1e3), number(100 * copyUs / us),
        correct ? "true" : "false"}));
    if (!correct) {
        allCorrect_ = false;
        fmt::print("WRONG: {} of {}, n = {}: {}\n", contest.operation, contest.type, contest.n, describe(candidate));
        return std::nullopt;
    }
    return us;
}

double Tuner::ratio(const Contest& contest, const Candidate& first, const Candidate& second) {
    constexpr std::size_t rounds = 5;
    std::array<double, rounds> ratios{};
    for (double& ratio : ratios) {
        ratio = timed(gpu_, contest, first).us.median / timed(gpu_, contest, second).us.median;
    }
    std::ranges::nth_element(ratios, ratios.begin() + rounds / 2);
    return ratios[rounds / 2];
}

}  // namespace Bench::Tune
