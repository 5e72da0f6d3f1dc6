#pragma once

#include <cstddef>
#include <vector>

namespace Bench {

struct Summary {
    double median = 0;
    double min = 0;
    double max = 0;
    /// Half the width of the 95 % confidence interval of the median, as a fraction of the median; infinite for fewer
    /// than the six samples that such an interval takes.
    double noise = 0;
};

/// Measured times, kept in ascending order.
class Samples {
  public:
    void add(double sample);
    [[nodiscard]] std::size_t size() const { return sorted_.size(); }
    /// Throws std::logic_error when there are none.
    [[nodiscard]] Summary summary() const;

  private:
    [[nodiscard]] double noise(double median) const;

    std::vector<double> sorted_;
};

}  // namespace Bench
