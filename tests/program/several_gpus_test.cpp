#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "measure/gpu.h"
#include "problems/inputs.h"
#include "problems/problems.h"
#include "variants/implementation.h"
#include "variants/variants.h"

namespace Bench {
namespace {

/// The streams of a run do not wait for the GPUs' default streams. With a seed, GPUs go on in any order.
TEST(RunsOnSeveralGpus, PoisonTheirOutputAfterWhatTheyHaveLaunched) {
    int runs = 0;
    for (const Variant& variant : allVariants()) {
        if (!needsSeveral(variant.gpuUse) || variant.operation != Operation::Sort ||
            variant.type != ElementType::Int32) {
            continue;
        }
        for (int seed = 1; seed <= 8; ++seed) {
            SCOPED_TRACE(std::string(variant.title) + ", seed " + std::to_string(seed));
            const GpuAccess access = openGpu({.gpus = 2, .simulator = "devices=2,seed=" + std::to_string(seed)});
            const auto problem =
                std::move(makeProblems(variant.operation, variant.type, defaultInput(variant.operation),
                                       std::array<std::size_t, 1>{1000}, 42)
                              .front());
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

}  // namespace
}  // namespace Bench
