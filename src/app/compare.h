#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "output/csv.h"

namespace Bench {

enum class Verdict { CannotTell, Faster, Slower };

/// The same measurement in two runs.
struct Change {
    Row before;
    Row after;
    /// The later median divided by the earlier one; empty if a result was wrong.
    std::optional<double> ratio;
    /// Half the width of the ratio's 95 % interval, as a fraction. Infinite if it is not known of both medians.
    double noise = 0;
    Verdict verdict = Verdict::CannotTell;
    std::string reason;  ///< of a verdict that the ratio does not explain
};

/// A row without a partner in the other file, and what the most similar row there differs in.
struct Unpaired {
    Row row;
    std::string reason;
};

struct Comparison {
    std::vector<Change> changes;
    std::vector<Unpaired> onlyBefore;
    std::vector<Unpaired> onlyAfter;

    [[nodiscard]] std::size_t count(Verdict verdict) const;
};

/// Pairs the rows of two files. Rows of one file with the same subject count as one row with the trials of all. If
/// several commits measured a subject, only the last one counts.
///
/// A row is faster or slower only if the median and the fastest trial both changed by more than `threshold` (a
/// fraction), if a rank test gives less than one chance in 1000 to trials of the same speed, and if the machine was in
/// the same state: the clocks of the card within 5 %; the probes of the processor within 10 % of the fastest probe in
/// both files. Rows without samples are tested by their ranges. A right result that became wrong is slower.
[[nodiscard]] Comparison compare(std::span<const Row> before, std::span<const Row> after, double threshold);

/// The command `compare`; `arguments` do not contain that word. Returns the exit status, 1 if something is slower.
/// Throws UsageError for invalid arguments, unreadable files and files without a row in common.
[[nodiscard]] int runComparison(std::span<const char* const> arguments, std::ostream& out);

}  // namespace Bench
