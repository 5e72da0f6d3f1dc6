#include "tune/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "fake_machine.h"

namespace Bench::Tune {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

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
    const std::vector<Candidate> candidates{{"right", 128, 4, "", writes(true)},
                                            {"wrong later", 128, 8, "", writes(false)},
                                            {"no room", 128, 16, "", [] { return false; }}};
    FakeGpu gpu(1000);
    Tuner tuner(gpu, csv);
    EXPECT_TRUE(tuner.allCorrect());
    tuner.run({"scan", "int32", 1, 8, [&result] { result = 0; }, [&result] { return result == 1; },
               [&result] { result = 1; }},
              candidates);
    EXPECT_FALSE(tuner.allCorrect());

    std::ifstream file(csv);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(line);
    }
    EXPECT_THAT(lines, ElementsAre(EndsWith(",verified"), EndsWith(",true"), EndsWith(",false"),
                                   AllOf(HasSubstr(",chosen,"), EndsWith(",true"))));
    std::filesystem::remove(csv);
}

/// A tuner on a card whose times the candidates say.
class TunerOfKnownTimes : public testing::Test {
  protected:
    ~TunerOfKnownTimes() override { std::filesystem::remove(csv_); }

    [[nodiscard]] auto taking(double us) {
        return [this, us] {
            log->runUs = us;
            return true;
        };
    }

    const std::shared_ptr<GpuLog> log = std::make_shared<GpuLog>();

  private:
    std::filesystem::path csv_ = std::filesystem::path(testing::TempDir()) /
                                 (testing::UnitTest::GetInstance()->current_test_info()->name() + std::string(".csv"));
    FakeGpu gpu_{1000, log};

  protected:
    Tuner tuner{gpu_, csv_};
};

TEST_F(TunerOfKnownTimes, CountsChoicesThatAreSlowerThanTheFastestShape) {
    const std::vector<Candidate> candidates{{"slow", 128, 4, "", taking(120)}, {"fast", 128, 8, "", taking(100)}};
    const auto missesWith = [&](double chosenUs) {
        const int before = tuner.misses();
        tuner.run({"scan", "int32", 1, 8, [] {}, [] { return true; }, [&, chosenUs] { log->runUs = chosenUs; }},
                  candidates);
        return tuner.misses() - before;
    };
    EXPECT_EQ(missesWith(90), 0);
    EXPECT_EQ(missesWith(102.9), 0);
    EXPECT_EQ(missesWith(103.1), 1);
    // Once slow by chance, not again.
    int runs = 0;
    tuner.run({"scan", "int32", 1, 8, [] {}, [] { return true; }, [&] { log->runUs = ++runs <= 20 ? 200 : 100; }},
              candidates);
    EXPECT_GT(runs, 20);
    EXPECT_EQ(tuner.misses(), 1);
}

}  // namespace
}  // namespace Bench::Tune
