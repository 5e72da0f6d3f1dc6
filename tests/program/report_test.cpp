#include "output/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "outcomes.h"

namespace Bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

[[nodiscard]] Outcome efficientScan() {
    return passed(Operation::Scan, Hardware::Gpu, "efficient", "work-efficient scan", 1 << 20, 118.08);
}

/// A scan of doubles that takes twice as long.
[[nodiscard]] Outcome doubleScan() {
    Outcome outcome = efficientScan();
    outcome.variant.type = ElementType::Double;
    outcome.time.us.median *= 2;
    return outcome;
}

/// The output of `write` without colour.
template <typename Write>
[[nodiscard]] std::string written(Write write, int width = 80, bool color = false) {
    std::ostringstream out;
    Report report(out, color, width);
    write(report);
    return out.str();
}

/// A section of these measurements, with a line for each.
[[nodiscard]] std::string section(const std::vector<Outcome>& outcomes, int width = 80) {
    return written(
        [&](Report& report) {
            report.section(std::vector<Measurement>(outcomes.begin(), outcomes.end()));
            std::ranges::for_each(outcomes, [&](const Outcome& outcome) { report.outcome(outcome); });
        },
        width);
}

[[nodiscard]] std::vector<std::string> linesOf(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

/// The section above, and beside it a fast peer and the CPU.
[[nodiscard]] std::vector<Outcome> someScans() {
    Outcome cub = passed(Operation::Scan, Hardware::Gpu, "cub", "cub scan", 1 << 20, 8.61);
    Outcome efficient = efficientScan();
    efficient.copyUs = cub.copyUs = 5.904;
    return {passed(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", 1 << 20, 1234.5), efficient, cub};
}

TEST(Report, HasALineWithABarForEachResult) {
    EXPECT_EQ(section(someScans()),
              "\n"
              "scan, mod:50, n = 1048576\n"
              "variant     time     noise %     GB/s  % of copy\n"
              "cpu        1.234 ms      1.0      6.8          -\n"
              "efficient  118.1 us      1.0     71.0          5  ##\n"
              "cub        8.610 us      1.0    974.3         69  #####################\n");
}

TEST(Report, FitsIntoTheTerminal) {
    const auto outcomes = someScans();
    for (int width = 40; width <= 160; ++width) {
        for (const std::string& line : linesOf(section(outcomes, width))) {
            EXPECT_LE(line.size(), static_cast<std::size_t>(width)) << line;
        }
    }
    EXPECT_THAT(section(outcomes, 40), AllOf(HasSubstr("\ncub        8.610 us      1.0    974.3\n"),
                                             Not(HasSubstr("copy")), Not(HasSubstr("#"))));
    EXPECT_THAT(section(outcomes, 54), AllOf(HasSubstr("69\n"), Not(HasSubstr("#"))));
    EXPECT_THAT(section(outcomes, 55), HasSubstr("69  ###\n"));
    // Long names give way to the time.
    Outcome longest = passed(Operation::Scan, Hardware::Gpu, "single-pass-reproducible", "scan", 1 << 28, 8.61);
    Outcome other = longest;
    other.n -= 3;
    for (const std::string& line : linesOf(section({longest, other}, 40))) {
        EXPECT_LE(line.size(), 40u) << line;
    }
    EXPECT_THAT(section({longest, other}, 40), HasSubstr("single-pass-reprodu  268435453  8.610 us\n"));
}

TEST(Report, SaysWhyAPeerIsInexact) {
    Outcome inexact = passed(Operation::RowSum, Hardware::Gpu, "cub", "cub row sum", 1 << 28, 250);
    inexact.shape = Shape{1, 1 << 28};
    inexact.status = Outcome::Status::Inexact;
    inexact.reason = "rounds too much at index 0: error 12, bound 3";
    EXPECT_THAT(section({inexact}),
                testing::EndsWith("\n    inexact: rounds too much at index 0: error 12, bound 3\n"));
    EXPECT_EQ(written([&](Report& report) {
                  report.summary(std::array{inexact, efficientScan()});
              }),
              "\n1 passed, 1 inexact, 0 failed, 0 skipped\n");
    Outcome exact = passed(Operation::RowSum, Hardware::Gpu, "adaptive", "adaptive row sum", 1 << 28, 260);
    exact.shape = inexact.shape;
    EXPECT_EQ(written([&](Report& report) { report.verdicts(std::array{inexact, exact}); }), "");
}

[[nodiscard]] Outcome withoutNoise(Outcome outcome) {
    outcome.time.us.noise = std::numeric_limits<double>::infinity();
    return outcome;
}

TEST(Report, NamesWhatWasSkippedInOneLinePerReason) {
    const Outcome naive = passed(Operation::Scan, Hardware::Gpu, "naive", "naive scan", 1 << 20, 10);
    const std::vector<Outcome> outcomes{skipped(naive, "no room"), efficientScan(), skipped(efficientScan(), "no room"),
                                        skipped(naive, "no room"), skipped(naive, "no card")};
    EXPECT_EQ(written([&](Report& report) { report.skipped(outcomes); }),
              "skipped: naive (no card)\nskipped: naive, efficient (no room)\n");
    EXPECT_EQ(written([&](Report& report) { report.skipped(std::array{efficientScan()}); }), "");
}

TEST(Report, NamesTheFastest) {
    auto efficient = efficientScan();
    efficient.copyUs = 59.04;
    auto batched = efficient;
    batched.mode = Mode::Batched;
    const std::vector<Outcome> outcomes{
        passed(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", 1 << 20, 1180.8),
        efficient,
        passed(Operation::Scan, Hardware::Gpu, "cub", "cub scan", 1 << 20, 236.16),
        failed(passed(Operation::Scan, Hardware::Gpu, "naive", "naive scan", 1 << 20, 10), "wrong"),
        batched,
        withoutNoise(passed(Operation::Sort, Hardware::Cpu, "cpu-parallel", "cpu parallel sort", 1000, 20)),
        passed(Operation::Sort, Hardware::Cpu, "cpu", "cpu sort", 1000, 2500),
        // Smaller ones have no verdict of their own.
        passed(Operation::Sort, Hardware::Cpu, "cpu-parallel", "cpu parallel sort", 997, 60),
        passed(Operation::Sort, Hardware::Cpu, "cpu", "cpu sort", 997, 50),
    };
    EXPECT_EQ(written([&](Report& report) { report.verdicts(outcomes); }),
              "\n"
              "fastest scan of 1048576, mod:50: efficient, 118.1 us ± 1.0 %, 50 % of a copy,\n"
              "10.0 x cpu, 2.00 x cub\n"
              "fastest sort of 1000, mod:50: cpu-parallel, 20.00 us, 125 x cpu\n");
    EXPECT_EQ(written([&](Report& report) { report.verdicts(std::array{efficient}); }), "");
}

TEST(Report, SaysWhatHasSpoiltATime) {
    Outcome spoilt = efficientScan();
    spoilt.time.us.noise = 0.034;
    spoilt.time.noisy = true;
    EXPECT_THAT(section({spoilt}), testing::EndsWith("\n    noise 3.4 % after 15 trials\n"));
    EXPECT_THAT(written([&](Report& report) {
                    report.notes(std::vector{efficientScan(), spoilt}, {});
                }),
                HasSubstr("1 of 2 measurements"));
    EXPECT_EQ(written([&](Report& report) { report.notes(std::vector{efficientScan()}, {}); }), "");
    spoilt.time.trials = 2;
    spoilt.time.wanted = 15;
    spoilt.time.us.noise = std::numeric_limits<double>::infinity();
    EXPECT_THAT(section({spoilt}),
                testing::EndsWith("\n    2 of 15 trials in the time budget; noise unknown: 2 trials were too few\n"));
    spoilt = efficientScan();
    spoilt.throttled = "temperature";
    EXPECT_THAT(section({spoilt}), testing::EndsWith("\n    the clock stayed low: temperature\n"));
}

TEST(Report, SaysWhenTheClockFell) {
    RunContext context;
    context.gpu = GpuInfo{"Card", "9.0", 0, "13.0", "13.0", 2000};
    Outcome slow = efficientScan();
    slow.clockAfterMHz = 1500;
    Outcome fast = doubleScan();
    fast.clockBeforeMHz = 1900;
    EXPECT_EQ(written([&](Report& report) {
                  report.notes(std::vector{fast, slow}, context);
              }),
              "\nNote: the clock of the card fell to 1500 of 2000 MHz, lowest at scan efficient\n1048576\n");
    EXPECT_EQ(written([&](Report& report) { report.notes(std::vector{fast, efficientScan()}, context); }), "");
}

}  // namespace
}  // namespace Bench
