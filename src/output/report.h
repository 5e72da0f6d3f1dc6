#pragma once

#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "variants/run_context.h"
#include "variants/tester.h"

namespace Bench {

/// The program's output streams.
struct Console {
    std::ostream& out;
    std::ostream& err;
    bool color = false;
    int width = 80;         ///< columns of a line of `out`
    bool progress = false;  ///< whether `err` is a terminal with a user
    int errWidth = 80;      ///< columns of a line of `err`
};

/// Writes the report for the user. No line is wider than `width` columns, of which there must be 40.
class Report {
  public:
    Report(std::ostream& out, bool color, int width) : out_(out), color_(color), width_(width) {}

    void context(const RunContext& context);
    /// What a section measures, and the titles of its columns. All measurements are of one operation, type and input.
    void section(std::span<const Measurement> measurements);
    /// One line for a measurement of that section, written as soon as it is done. A bar shows the part of a copy's
    /// speed. Reasons and warnings follow on lines of their own.
    void outcome(const Outcome& outcome);
    /// One line per reason for which variants of a section were skipped.
    void skipped(std::span<const Outcome> outcomes);
    /// For each operation on each input the fastest variant at the largest size, and how many times faster than the
    /// peers it is.
    void verdicts(std::span<const Outcome> outcomes);
    /// Warnings about the times: noise that stayed too high, a clock that fell.
    void notes(std::span<const Outcome> outcomes, const RunContext& context);
    void note(const std::string& text);
    /// `N passed, N failed, N skipped`, and the number of inexact ones if there are any.
    void summary(std::span<const Outcome> outcomes);
    /// The output of `--list`.
    void list(std::span<const Variant> variants);

  private:
    enum class Color { None, Bold, Red, Green, Yellow };

    /// A column that tells the measurements of a section apart.
    struct Label {
        std::string_view title;
        std::string (*text)(const Measurement& measurement);
        std::size_t width;
    };

    /// The labels of a line, as wide as those of all lines.
    [[nodiscard]] std::string labelsOf(const std::vector<std::string>& texts) const;
    /// The figures for which the line has room, and then the bar.
    [[nodiscard]] std::string figuresOf(const Outcome& outcome, std::size_t room) const;
    void writeWrapped(Color color, std::string_view text, std::size_t indent);
    [[nodiscard]] std::string paint(Color color, std::string text) const;

    std::ostream& out_;
    bool color_;
    std::size_t width_;
    std::vector<Label> labels_;  ///< of the present section
};

[[nodiscard]] std::size_t count(std::span<const Outcome> outcomes, Outcome::Status status);

}  // namespace Bench
