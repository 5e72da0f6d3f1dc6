#include "output/classic_report.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <span>
#include <string>

namespace Bench {
namespace {

using Status = Outcome::Status;
using IntProblem = ProblemOn<std::int32_t, Array<std::int32_t>>;

/// The first 13 and the last 2 elements of more than 16.
[[nodiscard]] std::string arrayLine(std::span<const std::int32_t> values) {
    constexpr std::size_t longestWhole = 16;
    constexpr std::size_t first = 13;
    constexpr std::size_t last = 2;
    std::string line = "    [ ";
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i == first && values.size() > longestWhole) {
            line += "... ";
            i = values.size() - last;
        }
        line += fmt::format("{:3} ", values[i]);
    }
    return line + "]\n";
}

[[nodiscard]] std::string_view headingOf(Operation operation) {
    if (operation == Operation::Scan) {
        return "SCAN TESTS";
    }
    return operation == Operation::Compact ? "STREAM COMPACTION TESTS" : "RADIX SORT TESTS";
}

/// Only the compaction by a serial scan has no size in its title, because it runs with one size.
[[nodiscard]] std::string titleOf(const Outcome& outcome) {
    const std::string title(outcome.variant.title);
    if (outcome.variant.name == classicOneSizeVariant) {
        return title;
    }
    return title + (std::has_single_bit(outcome.n) ? ", power-of-two" : ", non-power-of-two");
}

[[nodiscard]] std::string verdictOn(const Outcome& outcome) {
    switch (outcome.status) {
        case Status::Passed:
            return "passed ";
        case Status::Inexact:
        case Status::Failed:
            return outcome.reason + "\n    FAIL VALUE ";
        case Status::Skipped:
            return "skipped: " + outcome.reason;
    }
    return {};
}

}  // namespace

void ClassicReport::section(Operation operation, const Problem& problem) {
    const std::string_view heading = headingOf(operation);
    const std::string stars(heading.size() + 6, '*');
    out_ << fmt::format("\n{0}\n** {1} **\n{0}\n", stars, heading)
         << arrayLine(dynamic_cast<const IntProblem&>(problem).input());
}

void ClassicReport::outcome(const Outcome& outcome, const Problem& problem) {
    const bool onCpu = outcome.variant.hardware == Hardware::Cpu;
    out_ << fmt::format("==== {} ====\n", titleOf(outcome));
    if (outcome.isTimed()) {
        out_ << fmt::format("   elapsed time: {:.6g}ms    ({} Measured)\n",
                            static_cast<float>(outcome.time.us.median / 1000), onCpu ? "std::chrono" : "CUDA");
    }
    if (onCpu && outcome.isTimed()) {
        out_ << arrayLine(dynamic_cast<const IntProblem&>(problem).result());
    }
    // The others are compared with the first scan, so it has no verdict.
    const bool isReference = outcome.variant.operation == Operation::Scan && onCpu && std::has_single_bit(outcome.n);
    if (!isReference || outcome.status != Status::Passed) {
        out_ << fmt::format("    {}\n", verdictOn(outcome));
    }
    out_ << std::flush;
}

}  // namespace Bench
