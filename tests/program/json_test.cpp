#include "output/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/values.h"
#include "file_fixture.h"

namespace Bench {
namespace {

using Json = nlohmann::json;

[[nodiscard]] Json written(const RunContext& context, const std::vector<Row>& rows) {
    std::ostringstream out;
    writeJson(out, context, rows);
    return Json::parse(out.str());
}

[[nodiscard]] Row exampleRow() {
    Row row;
    row.gpu = "Card";
    row.operation = "scan";
    row.n = std::size_t{1} << 40;
    row.blockSize = 256;
    row.mode = "warm";
    row.medianUs = 145.0625;
    row.verified = true;
    row.cpu = "Processor";
    row.gpus.reset();
    row.samplesUs = {145.5, 145.0625, 144};
    return row;
}

TEST(WriteJson, HasAnObjectARow) {
    const Json rows = written({}, {exampleRow(), Row{}}).at("rows");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].size(), columns.size() + 1);
    EXPECT_EQ(rows[0].at("samples_us"), Json({145.5, 145.0625, 144}));
    EXPECT_EQ(rows[1].at("samples_us"), Json::array());
    for (const Column& column : columns) {
        EXPECT_TRUE(rows[0].contains(std::string(column.name))) << column.name;
    }
    EXPECT_EQ(rows[0].at("gpu"), "Card");
    EXPECT_EQ(rows[0].at("n"), std::size_t{1} << 40);
    EXPECT_EQ(rows[0].at("block_size"), 256);
    EXPECT_EQ(rows[0].at("median_us"), 145.0625);
    EXPECT_TRUE(rows[0].at("percent_of_copy").is_null());
    EXPECT_EQ(rows[0].at("verified"), true);
    EXPECT_TRUE(rows[1].at("block_size").is_null());
    EXPECT_TRUE(rows[1].at("gpu").is_null());
    EXPECT_TRUE(rows[1].at("shape").is_null());
    EXPECT_EQ(rows[0].at("cpu"), "Processor");
    EXPECT_TRUE(rows[1].at("cpu").is_null());
    EXPECT_EQ(rows[1].at("verified"), false);
}

TEST(WriteJson, TellsWhereItWasMeasured) {
    RunContext context;
    context.cpu = {"Processor", 8};
    context.commit = "0123abc";
    Json object = written(context, {}).at("context");
    EXPECT_EQ(object.at("cpu"), "Processor, 8 threads");
    EXPECT_EQ(object.at("commit"), "0123abc");
    EXPECT_TRUE(object.at("gpu").is_null());
    EXPECT_TRUE(object.at("ceilings_gbps").is_null());
    EXPECT_EQ(object.at("date").get<std::string>().size(), 20u);

    context.gpu = GpuInfo{"Card", "9.0", 1000, "13.0", "13.1", 1980};
    context.ceilings = Ceilings{.copyGbps = 4000, .readGbps = 4400, .clockMHz = 1965};
    object = written(context, {}).at("context");
    EXPECT_EQ(object.at("gpu").at("name"), "Card");
    EXPECT_EQ(object.at("gpu").at("boost_mhz"), 1980);
    EXPECT_EQ(object.at("clock_mhz"), 1965);
    EXPECT_EQ(object.at("ceilings_gbps").at("copy"), 4000);
    EXPECT_EQ(object.at("ceilings_gbps").at("read"), 4400);
}

TEST(WriteJson, HasAListOfNoRows) { EXPECT_EQ(written({}, {}).at("rows"), Json::array()); }

TEST(WriteJson, TakesNamesThatAreNotUtf8) {
    Row row;
    row.input = "file:\xff.txt";
    EXPECT_EQ(written({}, {row}).at("rows").at(0).at("input"), "file:\uFFFD.txt");
}

class ReadJson : public FileTest {};

TEST_F(ReadJson, TakesLinesOfRows) {
    const Row some = exampleRow();
    const Row other;
    fill(jsonLine(some) + '\n' + jsonLine(other) + '\n');
    const std::vector<Row> rows = readJson(path_);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(jsonLine(rows[0]), jsonLine(some));
    EXPECT_EQ(jsonLine(rows[1]), jsonLine(other));
    EXPECT_EQ(rows[0].samplesUs, some.samplesUs);
    EXPECT_EQ(rows[0].medianUs, some.medianUs);
    EXPECT_EQ(rows[1].medianUs, std::nullopt);
}

TEST_F(ReadJson, TakesWhatWasWrittenBeforeGpusWereCounted) {
    Row row = exampleRow();
    row.cpu.clear();
    row.gpus = 1;
    auto early = nlohmann::json::parse(jsonLine(row));
    early.erase("gpus");
    early.erase("gpu_memory");
    fill(early.dump());
    EXPECT_EQ(jsonLine(readJson(path_).at(0)), jsonLine(row));
}

TEST_F(ReadJson, TakesAWholeRun) {
    std::ostringstream out;
    writeJson(out, {}, std::vector{exampleRow(), Row{}});
    fill(out.str());
    const std::vector<Row> rows = readJson(path_);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(jsonLine(rows[0]), jsonLine(exampleRow()));
}

TEST_F(ReadJson, RefusesWhatIsNoRun) {
    const std::string line = jsonLine(exampleRow());
    for (const std::string& text : {line.substr(0, line.size() / 2), std::string("{\"n\": 3}"), std::string("[1]"),
                                    std::string("7"), std::string("text")}) {
        fill(text);
        EXPECT_THROW((void)readJson(path_), UsageError) << text;
    }
}

}  // namespace
}  // namespace Bench
