#include "tune/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fake_machine.h"

namespace Bench::Tune {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

TEST(Tuner, ChecksWhatWasTimed) {
    const std::filesystem::path csv = std::filesystem::path(testing::TempDir()) / "tuner_test.csv";
    std::filesystem::remove(csv);
    int result = 0;
    const auto writes = [&result](bool always) {
        return [&result, always, isFirst = true]() mutable {
            result = always || isFirst ? 1 : result;
            isFirst = false;
            return true;
        };
    };
    const std::vector<Candidate> candidates{{"peer", 0, 0, "", writes(true)},
                                            {"right", 128, 4, "", writes(true)},
                                            {"wrong later", 128, 8, "", writes(false)},
                                            {"no room", 128, 16, "", [] { return false; }}};
    FakeGpu gpu(1000);
    Tuner tuner(gpu, csv);
    EXPECT_TRUE(tuner.allCorrect());
    tuner.run({"scan", "int32", 1, 8, [&result] { result = 0; }, [&result] { return result == 1; }}, candidates);
    EXPECT_FALSE(tuner.allCorrect());

    std::ifstream file(csv);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(line);
    }
    EXPECT_THAT(lines, ElementsAre(EndsWith(",verified"), EndsWith(",true"), EndsWith(",true"), EndsWith(",false")));
    std::filesystem::remove(csv);
}

}  // namespace
}  // namespace Bench::Tune
