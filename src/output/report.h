#pragma once

#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "problems/problem.h"
#include "variants/run_context.h"
#include "variants/tester.h"

namespace Bench {

/// Where the program writes.
struct Console {
    std::ostream& out;
    std::ostream& err;
    bool color = false;
    bool progress = false;  ///< whether `err` is a terminal, with someone who waits
};

/// Writes what the person at the terminal reads, in the words of the course's report.
class Report {
  public:
    Report(std::ostream& out, bool color) : out_(out), color_(color) {}

    void context(const RunContext& context);
    void section(Operation operation, ElementType type, std::string_view inputName, const Problem& problem);
    /// The lines of one variant, as soon as it is done.
    void outcome(const Outcome& outcome);
    /// The same in one line, where there are many, after a gap.
    void line(const Outcome& outcome);
    void gap() { out_ << '\n'; }
    /// The closing table of all that ran.
    void table(std::span<const Outcome> outcomes);
    /// What to know before one trusts the times: noise that stayed, a clock that fell.
    void notes(std::span<const Outcome> outcomes, const RunContext& context);
    void note(const std::string& text);
    /// `N passed, N failed, N skipped`.
    void summary(std::span<const Outcome> outcomes);
    /// What `--list` prints.
    void list(std::span<const Variant> variants);

  private:
    enum class Color { Bold, Red, Green, Yellow };

    [[nodiscard]] std::string verdict(const Outcome& outcome) const;
    [[nodiscard]] std::string paint(Color color, std::string text) const;

    std::ostream& out_;
    bool color_;
};

[[nodiscard]] std::size_t count(std::span<const Outcome> outcomes, Outcome::Status status);

}  // namespace Bench
