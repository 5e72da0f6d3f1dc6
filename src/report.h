#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "gpu.h"
#include "outcome.h"
#include "problem.h"

namespace Bench {

/// What the report says about where it was made.
struct Setting {
    std::string gpu;
    std::optional<std::string> cuda;
    std::string cpu;
    std::string compiler;
    std::string commit;
};

/// Writes what the person at the terminal reads, in the words of the course's report.
class Report {
  public:
    Report(std::ostream& out, bool color) : out_(out), color_(color) {}

    void setting(const Setting& setting);
    void section(Operation operation, ElementType type, std::string_view inputName, const Problem& problem);
    /// The lines of one variant, as soon as it is done.
    void outcome(const Outcome& outcome);
    /// The closing table of all that ran.
    void table(std::span<const Outcome> outcomes);
    /// `N passed, N failed, N skipped`.
    void summary(std::span<const Outcome> outcomes);
    /// What `--list` prints.
    void list(std::span<const Variant> variants);

  private:
    enum class Color { Bold, Red, Green, Yellow };

    [[nodiscard]] std::string paint(Color color, std::string text) const;

    std::ostream& out_;
    bool color_;
};

[[nodiscard]] std::size_t count(std::span<const Outcome> outcomes, Outcome::Status status);

}  // namespace Bench
