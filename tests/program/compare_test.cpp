#include "app/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/values.h"
#include "file_fixture.h"
#include "output/csv.h"
#include "output/json.h"
#include "words.h"

namespace Bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// 15 trials, evenly spread around the median.
[[nodiscard]] Row row(std::string variant, double us, double spread = 0.01) {
    constexpr int trials = 15;
    Row row;
    row.operation = "scan";
    row.variant = std::move(variant);
    row.type = "int32";
    row.n = 1024;
    row.mode = "cold";
    row.verified = true;
    row.trials = trials;
    for (int i = 0; i < trials; ++i) {
        row.samplesUs.push_back(us * (1 + spread * (2.0 * i / (trials - 1) - 1)));
    }
    row.medianUs = us;
    row.minUs = row.samplesUs.front();
    row.maxUs = row.samplesUs.back();
    row.noisePercent = 100 * spread / 2;
    return row;
}

[[nodiscard]] Row wrong(Row row) {
    row.verified = false;
    row.medianUs = row.minUs = row.maxUs = std::nullopt;
    row.samplesUs.clear();
    return row;
}

[[nodiscard]] Change changeOf(const Row& before, const Row& after, double threshold = 0.05) {
    return compare(std::vector{before}, std::vector{after}, threshold).changes.at(0);
}

TEST(Compare, FindsWhatGotSlowerOrFaster) {
    Row fastStayed = row("a", 150);  // the trials have two peaks, and the fast one is where it was
    fastStayed.minUs = fastStayed.samplesUs.front() = 100;
    Row hiccup = row("a", 120);
    hiccup.maxUs = hiccup.samplesUs.back() = 10000;
    struct Case {
        Row before;
        Row after;
        Verdict verdict;
        std::string reason;
        double threshold = 0.05;
    };
    const Case cases[] = {
        {row("a", 100), row("a", 120), Verdict::Slower, ""},
        {row("a", 120), row("a", 100), Verdict::Faster, ""},
        {row("a", 100), row("a", 104), Verdict::Slower, "", 0.03},
        {row("a", 100), row("a", 104), Verdict::CannotTell, "within 5 %"},
        {row("a", 104), row("a", 100), Verdict::CannotTell, "within 5 %"},
        {row("a", 100, 0.1), row("a", 107, 0.1), Verdict::CannotTell, "times overlap"},
        {row("a", 100), fastStayed, Verdict::CannotTell, "within 5 %"},
        {row("a", 100), hiccup, Verdict::Slower, ""},
        {row("a", 100), wrong(row("a", 1)), Verdict::Slower, "wrong now"},
        {wrong(row("a", 1)), row("a", 100), Verdict::Faster, "right now"},
        {wrong(row("a", 1)), wrong(row("a", 1)), Verdict::CannotTell, "wrong"},
    };
    for (const auto& [before, after, verdict, reason, threshold] : cases) {
        const Change change = changeOf(before, after, threshold);
        EXPECT_EQ(change.verdict, verdict) << csvLine(after);
        EXPECT_EQ(change.reason, reason) << csvLine(after);
    }
    const Change change = changeOf(row("a", 100), row("a", 120));
    EXPECT_DOUBLE_EQ(change.ratio.value(), 1.2);
    EXPECT_DOUBLE_EQ(change.noise, std::hypot(0.005, 0.005));
}

TEST(Compare, JudgesByTheRangeWhereThereAreNoSamples) {
    std::vector<Row> rows{row("a", 100), row("a", 120), row("a", 120, 0.2)};
    for (Row& known : rows) {
        known.samplesUs.clear();
    }
    rows[2].minUs = 101;
    EXPECT_EQ(changeOf(rows[0], rows[1]).verdict, Verdict::Slower);
    EXPECT_EQ(changeOf(rows[0], rows[2], 0.001).reason, "times overlap");
    rows[0].trials = rows[1].trials = 3;
    EXPECT_EQ(changeOf(rows[0], rows[1]).reason, "times overlap");
}

TEST(Compare, CannotTellAtDifferentClocks) {
    Row before = row("a", 100);
    before.clockBeforeMHz = before.clockAfterMHz = 1980;
    Row after = row("a", 120);
    after.clockBeforeMHz = 1980;
    after.clockAfterMHz = 1900;
    EXPECT_EQ(changeOf(before, after).verdict, Verdict::Slower);
    after.clockAfterMHz = 1700;
    EXPECT_EQ(changeOf(before, after).reason, "different clocks");
    after.clockAfterMHz = 1980;
    after.throttled = "temperature";
    EXPECT_EQ(changeOf(before, after).reason, "low clock: temperature");
    EXPECT_EQ(changeOf(after, before).verdict, Verdict::CannotTell);
}

TEST(Compare, CannotTellOnABusyProcessor) {
    Row before = row("a", 100);
    before.probeBeforeUs = before.probeAfterUs = 200;
    Row after = row("a", 120);
    after.probeBeforeUs = after.probeAfterUs = 215;
    EXPECT_EQ(changeOf(before, after).verdict, Verdict::Slower);
    after.probeAfterUs = 230;
    EXPECT_EQ(changeOf(before, after).reason, "busy processor");

    // Both rows are slow in the same way, but others of the run show how fast the processor is when it is free.
    after.probeAfterUs = 215;
    Row calm = row("b", 100);
    calm.probeBeforeUs = calm.probeAfterUs = 150;
    EXPECT_EQ(compare(std::vector{before}, std::vector{after, calm}, 0.05).changes.at(0).reason, "busy processor");
}

TEST(Compare, DoesNotBlameAPeerThatRoundsTooMuch) {
    Row inexact = row("cub", 200);
    inexact.verified = false;
    for (const Change& change : {changeOf(row("cub", 100), inexact), changeOf(inexact, inexact)}) {
        EXPECT_EQ(change.verdict, Verdict::CannotTell);
        EXPECT_EQ(change.reason, "inexact");
        EXPECT_EQ(change.ratio, std::nullopt);
    }
}

TEST(Compare, PairsWhatIsTheSameInEverything) {
    const Row before = row("a", 100);
    std::vector<Row> others(9, before);
    others[0].operation = "sort";
    others[1].variant = "b";
    others[2].type = "double";
    others[3].n = 1021;
    others[4].input = "ones";
    others[5].blockSize = 64;
    others[6].mode = "batched";
    others[7].shape = "1x1024";
    others[8].gpu = "Card";
    const Comparison comparison = compare(std::vector{before}, others, 0.05);
    EXPECT_TRUE(comparison.changes.empty());
    ASSERT_EQ(comparison.onlyBefore.size(), 1u);
    ASSERT_EQ(comparison.onlyAfter.size(), 9u);
    EXPECT_EQ(comparison.onlyBefore[0].reason, "the other file has operation sort");
    EXPECT_EQ(comparison.onlyAfter[0].reason, "the other file has operation scan");
    EXPECT_EQ(comparison.onlyAfter[5].reason, "the other file has block_size -");
    EXPECT_EQ(comparison.onlyAfter[8].reason, "the other file has gpu -");

    Row sameButLater = before;
    sameButLater.commit = "other";
    sameButLater.timestamp = "later";
    EXPECT_EQ(compare(std::vector{before}, std::vector{sameButLater}, 0.05).changes.size(), 1u);
}

TEST(Compare, TellsProcessorsApartWhereBothFilesNameThem) {
    std::vector<Row> before{row("cpu", 100), row("cpu", 200)};
    before[0].cpu = "Slow";
    before[1].cpu = "Slower";
    std::vector<Row> after{row("cpu", 210), row("cpu", 50)};
    after[0].cpu = "Slower";
    after[1].cpu = "Fast";
    const Comparison comparison = compare(before, after, 0.05);
    ASSERT_EQ(comparison.changes.size(), 1u);
    EXPECT_DOUBLE_EQ(comparison.changes[0].ratio.value(), 1.05);
    EXPECT_EQ(comparison.onlyBefore.at(0).row.cpu, "Slow");
    EXPECT_EQ(comparison.onlyAfter.at(0).row.cpu, "Fast");
    EXPECT_EQ(comparison.onlyAfter.at(0).reason, "the other file has cpu Slow");

    // Early files do not.
    for (Row* unnamed : {&before[0], &after[0]}) {
        unnamed->cpu.clear();
    }
    EXPECT_EQ(compare(std::vector{before[0]}, std::vector{after[1]}, 0.05).changes.size(), 1u);
    EXPECT_EQ(compare(std::vector{before[1]}, std::vector{after[0]}, 0.05).changes.size(), 1u);
    EXPECT_EQ(compare(std::vector{before[0]}, std::vector{after[0]}, 0.05).changes.size(), 1u);
}

TEST(Compare, TakesSeveralRunsForOne) {
    const std::vector<Row> before{row("a", 100), row("a", 130), row("a", 120)};
    const Comparison comparison = compare(before, std::vector{row("a", 140)}, 0.05);
    ASSERT_EQ(comparison.changes.size(), 1u);
    const Change& change = comparison.changes[0];
    EXPECT_EQ(change.before.samplesUs.size(), 45u);
    EXPECT_EQ(change.before.trials, 45u);
    EXPECT_DOUBLE_EQ(change.ratio.value(), 140.0 / 120);
    EXPECT_EQ(change.verdict, Verdict::Slower);

    std::vector<Row> oneWrong = before;
    oneWrong[1] = wrong(oneWrong[1]);
    EXPECT_EQ(compare(before, oneWrong, 0.05).changes.at(0).verdict, Verdict::Slower);
}

TEST(Compare, TakesTheNewestCommitOfAFile) {
    std::vector<Row> rows{row("a", 50), row("a", 60), row("a", 100)};
    rows.back().commit = "newer";
    EXPECT_DOUBLE_EQ(compare(rows, std::vector{row("a", 101)}, 0.05).changes.at(0).ratio.value(), 1.01);
}

class CompareFiles : public FileTest {
  protected:
    [[nodiscard]] std::string file(const std::string& name, const std::vector<Row>& rows) const {
        const auto path = folder_ / name;
        CsvFile csv(path);
        for (const Row& row : rows) {
            csv.append(csvLine(row));
        }
        return path.string();
    }

    [[nodiscard]] int run(const std::string& line) {
        out_.str("");
        return runComparison(Words(line).get(), out_);
    }

    std::ostringstream out_;
};

TEST_F(CompareFiles, ExitWithOneWhenSomethingIsSlower) {
    const std::string before = file("before.csv", {row("a", 100), row("b", 100), row("gone", 3)});
    const std::string after = file("after.csv", {row("a", 150), row("b", 50), row("new", 4)});
    EXPECT_EQ(run(before + " " + after), 1);
    EXPECT_THAT(out_.str(),
                AllOf(HasSubstr("100.00    150.00  1.500  0.7 %  SLOWER\n"),
                      HasSubstr("100.00     50.00  0.500  0.7 %  faster\n"),
                      HasSubstr("only before: the other file has variant a\n"),
                      HasSubstr("only after: the other file has variant a\n"),
                      HasSubstr("\n2 compared: 1 faster, 1 slower, 0 cannot tell; 1 only before, 1 only after\n")));
    EXPECT_EQ(run(before + " " + after + " --threshold 60%"), 0);
    EXPECT_THAT(out_.str(), Not(HasSubstr("SLOWER")));
}

TEST_F(CompareFiles, MayHaveSamples) {
    Row before = row("a", 100, 0.1);
    Row after = row("a", 112, 0.1);
    const std::string old = file("old.csv", {before});
    const std::string samples = (folder_ / "new.jsonl").string();
    std::ofstream(samples) << jsonLine(after) << '\n';
    EXPECT_EQ(run(old + " " + samples), 0);
    EXPECT_THAT(out_.str(), HasSubstr("cannot tell: times overlap"));
    std::ofstream(old) << jsonLine(before) << '\n';
    EXPECT_EQ(run(old + " " + samples), 1);
}

TEST_F(CompareFiles, RefuseWhatIsNoRun) {
    const std::string good = file("good.csv", {row("a", 100)});
    const std::string broken = file("broken.csv", {row("a", 100)});
    std::ofstream(broken, std::ios::app) << "scan,naive\n";
    EXPECT_THAT([&] { (void)run(good + " " + broken); },
                testing::ThrowsMessage<UsageError>(broken + ": line 3 is no measurement"));
    for (const std::string& more : {std::string(""), folder_.string() + "/none.csv", good + " " + good,
                                    good + " --threshold 5", file("other.csv", {row("b", 100)})}) {
        EXPECT_THROW((void)run(good + " " + more), UsageError) << more;
    }
}

}  // namespace
}  // namespace Bench
