#include "output/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stream_compaction/runtime/block_size.h>

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "outcomes.h"
#include "output/results_table.h"

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

TEST(Report, HasTheTimeToEnqueueWhereThereIsRoomForItBesideTheBar) {
    auto outcomes = someScans();
    outcomes.at(1).time.enqueueUs = 95.25;
    EXPECT_EQ(section(outcomes, 82),
              "\n"
              "scan, mod:50, n = 1048576\n"
              "variant     time     noise %     GB/s  % of copy  enqueue us\n"
              "cpu        1.234 ms      1.0      6.8          -           -\n"
              "efficient  118.1 us      1.0     71.0          5       95.25  #\n"
              "cub        8.610 us      1.0    974.3         69           -  ##############\n");
    EXPECT_THAT(section(outcomes, 81), Not(HasSubstr("enqueue")));
}

TEST(Report, TellsApartWhatWasRunInSeveralWays) {
    const Outcome one = efficientScan();
    Outcome batched = one;
    batched.mode = Mode::Batched;
    Outcome smaller = one;
    smaller.n = 1000;
    Outcome wide = one;
    wide.variant.blockSizes = StreamCompaction::powerOfTwoBlockSizes;
    wide.variant.defaultBlockSize = 512;
    Outcome narrow = wide;
    narrow.variant.defaultBlockSize = 64;
    EXPECT_THAT(section({one, batched}),
                AllOf(HasSubstr("\nvariant       mode  "), HasSubstr("\nefficient  batched  ")));
    EXPECT_THAT(section({one, smaller}),
                AllOf(HasSubstr("\nscan, mod:50\nvariant          n  "), HasSubstr("\nefficient     1000  ")));
    EXPECT_THAT(section({wide, narrow}), AllOf(HasSubstr("\nvariant    block  "), HasSubstr("\nefficient     64  ")));
}

TEST(Report, WritesNoTimeForAWrongResult) {
    const std::string text = section({failed(efficientScan(), "first mismatch at index 3: expected 6, got 7")});
    EXPECT_THAT(text,
                AllOf(testing::EndsWith("\nefficient  FAILED\n    first mismatch at index 3: expected 6, got 7\n"),
                      Not(HasSubstr(" us\n"))));
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

TEST(Report, WritesNoTimeOfTheSimulator) {
    const Outcome right = untimed(efficientScan());
    EXPECT_EQ(section({right}), "\nscan, mod:50, n = 1048576\nvariant\nefficient  passed (simulated)\n");
    EXPECT_EQ(written([&](Report& report) { report.notes(std::array{right}, {}); }), "");
    EXPECT_EQ(written([&](Report& report) {
                  report.summary(std::array{right, failed(right, "wrong")});
              }),
              "\n1 passed, 1 failed, 0 skipped\n");
}

/// The lines of the closing table.
[[nodiscard]] std::string table(const std::vector<Outcome>& outcomes) {
    return fmt::format("{}\n", fmt::join(resultsTable(outcomes).lines(), "\n"));
}

TEST(ResultsTable, HasOfTheSimulatorOnlyWhatFailed) {
    Outcome thrust = untimed(passed(Operation::Scan, Hardware::Gpu, thrustVariant, "thrust scan", 1 << 20, 20));
    const std::vector<Outcome> outcomes{passed(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", 1 << 20, 1000),
                                        thrust, failed(untimed(efficientScan()), "wrong")};
    EXPECT_EQ(
        table(outcomes),
        "operation  variant          n  median us  noise %  enqueue us  Gelements/s  GB/s  % of copy  x serial CPU  "
        "x Thrust  x CUB\n"
        "scan       cpu        1048576    1000.00      1.0           -        1.049  8.39          -          1.00  "
        "       -      -\n"
        "scan       efficient  1048576     FAILED        -           -            -     -          -             -  "
        "       -      -\n");
    EXPECT_THAT(table({thrust}), Not(HasSubstr("thrust")));
}

TEST(Report, NamesTheShapeOfAMatrix) {
    Outcome outcome = passed(Operation::RowSum, Hardware::Gpu, "adaptive", "adaptive row sum", 6144, 5);
    outcome.shape = Shape{3, 2048};
    EXPECT_THAT(section({outcome}), HasSubstr("row-sum, mod:50, n = 3x2048\n"));
    EXPECT_THAT(table({outcome}), HasSubstr("adaptive  3x2048"));
}

TEST(Report, NamesTheTypeWhereItIsNotInt32) {
    EXPECT_THAT(section({doubleScan()}), HasSubstr("\nscan of double, mod:50, n = 1048576\n"));
    const std::vector<Outcome> outcomes{efficientScan(), doubleScan()};
    EXPECT_THAT(table(outcomes),
                AllOf(HasSubstr("\nscan            efficient  1048576"), HasSubstr("\nscan of double  efficient")));
}

TEST(ResultsTable, ComparesEqualTypesOnly) {
    auto baseline = doubleScan();
    baseline.variant.name = serialCpuVariant;
    const std::vector<Outcome> outcomes{efficientScan(), baseline};
    EXPECT_THAT(table(outcomes), Not(HasSubstr("2.00")));
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

TEST(ResultsTable, HasARowForEachTimeAndEachFailure) {
    auto thrust = passed(Operation::Scan, Hardware::Gpu, "thrust", "thrust scan", 1 << 20, 20);
    auto efficient = efficientScan();
    thrust.copyUs = 8;
    efficient.copyUs = 8;
    efficient.time.enqueueUs = 95.25;
    const std::vector<Outcome> outcomes{
        passed(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", 1 << 20, 1000),
        efficient,
        thrust,
        failed(passed(Operation::Scan, Hardware::Gpu, "cub", "cub scan", 1 << 20, 10), "wrong"),
        skipped(passed(Operation::Scan, Hardware::Gpu, "naive", "naive scan", 1 << 20, 10), "no room"),
        withoutNoise(passed(Operation::Sort, Hardware::Cpu, "cpu-parallel", "cpu parallel sort", 1000, 50)),
    };
    EXPECT_EQ(table(outcomes),
              "operation  variant             n  median us  noise %  enqueue us  Gelements/s    GB/s  % of copy  "
              "x serial CPU  x Thrust  x CUB\n"
              "scan       cpu           1048576    1000.00      1.0           -        1.049    8.39          -  "
              "        1.00      0.02      -\n"
              "scan       efficient     1048576     118.08      1.0       95.25        8.880   71.04        6.8  "
              "        8.47      0.17      -\n"
              "scan       thrust        1048576      20.00      1.0           -       52.429  419.43       40.0  "
              "       50.00      1.00      -\n"
              "scan       cub           1048576     FAILED        -           -            -       -          -  "
              "           -         -      -\n"
              "sort       cpu-parallel     1000      50.00        -           -        0.020    0.16          -  "
              "           -         -      -\n");
}

TEST(ResultsTable, ComparesWithTheFasterOfTwoReleases) {
    const auto peer = [](const char* name, double us) {
        return passed(Operation::Scan, Hardware::Gpu, name, name, 1 << 20, us);
    };
    const std::string text = table({efficientScan(), peer("thrust", 236.16), peer("thrust-latest", 354.24),
                                    peer("cub", 59.04), peer("cub-latest", 11.808)});
    EXPECT_THAT(text, HasSubstr("      2.00   0.10\n"));
}

TEST(ResultsTable, MarksAnInexactPeerAndComparesNothingWithIt) {
    Outcome inexact = passed(Operation::Scan, Hardware::Gpu, "cub", "cub scan", 1 << 20, 59.04);
    inexact.status = Outcome::Status::Inexact;
    EXPECT_THAT(table({efficientScan(), inexact}),
                AllOf(HasSubstr("scan       cub (inexact)  1048576      59.04"), Not(HasSubstr("0.50"))));
}

TEST(ResultsTable, ComparesEqualSizesOnly) {
    const std::vector<Outcome> outcomes{
        passed(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", 1024, 10),
        passed(Operation::Scan, Hardware::Cpu, "cpu-parallel", "cpu parallel scan", 1021, 5),
    };
    EXPECT_THAT(table(outcomes), Not(HasSubstr("2.00")));
}

TEST(Report, CountsAtTheEnd) {
    const std::vector<Outcome> outcomes{efficientScan(), efficientScan(), failed(efficientScan(), "wrong"),
                                        skipped(efficientScan(), "no room")};
    EXPECT_EQ(written([&](Report& report) { report.summary(outcomes); }), "\n2 passed, 1 failed, 1 skipped\n");
}

TEST(Report, ColorsOnRequestOnly) {
    const auto write = [](Report& report) { report.summary(std::array{efficientScan()}); };
    EXPECT_EQ(written(write), "\n1 passed, 0 failed, 0 skipped\n");
    EXPECT_EQ(written(write, 80, true), "\n\x1b[32m1 passed, 0 failed, 0 skipped\x1b[0m\n");
}

TEST(Report, SaysWhereTheNoiseStayed) {
    Outcome noisy = efficientScan();
    noisy.time.us.noise = 0.034;
    noisy.time.noisy = true;
    EXPECT_THAT(section({noisy}), testing::EndsWith("\n    noise 3.4 % after 15 trials\n"));
    noisy.time.us.noise = std::numeric_limits<double>::infinity();
    EXPECT_THAT(section({noisy}), HasSubstr("\n    noise unknown"));
    EXPECT_THAT(written([&](Report& report) {
                    report.notes(std::vector{efficientScan(), noisy}, {});
                }),
                HasSubstr("1 of 2 measurements"));
    EXPECT_EQ(written([&](Report& report) { report.notes(std::vector{efficientScan()}, {}); }), "");
}

TEST(Report, SaysWhereTheTimeRanOutBeforeAllTrials) {
    Outcome cut = efficientScan();
    cut.time.trials = 2;
    cut.time.wanted = 15;
    EXPECT_THAT(section({cut}), testing::EndsWith("\n    2 of 15 trials in the time budget\n"));
    EXPECT_THAT(table({cut, doubleScan()}),
                AllOf(HasSubstr("      n   trials  median us"), HasSubstr("1048576  2 of 15     118.08"),
                      HasSubstr("1048576       15     236.16")));
    EXPECT_THAT(table({doubleScan()}), Not(HasSubstr("trials")));
    cut.time.noisy = true;
    cut.time.us.noise = std::numeric_limits<double>::infinity();
    EXPECT_THAT(section({cut}),
                testing::EndsWith("\n    2 of 15 trials in the time budget; noise unknown: 2 trials were too few\n"));
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

TEST(Report, MarksWhatALowClockHasSpoilt) {
    Outcome slow = efficientScan();
    slow.throttled = "temperature";
    EXPECT_THAT(section({slow}), testing::EndsWith("\n    the clock stayed low: temperature\n"));
    EXPECT_THAT(table({slow, doubleScan()}),
                AllOf(HasSubstr("      n  throttled    median us"), HasSubstr("1048576  temperature     118.08"),
                      HasSubstr("1048576  -               236.16")));
    EXPECT_THAT(table({doubleScan()}), Not(HasSubstr("throttled")));
}

TEST(ResultsTable, TellsApartWhatWasRunInSeveralWays) {
    Outcome cold = efficientScan();
    Outcome batched = efficientScan();
    batched.mode = Mode::Batched;
    Outcome ones = efficientScan();
    ones.input = "ones";
    Outcome wide = efficientScan();
    wide.variant.blockSizes = StreamCompaction::powerOfTwoBlockSizes;
    wide.variant.defaultBlockSize = 512;
    const auto title = [](const std::vector<Outcome>& outcomes) {
        const std::string lines = table(outcomes);
        return lines.substr(0, lines.find("  median us"));
    };
    EXPECT_EQ(title({cold, cold}), "operation  variant          n");
    EXPECT_EQ(title({cold, batched}), "operation  variant          n  mode   ");
    EXPECT_EQ(title({cold, ones}), "operation  variant          n  input ");
    EXPECT_EQ(title({cold, wide}), "operation  variant          n  block");
}

TEST(ResultsTable, ComparesEqualInputsAndModesOnly) {
    auto thrust = passed(Operation::Scan, Hardware::Gpu, thrustVariant, "thrust scan", 1 << 20, 59.04);
    EXPECT_THAT(table({efficientScan(), thrust}), HasSubstr("0.50"));
    thrust.input = "ones";
    EXPECT_THAT(table({efficientScan(), thrust}), Not(HasSubstr("0.50")));
    thrust.input = efficientScan().input;
    thrust.mode = Mode::Batched;
    EXPECT_THAT(table({efficientScan(), thrust}), Not(HasSubstr("0.50")));
}

TEST(Report, DescribesTheMachine) {
    RunContext context{.gpu = std::nullopt,
                       .gpuUnavailableReason = "no CUDA device is visible",
                       .simulatedCard = std::nullopt,
                       .ceilings = std::nullopt,
                       .cpu = {"Processor", 8},
                       .compiler = "GNU 12.2.0",
                       .commit = "0123abc",
                       .peers = {"CUB 3.0.1", "iconv"}};
    EXPECT_EQ(written([&](Report& report) { report.context(context); }),
              "GPU       none: no CUDA device is visible\n"
              "CPU       Processor, 8 threads\n"
              "Compiler  GNU 12.2.0\n"
              "Commit    0123abc\n"
              "Peers     CUB 3.0.1, iconv\n");
    context.peers.clear();
    context.simulatedCard = "compute capability 9.0, 4 multiprocessors";
    EXPECT_THAT(written([&](Report& report) { report.context(context); }),
                testing::StartsWith("GPU       simulated, compute capability 9.0, 4 multiprocessors; results are\n"
                                    "          checked, not timed: times need a card and scripts/run.sh --cuda\nCPU "));
    context.gpu = GpuInfo{"Card", "9.0", std::size_t{1} << 30, "13.0", "13.1", 1980};
    context.ceilings = Ceilings{.copyGbps = 4246.6, .readGbps = 4400.4, .clockMHz = 1965.2};
    EXPECT_EQ(written([&](Report& report) { report.context(context); }),
              "GPU       Card, compute capability 9.0, 1.0 GiB memory\n"
              "CUDA      driver 13.0, toolkit 13.1\n"
              "Clock     1965 MHz, nominally up to 1980\n"
              "Ceilings  copy 4247 GB/s, read 4400 GB/s\n"
              "CPU       Processor, 8 threads\n"
              "Compiler  GNU 12.2.0\n"
              "Commit    0123abc\n");
}

}  // namespace
}  // namespace Bench
