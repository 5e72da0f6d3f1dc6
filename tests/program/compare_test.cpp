#include "app/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/values.h"
#include "output/csv.h"

namespace Bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

[[nodiscard]] Row row(std::string variant, double us, double spread = 0.01) {
    Row row;
    row.operation = "scan";
    row.variant = std::move(variant);
    row.type = "int32";
    row.n = 1024;
    row.mode = "cold";
    row.verified = true;
    row.medianUs = us;
    row.minUs = us * (1 - spread);
    row.maxUs = us * (1 + spread);
    return row;
}

[[nodiscard]] Row wrong(Row row) {
    row.verified = false;
    row.medianUs = row.minUs = row.maxUs = std::nullopt;
    return row;
}

[[nodiscard]] Change changeOf(const Row& before, const Row& after, double threshold = 0.05) {
    return compare(std::vector{before}, std::vector{after}, threshold).changes.at(0);
}

TEST(Compare, FindsWhatGotSlowerOrFaster) {
    const Change slower = changeOf(row("a", 100), row("a", 120));
    EXPECT_EQ(slower.verdict, Verdict::Regression);
    EXPECT_DOUBLE_EQ(slower.ratio.value(), 1.2);
    EXPECT_EQ(changeOf(row("a", 120), row("a", 100)).verdict, Verdict::Improvement);
    EXPECT_EQ(changeOf(row("a", 100), row("a", 104)).verdict, Verdict::Unchanged);
    EXPECT_EQ(changeOf(row("a", 104), row("a", 100)).verdict, Verdict::Unchanged);
    EXPECT_EQ(changeOf(row("a", 100), row("a", 104), 0.03).verdict, Verdict::Regression);
}

TEST(Compare, DoesNotMistakeNoiseForAChange) {
    const Change noisy = changeOf(row("a", 100, 0.3), row("a", 120, 0.4));
    EXPECT_DOUBLE_EQ(noisy.noise, 0.5);
    EXPECT_EQ(noisy.verdict, Verdict::Unchanged);
}

TEST(Compare, DoesNotTakeOneHiccupForNoise) {
    Row after = row("a", 120);
    after.maxUs = 10000;
    EXPECT_EQ(changeOf(row("a", 100), after).verdict, Verdict::Regression);
}

TEST(Compare, TakesAWrongResultForTheWorst) {
    EXPECT_EQ(changeOf(row("a", 100), wrong(row("a", 1))).verdict, Verdict::Regression);
    EXPECT_EQ(changeOf(wrong(row("a", 1)), row("a", 100)).verdict, Verdict::Improvement);
    EXPECT_EQ(changeOf(wrong(row("a", 1)), wrong(row("a", 1))).verdict, Verdict::Unchanged);
    EXPECT_EQ(changeOf(row("a", 100), wrong(row("a", 1))).ratio, std::nullopt);
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
    EXPECT_EQ(comparison.onlyBefore.size(), 1u);
    EXPECT_EQ(comparison.onlyAfter.size(), 9u);

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
    EXPECT_EQ(comparison.onlyBefore.at(0).cpu, "Slow");
    EXPECT_EQ(comparison.onlyAfter.at(0).cpu, "Fast");

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
    EXPECT_DOUBLE_EQ(change.ratio.value(), 140.0 / 120);
    // From the median of the medians to the slowest trial, 131.3, which is nearer than the fastest, 99.
    EXPECT_DOUBLE_EQ(change.noise, std::hypot((131.3 - 120) / 120, 0.01));
    EXPECT_EQ(change.verdict, Verdict::Regression);

    std::vector<Row> oneWrong = before;
    oneWrong[1] = wrong(oneWrong[1]);
    EXPECT_EQ(compare(before, oneWrong, 0.05).changes.at(0).verdict, Verdict::Regression);
}

TEST(Compare, TakesTheNewestCommitOfAFile) {
    std::vector<Row> rows{row("a", 50), row("a", 60), row("a", 100)};
    rows.back().commit = "newer";
    EXPECT_DOUBLE_EQ(compare(rows, std::vector{row("a", 101)}, 0.05).changes.at(0).ratio.value(), 1.01);
}

class CompareFiles : public testing::Test {
  protected:
    CompareFiles() { std::filesystem::create_directories(folder_); }
    ~CompareFiles() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string file(const std::string& name, const std::vector<Row>& rows) const {
        const auto path = folder_ / name;
        CsvFile csv(path);
        for (const Row& row : rows) {
            csv.append(csvLine(row));
        }
        return path.string();
    }

    [[nodiscard]] int run(const std::vector<std::string>& arguments) {
        std::vector<const char*> pointers;
        for (const std::string& argument : arguments) {
            pointers.push_back(argument.c_str());
        }
        out_.str("");
        return runComparison(pointers, out_);
    }

    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) /
        (std::string("compare_test_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::ostringstream out_;
};

TEST_F(CompareFiles, ExitWithOneWhenThereIsARegression) {
    const std::string before = file("before.csv", {row("a", 100), row("b", 100), row("gone", 3)});
    const std::string after = file("after.csv", {row("a", 150), row("b", 50), row("new", 4)});
    EXPECT_EQ(run({before, after}), 1);
    EXPECT_THAT(out_.str(), AllOf(HasSubstr("100.00    150.00  1.500  1.4 %  REGRESSION\n"),
                                  HasSubstr("100.00     50.00  0.500  1.4 %  improvement\n"),
                                  HasSubstr("only before\n"), HasSubstr("only after\n"),
                                  HasSubstr("\n2 compared: 1 faster, 1 slower; 1 only before, 1 only after\n")));
    EXPECT_EQ(run({before, after, "--threshold", "60%"}), 0);
    EXPECT_THAT(out_.str(), Not(HasSubstr("REGRESSION")));
}

TEST_F(CompareFiles, WriteMarkdown) {
    const std::string before = file("before.csv", {row("a", 100)});
    EXPECT_EQ(run({before, before, "--markdown", "-"}), 0);
    EXPECT_THAT(out_.str(), testing::StartsWith("| operation | variant |"));
    EXPECT_THAT(out_.str(), Not(HasSubstr("compared")));

    const auto markdown = folder_ / "table.md";
    EXPECT_EQ(run({before, before, "--markdown", markdown.string()}), 0);
    std::ifstream written(markdown);
    std::string line;
    std::getline(written, line);
    EXPECT_THAT(line, testing::StartsWith("| operation | variant |"));
}

TEST_F(CompareFiles, AreNotWrittenTo) {
    const std::string before = file("before.csv", {row("a", 100)});
    const std::string after = file("after.csv", {row("a", 100)});
    for (const std::string& compared : {before, after}) {
        EXPECT_THROW((void)run({before, after, "--markdown", compared}), UsageError);
        EXPECT_EQ(readCsv(compared).rows.size(), 1u);
    }
}

TEST_F(CompareFiles, RefuseWhatIsNoRun) {
    const std::string good = file("good.csv", {row("a", 100)});
    const std::string broken = file("broken.csv", {row("a", 100)});
    std::ofstream(broken, std::ios::app) << "scan,naive\n";
    EXPECT_THAT(
        [&] {
            (void)run({good, broken});
        },
        testing::ThrowsMessage<UsageError>(broken + ": line 3 is no measurement"));
    EXPECT_THROW((void)run({good, (folder_ / "none.csv").string()}), UsageError);
    EXPECT_THROW((void)run({good}), UsageError);
    EXPECT_THROW((void)run({good, good, good}), UsageError);
    EXPECT_THAT(
        [&] {
            (void)run({good, good, "--threshold", "5"});
        },
        testing::ThrowsMessage<UsageError>("--threshold: expected a percentage such as 2%, got '5'"));
}

TEST_F(CompareFiles, RefuseTimesThatNothingCanHaveTaken) {
    const std::string good = file("good.csv", {row("a", 100)});
    for (const std::optional<double> us : std::initializer_list<std::optional<double>>{
             std::nullopt, 0, -1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        for (const auto time : {&Row::medianUs, &Row::minUs, &Row::maxUs}) {
            Row nonsense = row("a", 100);
            nonsense.*time = us;
            std::filesystem::remove(folder_ / "nonsense.csv");
            EXPECT_THROW((void)run({good, file("nonsense.csv", {nonsense})}), UsageError) << csvLine(nonsense);
        }
    }
}

TEST_F(CompareFiles, RefuseWhatHasNothingInCommon) {
    const std::string some = file("some.csv", {row("a", 100)});
    EXPECT_THROW((void)run({some, file("others.csv", {row("b", 100)})}), UsageError);
    EXPECT_THROW((void)run({some, file("none.csv", {})}), UsageError);
}

TEST_F(CompareFiles, AnswerHelp) {
    EXPECT_EQ(run({"--help"}), 0);
    EXPECT_THAT(out_.str(), HasSubstr("--threshold"));
}

}  // namespace
}  // namespace Bench
