#include "variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "gpu_variants.h"
#include "usage_error.h"

namespace Bench {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

constexpr std::array<Operation, 1> onlyScan{Operation::Scan};
constexpr std::array<Operation, 1> onlySort{Operation::Sort};

TEST(AllVariants, HaveDistinctNames) {
    std::set<std::pair<Operation, std::string_view>> names;
    std::set<std::string_view> titles;
    for (const Variant& variant : allVariants()) {
        EXPECT_TRUE(names.emplace(variant.operation, variant.name).second) << variant.title;
        EXPECT_TRUE(titles.insert(variant.title).second) << variant.title;
    }
}

TEST(AllVariants, CanBePreparedWhereTheBuildHasThem) {
    const bool hasGpuVariants = !gpuImplementations().empty();
    for (const Variant& variant : allVariants()) {
        const bool onGpu = variant.hardware == Hardware::Gpu;
        EXPECT_EQ(static_cast<bool>(variant.prepare), !onGpu || hasGpuVariants) << variant.title;
        EXPECT_EQ(static_cast<bool>(variant.deviceBytes), onGpu && hasGpuVariants) << variant.title;
    }
}

TEST(AllVariants, HaveABaselineForEveryOperation) {
    const auto variants = allVariants();
    for (const Operation operation : allOperations) {
        const std::vector<std::string> baselines{std::string(serialCpuVariant), std::string(thrustVariant)};
        EXPECT_EQ(selectVariants(variants, std::array{operation}, baselines).size(), 2u) << name(operation);
    }
}

TEST(SelectVariants, KeepsTheTablesOrder) {
    const auto selected = selectVariants(allVariants(), onlySort, std::vector<std::string>{"radix", "cpu"});
    ASSERT_EQ(selected.size(), 2u);
    EXPECT_EQ(selected[0].name, "cpu");
    EXPECT_EQ(selected[1].name, "radix");
}

TEST(SelectVariants, RefusesANameOfAnotherOperation) {
    EXPECT_THROW((void)selectVariants(allVariants(), onlyScan, std::vector<std::string>{"radix"}), UsageError);
    EXPECT_THAT([] { (void)selectVariants(allVariants(), onlySort, std::vector<std::string>{"radx"}); },
                ThrowsMessage<UsageError>("--variant: unknown variant 'radx': did you mean radix?"));
}

TEST(ChooseBlockSize, IsForVariantsWithAChoice) {
    auto variants = selectVariants(allVariants(), onlyScan, std::vector<std::string>{"naive", "cub"});
    chooseBlockSize(variants, 64);
    EXPECT_EQ(variants[0].defaultBlockSize, 64);
    EXPECT_EQ(variants[1].defaultBlockSize, 0);
}

TEST(ChooseBlockSize, RefusesOneThatAVariantCannotUse) {
    auto variants = selectVariants(allVariants(), onlyScan, std::vector<std::string>{"naive"});
    EXPECT_THAT([&] { chooseBlockSize(variants, 100); },
                ThrowsMessage<UsageError>(
                    "--block-size: naive scan takes 32, 64, 128, 256, 512, 1024 threads a block, not 100"));
}

TEST(ChooseBlockSize, RefusesWhenThereIsNoChoice) {
    auto variants = selectVariants(allVariants(), onlyScan, std::vector<std::string>{"cpu"});
    EXPECT_THROW(chooseBlockSize(variants, 128), UsageError);
}

}  // namespace
}  // namespace Bench
