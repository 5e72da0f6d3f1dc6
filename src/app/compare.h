#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <vector>

#include "output/csv.h"

namespace Bench {

enum class Verdict { Unchanged, Improvement, Regression };

/// The same measurement in two runs.
struct Change {
    Row before;
    Row after;
    /// The later median divided by the earlier one; empty if a result was wrong.
    std::optional<double> ratio;
    /// The error of the ratio. Each run contributes the distance from its median to the nearer of its minimum and
    /// maximum, relative to the median. The two are combined like independent errors.
    double noise = 0;
    Verdict verdict = Verdict::Unchanged;
};

struct Comparison {
    std::vector<Change> changes;
    std::vector<Row> onlyBefore;
    std::vector<Row> onlyAfter;

    [[nodiscard]] std::size_t count(Verdict verdict) const;
};

/// Pairs the rows of two files. Rows of one file with the same subject count as one row: the median of their medians,
/// the minimum and the maximum of all trials. If several commits measured a subject, only the last one counts. A change
/// counts if it exceeds both the noise and `threshold` (a fraction), or if a right result became wrong or a wrong one
/// right.
[[nodiscard]] Comparison compare(std::span<const Row> before, std::span<const Row> after, double threshold);

/// The command `compare`; `arguments` do not contain that word. Returns the exit status, 1 if there is a regression.
/// Throws UsageError for invalid arguments, unreadable files and files without a row in common.
[[nodiscard]] int runComparison(std::span<const char* const> arguments, std::ostream& out);

}  // namespace Bench
