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
    /// The later median over the earlier one; nothing where a result was wrong.
    std::optional<double> ratio;
    /// What the ratio may be off by: of each run the way from its median to the nearer of its fastest and its slowest
    /// trial, the two added up like independent errors.
    double noise = 0;
    Verdict verdict = Verdict::Unchanged;
};

struct Comparison {
    std::vector<Change> changes;
    std::vector<Row> onlyBefore;
    std::vector<Row> onlyAfter;

    [[nodiscard]] std::size_t count(Verdict verdict) const;
};

/// Pairs the rows of two files. Rows of one file with the same subject, of the last commit there, count as one: the
/// median of their medians, between the fastest and the slowest trial of all. A change is one that is larger than both
/// the threshold, a fraction, and the noise, or a result that was right and is wrong.
[[nodiscard]] Comparison compare(std::span<const Row> before, std::span<const Row> after, double threshold);

/// The command `compare`: `arguments` without that word. Returns the exit status, 1 when there is a regression. Throws
/// UsageError for what it does not understand, and for files that are not what it takes or have no row in common.
[[nodiscard]] int runComparison(std::span<const char* const> arguments, std::ostream& out);

}  // namespace Bench
