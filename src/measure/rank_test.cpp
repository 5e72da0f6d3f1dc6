#include "measure/rank_test.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace Bench {
namespace {

/// Ranks of the samples of `a`, then of `b`, among all of them. Twice as large, so that shared ranks are whole.
[[nodiscard]] std::vector<std::size_t> doubledRanks(std::span<const double> a, std::span<const double> b) {
    std::vector<double> sorted(a.begin(), a.end());
    sorted.insert(sorted.end(), b.begin(), b.end());
    std::vector<std::size_t> ranks(sorted.size());
    const std::vector<double> samples = sorted;
    std::ranges::sort(sorted);
    std::ranges::transform(samples, ranks.begin(), [&sorted](double sample) {
        const auto equal = std::ranges::equal_range(sorted, sample);
        return static_cast<std::size_t>((equal.begin() - sorted.begin()) + (equal.end() - sorted.begin()) + 1);
    });
    return ranks;
}

/// How many of the choices of `count` ranks have each sum.
[[nodiscard]] std::vector<double> choicesBySum(std::span<const std::size_t> ranks, std::size_t count) {
    const std::size_t largest = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
    std::vector<std::vector<double>> choices(count + 1, std::vector<double>(largest + 1));
    choices[0][0] = 1;
    for (const std::size_t rank : ranks) {
        for (std::size_t chosen = count; chosen > 0; --chosen) {
            for (std::size_t sum = rank; sum <= largest; ++sum) {
                choices[chosen][sum] += choices[chosen - 1][sum - rank];
            }
        }
    }
    return choices[count];
}

[[nodiscard]] double exactly(std::span<const std::size_t> ranks, std::size_t count, std::size_t sum) {
    const std::vector<double> choices = choicesBySum(ranks, count);
    const auto at = choices.begin() + static_cast<std::ptrdiff_t>(sum);
    const double all = std::accumulate(choices.begin(), choices.end(), 0.0);
    const double below = std::accumulate(choices.begin(), at + 1, 0.0);
    const double above = std::accumulate(at, choices.end(), 0.0);
    return std::min(1.0, 2 * std::min(below, above) / all);
}

/// The choices of `count` ranks have this mean and variance, with or without shared ranks.
[[nodiscard]] double byNormalDistribution(std::span<const std::size_t> ranks, std::size_t count, std::size_t sum) {
    const auto n = static_cast<double>(ranks.size());
    const auto chosen = static_cast<double>(count);
    double mean = 0;
    for (const std::size_t rank : ranks) {
        mean += static_cast<double>(rank) / n;
    }
    double variance = 0;
    for (const std::size_t rank : ranks) {
        variance += (static_cast<double>(rank) - mean) * (static_cast<double>(rank) - mean) / (n - 1);
    }
    variance *= chosen * (n - chosen) / n;
    const double distance = std::max(0.0, std::abs(static_cast<double>(sum) - chosen * mean) - 1);
    return variance == 0 ? 1 : std::erfc(distance / std::sqrt(variance) / std::numbers::sqrt2);
}

}  // namespace

double rankTest(std::span<const double> a, std::span<const double> b) {
    constexpr std::size_t mostExactly = 60;
    if (a.empty() || b.empty()) {
        return 1;
    }
    const std::vector<std::size_t> ranks = doubledRanks(a, b);
    const auto endOfA = ranks.begin() + static_cast<std::ptrdiff_t>(a.size());
    const std::size_t sum = std::accumulate(ranks.begin(), endOfA, std::size_t{0});
    return ranks.size() <= mostExactly ? exactly(ranks, a.size(), sum) : byNormalDistribution(ranks, a.size(), sum);
}

double rankTestOfDisjointSets(std::size_t a, std::size_t b) {
    double choices = 1;
    for (std::size_t i = 1; i <= a; ++i) {
        choices *= static_cast<double>(b + i) / static_cast<double>(i);
    }
    return std::min(1.0, 2 / choices);
}

}  // namespace Bench
