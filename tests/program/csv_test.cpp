#include "csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stream_compaction/block_size.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "outcomes.h"
#include "usage_error.h"

namespace Bench {
namespace {

using testing::ElementsAre;

const CsvContext context{{"NVIDIA H200", "9.0", std::size_t{140} << 30, "13.0", "13.1"}, "0123abc"};

/// Splits a line at its commas; understands quotes.
[[nodiscard]] std::vector<std::string> fields(const std::string& line) {
    std::vector<std::string> result(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
            result.back() += line[++i];
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (line[i] == ',' && !quoted) {
            result.emplace_back();
        } else {
            result.back() += line[i];
        }
    }
    return result;
}

[[nodiscard]] Outcome scanOutcome() {
    Outcome outcome = passed(Operation::Scan, Hardware::Gpu, "naive", "naive scan", 1 << 20, 145.0625);
    outcome.variant.blockSizes = StreamCompaction::powerOfTwoBlockSizes;
    outcome.variant.defaultBlockSize = 256;
    outcome.copyUs = 14.50625;
    return outcome;
}

/// A file of its own for each test, gone before and after.
class CsvFileTest : public testing::Test {
  protected:
    CsvFileTest() { std::filesystem::remove(path_); }
    ~CsvFileTest() override { std::filesystem::remove(path_); }

    [[nodiscard]] std::string contents() const {
        std::ifstream file(path_);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void fill(std::string_view text) const { std::ofstream(path_) << text; }

    const std::filesystem::path path_ =
        std::filesystem::path(testing::TempDir()) /
        (std::string("csv_test_") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
    const std::string header_ = std::string(csvHeader) + '\n';
};

TEST(CsvRow, HasAValueForEveryColumn) {
    EXPECT_THAT(fields(csvRow(context, "2026-01-31T23:59:59Z", "mod:50", scanOutcome())),
                ElementsAre("NVIDIA H200", "9.0", "13.0", "13.1", "0123abc", "2026-01-31T23:59:59Z", "scan", "naive",
                            "int32", "1048576", "mod:50", "256", "cold", "15", "145.062", "72.531", "290.125",
                            "8388608", "57.828", "10.000", "true", ""));
}

TEST(CsvRow, LeavesEmptyWhatDoesNotApply) {
    const auto outcome = passed(Operation::Sort, Hardware::Cpu, "cpu", "cpu sort", 1000, 50);
    EXPECT_THAT(
        fields(csvRow({{}, "0123abc"}, "2026-01-31T23:59:59Z", "uniform", outcome)),
        ElementsAre("", "", "", "", "0123abc", "2026-01-31T23:59:59Z", "sort", "cpu", "int32", "1000", "uniform", "",
                    "batched", "15", "50.000", "25.000", "100.000", "8000", "0.160", "", "true", ""));
}

TEST(CsvRow, NamesTheType) {
    Outcome outcome = scanOutcome();
    outcome.variant.type = ElementType::Int8;
    EXPECT_EQ(fields(csvRow(context, "t", "mod:50", outcome)).at(8), "int8->int32");
    outcome.variant.operation = Operation::SortPairs;
    outcome.variant.type = ElementType::Int32;
    EXPECT_EQ(fields(csvRow(context, "t", "uniform", outcome)).at(8), "int32,int32");
}

TEST(CsvRow, NamesTheShapeOfAMatrix) {
    Outcome outcome = passed(Operation::RowSum, Hardware::Gpu, "adaptive", "adaptive row sum", 6144, 5);
    outcome.shape = Shape{3, 2048};
    EXPECT_EQ(fields(csvRow(context, "t", "mod:50", outcome)).at(21), "3x2048");
}

TEST(CsvRow, HasNoTimeForAWrongResult) {
    const auto row = fields(csvRow(context, "2026-01-31T23:59:59Z", "mod:50", failed(scanOutcome(), "wrong")));
    ASSERT_EQ(row.size(), fields(std::string(csvHeader)).size());
    EXPECT_EQ(row[14], "");
    EXPECT_EQ(row[15], "");
    EXPECT_EQ(row[16], "");
    EXPECT_EQ(row[18], "");
    EXPECT_EQ(row[19], "");
    EXPECT_EQ(row[20], "false");
}

TEST(CsvRow, QuotesCommasAndQuotes) {
    CsvContext odd = context;
    odd.gpu.name = "Card \"X\", 8 GB";
    EXPECT_EQ(fields(csvRow(odd, "t", "uniform", scanOutcome())).front(), "Card \"X\", 8 GB");
}

TEST(TimestampNow, IsIso8601) {
    std::string shape = timestampNow();
    std::ranges::replace_if(
        shape, [](char c) { return c >= '0' && c <= '9'; }, 'd');
    EXPECT_EQ(shape, "dddd-dd-ddTdd:dd:ddZ");
}

TEST_F(CsvFileTest, StartsWithTheHeader) {
    CsvFile(path_).append("row");
    EXPECT_EQ(contents(), header_ + "row\n");
}

TEST_F(CsvFileTest, AppendsToItsOwnFile) {
    CsvFile(path_).append("first");
    CsvFile(path_).append("second");
    EXPECT_EQ(contents(), header_ + "first\nsecond\n");
}

TEST_F(CsvFileTest, GivesAnEmptyFileAHeader) {
    fill("");
    CsvFile(path_).append("row");
    EXPECT_EQ(contents(), header_ + "row\n");
}

TEST_F(CsvFileTest, HasEachRowOnDiskAtOnce) {
    CsvFile file(path_);
    file.append("row");
    EXPECT_EQ(contents(), header_ + "row\n");
}

TEST_F(CsvFileTest, StartsANewLineAfterABrokenOne) {
    fill(header_ + "brok");
    CsvFile(path_).append("row");
    EXPECT_EQ(contents(), header_ + "brok\nrow\n");
}

TEST_F(CsvFileTest, TakesItsHeaderFromWindows) {
    fill(std::string(csvHeader) + "\r\n");
    EXPECT_NO_THROW(CsvFile{path_});
}

TEST_F(CsvFileTest, LeavesOtherFilesAlone) {
    fill("name,value\nx,1\n");
    EXPECT_THROW(CsvFile{path_}, UsageError);
    EXPECT_EQ(contents(), "name,value\nx,1\n");
}

TEST_F(CsvFileTest, RefusesAPathThatCannotBeWritten) {
    EXPECT_THROW(CsvFile(path_ / "below" / "a.csv"), UsageError);
    EXPECT_THROW(CsvFile(std::filesystem::path(testing::TempDir())), UsageError);
}

}  // namespace
}  // namespace Bench
