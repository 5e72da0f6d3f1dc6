#pragma once

#include <ostream>

#include "problems/problem.h"
#include "variants/tester.h"

namespace Bench {

/// Writes the report of the course's program, byte for byte: the input, and two lines and the array per result. Only a
/// mismatch is told in this program's words.
class ClassicReport {
  public:
    explicit ClassicReport(std::ostream& out) : out_(out) {}

    void section(Operation operation, const Problem& problem);
    /// `problem` has the result. It is a scan, a compaction or a sort of ints.
    void outcome(const Outcome& outcome, const Problem& problem);

  private:
    std::ostream& out_;
};

}  // namespace Bench
