#include "variants/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/values.h"
#include "problem_on.h"
#include "variants/implementation.h"

namespace Bench {
namespace {

using testing::Each;
using testing::Field;
using testing::Not;
using testing::ThrowsMessage;

constexpr std::array<Operation, 1> onlyScan{Operation::Scan};
constexpr std::array<Operation, 1> onlySort{Operation::Sort};
constexpr std::array<ElementType, 1> onlyInt32{ElementType::Int32};

TEST(AllVariants, HaveDistinctNames) {
    std::set<std::tuple<Operation, ElementType, std::string_view>> names;
    std::set<std::pair<ElementType, std::string_view>> titles;
    for (const Variant& variant : allVariants()) {
        EXPECT_TRUE(names.emplace(variant.operation, variant.type, variant.name).second) << variant.title;
        EXPECT_TRUE(titles.emplace(variant.type, variant.title).second) << variant.title;
    }
}

/// Whether the build does not have the variant and only gives a reason.
[[nodiscard]] bool isAbsent(const Variant& variant) {
    return !variant.prepare && variant.reasonToSkip &&
           variant.reasonToSkip(*problemOn(Operation::Scan, std::vector{1}));
}

TEST(AllVariants, CanBePreparedWhereTheBuildHasThemOrSayWhyNot) {
    const bool hasGpuVariants = !gpuImplementations().empty();
    for (const Variant& variant : allVariants()) {
        const bool onGpu = variant.hardware == Hardware::Gpu;
        const bool isThere = !isAbsent(variant);
        EXPECT_EQ(static_cast<bool>(variant.prepare), !onGpu || (hasGpuVariants && isThere)) << variant.title;
        EXPECT_EQ(static_cast<bool>(variant.deviceBytes), onGpu && hasGpuVariants && isThere) << variant.title;
    }
}

#if defined(STREAM_COMPACTION_HAS_CUDA) && !defined(STREAM_COMPACTION_SIMULATED)
/// A problem of which only the size is asked for.
class LargeProblem : public Problem {
  public:
    [[nodiscard]] std::size_t size() const override { return std::size_t{1} << 31; }
    [[nodiscard]] std::size_t total() const override { return size(); }
    [[nodiscard]] std::size_t bytesMoved() const override { return 0; }
    [[nodiscard]] std::optional<std::string> mismatch() const override { return std::nullopt; }
};

TEST(AllVariants, OfCubAreSkippedWhereTheyTakeFewerElements) {
    const auto reason = [](Operation operation, ElementType type) {
        for (const Variant& variant : allVariants()) {
            if (variant.operation == operation && variant.type == type && variant.name == "cub") {
                return variant.reasonToSkip(LargeProblem());
            }
        }
        throw std::logic_error("there is no such variant");
    };
    const std::optional<std::string> tooMany = "takes at most 2147483647 elements of this type";
    EXPECT_EQ(reason(Operation::Sort, ElementType::Float), tooMany);
    EXPECT_EQ(reason(Operation::RowSum, ElementType::Int32), tooMany);
    EXPECT_EQ(reason(Operation::Sort, ElementType::Int32), std::nullopt);
    EXPECT_EQ(reason(Operation::Compact, ElementType::Float), std::nullopt);
}
#endif

TEST(AllVariants, AreThereButForPeers) {
    const std::set<std::string_view> peers{"thrust", "cub", "cublas", "distributed"};  // the last one needs NCCL
    for (const Variant& variant : allVariants()) {
        EXPECT_TRUE(!isAbsent(variant) || peers.contains(variant.name)) << variant.title;
        EXPECT_TRUE(!isAbsent(variant) || variant.library.empty()) << variant.title << ": " << variant.library;
    }
}

TEST(SelectVariants, RefusesANameOfAnotherOperation) {
    EXPECT_THROW((void)selectVariants(allVariants(), onlyScan, onlyInt32, std::vector<std::string>{"radix"}),
                 UsageError);
    const std::vector<Variant> few{{{}, Operation::Scan, ElementType::Int32, Hardware::Cpu, "cpu", "", {}},
                                   {{}, Operation::Scan, ElementType::Int32, Hardware::Gpu, "naive", "", {}},
                                   {{}, Operation::Compact, ElementType::Int32, Hardware::Gpu, "naive", "", {}},
                                   {{}, Operation::Sort, ElementType::Int32, Hardware::Gpu, "radix", "", {}}};
    EXPECT_THAT([&] { (void)selectVariants(few, onlyScan, onlyInt32, std::vector<std::string>{"radix"}); },
                ThrowsMessage<UsageError>("--variant: radix is not a variant of scan; scan has cpu, naive"));
    EXPECT_THAT(
        [&] {
            (void)selectVariants(few, std::array{Operation::Scan, Operation::Compact}, onlyInt32,
                                 std::vector<std::string>{"radix"});
        },
        ThrowsMessage<UsageError>("--variant: radix is not a variant of scan or compact; they have cpu, naive"));
    EXPECT_THAT([] { (void)selectVariants(allVariants(), onlySort, onlyInt32, std::vector<std::string>{"radx"}); },
                ThrowsMessage<UsageError>("--variant: unknown variant 'radx': did you mean radix?"));
}

TEST(SelectVariants, LeavesOutExcludedNames) {
    const auto all = selectVariants(allVariants(), onlySort, onlyInt32, {});
    const auto most = selectVariants(allVariants(), onlySort, onlyInt32, std::vector<std::string>{"^cpu", "^thrust"});
    EXPECT_EQ(most.size() + 2, all.size());
    EXPECT_THAT(most, Each(Field(&Variant::name, Not(testing::AnyOf("cpu", "thrust")))));
    const auto one = selectVariants(allVariants(), onlySort, onlyInt32, std::vector<std::string>{"cub", "cpu", "^cpu"});
    EXPECT_THAT(one, testing::ElementsAre(Field(&Variant::name, "cub")));
}

TEST(SelectVariants, RefusesANameThatDoesNotTakeTheType) {
    EXPECT_THAT(
        [] {
            (void)selectVariants(allVariants(), onlyScan, std::array{ElementType::Int8, ElementType::Float},
                                 std::vector<std::string>{"cub", "cpu-parallel"});
        },
        ThrowsMessage<UsageError>("--variant: cpu-parallel does not take int8 or float"));
    EXPECT_EQ(selectVariants(allVariants(), onlyScan, std::array{ElementType::Int32, ElementType::Float},
                             std::vector<std::string>{"cpu-parallel"})
                  .size(),
              1u);
}

TEST(WithBlockSizes, RepeatsVariantsWithAChoice) {
    const auto variants = selectVariants(allVariants(), onlyScan, onlyInt32, std::vector<std::string>{"naive", "cub"});
    const auto chosen = withBlockSizes(variants, std::array{64, 128});
    ASSERT_EQ(chosen.size(), 3u);
    EXPECT_EQ(chosen[0].name, "naive");
    EXPECT_EQ(chosen[0].defaultBlockSize, 64);
    EXPECT_EQ(chosen[1].name, "naive");
    EXPECT_EQ(chosen[1].defaultBlockSize, 128);
    EXPECT_EQ(chosen[2].name, "cub");
    EXPECT_EQ(chosen[2].defaultBlockSize, 0);
}

TEST(WithBlockSizes, RefusesOneThatAVariantCannotUse) {
    const auto variants = selectVariants(allVariants(), onlyScan, onlyInt32, std::vector<std::string>{"naive"});
    EXPECT_THAT(
        [&] {
            (void)withBlockSizes(variants, std::array{128, 100});
        },
        ThrowsMessage<UsageError>(
            "--block-size: naive scan takes 32, 64, 128, 256, 512, 1024 threads per block, not 100"));
}

}  // namespace
}  // namespace Bench
