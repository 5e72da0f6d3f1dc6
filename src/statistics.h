#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace Bench {

struct Summary {
    double median = 0;
    double min = 0;
    double max = 0;
};

/// Throws std::invalid_argument when there are no samples.
[[nodiscard]] inline Summary summarize(std::vector<double> samples) {
    if (samples.empty()) {
        throw std::invalid_argument("summarize: expected at least one sample");
    }
    std::ranges::sort(samples);
    const std::size_t middle = samples.size() / 2;
    const bool odd = samples.size() % 2 == 1;
    const double median = odd ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
    return {median, samples.front(), samples.back()};
}

}  // namespace Bench
