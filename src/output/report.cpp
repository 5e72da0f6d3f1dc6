#include "output/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "cli/values.h"
#include "cli/wrapped.h"
#include "output/table.h"

namespace Bench {
namespace {

using Status = Outcome::Status;

/// What the fastest variant is compared with: the faster variant of each line.
constexpr std::array<std::array<std::string_view, 2>, 3> peersInVerdicts{
    {{"cpu", "cpu"}, {"thrust", "thrust-latest"}, {"cub", "cub-latest"}}};

[[nodiscard]] std::string_view hardwareName(Hardware hardware) { return hardware == Hardware::Cpu ? "CPU" : "GPU"; }

/// A figure that there is not.
constexpr std::string_view nothing = "-";

/// ` of int64`; empty for the default type.
[[nodiscard]] std::string ofType(const Variant& variant) {
    return variant.type == ElementType::Int32 ? "" : " of " + typeName(variant.operation, variant.type);
}

/// The number of elements, or the shape of a matrix.
[[nodiscard]] std::string sizeOf(const Measurement& measurement) {
    return measurement.shape ? toString(*measurement.shape) : std::to_string(measurement.n);
}

/// Half the width of the median's 95 % interval, in percent; `-` if there were too few trials.
[[nodiscard]] std::string noiseOf(const Timing& time) {
    return std::isfinite(time.us.noise) ? fmt::format("{:.1f}", 100 * time.us.noise) : std::string(nothing);
}

/// The short name that notes use.
[[nodiscard]] std::string nameOf(const Outcome& outcome) {
    return fmt::format("{}{} {} {}", name(outcome.variant.operation), ofType(outcome.variant), outcome.variant.name,
                       sizeOf(outcome));
}

[[nodiscard]] std::string noiseWarning(const Timing& time) {
    return std::isfinite(time.us.noise) ? fmt::format("noise {} % after {} trials", noiseOf(time), time.trials)
                                        : fmt::format("noise unknown: {} trials were too few", time.trials);
}

/// What the time budget or a low clock has spoilt; empty if nothing.
[[nodiscard]] std::string warning(const Outcome& outcome) {
    const Timing& time = outcome.time;
    std::vector<std::string> parts;
    if (!outcome.throttled.empty()) {
        parts.push_back("the clock stayed low: " + outcome.throttled);
    }
    if (time.isCutShort()) {
        parts.push_back(fmt::format("{} of {} trials in the time budget", time.trials, time.wanted));
    }
    if (time.noisy) {
        parts.push_back(noiseWarning(time));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

[[nodiscard]] std::string variantOf(const Measurement& measurement) { return std::string(measurement.variant.name); }
[[nodiscard]] std::string blockOf(const Measurement& measurement) {
    return measurement.variant.blockSizes.empty() ? "" : std::to_string(measurement.variant.defaultBlockSize);
}
[[nodiscard]] std::string modeOf(const Measurement& measurement) { return std::string(name(measurement.mode)); }

/// Whether some variant is measured with several of these.
[[nodiscard]] bool varies(std::string (*text)(const Measurement& measurement),
                          std::span<const Measurement> measurements) {
    std::map<std::string_view, std::string> first;
    return std::ranges::any_of(measurements, [&](const Measurement& measurement) {
        const std::string value = text(measurement);
        return first.try_emplace(measurement.variant.name, value).first->second != value;
    });
}

/// Four digits, and the unit that leaves at least one of them before the point.
[[nodiscard]] std::string formatTime(double us) {
    constexpr double thousand = 1000;
    constexpr double nearlyThousand = 999.95;  // more is rounded to it
    double value = us * thousand;
    for (const char* unit : {"ns", "us", "ms"}) {
        if (value < nearlyThousand) {
            return fmt::format("{:#.4g} {}", value, unit);
        }
        value /= thousand;
    }
    return fmt::format("{:#.4g} s", value);
}

constexpr std::size_t gapOfBar = 2;
constexpr std::size_t leastBar = 5;
constexpr std::size_t goodBar = 20;

/// A figure of a line, right-aligned behind a gap.
struct Figure {
    std::string_view title;
    std::size_t width;
    std::string (*text)(const Outcome& outcome);
    std::size_t roomBehind = 0;  ///< a line with less room leaves it out

    [[nodiscard]] bool fits(std::size_t room) const { return width + roomBehind <= room; }
};

// The first are the last to be left out.
constexpr std::array figures{
    Figure{"time   ", 10,
           [](const Outcome& outcome) { return fmt::format("{:<8}", formatTime(outcome.time.us.median)); }},
    Figure{"noise %", 9, [](const Outcome& outcome) { return noiseOf(outcome.time); }},
    Figure{"GB/s", 9, [](const Outcome& outcome) { return fmt::format("{:.1f}", outcome.gigabytesPerSecond()); }},
    Figure{"% of copy", 11,
           [](const Outcome& outcome) {
               const auto percent = outcome.percentOfCopy();
               return percent ? fmt::format("{:.0f}", *percent) : std::string(nothing);
           }},
    // The host's time to enqueue the work, if it was all enqueued before it began.
    Figure{"enqueue us", 12,
           [](const Outcome& outcome) {
               const auto us = outcome.time.enqueueUs;
               return us ? fmt::format("{:.2f}", *us) : std::string(nothing);
           },
           gapOfBar + goodBar}};

/// As long as the part of a copy's speed; empty in less room than is worth it.
[[nodiscard]] std::string barOf(const Outcome& outcome, std::size_t room) {
    constexpr std::size_t most = 40;
    const auto percent = outcome.percentOfCopy();
    if (!percent || room < gapOfBar + leastBar) {
        return "";
    }
    const auto whole = static_cast<double>(std::min(room - gapOfBar, most));
    const auto length = static_cast<std::size_t>(std::lround(std::min(*percent / 100, 1.0) * whole));
    return length == 0 ? "" : std::string(gapOfBar, ' ') + std::string(length, '#');
}

/// Whether both did the same to the same kind of input. CPU variants have one mode and match any.
[[nodiscard]] bool isSameTask(const Outcome& a, const Outcome& b) {
    const bool isSameMode =
        a.mode == b.mode || a.variant.hardware == Hardware::Cpu || b.variant.hardware == Hardware::Cpu;
    return isSameMode && a.variant.operation == b.variant.operation && a.variant.type == b.variant.type &&
           a.input == b.input;
}

[[nodiscard]] bool isSameSize(const Outcome& a, const Outcome& b) { return a.n == b.n && a.shape == b.shape; }

/// Whether its time is that of a right result.
[[nodiscard]] bool isContestant(const Outcome& outcome) {
    return outcome.status == Status::Passed && outcome.isTimed();
}

/// Whether it was not done at a larger size, too.
[[nodiscard]] bool isLargest(const Outcome& outcome, std::span<const Outcome> outcomes) {
    return std::ranges::none_of(outcomes, [&outcome](const Outcome& other) {
        return isContestant(other) && other.n > outcome.n && isSameTask(other, outcome);
    });
}

/// Three digits, or all that stand before the point.
[[nodiscard]] std::string formatRatio(double ratio) {
    constexpr double nearlyTen = 9.995;  // more is rounded to it
    constexpr double nearlyHundred = 99.95;
    return fmt::format("{:.{}f}", ratio, ratio < nearlyTen ? 2 : ratio < nearlyHundred ? 1 : 0);
}

/// Such as `fastest scan of 1048576, mod:50: single-pass, 8.610 us ± 0.5 %, 69 % of a copy, 1.24 x cub`.
[[nodiscard]] std::string verdictOn(const Outcome& best, std::span<const Outcome> outcomes) {
    std::string text = fmt::format("fastest {}{} of {}, {}: {}, {}", name(best.variant.operation), ofType(best.variant),
                                   sizeOf(best), best.input, best.variant.name, formatTime(best.time.us.median));
    if (std::isfinite(best.time.us.noise)) {
        text += fmt::format(" ± {} %", noiseOf(best.time));
    }
    if (const auto percent = best.percentOfCopy()) {
        text += fmt::format(", {:.0f} % of a copy", *percent);
    }
    for (const auto& peers : peersInVerdicts) {
        const Outcome* fastest = nullptr;
        for (const Outcome& other : outcomes) {
            const bool isPeer = std::ranges::find(peers, other.variant.name) != peers.end();
            if (isPeer && isContestant(other) && &other != &best && isSameTask(other, best) &&
                isSameSize(other, best) && (fastest == nullptr || other.time.us.median < fastest->time.us.median)) {
                fastest = &other;
            }
        }
        if (fastest != nullptr) {
            const double ratio = fastest->time.us.median / best.time.us.median;
            text += fmt::format(", {} x {}", formatRatio(ratio), fastest->variant.name);
        }
    }
    return text;
}

}  // namespace

void Report::context(const RunContext& context) {
    constexpr std::size_t labelColumns = 10;
    for (const auto& [label, text] : describe(context)) {
        std::string_view before = label;
        for (const std::string& line : wrappedLines(text, width_ - labelColumns)) {
            out_ << fmt::format("{:<{}}{}\n", before, labelColumns, line);
            before = "";
        }
    }
}

void Report::section(std::span<const Measurement> measurements) {
    labels_ = {{"variant", variantOf, 0}};
    for (const Label& label : {Label{"n", sizeOf, 0}, Label{"block", blockOf, 0}, Label{"mode", modeOf, 0}}) {
        if (varies(label.text, measurements)) {
            labels_.push_back(label);
        }
    }
    std::vector<std::string> titles;
    for (Label& label : labels_) {
        label.width = label.title.size();
        for (const Measurement& measurement : measurements) {
            label.width = std::max(label.width, label.text(measurement).size());
        }
        titles.emplace_back(label.title);
    }
    const Measurement& first = measurements.front();
    const std::string size = varies(sizeOf, measurements) ? "" : fmt::format(", n = {}", sizeOf(first));
    out_ << '\n';
    writeWrapped(Color::Bold,
                 fmt::format("{}{}, {}{}", name(first.variant.operation), ofType(first.variant), first.input, size), 0);
    std::string line = labelsOf(titles);
    for (const Figure& figure : figures) {
        if (first.mode != Mode::Untimed && line.size() <= width_ && figure.fits(width_ - line.size())) {
            line += fmt::format("{:>{}}", figure.title, figure.width);
        }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out_ << line << std::endl;
}

void Report::outcome(const Outcome& outcome) {
    std::vector<std::string> texts;
    for (const Label& label : labels_) {
        texts.push_back(label.text(outcome));
    }
    const std::string labels = labelsOf(texts);
    out_ << labels;
    switch (outcome.status) {
        case Status::Passed:
        case Status::Inexact:
            out_ << (outcome.isTimed() ? figuresOf(outcome, width_ - labels.size())
                                       : paint(Color::Green, "  passed (simulated)"));
            break;
        case Status::Failed:
            out_ << paint(Color::Red, "  FAILED");
            break;
        case Status::Skipped:
            out_ << paint(Color::Yellow, "  skipped");
            break;
    }
    out_ << '\n';
    constexpr std::size_t indent = 4;
    if (!outcome.reason.empty()) {
        const Color color = outcome.status == Status::Failed ? Color::Red : Color::Yellow;
        writeWrapped(color, outcome.status == Status::Inexact ? "inexact: " + outcome.reason : outcome.reason, indent);
    }
    if (const std::string text = warning(outcome); outcome.isTimed() && !text.empty()) {
        writeWrapped(Color::Yellow, text, indent);
    }
    out_ << std::flush;
}

std::string Report::labelsOf(const std::vector<std::string>& texts) const {
    std::string line;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        // The name of the variant is left-aligned, and cut off where a line has no room for it and the time.
        line += i == 0 ? fmt::format("{:<{}}", texts[i], labels_[i].width)
                       : fmt::format("  {:>{}}", texts[i], labels_[i].width);
    }
    const std::size_t most = width_ - figures.front().width;
    if (line.size() > most) {
        const std::size_t others = line.size() - labels_.front().width;
        line.erase(most - others, line.size() - most);
    }
    return line;
}

std::string Report::figuresOf(const Outcome& outcome, std::size_t room) const {
    std::string line;
    for (const Figure& figure : figures) {
        if (!figure.fits(room)) {
            // Those that ask for room behind them give way to the bar.
            if (figure.roomBehind > 0) {
                continue;
            }
            return line;
        }
        line += fmt::format("{:>{}}", figure.text(outcome), figure.width);
        room -= figure.width;
    }
    return line + barOf(outcome, room);
}

void Report::writeWrapped(Color color, std::string_view text, std::size_t indent) {
    for (const std::string& line : wrappedLines(std::string(text), width_ - indent)) {
        out_ << std::string(indent, ' ') << paint(color, line) << '\n';
    }
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
            writeWrapped(Color::Yellow, fmt::format("skipped: {} ({})", fmt::join(names, ", "), reason), 0);
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
        if (!isContestant(outcome) || !isLargest(outcome, outcomes)) {
            continue;
        }
        const auto found = std::ranges::find_if(contests, [&outcome](const Contest& contest) {
            return isSameTask(*contest.best, outcome) && isSameSize(*contest.best, outcome);
        });
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
        out_ << '\n';
    }
    for (const Contest& contest : contests) {
        writeWrapped(Color::None, verdictOn(*contest.best, outcomes), 0);
    }
}

void Report::notes(std::span<const Outcome> outcomes, const RunContext& context) {
    const auto noisy = std::ranges::count_if(outcomes, [](const Outcome& outcome) { return outcome.time.noisy; });
    if (noisy > 0) {
        note(fmt::format("{} of {} measurements stayed noisier than --max-noise; a longer --time-budget may help",
                         noisy, outcomes.size()));
    }
    constexpr double wellBelow = 0.9;
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto clockOf = [](const Outcome& outcome) {
        return std::min(outcome.clockBeforeMHz.value_or(infinity), outcome.clockAfterMHz.value_or(infinity));
    };
    const auto slowest = std::ranges::min_element(outcomes, {}, clockOf);
    if (slowest != outcomes.end() && context.gpu && clockOf(*slowest) < wellBelow * context.gpu->boostMHz) {
        note(fmt::format("the clock of the card fell to {:.0f} of {:.0f} MHz, lowest at {}", clockOf(*slowest),
                         context.gpu->boostMHz, nameOf(*slowest)));
    }
}

void Report::note(const std::string& text) {
    out_ << '\n';
    writeWrapped(Color::Yellow, "Note: " + text, 0);
}

void Report::summary(std::span<const Outcome> outcomes) {
    const std::size_t failed = count(outcomes, Status::Failed);
    const std::size_t inexact = count(outcomes, Status::Inexact);
    const std::string text =
        fmt::format("{} passed, {}{} failed, {} skipped", count(outcomes, Status::Passed),
                    inexact > 0 ? fmt::format("{} inexact, ", inexact) : "", failed, count(outcomes, Status::Skipped));
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
    table.write(out_);
}

std::string Report::paint(Color color, std::string text) const {
    if (!color_ || color == Color::None) {
        return text;
    }
    const auto code = [color] {
        switch (color) {
            case Color::None:
                return 0;
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
