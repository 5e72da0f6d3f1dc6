#include "output/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

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
    row.medianUs = 145.0625;
    row.verified = true;
    row.cpu = "Processor";
    return row;
}

TEST(WriteJson, HasAnObjectARow) {
    const Json rows = written({}, {exampleRow(), Row{}}).at("rows");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].size(), columns.size());
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

}  // namespace
}  // namespace Bench
