#include "measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "statistics.h"

namespace Bench {
namespace {

TEST(Summarize, TakesTheMiddleOfAnOddNumber) {
    const Summary summary = summarize({5, 1, 9});
    EXPECT_EQ(summary.median, 5);
    EXPECT_EQ(summary.min, 1);
    EXPECT_EQ(summary.max, 9);
}

TEST(Summarize, TakesTheMeanOfTheTwoInTheMiddleOfAnEvenNumber) { EXPECT_EQ(summarize({8, 2, 4, 100}).median, 6); }

TEST(Summarize, TakesOneSample) {
    const Summary summary = summarize({3.5});
    EXPECT_EQ(summary.median, 3.5);
    EXPECT_EQ(summary.min, 3.5);
    EXPECT_EQ(summary.max, 3.5);
}

TEST(Summarize, RefusesNoSamples) { EXPECT_THROW((void)summarize({}), std::invalid_argument); }

/// Says that the runs take the given times.
class FakeStopwatch final : public Stopwatch {
  public:
    explicit FakeStopwatch(std::vector<double> times) : times_(std::move(times)) {}

    [[nodiscard]] double microseconds(const Work& work) override {
        work();
        return times_.at(next_++);
    }
    [[nodiscard]] const char* mode() const override { return "fake"; }

  private:
    std::vector<double> times_;
    std::size_t next_ = 0;
};

TEST(Measure, WarmsUpUntimedAndResetsBeforeEachTrial) {
    FakeStopwatch stopwatch({30, 10, 20});
    std::string log;
    const Timing timing = measure(
        stopwatch, {.warmup = 2, .trials = 3}, [&log] { log += 'r'; }, [&log] { log += 'w'; });
    EXPECT_EQ(log, "wwrwrwrw");
    EXPECT_EQ(timing.trials, 3);
    EXPECT_EQ(timing.us.median, 20);
    EXPECT_EQ(timing.us.min, 10);
    EXPECT_EQ(timing.us.max, 30);
}

TEST(Measure, StopsWhenTheBudgetIsSpent) {
    FakeStopwatch stopwatch({40, 60, 1, 1});
    const Timing timing = measure(
        stopwatch, {.warmup = 1, .trials = 15, .budgetUs = 100}, [] {}, [] {});
    EXPECT_EQ(timing.trials, 2);
}

TEST(Measure, RunsOneTrialHoweverLongItTakes) {
    FakeStopwatch stopwatch({1e9});
    const Timing timing = measure(
        stopwatch, {.warmup = 1, .trials = 15, .budgetUs = 100}, [] {}, [] {});
    EXPECT_EQ(timing.trials, 1);
    EXPECT_EQ(timing.us.median, 1e9);
}

}  // namespace
}  // namespace Bench
