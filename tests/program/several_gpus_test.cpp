#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "measure/gpu.h"
#include "problem_on.h"
#include "variants/implementation.h"
#include "variants/variants.h"

namespace Bench {
namespace {

/// The streams of a run do not wait for the GPUs' default streams. With a seed, GPUs go on in any order.
TEST(RunsOnSeveralGpus, PoisonTheirOutputAfterWhatTheyHaveLaunched) {
    std::vector<std::int32_t> keys(1000);
    std::iota(keys.rbegin(), keys.rend(), -500);
    int runs = 0;
    for (const Variant& variant : allVariants()) {
        if (!needsSeveral(variant.gpuUse) || variant.operation != Operation::Sort ||
            variant.type != ElementType::Int32) {
            continue;
        }
        for (int seed = 1; seed <= 8; ++seed) {
            SCOPED_TRACE(std::string(variant.title) + ", seed " + std::to_string(seed));
            const GpuAccess access = openGpu({.gpus = 2, .simulator = "devices=2,seed=" + std::to_string(seed)});
            const auto problem = problemOn(Operation::Sort, keys);
            const auto run = variant.prepare(*problem, {.gpus = 2});
            run->launch();
            run->poisonOutput();
            run->fetchResult();
            EXPECT_THAT(dynamic_cast<SortProblem<std::int32_t>&>(*problem).result(),
                        testing::Each(static_cast<std::int32_t>(0xCDCDCDCD)));
            run->launch();
            run->fetchResult();
            EXPECT_EQ(problem->mismatch(), std::nullopt);
            ++runs;
        }
    }
    EXPECT_GT(runs, 0);
}

/// The larger share is sorted in another way than the smaller one, and needs less scratch.
TEST(RunsOnSeveralGpus, HaveScratchForTheShareThatNeedsMost) {
    std::vector<std::int64_t> keys((std::size_t{1} << 21) + 1);
    std::iota(keys.begin(), keys.end(), 0);
    int runs = 0;
    for (const Variant& variant : allVariants()) {
        if (variant.name != "distributed" || variant.operation != Operation::Sort ||
            variant.type != ElementType::Int64) {
            continue;
        }
        const GpuAccess access = openGpu({.gpus = 2, .simulator = "devices=2,seed=0"});
        const auto problem = problemOn(Operation::Sort, keys);
        EXPECT_NO_THROW(variant.prepare(*problem, {.gpus = 2})->launch());
        ++runs;
    }
    EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace Bench
