#include "output/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stream_compaction/runtime/block_size.h>

#include <array>
#include <limits>
#include <numeric>
#include <sstream>
#include <vector>

#include "outcomes.h"
#include "problem_on.h"
#include "problems/inputs.h"

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
[[nodiscard]] std::string written(Write write, bool color = false) {
    std::ostringstream out;
    Report report(out, color);
    write(report);
    return out.str();
}

TEST(Abridged, WritesShortArraysWhole) {
    EXPECT_EQ(abridged<int>({}), "[ ]");
    EXPECT_EQ(abridged<int>(std::array{3, -1, 1000}), "[   3  -1 1000 ]");
    std::vector<int> sixteen(16);
    std::iota(sixteen.begin(), sixteen.end(), 0);
    EXPECT_EQ(abridged<int>(sixteen), "[   0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15 ]");
}

TEST(Abridged, WritesTheBeginningAndTheEndOfLongArrays) {
    std::vector<int> seventeen(17);
    std::iota(seventeen.begin(), seventeen.end(), 0);
    EXPECT_EQ(abridged<int>(seventeen), "[   0   1   2   3   4   5   6   7   8   9  10  11  12 ...  15  16 ]");
}

TEST(Abridged, StaysOnALineWhenTheNumbersAreLong) {
    EXPECT_EQ(abridged<int>(std::vector<int>(100, -1234567890)),
              "[ -1234567890 -1234567890 -1234567890 -1234567890 -1234567890 ... -1234567890 -1234567890 ]");
}

TEST(Abridged, WritesEveryType) {
    EXPECT_EQ(abridged<std::int8_t>(std::array<std::int8_t, 2>{65, -1}), "[  65  -1 ]");
    EXPECT_EQ(abridged<float>(std::array{0.5F, 3.0F}), "[ 0.5   3 ]");
}

TEST(Report, WritesTheClassicLines) {
    EXPECT_EQ(written([](Report& report) { report.outcome(efficientScan()); }),
              "==== work-efficient scan, power-of-two ====\n"
              "   elapsed time: 0.118080ms    (CUDA Measured)\n"
              "    passed\n");
    EXPECT_EQ(written([](Report& report) {
                  report.outcome(passed(Operation::Sort, Hardware::Cpu, "cpu", "cpu sort", 1021, 2500));
              }),
              "==== cpu sort, non-power-of-two ====\n"
              "   elapsed time: 2.500000ms    (std::chrono Measured)\n"
              "    passed\n");
}

TEST(Report, WritesNoTimeForAWrongResult) {
    EXPECT_EQ(written([](Report& report) {
                  report.outcome(failed(efficientScan(), "first mismatch at index 3: expected 6, got 7"));
              }),
              "==== work-efficient scan, power-of-two ====\n"
              "    FAILED: first mismatch at index 3: expected 6, got 7\n");
}

TEST(Report, SaysWhyAVariantIsSkipped) {
    EXPECT_EQ(written([](Report& report) { report.outcome(skipped(efficientScan(), "no CUDA device is visible")); }),
              "==== work-efficient scan, power-of-two ====\n"
              "    skipped: no CUDA device is visible\n");
}

TEST(Report, WritesNoTimeOfTheSimulator) {
    const std::string classic = "==== work-efficient scan, power-of-two ====\n";
    const Outcome right = untimed(efficientScan());
    EXPECT_EQ(written([&](Report& report) { report.outcome(right); }), classic + "    passed (simulated)\n");
    EXPECT_EQ(written([&](Report& report) { report.outcome(failed(right, "wrong")); }),
              classic + "    FAILED: wrong\n");
    EXPECT_THAT(
        written([&](Report& report) { report.line(right); }),
        AllOf(testing::EndsWith(" untimed  passed (simulated)\n"), Not(HasSubstr("us")), Not(HasSubstr("GB/s"))));
    EXPECT_EQ(written([&](Report& report) { report.notes(std::array{right}, {}); }), "");
    EXPECT_EQ(written([&](Report& report) {
                  report.summary(std::array{right, failed(right, "wrong")});
              }),
              "\n1 passed, 1 failed, 0 skipped\n");
}

TEST(Report, HasOfTheSimulatorInItsTableOnlyWhatFailed) {
    Outcome thrust = untimed(passed(Operation::Scan, Hardware::Gpu, thrustVariant, "thrust scan", 1 << 20, 20));
    const std::vector<Outcome> outcomes{passed(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", 1 << 20, 1000),
                                        thrust, failed(untimed(efficientScan()), "wrong")};
    EXPECT_EQ(
        written([&](Report& report) { report.table(outcomes); }),
        "\n"
        "operation  variant          n  median us  noise %  Gelements/s  GB/s  % of copy  x serial CPU  x Thrust\n"
        "scan       cpu        1048576    1000.00      1.0        1.049  8.39          -          1.00         -\n"
        "scan       efficient  1048576     FAILED        -            -     -          -             -         -\n");
    EXPECT_EQ(written([&](Report& report) { report.table(std::array{thrust}); }), "");
}

TEST(Report, HeadsASection) {
    EXPECT_EQ(written([](Report& report) {
                  report.section(Operation::Scan, ElementType::Int32, "mod:50",
                                 *problemOn(Operation::Scan, std::vector{38, 19, 0}));
              }),
              "\n"
              "****************\n"
              "** SCAN TESTS **\n"
              "****************\n"
              "    3 elements, mod:50\n"
              "    [  38  19   0 ]\n");
}

TEST(Report, NamesTheShapeOfAMatrix) {
    Outcome outcome = passed(Operation::RowSum, Hardware::Gpu, "adaptive", "adaptive row sum", 6144, 5);
    outcome.shape = Shape{3, 2048};
    EXPECT_THAT(written([&](Report& report) { report.outcome(outcome); }),
                HasSubstr("==== adaptive row sum, 3x2048 ====\n"));
    EXPECT_THAT(written([&](Report& report) { report.table(std::array{outcome}); }), HasSubstr("adaptive  3x2048"));
    EXPECT_THAT(written([](Report& report) {
                    report.section(Operation::RowSum, ElementType::Int32, "ones",
                                   *problemOn(Operation::RowSum, std::vector{1, 1, 1, 1}));
                }),
                HasSubstr("    2x2 elements, ones\n"));
}

TEST(Report, NamesTheTypeWhereItIsNotInt32) {
    EXPECT_THAT(written([](Report& report) {
                    report.section(Operation::Scan, ElementType::Int8, "ones",
                                   *problemOn(Operation::Scan, std::vector<std::int8_t>{1, 1}));
                }),
                HasSubstr("    2 elements of int8->int32, ones\n    [   1   1 ]\n"));
    EXPECT_THAT(written([](Report& report) { report.outcome(doubleScan()); }),
                HasSubstr("==== work-efficient scan of double, power-of-two ====\n"));
    const std::vector<Outcome> outcomes{efficientScan(), doubleScan()};
    EXPECT_THAT(written([&](Report& report) { report.table(outcomes); }),
                AllOf(HasSubstr("\nscan            efficient  1048576"), HasSubstr("\n\nscan of double  efficient")));
}

TEST(Report, ComparesEqualTypesOnly) {
    auto baseline = doubleScan();
    baseline.variant.name = serialCpuVariant;
    const std::vector<Outcome> outcomes{efficientScan(), baseline};
    EXPECT_THAT(written([&](Report& report) { report.table(outcomes); }), Not(HasSubstr("2.00")));
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
        passed(Operation::Sort, Hardware::Cpu, "cpu", "cpu sort", 1000, 50),
    };
    EXPECT_EQ(written([&](Report& report) { report.verdicts(outcomes); }),
              "\n"
              "fastest scan of 1048576, mod:50: efficient, 118.08 us ± 1.0 %, 50 % of a copy, 10.00 x cpu, 2.00 x cub\n"
              "fastest sort of 1000, mod:50: cpu-parallel, 20.00 us ± - %, 2.50 x cpu\n");
    EXPECT_EQ(written([&](Report& report) { report.verdicts(std::array{efficient}); }), "");
}

TEST(Report, ClosesWithATable) {
    auto thrust = passed(Operation::Scan, Hardware::Gpu, "thrust", "thrust scan", 1 << 20, 20);
    auto efficient = efficientScan();
    thrust.copyUs = 8;
    efficient.copyUs = 8;
    const std::vector<Outcome> outcomes{
        passed(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", 1 << 20, 1000),
        efficient,
        thrust,
        failed(passed(Operation::Scan, Hardware::Gpu, "cub", "cub scan", 1 << 20, 10), "wrong"),
        skipped(passed(Operation::Scan, Hardware::Gpu, "naive", "naive scan", 1 << 20, 10), "no room"),
        withoutNoise(passed(Operation::Sort, Hardware::Cpu, "cpu-parallel", "cpu parallel sort", 1000, 50)),
    };
    EXPECT_EQ(written([&](Report& report) { report.table(outcomes); }),
              "\n"
              "operation  variant             n  median us  noise %  Gelements/s    GB/s  % of copy  x serial CPU  "
              "x Thrust\n"
              "scan       cpu           1048576    1000.00      1.0        1.049    8.39          -          1.00  "
              "    0.02\n"
              "scan       efficient     1048576     118.08      1.0        8.880   71.04        6.8          8.47  "
              "    0.17\n"
              "scan       thrust        1048576      20.00      1.0       52.429  419.43       40.0         50.00  "
              "    1.00\n"
              "scan       cub           1048576     FAILED        -            -       -          -             -  "
              "       -\n"
              "\n"
              "sort       cpu-parallel     1000      50.00        -        0.020    0.16          -             -  "
              "       -\n");
}

TEST(Report, ComparesEqualSizesOnly) {
    const std::vector<Outcome> outcomes{
        passed(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", 1024, 10),
        passed(Operation::Scan, Hardware::Cpu, "cpu-parallel", "cpu parallel scan", 1021, 5),
    };
    EXPECT_THAT(written([&](Report& report) { report.table(outcomes); }), Not(HasSubstr("2.00")));
}

TEST(Report, LeavesOutATableOfNothing) {
    const std::vector<Outcome> outcomes{skipped(efficientScan(), "no CUDA device is visible")};
    EXPECT_EQ(written([&](Report& report) { report.table(outcomes); }), "");
}

TEST(Report, CountsAtTheEnd) {
    const std::vector<Outcome> outcomes{efficientScan(), efficientScan(), failed(efficientScan(), "wrong"),
                                        skipped(efficientScan(), "no room")};
    EXPECT_EQ(written([&](Report& report) { report.summary(outcomes); }), "\n2 passed, 1 failed, 1 skipped\n");
}

TEST(Report, ColorsOnRequestOnly) {
    const auto write = [](Report& report) { report.outcome(efficientScan()); };
    EXPECT_THAT(written(write), Not(HasSubstr("\x1b")));
    EXPECT_THAT(written(write, true), HasSubstr("\x1b[32mpassed\x1b[0m"));
}

TEST(Report, HasOneLineForEachOfMany) {
    Outcome scan = efficientScan();
    scan.copyUs = 11.808;
    const std::string line = written([&](Report& report) { report.line(scan); });
    EXPECT_THAT(line, AllOf(HasSubstr("scan"), HasSubstr("efficient"), HasSubstr("1048576"), HasSubstr("mod:50"),
                            HasSubstr("cold"), HasSubstr(" 118.08 us"), HasSubstr(" 71.04 GB/s"),
                            testing::EndsWith(" 10.0 % of copy\n")));
    EXPECT_THAT(written([&](Report& report) { report.line(failed(scan, "wrong")); }),
                AllOf(Not(HasSubstr("118")), testing::EndsWith("FAILED: wrong\n")));
    EXPECT_THAT(written([&](Report& report) { report.line(skipped(scan, "no room")); }),
                testing::EndsWith("skipped: no room\n"));
}

TEST(Report, SaysWhereTheNoiseStayed) {
    Outcome noisy = efficientScan();
    noisy.time.us.noise = 0.034;
    noisy.time.noisy = true;
    EXPECT_THAT(written([&](Report& report) { report.outcome(noisy); }),
                testing::EndsWith("passed\n    noise 3.4 % after 15 trials\n"));
    EXPECT_THAT(written([&](Report& report) { report.line(noisy); }), HasSubstr("noise 3.4 % after 15 trials"));
    noisy.time.us.noise = std::numeric_limits<double>::infinity();
    EXPECT_THAT(written([&](Report& report) { report.line(noisy); }), HasSubstr("noise unknown"));
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
    EXPECT_THAT(written([&](Report& report) { report.outcome(cut); }),
                testing::EndsWith("passed\n    2 of 15 trials in the time budget\n"));
    EXPECT_THAT(written([&](Report& report) { report.line(cut); }),
                testing::EndsWith("  2 of 15 trials in the time budget\n"));
    EXPECT_THAT(written([&](Report& report) {
                    report.table(std::vector{cut, doubleScan()});
                }),
                AllOf(HasSubstr("      n   trials  median us"), HasSubstr("1048576  2 of 15     118.08"),
                      HasSubstr("1048576       15     236.16")));
    EXPECT_THAT(written([&](Report& report) { report.table(std::vector{doubleScan()}); }), Not(HasSubstr("trials")));
    cut.time.noisy = true;
    cut.time.us.noise = std::numeric_limits<double>::infinity();
    EXPECT_THAT(written([&](Report& report) { report.line(cut); }),
                testing::EndsWith("  2 of 15 trials in the time budget; noise unknown: 2 trials were too few\n"));
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
              "\nNote: the clock of the card fell to 1500 of 2000 MHz, lowest at scan efficient 1048576\n");
    EXPECT_EQ(written([&](Report& report) { report.notes(std::vector{fast, efficientScan()}, context); }), "");
}

TEST(Report, TellsApartInTheTableWhatWasRunInSeveralWays) {
    Outcome cold = efficientScan();
    Outcome batched = efficientScan();
    batched.mode = Mode::Batched;
    Outcome ones = efficientScan();
    ones.input = "ones";
    Outcome wide = efficientScan();
    wide.variant.blockSizes = StreamCompaction::powerOfTwoBlockSizes;
    wide.variant.defaultBlockSize = 512;
    const auto title = [](const std::vector<Outcome>& outcomes) {
        const std::string table = written([&](Report& report) { report.table(outcomes); });
        return table.substr(1, table.find("  median us") - 1);
    };
    EXPECT_EQ(title({cold, cold}), "operation  variant          n");
    EXPECT_EQ(title({cold, batched}), "operation  variant          n  mode   ");
    EXPECT_EQ(title({cold, ones}), "operation  variant          n  input ");
    EXPECT_EQ(title({cold, wide}), "operation  variant          n  block");
}

TEST(Report, ComparesEqualInputsAndModesOnly) {
    auto thrust = passed(Operation::Scan, Hardware::Gpu, thrustVariant, "thrust scan", 1 << 20, 59.04);
    EXPECT_THAT(written([&](Report& report) {
                    report.table(std::vector{efficientScan(), thrust});
                }),
                HasSubstr("0.50"));
    thrust.input = "ones";
    EXPECT_THAT(written([&](Report& report) {
                    report.table(std::vector{efficientScan(), thrust});
                }),
                Not(HasSubstr("0.50")));
    thrust.input = efficientScan().input;
    thrust.mode = Mode::Batched;
    EXPECT_THAT(written([&](Report& report) {
                    report.table(std::vector{efficientScan(), thrust});
                }),
                Not(HasSubstr("0.50")));
}

TEST(Report, DescribesTheMachine) {
    RunContext context{.gpu = std::nullopt,
                       .gpuUnavailableReason = "no CUDA device is visible",
                       .simulatedCard = std::nullopt,
                       .ceilings = std::nullopt,
                       .cpu = {"Processor", 8},
                       .compiler = "GNU 12.2.0",
                       .commit = "0123abc"};
    EXPECT_EQ(written([&](Report& report) { report.context(context); }),
              "GPU       none: no CUDA device is visible\n"
              "CPU       Processor, 8 threads\n"
              "Compiler  GNU 12.2.0\n"
              "Commit    0123abc\n");
    context.simulatedCard = "compute capability 9.0, 4 multiprocessors";
    EXPECT_THAT(
        written([&](Report& report) { report.context(context); }),
        testing::StartsWith("GPU       simulated, compute capability 9.0, 4 multiprocessors; results are checked, "
                            "not timed: times need a card and scripts/run.sh --cuda\nCPU "));
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
