#include "measure/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cli/values.h"

namespace Bench {
namespace {

[[nodiscard]] Summary summarize(const std::vector<double>& times) {
    Samples samples;
    for (const double time : times) {
        samples.add(time);
    }
    return samples.summary();
}

TEST(Samples, TakeTheMeanOfTheTwoInTheMiddleOfAnEvenNumber) { EXPECT_EQ(summarize({8, 2, 4, 100}).median, 6); }

/// The 95 % confidence interval of the median reaches from the 4th to the 12th of 15 samples and from the 40th to the
/// 61st of 100, as in the usual table of the binomial distribution.
TEST(Samples, KnowTheMedianFromTheOnesAroundIt) {
    std::vector<double> times(15);
    std::iota(times.begin(), times.end(), 93.0);
    EXPECT_DOUBLE_EQ(summarize(times).median, 100);
    EXPECT_DOUBLE_EQ(summarize(times).noise, (104.0 - 96.0) / 2 / 100);
    times.resize(100);
    std::iota(times.begin(), times.end(), 1.0);
    EXPECT_DOUBLE_EQ(summarize(times).noise, (60.0 - 41.0) / 2 / 50.5);
}

TEST(Samples, KnowNothingOfTheNoiseOfFive) {
    EXPECT_TRUE(std::isinf(summarize({1, 1, 1, 1, 1}).noise));
    EXPECT_EQ(summarize({1, 1, 1, 1, 1, 1}).noise, 0);
}

/// Reports the given times for the runs, repeating the last one, and advances a clock by them.
class FakeStopwatch final : public Stopwatch {
  public:
    explicit FakeStopwatch(std::vector<double> times) : times_(std::move(times)) {}

    [[nodiscard]] Trial time(const Work& work) override {
        work();
        const double time = times_.at(std::min(next_++, times_.size() - 1));
        now_ += time;
        return {time, time / 10};
    }
    [[nodiscard]] Clock clock() {
        return [this] { return now_; };
    }

  private:
    std::vector<double> times_;
    std::size_t next_ = 0;
    double now_ = 0;
};

[[nodiscard]] Timing measureWith(FakeStopwatch stopwatch, TrialPlan plan) {
    plan.now = stopwatch.clock();
    return measure(
        stopwatch, plan, [] {}, [] {});
}

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
    EXPECT_THAT(timing.samples, testing::ElementsAre(30, 10, 20));
    EXPECT_EQ(timing.enqueueUs, 2);
    EXPECT_FALSE(timing.noisy);
}

TEST(Measure, StopsWhenTheBudgetIsSpent) {
    const Timing cut = measureWith(FakeStopwatch({40, 60, 1, 1}), {.trials = 15, .budgetUs = 100});
    EXPECT_EQ(cut.trials, 2);
    EXPECT_TRUE(cut.isCutShort());
    EXPECT_FALSE(measureWith(FakeStopwatch({40, 60, 1, 1}), {.trials = 2, .budgetUs = 100}).isCutShort());
}

TEST(Measure, CountsWhatGoesOnBetweenTheTrials) {
    FakeStopwatch stopwatch({10});
    double now = 0;
    const TrialPlan plan{.trials = 15, .budgetUs = 100, .now = [&now] { return now; }};
    EXPECT_EQ(measure(
                  stopwatch, plan, [&now] { now += 50; }, [] {})
                  .trials,
              2);
}

TEST(Measure, GoesOnUntilTheNoiseIsLow) {
    std::vector<double> times{100, 120, 90, 110, 130, 95, 105};
    times.push_back(100);
    const Timing timing = measureWith(FakeStopwatch(times), {.trials = 7, .maxNoise = 0.01});
    EXPECT_GT(timing.trials, 7);
    EXPECT_LE(timing.us.noise, 0.01);
    EXPECT_FALSE(timing.noisy);
}

TEST(Measure, StopsAtOnceWhereThereIsNoNoise) {
    EXPECT_EQ(measureWith(FakeStopwatch({10}), {.trials = 7, .maxNoise = 0.01}).trials, 7);
    EXPECT_EQ(measureWith(FakeStopwatch({10}), {.trials = 1, .maxNoise = 0.01}).trials, 6);
}

TEST(Measure, SaysWhenTheNoiseStays) {
    std::vector<double> times;
    for (int i = 0; i < 1000; ++i) {
        times.push_back(i % 2 == 0 ? 1 : 2);
    }
    const Timing timing = measureWith(FakeStopwatch(times), {.trials = 7, .maxNoise = 0.01, .budgetUs = 150});
    EXPECT_EQ(timing.trials, 100);
    EXPECT_TRUE(timing.noisy);
}

}  // namespace
}  // namespace Bench
