#include "output/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "cli/values.h"
#include "output/results_table.h"

namespace Bench {
namespace {

using Status = Outcome::Status;

constexpr std::string_view nothing = "-";
/// What the fastest variant is compared with.
constexpr std::array<std::string_view, 3> peersInVerdicts{"cpu", "thrust", "cub"};
constexpr double infinity = std::numeric_limits<double>::infinity();

[[nodiscard]] std::string_view hardwareName(Hardware hardware) { return hardware == Hardware::Cpu ? "CPU" : "GPU"; }

/// The size in the course's words, or the shape of a matrix. Other sizes than the course's are given as numbers,
/// because two of them may be of the same class.
[[nodiscard]] std::string sizeClass(const Outcome& outcome) {
    if (outcome.shape) {
        return toString(*outcome.shape);
    }
    const std::size_t powerOfTwo = std::bit_ceil(outcome.n);
    if (outcome.n > 1 && outcome.n == powerOfTwo) {
        return "power-of-two";
    }
    return outcome.n > 1 && outcome.n == nonPowerOfTwoBelow(powerOfTwo) ? "non-power-of-two"
                                                                        : fmt::format("n = {}", outcome.n);
}

[[nodiscard]] std::string ofType(const Variant& variant) { return ofType(variant.operation, variant.type); }

/// The short name that notes use.
[[nodiscard]] std::string nameOf(const Outcome& outcome) {
    return fmt::format("{}{} {} {}", name(outcome.variant.operation), ofType(outcome.variant), outcome.variant.name,
                       sizeOf(outcome.n, outcome.shape));
}

[[nodiscard]] std::string noiseWarning(const Timing& time) {
    return std::isfinite(time.us.noise)
               ? fmt::format("noise {:.1f} % after {} trials", 100 * time.us.noise, time.trials)
               : fmt::format("noise unknown: {} trials were too few", time.trials);
}

/// What the time budget has spoilt; empty if nothing.
[[nodiscard]] std::string warning(const Timing& time) {
    std::vector<std::string> parts;
    if (time.isCutShort()) {
        parts.push_back(trialsOf(time) + " trials in the time budget");
    }
    if (time.noisy) {
        parts.push_back(noiseWarning(time));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

/// Whether both did the same to the same input. CPU variants have one mode and match any.
[[nodiscard]] bool isSameTask(const Outcome& a, const Outcome& b) {
    const bool isSameMode =
        a.mode == b.mode || a.variant.hardware == Hardware::Cpu || b.variant.hardware == Hardware::Cpu;
    return isSameMode && a.variant.operation == b.variant.operation && a.variant.type == b.variant.type && a.n == b.n &&
           a.shape == b.shape && a.input == b.input;
}

/// Such as `fastest scan of 1048576, mod:50: single-pass, 8.61 us ± 0.5 %, 69 % of a copy, 1.24 x cub`.
[[nodiscard]] std::string verdictOn(const Outcome& best, std::span<const Outcome> outcomes) {
    std::string text =
        fmt::format("fastest {}{} of {}, {}: {}, {:.2f} us ± {} %", name(best.variant.operation), ofType(best.variant),
                    sizeOf(best.n, best.shape), best.input, best.variant.name, best.time.us.median, noiseOf(best.time));
    if (const auto percent = best.percentOfCopy()) {
        text += fmt::format(", {:.0f} % of a copy", *percent);
    }
    for (const Outcome& other : outcomes) {
        const bool isPeer = std::ranges::find(peersInVerdicts, other.variant.name) != peersInVerdicts.end();
        if (isPeer && other.isTimed() && &other != &best && isSameTask(other, best)) {
            text += fmt::format(", {:.2f} x {}", other.time.us.median / best.time.us.median, other.variant.name);
        }
    }
    return text;
}

[[nodiscard]] bool sameSubject(const Variant& a, const Variant& b) {
    return a.operation == b.operation && a.type == b.type;
}

}  // namespace

void Report::context(const RunContext& context) {
    for (const auto& [label, text] : describe(context)) {
        out_ << fmt::format("{:<10}{}\n", label, text);
    }
}

void Report::section(Operation operation, ElementType type, std::string_view inputName, const Problem& problem) {
    const std::string stars(heading(operation).size() + 6, '*');
    out_ << fmt::format("\n{}\n", paint(Color::Bold, fmt::format("{0}\n** {1} **\n{0}", stars, heading(operation))));
    out_ << fmt::format("    {} elements{}, {}\n    {}\n", sizeOf(problem.size(), problem.shape()),
                        ofType(operation, type), inputName, problem.abridgedInput())
         << std::flush;
}

void Report::outcome(const Outcome& outcome) {
    const Variant& variant = outcome.variant;
    out_ << paint(Color::Bold, fmt::format("==== {}{}, {} ====", variant.title, ofType(variant), sizeClass(outcome)))
         << '\n';
    if (outcome.isTimed()) {
        out_ << fmt::format("   elapsed time: {:.6f}ms    ({} Measured)\n", outcome.time.us.median / 1000,
                            variant.hardware == Hardware::Cpu ? "std::chrono" : "CUDA");
    }
    out_ << fmt::format("    {}\n", verdict(outcome));
    if (const std::string text = warning(outcome.time); outcome.isTimed() && !text.empty()) {
        out_ << fmt::format("    {}\n", paint(Color::Yellow, text));
    }
    out_ << std::flush;
}

void Report::line(const Outcome& outcome) {
    const Variant& variant = outcome.variant;
    const std::string block = variant.blockSizes.empty() ? "" : std::to_string(variant.defaultBlockSize);
    out_ << fmt::format("{:<13} {:<22} {:>11} {:<10} {:>4} {:<7}  ",
                        fmt::format("{}{}", name(variant.operation), ofType(variant)), variant.name,
                        sizeOf(outcome.n, outcome.shape), outcome.input, block, name(outcome.mode));
    if (outcome.isTimed()) {
        out_ << fmt::format("{:>10.2f} us ± {:>5} % {:>8.2f} GB/s", outcome.time.us.median, noiseOf(outcome.time),
                            outcome.gigabytesPerSecond());
        if (const auto percent = outcome.percentOfCopy()) {
            out_ << fmt::format(" {:>6.1f} % of copy", *percent);
        }
        if (const std::string text = warning(outcome.time); !text.empty()) {
            out_ << "  " << paint(Color::Yellow, text);
        }
    } else {
        out_ << verdict(outcome);
    }
    out_ << std::endl;
}

void Report::skipped(std::span<const Outcome> outcomes) {
    std::map<std::string_view, std::vector<std::string_view>> variants;  // by reason
    for (const Outcome& outcome : outcomes) {
        auto& names = variants[outcome.reason];
        if (outcome.status == Status::Skipped && std::ranges::find(names, outcome.variant.name) == names.end()) {
            names.push_back(outcome.variant.name);
        }
    }
    for (const auto& [reason, names] : variants) {
        if (!names.empty()) {
            out_ << paint(Color::Yellow, fmt::format("skipped: {} ({})", fmt::join(names, ", "), reason)) << std::endl;
        }
    }
}

void Report::verdicts(std::span<const Outcome> outcomes) {
    struct Contest {
        const Outcome* best;
        int contestants = 1;
    };
    std::vector<Contest> contests;
    for (const Outcome& outcome : outcomes) {
        if (!outcome.isTimed()) {
            continue;
        }
        const auto found = std::ranges::find_if(
            contests, [&outcome](const Contest& contest) { return isSameTask(*contest.best, outcome); });
        if (found == contests.end()) {
            contests.push_back({&outcome});
            continue;
        }
        ++found->contestants;
        if (outcome.time.us.median < found->best->time.us.median) {
            found->best = &outcome;
        }
    }
    std::erase_if(contests, [](const Contest& contest) { return contest.contestants == 1; });
    if (!contests.empty()) {
        gap();
    }
    for (const Contest& contest : contests) {
        out_ << verdictOn(*contest.best, outcomes) << '\n';
    }
}

void Report::table(std::span<const Outcome> outcomes) {
    std::vector<Outcome> shown;
    std::ranges::copy_if(outcomes, std::back_inserter(shown), isInTable);
    if (shown.empty()) {
        return;
    }
    const auto lines = resultsTable(shown).lines();
    out_ << '\n' << paint(Color::Bold, lines.front()) << '\n';
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (i > 0 && !sameSubject(shown[i].variant, shown[i - 1].variant)) {
            out_ << '\n';
        }
        const bool failed = shown[i].status == Status::Failed;
        out_ << (failed ? paint(Color::Red, lines[i + 1]) : lines[i + 1]) << '\n';
    }
}

void Report::notes(std::span<const Outcome> outcomes, const RunContext& context) {
    const auto noisy = std::ranges::count_if(outcomes, [](const Outcome& outcome) { return outcome.time.noisy; });
    if (noisy > 0) {
        note(fmt::format("{} of {} measurements stayed noisier than --max-noise; a longer --time-budget may help",
                         noisy, outcomes.size()));
    }
    constexpr double wellBelow = 0.9;
    const auto clockOf = [](const Outcome& outcome) {
        return std::min(outcome.clockBeforeMHz.value_or(infinity), outcome.clockAfterMHz.value_or(infinity));
    };
    const auto slowest = std::ranges::min_element(outcomes, {}, clockOf);
    if (slowest != outcomes.end() && context.gpu && clockOf(*slowest) < wellBelow * context.gpu->boostMHz) {
        note(fmt::format("the clock of the card fell to {:.0f} of {:.0f} MHz, lowest at {}", clockOf(*slowest),
                         context.gpu->boostMHz, nameOf(*slowest)));
    }
}

void Report::note(const std::string& text) { out_ << '\n' << paint(Color::Yellow, "Note: " + text) << '\n'; }

void Report::summary(std::span<const Outcome> outcomes) {
    const std::size_t failed = count(outcomes, Status::Failed);
    const std::string text = fmt::format("{} passed, {} failed, {} skipped", count(outcomes, Status::Passed), failed,
                                         count(outcomes, Status::Skipped));
    out_ << '\n' << paint(failed > 0 ? Color::Red : Color::Green, text) << '\n' << std::flush;
}

void Report::list(std::span<const Variant> variants) {
    using enum Table::Align;
    Table table({{"operation", Left}, {"variant", Left}, {"runs on", Left}, {"what", Left}, {"block sizes", Left}});
    for (const Variant& variant : variants) {
        table.addRow({fmt::format("{}{}", name(variant.operation), ofType(variant)), std::string(variant.name),
                      std::string(hardwareName(variant.hardware)), std::string(variant.title),
                      variant.blockSizes.empty() ? std::string(nothing)
                                                 : fmt::format("{}", fmt::join(variant.blockSizes, " "))});
    }
    for (const std::string& line : table.lines()) {
        out_ << line << '\n';
    }
}

std::string Report::verdict(const Outcome& outcome) const {
    switch (outcome.status) {
        case Status::Passed:
            return paint(Color::Green, outcome.isTimed() ? "passed" : "passed (simulated)");
        case Status::Failed:
            return paint(Color::Red, "FAILED: " + outcome.reason);
        case Status::Skipped:
            return paint(Color::Yellow, "skipped: " + outcome.reason);
    }
    return {};
}

std::string Report::paint(Color color, std::string text) const {
    if (!color_) {
        return text;
    }
    const auto code = [color] {
        switch (color) {
            case Color::Bold:
                return 1;
            case Color::Red:
                return 31;
            case Color::Green:
                return 32;
            case Color::Yellow:
                return 33;
        }
        return 0;
    }();
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::size_t count(std::span<const Outcome> outcomes, Outcome::Status status) {
    return static_cast<std::size_t>(std::ranges::count(outcomes, status, &Outcome::status));
}

}  // namespace Bench
