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

/// The program's output streams.
struct Console {
    std::ostream& out;
    std::ostream& err;
    bool color = false;
    bool progress = false;  ///< whether `err` is a terminal with a user
};

/// Writes the report for the user, in the words of the course's program.
class Report {
  public:
    Report(std::ostream& out, bool color) : out_(out), color_(color) {}

    void context(const RunContext& context);
    void section(Operation operation, ElementType type, std::string_view inputName, const Problem& problem);
    /// The lines of one variant, written as soon as it is done.
    void outcome(const Outcome& outcome);
    /// The same in one line, for runs with many measurements. Call gap() before the first one.
    void line(const Outcome& outcome);
    /// One line per reason for which variants of a section were skipped.
    void skipped(std::span<const Outcome> outcomes);
    void gap() { out_ << '\n'; }
    /// The closing table of everything that ran.
    void table(std::span<const Outcome> outcomes);
    /// The fastest variant of each operation on each input, and how many times faster than the peers it is.
    void verdicts(std::span<const Outcome> outcomes);
    /// Warnings about the times: noise that stayed too high, a clock that fell.
    void notes(std::span<const Outcome> outcomes, const RunContext& context);
    void note(const std::string& text);
    /// `N passed, N failed, N skipped`.
    void summary(std::span<const Outcome> outcomes);
    /// The output of `--list`.
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
