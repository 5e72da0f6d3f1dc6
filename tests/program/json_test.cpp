#include "output/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/values.h"

namespace Bench {
namespace {

using Json = nlohmann::json;

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

/// The row with another value.
[[nodiscard]] std::string lineWith(const std::string& key, const Json& value) {
    Json object = Json::parse(jsonLine(exampleRow()));
    object[key] = value;
    return object.dump() + '\n';
}

[[nodiscard]] std::vector<Row> read(const std::string& text) {
    std::istringstream file(text);
    return readJson(file, "file");
}

TEST(JsonLine, HasAValueForEachColumnAndEachTrial) {
    const Json some = Json::parse(jsonLine(exampleRow()));
    EXPECT_EQ(some.size(), columns.size() + 1);
    EXPECT_EQ(some.at("samples_us"), Json({145.5, 145.0625, 144}));
    EXPECT_EQ(some.at("gpu"), "Card");
    EXPECT_EQ(some.at("n"), std::size_t{1} << 40);
    EXPECT_EQ(some.at("block_size"), 256);
    EXPECT_EQ(some.at("median_us"), 145.0625);
    EXPECT_EQ(some.at("verified"), true);
    const Json none = Json::parse(jsonLine(Row{}));
    for (const char* key : {"gpu", "shape", "block_size", "percent_of_copy"}) {
        EXPECT_TRUE(none.at(key).is_null()) << key;
    }
    Row odd;
    odd.input = "file:\xff.txt";
    EXPECT_EQ(Json::parse(jsonLine(odd)).at("input"), "file:\uFFFD.txt");
}

TEST(ReadJson, GivesBackWhatWasWritten) {
    const std::vector<Row> rows = read(jsonLine(exampleRow()) + '\n' + jsonLine(Row{}) + '\n');
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(jsonLine(rows[0]), jsonLine(exampleRow()));
    EXPECT_EQ(jsonLine(rows[1]), jsonLine(Row{}));
}

TEST(ReadJson, TakesWhatWasWrittenBeforeGpusWereCounted) {
    Row row = exampleRow();
    row.cpu.clear();
    row.gpus = 1;
    auto early = Json::parse(jsonLine(row));
    early.erase("gpus");
    early.erase("gpu_memory");
    EXPECT_EQ(jsonLine(read(early.dump()).at(0)), jsonLine(row));
}

TEST(ReadJson, SaysWhatIsWrong) {
    const std::string line = jsonLine(exampleRow());
    const std::pair<std::string, std::string> cases[] = {
        {line + '\n' + line.substr(0, line.size() / 2) + '\n', ": line 2 breaks off or is no JSON"},
        {"text", ": line 1 breaks off or is no JSON"},
        {"[1]", ": measurement 1 has no valid gpu"},
        {line + '\n' + lineWith("n", "many"), ": measurement 2 has no valid n"},
        {lineWith("samples_us", {"soon"}), ": measurement 1 has no valid samples_us"},
        {lineWith("samples_us", {145.5, -1, 144}), ": measurement 1 has a trial of -1 us"},
        {lineWith("median_us", -1), ": measurement 1 has no valid times"},
        {lineWith("min_us", Json()), ": measurement 1 has no valid times"},
    };
    for (const auto& [text, message] : cases) {
        EXPECT_THAT([&] { (void)read(text); }, testing::ThrowsMessage<UsageError>("file" + message));
    }
}

}  // namespace
}  // namespace Bench
