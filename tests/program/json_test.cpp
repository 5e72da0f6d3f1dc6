#include "output/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
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
    row.minUs = 144;
    row.maxUs = 145.5;
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

/// The row with another value.
[[nodiscard]] std::string lineWith(const std::string& key, const Json& value) {
    Json object = Json::parse(jsonLine(exampleRow()));
    object[key] = value;
    return object.dump() + '\n';
}

TEST_F(ReadJson, SaysWhatIsWrong) {
    const std::string line = jsonLine(exampleRow());
    std::ostringstream run;
    writeJson(run, {}, std::vector{exampleRow()});
    const std::pair<std::string, std::string> cases[] = {
        {line.substr(0, line.size() / 2), ": line 1 breaks off or is no JSON"},
        {line + '\n' + line.substr(0, line.size() / 2) + '\n', ": line 2 breaks off or is no JSON"},
        {run.str().substr(0, 19), ": line 3 breaks off or is no JSON"},
        {"text", ": line 1 breaks off or is no JSON"},
        {"{\"n\": 3}", ": measurement 1 has no valid gpu"},
        {"{\"rows\": 3}", ": measurement 1 has no valid gpu"},
        {"[1]", ": measurement 1 has no valid gpu"},
        {"7", ": measurement 1 has no valid gpu"},
        {line + '\n' + lineWith("n", "many"), ": measurement 2 has no valid n"},
        {lineWith("samples_us", {"soon"}), ": measurement 1 has no valid samples_us"},
        {lineWith("samples_us", {145.5, -1, 144}), ": measurement 1 has a trial of -1 us"},
        {lineWith("samples_us", {0}), ": measurement 1 has a trial of 0 us"},
        {lineWith("median_us", -1), ": measurement 1 has no valid times"},
        {lineWith("min_us", Json()), ": measurement 1 has no valid times"},
    };
    for (const auto& [text, message] : cases) {
        fill(text);
        EXPECT_THAT([this] { (void)readJson(path_); }, testing::ThrowsMessage<UsageError>(path_.string() + message));
    }
}

}  // namespace
}  // namespace Bench
