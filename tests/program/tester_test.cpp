#include "variants/tester.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fake_machine.h"
#include "problem_on.h"
#include "variants/implementation.h"

namespace Bench {
namespace {

using StreamCompaction::CPU::compactWithoutScan;
using StreamCompaction::CPU::scan;
using Status = Outcome::Status;

const std::vector<int> input{3, 1, 0, 4};

void wrongScan(int n, int* odata, const int* idata) {
    scan(n, odata, idata);
    odata[n - 1] += 1;
}

void idleScan(int /*n*/, int* /*odata*/, const int* /*idata*/) {}

void throwingScan(int /*n*/, int* /*odata*/, const int* /*idata*/) { throw std::runtime_error("launch failed"); }

void exhaustingScan(int /*n*/, int* /*odata*/, const int* /*idata*/) { throw std::bad_alloc(); }

[[nodiscard]] Measurement ofInput(Variant variant) {
    const Mode mode = variant.hardware == Hardware::Cpu ? Mode::Warm : Mode::Cold;
    return {std::move(variant), input.size(), std::nullopt, "made up", mode};
}

class TesterTest : public testing::Test {
  protected:
    template <typename Function>
    [[nodiscard]] Outcome run(Operation operation, Hardware hardware, Function* function) {
        const Measurement measurement = ofInput(fakeVariant(operation, hardware, "name", "title", function));
        return Tester(access_, {.trials = 3}).test(measurement, *problemOn(operation, input));
    }

    std::shared_ptr<GpuLog> log_ = std::make_shared<GpuLog>();
    GpuAccess access_{std::make_unique<FakeGpu>(1000, log_), {}, std::nullopt};
};

TEST_F(TesterTest, MeasuresAGpuVariantAgainstTheCopy) {
    const Outcome outcome = run(Operation::Scan, Hardware::Gpu, scan);
    EXPECT_EQ(outcome.status, Status::Passed);
    EXPECT_EQ(outcome.reason, "");
    EXPECT_EQ(outcome.mode, Mode::Cold);
    EXPECT_EQ(outcome.n, 4u);
    EXPECT_EQ(outcome.input, "made up");
    EXPECT_EQ(outcome.clockAfterMHz, 1900);
    EXPECT_EQ(outcome.time.trials, 3);
    EXPECT_EQ(outcome.time.us.median, 10);
    EXPECT_EQ(outcome.bytes, 32u);
    EXPECT_EQ(outcome.percentOfCopy(), 50);
    EXPECT_DOUBLE_EQ(outcome.gigabytesPerSecond(), 0.0032);
}

TEST_F(TesterTest, FailsATimeThatCannotCoverTheWork) {
    log_->copyUs = 40;
    EXPECT_EQ(run(Operation::Scan, Hardware::Gpu, scan).status, Status::Passed);
    log_->copyUs = 41;
    const Outcome outcome = run(Operation::Scan, Hardware::Gpu, scan);
    EXPECT_EQ(outcome.status, Status::Failed);
    EXPECT_EQ(outcome.reason, "10 us cannot be its time, because a copy of its bytes takes 41 us");
}

TEST_F(TesterTest, RepeatsWhatALowClockHasSpoilt) {
    log_->clocksMHz = {1900, 1499, 1500, 1900};
    const Outcome outcome = run(Operation::Scan, Hardware::Gpu, scan);
    EXPECT_EQ(log_->marked.size(), 2u * 3);
    EXPECT_EQ(outcome.time.trials, 3);
    EXPECT_EQ(outcome.clockBeforeMHz, 1500);
    EXPECT_EQ(outcome.throttled, "");
}

TEST_F(TesterTest, SaysWhyTheClockStaysLow) {
    log_->clocksMHz = {1000};
    const Outcome outcome = run(Operation::Scan, Hardware::Gpu, scan);
    EXPECT_EQ(log_->marked.size(), 3u * 3);
    EXPECT_EQ(outcome.status, Status::Passed);
    EXPECT_EQ(outcome.throttled, "temperature");
}

TEST_F(TesterTest, MeasuresAGpuVariantAgainstItsOwnCopy) {
    int copies = 0;
    Measurement measurement = ofInput(fakeVariant(Operation::Scan, Hardware::Gpu, "name", "title", scan));
    measurement.variant.prepareCopy = [&copies](const Problem& problem, const Setting&) -> Work {
        return [&copies, n = problem.size()] { copies += static_cast<int>(n); };
    };
    const Outcome outcome =
        Tester(access_, {.warmup = 1, .trials = 3}).test(measurement, *problemOn(Operation::Scan, input));
    EXPECT_EQ(outcome.percentOfCopy(), 100);
    EXPECT_EQ(copies, 4 * 4);
}

TEST_F(TesterTest, SkipsWhatTheVariantCannotDo) {
    Variant variant = fakeVariant(Operation::Scan, Hardware::Gpu, "name", "title", scan);
    variant.reasonToSkip = [](const Problem& problem) {
        return problem.size() == 4 ? std::optional<std::string>("takes no four elements") : std::nullopt;
    };
    Tester tester(access_, {.trials = 3});
    const Measurement measurement = ofInput(variant);
    EXPECT_EQ(tester.test(measurement, *problemOn(Operation::Scan, input)).reason, "takes no four elements");
    EXPECT_EQ(tester.test(measurement, *problemOn(Operation::Scan, std::vector<int>(5))).status, Status::Passed);
}

TEST_F(TesterTest, LetsProfilersCollectTheTrialsAlone) {
    const Measurement measurement = ofInput(fakeVariant(Operation::Scan, Hardware::Gpu, "name", "title", scan));
    const Outcome outcome =
        Tester(access_, {.warmup = 2, .trials = 1}, true).test(measurement, *problemOn(Operation::Scan, input));
    EXPECT_EQ(outcome.status, Status::Passed);
    EXPECT_THAT(log_->marked, testing::ElementsAre("scan/name/4"));
    EXPECT_EQ(log_->profiled, 1);
    EXPECT_THAT(log_->aheads, testing::ElementsAre(false));
    EXPECT_EQ(outcome.percentOfCopy(), std::nullopt);
}

using FloatScan = ProblemOn<float, Array<float>>;

/// A scan of floats that multiplies the second half of the sums by a factor.
class RoundingScan final : public PreparedRun {
  public:
    RoundingScan(FloatScan& problem, double factor) : problem_(problem), factor_(factor) {}

    void poisonOutput() override {}
    void launch() override {}
    void fetchResult() override {
        const std::span<const float> in = problem_.input();
        Array<float> sums(in.size());
        double sum = 0;
        for (std::size_t i = 0; i < in.size(); ++i) {
            sums[i] = static_cast<float>(i < in.size() / 2 ? sum : sum * factor_);
            sum += in[i];
        }
        problem_.result() = sums;
    }

  private:
    FloatScan& problem_;
    double factor_;
};

TEST_F(TesterTest, CallsAPeerInexactThatRoundsLikeSomeOrderOfTheAdditions) {
    const std::vector<float> large(10'000, 1 << 20);
    const auto run = [&](double factor, const char* library) {
        Variant variant;
        variant.hardware = Hardware::Gpu;
        variant.library = library;
        variant.deviceBytes = [](const Problem&, const Setting&) { return std::size_t{8}; };
        variant.prepare = [factor](Problem& problem, const Setting&) {
            return std::make_unique<RoundingScan>(dynamic_cast<FloatScan&>(problem), factor);
        };
        return Tester(access_, {.trials = 3}).test(ofInput(variant), *problemOn(Operation::Scan, large));
    };
    // The bound is a relative error of 4e-6; additions in a row keep to 3e-4.
    EXPECT_EQ(run(1 + 2e-6, "Peer 1.0").status, Status::Passed);
    const Outcome inexact = run(1 + 1e-5, "Peer 1.0");
    EXPECT_EQ(inexact.status, Status::Inexact);
    EXPECT_TRUE(inexact.isTimed());
    EXPECT_THAT(inexact.reason, testing::MatchesRegex("rounds too much at index [0-9]+: error .*, bound .*"));
    EXPECT_EQ(run(1 + 1e-2, "Peer 1.0").status, Status::Failed);
    EXPECT_EQ(run(1 + 1e-5, "").status, Status::Failed);
}

TEST_F(TesterTest, SkipsAVariantThatRunsOutOfMemoryInsideTheCall) {
    const Outcome outcome = run(Operation::Scan, Hardware::Gpu, exhaustingScan);
    EXPECT_EQ(outcome.status, Status::Skipped);
    EXPECT_EQ(outcome.reason, "ran out of memory: it allocates inside the call");
}

int simulatedRuns = 0;

void countedScan(int n, int* odata, const int* idata) {
    ++simulatedRuns;
    scan(n, odata, idata);
}

TEST_F(TesterTest, RunsAVariantInTheSimulatorOnceAndTakesNoTime) {
    access_ = {nullptr, {}, "made up"};
    Measurement measurement = ofInput(fakeVariant(Operation::Scan, Hardware::Gpu, "name", "title", countedScan));
    measurement.mode = Mode::Untimed;
    simulatedRuns = 0;
    const Outcome outcome =
        Tester(access_, {.warmup = 2, .trials = 3}).test(measurement, *problemOn(Operation::Scan, input));
    EXPECT_EQ(outcome.status, Status::Passed);
    EXPECT_FALSE(outcome.isTimed());
    EXPECT_EQ(outcome.time.trials, 0);
    EXPECT_EQ(outcome.clockAfterMHz, std::nullopt);
    EXPECT_EQ(outcome.percentOfCopy(), std::nullopt);
    EXPECT_EQ(simulatedRuns, 1);
}

TEST_F(TesterTest, FailsWhatIsWrongOnTheCardAndInTheSimulator) {
    const std::pair<void (*)(int, int*, const int*), const char*> cases[] = {
        {wrongScan, "first mismatch at index 3: expected 4, got 5"},
        {idleScan, "first mismatch at index 0: expected 0, got -842150451"},
        {throwingScan, "launch failed"}};
    for (const auto& [function, reason] : cases) {
        const Outcome onCard = run(Operation::Scan, Hardware::Gpu, function);
        EXPECT_EQ(onCard.status, Status::Failed);
        EXPECT_EQ(onCard.reason, reason);
        Measurement measurement = ofInput(fakeVariant(Operation::Scan, Hardware::Gpu, "name", "title", function));
        measurement.mode = Mode::Untimed;
        const GpuAccess simulated{nullptr, {}, "made up"};
        EXPECT_EQ(Tester(simulated, {}).test(measurement, *problemOn(Operation::Scan, input)).reason, reason);
    }
}

TEST_F(TesterTest, SkipsAGpuVariantThatDoesNotFit) {
    access_.gpu = std::make_unique<FakeGpu>(31);
    const Outcome outcome = run(Operation::Scan, Hardware::Gpu, scan);
    EXPECT_EQ(outcome.status, Status::Skipped);
    EXPECT_EQ(outcome.reason, "needs 32 bytes of device memory, 31 bytes are free");
}

}  // namespace
}  // namespace Bench
