#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace Bench {

void Samples::add(double sample) { sorted_.insert(std::ranges::upper_bound(sorted_, sample), sample); }

// The interval lies between two of the samples, whatever their distribution is: as many of them are below the true
// median as heads are thrown with a coin, n / 2 give or take 1.96 times sqrt(n) / 2 in 95 of 100 cases (Le Boudec,
// Performance Evaluation of Computer and Communication Systems, section 2.2).
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

}  // namespace Bench
