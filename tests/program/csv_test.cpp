#include "output/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stream_compaction/runtime/block_size.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "cli/values.h"
#include "file_fixture.h"
#include "outcomes.h"

namespace Bench {
namespace {

using testing::ElementsAre;

const RunContext context{.gpu = GpuInfo{"NVIDIA H200", "9.0", std::size_t{140} << 30, "13.0", "13.1", 1980},
                         .gpuUnavailableReason = "",
                         .simulatedCard = std::nullopt,
                         .ceilings = std::nullopt,
                         .cpu = {"Processor", 8},
                         .compiler = "",
                         .commit = "0123abc",
                         .peers = {}};

[[nodiscard]] std::vector<std::string> fieldsOf(const RunContext& where, const Outcome& outcome) {
    return csvFields(csvLine(rowOf(where, "2026-01-31T23:59:59Z", outcome)));
}

[[nodiscard]] Outcome scanOutcome() {
    Outcome outcome = passed(Operation::Scan, Hardware::Gpu, "naive", "naive scan", 1 << 20, 145.0625);
    outcome.variant.blockSizes = StreamCompaction::powerOfTwoBlockSizes;
    outcome.variant.defaultBlockSize = 256;
    outcome.copyUs = 14.50625;
    outcome.time.enqueueUs = 20.5;
    outcome.clockBeforeMHz = 1980;
    outcome.clockAfterMHz = 1755;
    outcome.throttled = "temperature";
    outcome.variant.library = "CCCL 3.1";
    return outcome;
}

class CsvFileTest : public FileTest {
  protected:
    const std::string header_ = csvHeader() + '\n';
};

TEST(CsvRow, HasAValueForEveryColumn) {
    EXPECT_THAT(fieldsOf(context, scanOutcome()),
                ElementsAre("NVIDIA H200", "9.0", "13.0", "13.1", "0123abc", "2026-01-31T23:59:59Z", "scan", "naive",
                            "int32", "1048576", "mod:50", "256", "cold", "15", "145.062", "72.531", "290.125",
                            "8388608", "57.828", "10.000", "true", "", "", "1.000", "20.500", "1980.000", "1755.000",
                            "", "", "temperature", "CCCL 3.1", "1", ""));
}

TEST(CsvRow, LeavesEmptyWhatDoesNotApplyAndNamesTheProcessorOfACpuVariant) {
    Outcome outcome = passed(Operation::Sort, Hardware::Cpu, "cpu", "cpu sort", 1000, 50);
    outcome.probeBeforeUs = 150;
    outcome.probeAfterUs = 151;
    RunContext noCard = context;
    noCard.gpu.reset();
    EXPECT_THAT(fieldsOf(noCard, outcome),
                ElementsAre("", "", "", "", "0123abc", "2026-01-31T23:59:59Z", "sort", "cpu", "int32", "1000", "mod:50",
                            "", "warm", "15", "50.000", "25.000", "100.000", "8000", "0.160", "", "true", "",
                            "Processor", "1.000", "", "", "", "150.000", "151.000", "", "", "", ""));
}

TEST(CsvRow, GivesBackWhatTheTableShows) {
    const Outcome outcome = scanOutcome();
    const Outcome again = outcomeOf(outcome, rowOf(context, "t", outcome));
    EXPECT_EQ(again.time.us.median, outcome.time.us.median);
    EXPECT_EQ(again.time.enqueueUs, outcome.time.enqueueUs);
    EXPECT_EQ(again.throttled, outcome.throttled);
}

TEST(CsvHeader, HasTheColumnsThatItHasHadAllAlong) {
    EXPECT_EQ(csvHeader(),
              "gpu,compute_capability,driver,toolkit,commit,timestamp,operation,variant,type,n,input,block_size,mode,"
              "trials,median_us,min_us,max_us,bytes,gbps,percent_of_copy,verified,shape,cpu,noise_percent,enqueue_us,"
              "clock_before_mhz,clock_after_mhz,probe_before_us,probe_after_us,throttled,library,gpus,gpu_memory");
}

TEST_F(CsvFileTest, RemovesALineThatBreaksOff) {
    fill(header_ + "whole\nbrok");
    CsvFile(path_).append("row");
    EXPECT_EQ(contents(), header_ + "whole\nrow\n");
}

TEST_F(CsvFileTest, EndsALineThatHasAllItsFields) {
    const std::string line = csvLine(rowOf(context, "t", scanOutcome()));
    fill(header_ + line);
    CsvFile(path_).append("row");
    EXPECT_EQ(contents(), header_ + line + "\nrow\n");
    fill(csvHeader());
    CsvFile(path_).append("row");
    EXPECT_EQ(contents(), header_ + "row\n");
}

TEST_F(CsvFileTest, IsReadAsItWasWritten) {
    Outcome sort = passed(Operation::Sort, Hardware::Cpu, "cpu", "cpu sort", 1000, 50);
    sort.input = "file:a \"b\", c.txt";
    Outcome rowSum = passed(Operation::RowSum, Hardware::Gpu, "adaptive", "adaptive row sum", 6144, 5);
    rowSum.shape = Shape{3, 2048};
    std::vector<std::string> lines;
    for (const Outcome& outcome : {scanOutcome(), sort, rowSum, failed(scanOutcome(), "wrong")}) {
        lines.push_back(csvLine(rowOf(context, "2026-01-31T23:59:59Z", outcome)));
    }
    {
        CsvFile file(path_);
        std::ranges::for_each(lines, [&file](const std::string& line) { file.append(line); });
    }
    const CsvContents read = readCsv(path_);
    EXPECT_THAT(read.unreadable, testing::IsEmpty());
    ASSERT_EQ(read.rows.size(), lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        EXPECT_EQ(csvLine(read.rows[i]), lines[i]);
    }
    EXPECT_EQ(read.rows[0].n, std::size_t{1} << 20);
    EXPECT_EQ(read.rows[0].blockSize, 256);
    EXPECT_EQ(read.rows[0].medianUs, 145.062);
    EXPECT_TRUE(read.rows[0].verified);
    EXPECT_EQ(read.rows[1].input, "file:a \"b\", c.txt");
    EXPECT_EQ(read.rows[2].shape, "3x2048");
    EXPECT_EQ(read.rows[3].medianUs, std::nullopt);
    EXPECT_FALSE(read.rows[3].verified);
}

TEST_F(CsvFileTest, IsReadWithoutTheColumnsThatEarlyFilesDoNotHave) {
    Outcome outcome = passed(Operation::Scan, Hardware::Gpu, "naive", "naive scan", 1 << 20, 145.0625);
    outcome.time.us.noise = std::numeric_limits<double>::infinity();
    std::string header = csvHeader();
    const std::string line = csvLine(rowOf(context, "t", outcome));
    std::string earlyLine = line;
    while (!header.ends_with(",verified")) {
        header.erase(header.rfind(','));
        earlyLine.erase(earlyLine.rfind(','));
        fill(header + "\r\n" + earlyLine + "\r\n");
        const CsvContents read = readCsv(path_);
        EXPECT_THAT(read.unreadable, testing::IsEmpty()) << header;
        ASSERT_EQ(read.rows.size(), 1u) << header;
        EXPECT_EQ(csvLine(read.rows[0]), line) << header;
    }
    fill(header.substr(0, header.rfind(',')) + "\n");
    EXPECT_THROW((void)readCsv(path_), UsageError);
}

TEST_F(CsvFileTest, CallsTheModeOfTheCpuWarmInEarlyFilesToo) {
    Outcome onCpu = passed(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", 1 << 20, 500);
    Outcome onCard = scanOutcome();
    onCpu.mode = onCard.mode = Mode::Batched;
    std::string text;
    for (std::string line : {csvHeader(), csvLine(rowOf(context, "t", onCpu)), csvLine(rowOf(context, "t", onCard))}) {
        auto fields = csvFields(line);
        fields.resize(21);  // up to `verified`
        text += csvLine(fields) + '\n';
    }
    fill(text);
    const CsvContents read = readCsv(path_);
    ASSERT_EQ(read.rows.size(), 2u);
    EXPECT_EQ(read.rows[0].mode, "warm");
    EXPECT_EQ(read.rows[1].mode, "batched");
}

TEST_F(CsvFileTest, NamesTheLinesThatAreBroken) {
    const std::string line = csvLine(rowOf(context, "t", scanOutcome()));
    std::string wrongNumber = line;
    wrongNumber.replace(wrongNumber.find("1048576"), 7, "many");
    std::string text = header_ + line + "\nNVIDIA,9.0\n" + line + "\n" + wrongNumber + "\n";
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const auto us : {std::optional<double>(), std::optional(-1.0), std::optional(infinity)}) {
        Row nonsense = rowOf(context, "t", scanOutcome());
        nonsense.minUs = us;
        text += csvLine(nonsense) + "\n";
    }
    fill(text);
    const CsvContents read = readCsv(path_);
    EXPECT_EQ(read.rows.size(), 2u);
    EXPECT_THAT(read.unreadable, ElementsAre(3, 5, 6, 7, 8));
}

TEST_F(CsvFileTest, IsNotReadWhenItIsSomethingElse) {
    const auto refuses = [this](const std::string& message) {
        EXPECT_THAT([this] { (void)readCsv(path_); }, testing::ThrowsMessage<UsageError>(message));
    };
    refuses("cannot read " + path_.string());
    fill("name,value\nx,1\n");
    refuses(path_.string() + " is no file of measurements");
    fill("gpu,value\nx,1\n");
    refuses(path_.string() + " has other columns than this program writes");
    fill("");
    refuses(path_.string() + " is empty");
}

}  // namespace
}  // namespace Bench
